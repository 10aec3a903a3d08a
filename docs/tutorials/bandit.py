"""Choose among arms: a bandit.

Ten buttons for one page: each visitor sees one, and you learn only whether this visitor clicked.
A bandit policy tries and learns at once. Its guarantee holds against every sequence of losses.
"""

import numpy as np

rng = np.random.default_rng(7)
clicks = np.linspace(0.30, 0.12, 10)  # the share of visitors who click, unknown to the policy

# ## One visitor at a time
#
# `pull` draws an arm and says with which probability. `update` takes the loss of that arm: here 0
# for a click and 1 for none.

from driftgames import PotentialBandit

bandit = PotentialBandit(n_arms=10, horizon=20_000)  # EXP3 out of the exponential potential
clicked = 0
for _ in range(20_000):
    arm, probability = bandit.pull(rng)
    click = rng.random() < clicks[arm]
    bandit.update(arm, 1.0 - click, probability)
    clicked += click
print(f"{clicked:,} clicks; the best button alone has about {20_000 * clicks[0]:,.0f}")
print(f"a random button has about {20_000 * clicks.mean():,.0f}")

# ## Compare policies
#
# An environment makes the losses, and `compare` lets policies play the same games. Tsallis-INF is
# best where one arm is better all the time, and it keeps its guarantee where that is not so.

from driftgames.bandit import POLICIES, BernoulliArms, compare

chosen = {name: POLICIES[name] for name in ("exp3", "exp3-ix", "tsallis-inf")}
series = compare(BernoulliArms(1 - clicks), 20_000, policies=chosen, n_games=5, progress=False)
for name, games in series.items():
    bound = games.certificate().promised[0]
    print(f"{name:12} regret {games.regret.mean():5.0f}, promised at most {bound:5.0f}")

# ## Watch one game

from driftgames.bandit import TsallisINF
from driftgames.plots import save_figure

run = TsallisINF(10).run(BernoulliArms(1 - clicks), 20_000, rng=np.random.default_rng(0))
save_figure(run.plot(), "bandit_regret.svg")
print(run.certificate())

# The state of a policy is saved with `bandit.save("bandit.json")`, and losses may come late: see
# the [API](../api/bandit.md). `driftgames bandit replay clicks.csv --gains` replays a table.
