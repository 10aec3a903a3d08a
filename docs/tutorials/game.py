r"""Play a drifting game.

Chips stand on a line. In each round the player gives every chip a weight, and the adversary moves
the chips. It must move them to the right on average, by these weights. So a chip that stands far to
the left is one that the player should have trusted. The whole library is this game.
"""

from driftgames.games import GreedyAdversary, PotentialPlayer, play, positions, potential_sum
from driftgames.potentials import NormalHedgeDT

potential = NormalHedgeDT()
player = PotentialPlayer(potential)
adversary = GreedyAdversary(potential)  # it makes the sum of potentials as large as it can
record = play(
    player,
    adversary,
    n_chips=8,
    horizon=200,
    observers={"positions": positions, "potential": potential_sum(potential, 200)},
)
print(record.chips.positions.round(2))

# ## Why the player is safe
#
# The weight of a chip is a difference of the potential:
#
# $$w_t(s) = \tfrac12\bigl(\Phi_t(s - 1) - \Phi_t(s + 1)\bigr)$$
#
# With these weights the average potential never rises, whatever the adversary does. A chip far to
# the left has a large potential, so there can be only few of them.

for t in (1, 50, 100, 200):
    print(f"after round {t:3d} the average potential is {record.seen['potential'][t - 1]:.4f}")

# ## Regret beside its bound
#
# The position of the chip that is furthest left is the regret to the best action. Theorem 2 of the
# paper bounds it.

import numpy as np

from driftgames.games import StochasticAdversary
from driftgames.plots import plot_regret_over_time, save_figure

rounds = np.arange(1, 201)
regrets = {}
for foe in (adversary, StochasticAdversary(gap=0.1)):
    game = play(player, foe, n_chips=8, horizon=200, observers={"positions": positions})
    regrets[type(foe).__name__] = -game.seen["positions"].min(axis=1)
bound = potential.bound(rounds, 1 / 8)
figure = plot_regret_over_time(rounds.astype(float), regrets, {"StochasticAdversary": bound})
save_figure(figure, "game_regret.svg")
for name, regret in regrets.items():
    print(f"{name:20} regret {regret[-1]:5.2f}, promised at most {bound[-1]:.2f}")

# ## Play it yourself
#
# On [the page to play with](../play.md) you are the adversary. `driftgames game` plays in a
# terminal.
