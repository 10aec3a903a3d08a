from driftgames.bandit.comparison import Comparison as Comparison
from driftgames.bandit.comparison import GameSeries as GameSeries
from driftgames.bandit.comparison import compare as compare
from driftgames.bandit.comparison import play_games as play_games
from driftgames.bandit.contexts.context_policy import ContextPolicy as ContextPolicy
from driftgames.bandit.contexts.context_run import ContextRun as ContextRun
from driftgames.bandit.contexts.exp4 import Exp4 as Exp4
from driftgames.bandit.contexts.square_cb import SquareCB as SquareCB
from driftgames.bandit.logs.arm_race import ArmRace as ArmRace
from driftgames.bandit.logs.log import PullLog as PullLog
from driftgames.bandit.logs.off_policy import OffPolicyValue as OffPolicyValue
from driftgames.bandit.logs.off_policy import off_policy_value as off_policy_value
from driftgames.bandit.named_policies import ENVIRONMENTS as ENVIRONMENTS
from driftgames.bandit.named_policies import POLICIES as POLICIES
from driftgames.bandit.policies.exp3_ix import Exp3IX as Exp3IX
from driftgames.bandit.policies.policy import BanditPolicy as BanditPolicy
from driftgames.bandit.policies.potential_bandit import PotentialBandit as PotentialBandit
from driftgames.bandit.policies.potential_check import BanditCheck as BanditCheck
from driftgames.bandit.policies.potential_check import (
    check_bandit_potential as check_bandit_potential,
)
from driftgames.bandit.policies.potential_check import growth_of as growth_of
from driftgames.bandit.policies.thompson import ThompsonSampling as ThompsonSampling
from driftgames.bandit.policies.tsallis_inf import TsallisINF as TsallisINF
from driftgames.bandit.runs.bandit_run import BanditRun as BanditRun
from driftgames.bandit.runs.environments import Adaptive as Adaptive
from driftgames.bandit.runs.environments import BernoulliArms as BernoulliArms
from driftgames.bandit.runs.environments import Environment as Environment
from driftgames.bandit.runs.environments import Lure as Lure
from driftgames.bandit.runs.environments import Moody as Moody
from driftgames.bandit.runs.environments import Oblivious as Oblivious
from driftgames.bandit.runs.environments import Spiteful as Spiteful
from driftgames.bandit.runs.environments import Switching as Switching
