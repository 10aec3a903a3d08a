from driftgames.bandit import PotentialBandit as PotentialBandit
from driftgames.bandit import ThompsonSampling as ThompsonSampling
from driftgames.bandit import TsallisINF as TsallisINF
from driftgames.boosting import AdaBoostClassifier as AdaBoostClassifier
from driftgames.boosting import BoostByMajorityClassifier as BoostByMajorityClassifier
from driftgames.boosting import NHBoostClassifier as NHBoostClassifier
from driftgames.boosting import NHBoostDTClassifier as NHBoostDTClassifier
from driftgames.boosting import NHBoostDTRegressor as NHBoostDTRegressor
from driftgames.boosting import PotentialBoostClassifier as PotentialBoostClassifier
from driftgames.boosting import WeakLearnerBooster as WeakLearnerBooster
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
