"""Online learning and boosting from drifting games.

Losses push chips along a line, a potential weighs each chip by where it stands, and the
weights are the decision. Experts, bandit arms, points of a convex set and training examples
are all chips. [LS14] is Luo and Schapire, "A Drifting-Games Analysis for Online Learning and
Applications to Boosting", 2014.

Names are imported from their modules when first used, so that ``import driftgames`` is quick.
"""

from __future__ import annotations

from driftgames.core.lazy import lazy_names

TYPE_CHECKING = False  # type checkers know the name; `typing` itself takes long to import

if TYPE_CHECKING:  # what a type checker sees; `_NAMES` says the same at run time
    from driftgames.bandit import PotentialBandit as PotentialBandit
    from driftgames.boosting import AdaBoostClassifier as AdaBoostClassifier
    from driftgames.boosting import BoostByMajorityClassifier as BoostByMajorityClassifier
    from driftgames.boosting import NHBoostClassifier as NHBoostClassifier
    from driftgames.boosting import NHBoostDTClassifier as NHBoostDTClassifier
    from driftgames.boosting import PotentialBoostClassifier as PotentialBoostClassifier
    from driftgames.certificates import Certificate as Certificate
    from driftgames.hedge import AdaptiveIntervals as AdaptiveIntervals
    from driftgames.hedge import ExpertMixture as ExpertMixture
    from driftgames.hedge import Hedge as Hedge
    from driftgames.hedge import NormalHedge as NormalHedge
    from driftgames.oco import CoinBetting as CoinBetting
    from driftgames.oco import ContinuousHedge as ContinuousHedge
    from driftgames.portfolio import UniversalPortfolio as UniversalPortfolio
    from driftgames.potentials import Exponential as Exponential
    from driftgames.potentials import MinimaxPotential as MinimaxPotential
    from driftgames.potentials import NormalHedgeDT as NormalHedgeDT
    from driftgames.potentials import Potential as Potential
    from driftgames.potentials import RecipePotential as RecipePotential
    from driftgames.potentials import TwoNorm as TwoNorm

    __version__: str

_NAMES = {
    "bandit": "PotentialBandit",
    "boosting": "AdaBoostClassifier BoostByMajorityClassifier NHBoostClassifier "
    "NHBoostDTClassifier PotentialBoostClassifier",
    "certificates": "Certificate",
    "hedge": "AdaptiveIntervals ExpertMixture Hedge NormalHedge",
    "oco": "CoinBetting ContinuousHedge",
    "portfolio": "UniversalPortfolio",
    "potentials": "Exponential MinimaxPotential NormalHedgeDT Potential RecipePotential TwoNorm",
}
_find, _, __all__ = lazy_names(__name__, _NAMES)


def __getattr__(name: str) -> object:
    return _installed_version() if name == "__version__" else _find(name)


def _installed_version() -> str:
    """Return the version that was installed, which comes from the tags of the repository."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("driftgames")
    except PackageNotFoundError:  # a source tree that was not installed
        return "0+unknown"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
