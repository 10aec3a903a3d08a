"""Hold a portfolio.

Every day you split your wealth over assets. The universal portfolio is Hedge with one chip for each
way to split, and its wealth is never far below that of the best split in hindsight.
"""

import numpy as np

rng = np.random.default_rng(3)
steps = rng.normal(0, [0.01, 0.03, 0.03], (1500, 3))  # a calm asset and two wild ones
steps += [0.0003, 0.0, 0.0]
prices = np.exp(np.cumsum(steps, axis=0))

# ## From prices to relatives
#
# A price relative is the price of today over that of yesterday.

from driftgames.portfolio import price_relatives

relatives = price_relatives(prices)
print(relatives[:2].round(4))

# ## Trade

from driftgames import UniversalPortfolio
from driftgames.portfolio import BuyAndHold, ExponentiatedGradient, OnlineNewtonStep

strategies = {
    "universal": UniversalPortfolio(3),
    "exponentiated gradient": ExponentiatedGradient(3),
    "Newton step": OnlineNewtonStep(3),
    "buy and hold": BuyAndHold(3),
}
runs = {name: each.run(relatives) for name, each in strategies.items()}
for name, run in runs.items():
    print(f"{name:22} {run.final_wealth:6.3f}")

# ## The best in hindsight
#
# Rebalancing to a fixed split buys what fell and sells what rose. The best such split of all is
# what regret is measured against. The bound is for every market, with no assumption about prices.

from driftgames.portfolio import best_constant_rebalanced

best = best_constant_rebalanced(relatives)
print(f"best split {best.portfolio.round(2)} makes {best.wealth:.3f}")
regret = best.log_wealth - np.log(runs["universal"].final_wealth)
print(f"regret in log-wealth {regret:.3f}, promised at most {best.universal_bound:.3f}")

# ## See it

from driftgames.plots import plot_wealth, save_figure

figure = plot_wealth(
    {name: run.wealth for name, run in runs.items()}, best=("best in hindsight", best.wealth)
)
save_figure(figure, "portfolio_wealth.svg")

# ## What trading costs
#
# With costs a strategy pays for its trades, and the universal portfolio trades little.

for name, strategy in {
    "universal": UniversalPortfolio(3, cost=0.002),
    "Newton step": OnlineNewtonStep(3, cost=0.002),
}.items():
    print(f"{name:22} {strategy.run(relatives).final_wealth:6.3f}")

# `driftgames portfolio prices.csv` does this with a table of your own.
