"""Bandits: one arm a round, and only its loss is seen.

The arms are chips. A pull of arm i with probability p and loss l says that the arms lost
``l/p`` and the others nothing, which is right on average; less what the player lost, that is
how far the chips move. They may move far to the right but never by less than -1 to the left,
their variance is bounded by ``1/p``, and that is all that the proof for potentials needs
[LS14, Sec. 4, Thm. 4].

`PotentialBandit` is the paper's recipe (EXP3 unless a potential is given), `TsallisINF` is
follow the regularised leader with the best regret known in both worlds, stochastic and
adversarial, and `Exp3IX` has a bound on the regret itself rather than on its mean. `compare`
plays them against each other. Losses may come late: every policy counts the delays, and its
bound pays for them or says that nothing is promised.
"""

from driftgames.bandit.comparison import POLICIES, GameSeries, compare, play_games
from driftgames.bandit.conditions import BanditCheck, check_bandit_potential, growth_of
from driftgames.bandit.environments import (
    ENVIRONMENTS,
    Adaptive,
    BernoulliArms,
    Environment,
    Lure,
    Moody,
    Oblivious,
    Spiteful,
    Switching,
)
from driftgames.bandit.exp3_ix import Exp3IX
from driftgames.bandit.policy import BanditPolicy
from driftgames.bandit.potential_bandit import PotentialBandit
from driftgames.bandit.run import BanditRun
from driftgames.bandit.tsallis_inf import TsallisINF

__all__ = [
    "ENVIRONMENTS",
    "POLICIES",
    "Adaptive",
    "BanditCheck",
    "BanditPolicy",
    "BanditRun",
    "BernoulliArms",
    "Environment",
    "Exp3IX",
    "GameSeries",
    "Lure",
    "Moody",
    "Oblivious",
    "PotentialBandit",
    "Spiteful",
    "Switching",
    "TsallisINF",
    "check_bandit_potential",
    "compare",
    "growth_of",
    "play_games",
]
