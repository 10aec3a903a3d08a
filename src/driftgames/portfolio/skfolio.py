"""The strategies as optimizers of skfolio, which learn online.

Needs the extra: ``pip install 'driftgames[skfolio]'``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from driftgames.core.checks import needs_extra
from driftgames.core.registry import choose
from driftgames.portfolio.named_strategies import STRATEGIES
from driftgames.portfolio.strategy import PortfolioStrategy

with needs_extra(__name__, "skfolio"):
    from skfolio.optimization import BaseOptimization

__all__ = ["OnlinePortfolio"]


class OnlinePortfolio(BaseOptimization):  # type: ignore[misc]
    """A strategy of `STRATEGIES` behind skfolio's ``fit``, ``partial_fit`` and ``predict``.

    ``X`` holds returns, a row per day. ``weights_`` is the portfolio for the day after the last
    row. `skfolio.model_selection.online_predict` with ``test_size=1`` trades as the strategy's own
    `run` does, and ends with the same wealth.

    Parameters
    ----------
    algorithm : str
        A name in `STRATEGIES`.
    transaction_costs : float
        As a share of the value traded. Only the universal portfolio considers it when it decides;
        skfolio charges it in its own way, of weights that do not drift unless ``portfolio_params``
        has ``weight_drift``.
    settings : dict, optional
        Further keywords of the strategy, such as ``{"eta": 0.1}``.
    portfolio_params, fallback, previous_weights, raise_on_failure
        As in skfolio.

    Attributes
    ----------
    strategy_ : PortfolioStrategy
        The strategy after the rows so far; its ``log_wealth`` is net of costs, counted exactly.
    weights_ : array
        The portfolio for the next day.

    Examples
    --------
    >>> model = OnlinePortfolio("soft-bayes").fit([[0.1, -0.2], [0.3, 0.0]])
    >>> model.partial_fit([[0.1, 0.1]]).weights_.round(3)
    array([0.53, 0.47])
    """

    strategy_: PortfolioStrategy

    def __init__(
        self,
        algorithm: str = "universal",
        transaction_costs: float = 0.0,
        settings: dict[str, Any] | None = None,
        portfolio_params: dict[str, Any] | None = None,
        fallback: Any = None,
        previous_weights: Any = None,
        raise_on_failure: bool = True,
    ) -> None:
        super().__init__(
            portfolio_params=portfolio_params,
            fallback=fallback,
            previous_weights=previous_weights,
            raise_on_failure=raise_on_failure,
        )
        self.algorithm = algorithm
        self.transaction_costs = transaction_costs
        self.settings = settings

    def fit(self, X: Any, y: Any = None) -> Self:
        """Begin anew and learn from these returns."""
        return self._learn(X, reset=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from these further returns."""
        self._validate_partial_fit_fallback()
        return self._learn(X, reset=not hasattr(self, "strategy_"))

    def _learn(self, X: Any, *, reset: bool) -> Self:
        returns = validate_data(self, X, reset=reset, dtype=np.float64)
        strategy = (
            choose("algorithm", self.algorithm, STRATEGIES)(
                returns.shape[1], cost=self.transaction_costs, **(self.settings or {})
            )
            if reset
            else self.strategy_
        )
        strategy.run(1.0 + returns)
        self.strategy_, self.weights_ = strategy, strategy.predict()
        self.error_ = self.fallback_ = self.fallback_chain_ = None
        return self
