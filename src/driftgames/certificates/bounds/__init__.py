"""Every bound that the library promises, one function each, named after its theorem."""

from driftgames.certificates.bounds.bandits import (
    exp3_delayed,
    exp3_ix,
    exp3_scheduled,
    tsallis_inf,
    tsallis_inf_adaptive,
    tsallis_inf_delayed,
    tsallis_inf_rv,
    tsallis_inf_stochastic,
)
from driftgames.certificates.bounds.coin_betting import coin_betting, log_krichevsky_trofimov
from driftgames.certificates.bounds.experts import (
    ada_hedge,
    ada_normal_hedge,
    exponential_hoeffding,
    normal_hedge,
    squint,
)
from driftgames.certificates.bounds.paper import (
    corollary_1,
    corollary_2,
    exponential_weights,
    high_probability,
    relaxed_game_hoeffding,
    relaxed_game_value,
    theorem_1,
    theorem_2,
    theorem_5,
    theorem_5_tuned,
    theorem_6,
)
from driftgames.certificates.bounds.portfolios import (
    exponentiated_gradient,
    online_newton_step,
    universal_portfolio,
    universal_portfolio_quantile,
)

__all__ = [
    "ada_hedge",
    "ada_normal_hedge",
    "coin_betting",
    "corollary_1",
    "corollary_2",
    "exp3_delayed",
    "exp3_ix",
    "exp3_scheduled",
    "exponential_hoeffding",
    "exponential_weights",
    "exponentiated_gradient",
    "high_probability",
    "log_krichevsky_trofimov",
    "normal_hedge",
    "online_newton_step",
    "relaxed_game_hoeffding",
    "relaxed_game_value",
    "squint",
    "theorem_1",
    "theorem_2",
    "theorem_5",
    "theorem_5_tuned",
    "theorem_6",
    "tsallis_inf",
    "tsallis_inf_adaptive",
    "tsallis_inf_delayed",
    "tsallis_inf_rv",
    "tsallis_inf_stochastic",
    "universal_portfolio",
    "universal_portfolio_quantile",
]
