"""Bandits: one arm a round, and only its loss is seen.

The arms are chips. A pull of arm i with probability p and loss l estimates that arm i lost
``l/p`` and the others nothing, which is right on average. A chip moves by its estimated loss
less the loss of the player: by at least -1, with a variance of at most ``1/p``. The proof for
potentials needs nothing more [LS14, Sec. 4, Thm. 4].

`PotentialBandit` is the paper's recipe, which is EXP3 by default. `TsallisINF` is follow the
regularised leader, with the best known regret for both stochastic and adversarial losses.
`Exp3IX` has a bound on the regret itself rather than on its mean. `compare` plays them against
each other. `PullLog` records pulls with their propensities, and `off_policy_value` estimates from
them what another policy would have lost. Losses may come late: every policy counts the delays.
Its bound grows with them, or says that nothing is promised.

Names are imported from their modules when first used, so that `POLICIES` is quick to read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftgames.core.lazy import lazy_names

if TYPE_CHECKING:  # for type checkers; `_NAMES` says the same at run time
    from driftgames.bandit.comparison import GameSeries as GameSeries
    from driftgames.bandit.comparison import compare as compare
    from driftgames.bandit.comparison import play_games as play_games
    from driftgames.bandit.conditions import BanditCheck as BanditCheck
    from driftgames.bandit.conditions import check_bandit_potential as check_bandit_potential
    from driftgames.bandit.conditions import growth_of as growth_of
    from driftgames.bandit.environments import Adaptive as Adaptive
    from driftgames.bandit.environments import BernoulliArms as BernoulliArms
    from driftgames.bandit.environments import Environment as Environment
    from driftgames.bandit.environments import Lure as Lure
    from driftgames.bandit.environments import Moody as Moody
    from driftgames.bandit.environments import Oblivious as Oblivious
    from driftgames.bandit.environments import Spiteful as Spiteful
    from driftgames.bandit.environments import Switching as Switching
    from driftgames.bandit.exp3_ix import Exp3IX as Exp3IX
    from driftgames.bandit.log import PullLog as PullLog
    from driftgames.bandit.off_policy import OffPolicyValue as OffPolicyValue
    from driftgames.bandit.off_policy import off_policy_value as off_policy_value
    from driftgames.bandit.policy import BanditPolicy as BanditPolicy
    from driftgames.bandit.potential_bandit import PotentialBandit as PotentialBandit
    from driftgames.bandit.registry import ENVIRONMENTS as ENVIRONMENTS
    from driftgames.bandit.registry import POLICIES as POLICIES
    from driftgames.bandit.run import BanditRun as BanditRun
    from driftgames.bandit.tsallis_inf import TsallisINF as TsallisINF

_NAMES = {
    "comparison": "GameSeries compare play_games",
    "conditions": "BanditCheck check_bandit_potential growth_of",
    "environments": "Adaptive BernoulliArms Environment Lure Moody Oblivious Spiteful Switching",
    "exp3_ix": "Exp3IX",
    "log": "PullLog",
    "off_policy": "OffPolicyValue off_policy_value",
    "policy": "BanditPolicy",
    "potential_bandit": "PotentialBandit",
    "registry": "ENVIRONMENTS POLICIES",
    "run": "BanditRun",
    "tsallis_inf": "TsallisINF",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _NAMES)
