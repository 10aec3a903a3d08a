r"""Lesson 2: the minimax game.

Some games can be solved exactly: the player who is best against the best adversary is known, and
so is the loss that neither can improve. This lesson solves one, plays it, and finds the binomial
distribution inside. It is the game behind boost-by-majority.
"""

import numpy as np

from driftgames.games import DriftingGame, GreedyAdversary, RandomAdversary, minimax_player, play
from driftgames.potentials import MinimaxPotential

# ## The game
#
# Each chip moves by $`-1`$ or $`+1`$, and the weighted average of the moves is at least
# $`\beta = 0.2`$. The player loses the share of chips that end at 0 or to the left of it. Read a
# chip as an example, a move as the answer of a weak hypothesis, and $`\beta`$ as twice its edge:
# the loss is then the training error of a majority vote.


def majority(s):
    return s <= 0


game = DriftingGame(moves=(-1, 1), beta=0.2)
solved = MinimaxPotential(majority, horizon=5, beta=0.2)
print(f"value of the game of 5 rounds: {solved.game_value:.5f}")

# The potential is computed backwards from the last round, by Equation (1) of the paper:
#
# $$\Phi_{t-1}(s) = \min_w \max_z \bigl(\Phi_t(s + z) + w (z - \beta)\bigr)$$
#
# For two moves the maximum is the same at both, so the potential is an average over a coin: heads,
# $`+1`$, with probability $`(1 + \beta)/2 = 0.6`$. The value is the chance that five such coins
# show at most two heads.

from math import comb

tail = sum(comb(5, k) * 0.6**k * 0.4 ** (5 - k) for k in range(3))
print(f"chance of at most 2 heads in 5:  {tail:.5f}")

# ## A picture of the solution
#
# Above: the potential, the chance that a chip at $`s`$ is lost if coins decide from here on.
# Below: the weights. A chip that is safe and a chip that is lost both weigh nothing. Only those
# whose fate is open matter.

from driftgames.plots import save_figure

longer = MinimaxPotential(majority, horizon=21, beta=0.2, keep_table=True)
save_figure(longer.plot(times=(3, 12, 20)), "minimax_potential.svg")

# ## A bound that bites
#
# The value is a promise: no adversary makes the player lose more. It is also a threat: with many
# chips an adversary can make it lose nearly as much. `GreedyAdversary` keeps the sum of potentials
# as large as it can, and it comes within a few per cent.

for n_chips in (16, 64, 256, 1000):
    player = minimax_player(game, majority, horizon=21)
    foe = GreedyAdversary(player.potential, game)
    lost = play(player, foe, n_chips=n_chips, horizon=21).loss(majority)
    value = player.potential.game_value
    print(f"{n_chips:4d} chips: loses {lost:.3f} of {value:.3f}, {lost / value:.1%}")

# A good player leaves an adversary little to choose. Moves at random do nearly as much harm, as
# long as their average is pushed down to $`\beta`$.

player = minimax_player(game, majority, horizon=21)
random = play(player, RandomAdversary(game), n_chips=1000, horizon=21).loss(majority)
print(f"against random moves it loses {random:.3f}")

# ## Exercises

# Exercise 1. The value falls as the game gets longer, but not with every round. Print it for
# horizons from 1 to 8. Why does it rise from 5 to 6?

# Answer. With an even number of rounds a chip can end at 0, and 0 is lost. From 5 to 6 rounds a
# chip at $`+1`$ can fall back to 0, and no lost chip can be saved: a chip at $`-1`$ reaches 0 at
# best.

for horizon in range(1, 9):
    print(f"{horizon} rounds: {MinimaxPotential(majority, horizon, beta=0.2).game_value:.4f}")

# Exercise 2. Section 3.2 of the paper quotes the value of another game, in which a chip is lost at
# or left of $`-R`$ and $`\beta = 0`$:
#
# $$2^{-T} \sum_{j=0}^{(T-R)/2} \binom{T+1}{j}$$
#
# Solve the game with moves in $`[-1, 1]`$ for $`T = 4`$ and $`R = 2`$, then for $`R = 1`$ with the
# limit of the sum rounded down. Does the formula hold in both cases? All moves of an interval are
# allowed here, not its two ends alone: `MinimaxPotential.on_interval(loss, horizon)` solves that.

# Answer. It holds for $`R = 2`$ and fails for $`R = 1`$: $`T - R`$ must be even. This is entry E4
# of the [errata](../errata.md). For an odd difference the value is that of a game of one round
# less.

for radius in (2, 1):
    near = MinimaxPotential.on_interval(lambda s, R=radius: s <= -R, 4)
    quoted = sum(comb(5, j) for j in range((4 - radius) // 2 + 1)) / 2**4
    print(f"R = {radius}: value {near.game_value:.4f}, quoted {quoted:.4f}")

# Exercise 3. How much do the weights matter? Replace them by equal weights, and compare the losses
# against `RandomAdversary` and against `GreedyAdversary`. A player is any object with two methods:
# `distribution(chips)` returns a weight for each chip, and `observe(moves)` is told the moves.

# Answer. Much. An adversary may move chips of no weight as it likes, so every weight that the
# minimax player saves on chips whose fate is known ties its hands elsewhere. Equal weights lose
# about twice as much.


class Equal:
    def distribution(self, chips):
        return np.full(chips.positions.size, 1 / chips.positions.size)

    def observe(self, moves):
        pass


for foe in (RandomAdversary(game), GreedyAdversary(longer, game)):
    lost = [
        play(each, foe, n_chips=256, horizon=21).loss(majority)
        for each in (minimax_player(game, majority, horizon=21), Equal())
    ]
    print(f"{type(foe).__name__:16} minimax player {lost[0]:.3f}, equal weights {lost[1]:.3f}")
