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

# ## See the game
#
# `play` keeps all rounds if you ask for them. Then the record has a table and a picture. In the
# first rounds of a small game you can follow every number: the position `s`, the weight `w`, the
# probability `p`, the move `z`, and the change of the average potential.

from driftgames.games import LookaheadAdversary
from driftgames.plots import save_figure

kept = play(player, LookaheadAdversary(200), n_chips=8, horizon=200, record=True)
print(kept.table(last=1))
save_figure(kept.plot(), "game_record.svg")

# In a notebook, `kept.animate()` shows the chips as they move, and
# `kept.animate().save("game.gif")` writes a file.
#
# ## Regret beside its bound
#
# The position of the chip that is furthest left is the regret to the best action. Theorem 2 of the
# paper bounds it. How much of the bound is used depends on the adversary. The greedy one looks one
# round ahead, and it is weak. Coins are stronger, and `LookaheadAdversary` is stronger than coins:
# it looks to the end of the game. Exponential weights that know the horizon have the smaller
# bound, and against that adversary the regret comes close to it.

import numpy as np

from driftgames.games import StochasticAdversary
from driftgames.plots import plot_regret_over_time
from driftgames.potentials import Exponential

rounds = np.arange(1, 201)
tuned = Exponential.for_game(200, 1 / 8)
regrets = {}
for foe in (GreedyAdversary(tuned), StochasticAdversary(gap=0.0), LookaheadAdversary(200)):
    game = play(PotentialPlayer(tuned), foe, n_chips=8, horizon=200, observers={"s": positions})
    regrets[type(foe).__name__] = -game.seen["s"].min(axis=1)
bound = tuned.hedge_bound(rounds, 1 / 8)
figure = plot_regret_over_time(rounds.astype(float), regrets, {"LookaheadAdversary": bound})
save_figure(figure, "game_regret.svg")
for name, regret in regrets.items():
    print(f"{name:20} regret {regret[-1]:5.2f}, {regret[-1] / bound[-1]:4.0%} of {bound[-1]:.2f}")

# The lessons go on from here: [Theorem 1](lesson_theorem_1.md),
# [the minimax game](lesson_minimax.md), [the recipe](lesson_recipe.md),
# [why no epsilon](lesson_no_epsilon.md) and [margins and zeros](lesson_margins.md). Each has three
# exercises.
#
# ## Play it yourself
#
# On [the page to play with](../play.md) you are the adversary. `driftgames game` plays in a
# terminal.
