from driftgames.portfolio.baselines import BuyAndHold as BuyAndHold
from driftgames.portfolio.baselines import ExponentiatedGradient as ExponentiatedGradient
from driftgames.portfolio.baselines import OnlineNewtonStep as OnlineNewtonStep
from driftgames.portfolio.baselines import SoftBayes as SoftBayes
from driftgames.portfolio.baselines import UniformRebalancing as UniformRebalancing
from driftgames.portfolio.best_in_hindsight import (
    BestConstantRebalanced as BestConstantRebalanced,
)
from driftgames.portfolio.best_in_hindsight import (
    best_constant_rebalanced as best_constant_rebalanced,
)
from driftgames.portfolio.limits import LimitedPortfolio as LimitedPortfolio
from driftgames.portfolio.mean_reversion import OLMAR as OLMAR
from driftgames.portfolio.mean_reversion import PAMR as PAMR
from driftgames.portfolio.mixture import StrategyMixture as StrategyMixture
from driftgames.portfolio.named_strategies import STRATEGIES as STRATEGIES
from driftgames.portfolio.portfolio_run import PortfolioRun as PortfolioRun
from driftgames.portfolio.relatives import price_relatives as price_relatives
from driftgames.portfolio.report import PortfolioReport as PortfolioReport
from driftgames.portfolio.report import run as run
from driftgames.portfolio.strategy import PortfolioStrategy as PortfolioStrategy
from driftgames.portfolio.strategy import Quote as Quote
from driftgames.portfolio.universal import UniversalPortfolio as UniversalPortfolio
