r"""Lesson 1: Hedge is a drifting game.

Theorem 1 of the paper says that two problems are one. In **Hedge**, a learner spreads its weight
over actions, sees their losses in $`[0, 1]`$, and wants a small regret. In the **game** DGv1, a
player spreads its weight over chips, an adversary moves them, and few chips may end far to the
left. A strategy for one is a strategy for the other. This lesson plays both directions.

You need the [first tutorial on games](game.md).
"""

import numpy as np

from driftgames import Hedge
from driftgames.games import (
    HedgeAsPlayer,
    PlayerAsHedge,
    PotentialPlayer,
    RandomAdversary,
    StochasticAdversary,
    play,
)
from driftgames.potentials import NormalHedgeDT

# ## From a player to a learner
#
# Algorithm 2 turns a player into a learner. It moves each chip by the loss of its action, less the
# loss of the learner:
#
# $$z_i = \ell_i - p\cdot\ell$$
#
# So the position of a chip is the loss of the action less the loss of the learner. **The regret to
# an action is minus the position of its chip.** We convert the player of NormalHedge.DT and
# compare it with `Hedge`, which is written in another way.

losses = np.random.default_rng(0).random((1000, 5))
converted = PlayerAsHedge(PotentialPlayer(NormalHedgeDT()), n_actions=5)
own = np.array([converted.update(row) for row in losses])
learner = Hedge(5)
same = learner.run(losses).learner_losses
print(f"largest difference of a loss: {np.abs(own - same).max():.0e}")
print(f"regret by the chips  {-converted.chips.positions.min():.6f}")
print(f"regret by the losses {learner.certificate().at(1 / 5).realised:.6f}")

# ## From a learner to a player
#
# Algorithm 1 goes back. An adversary moves the chips by $`z`$, and the learner is told the losses
#
# $$\ell_i = z_i - \min_j z_j$$
#
# The rule $`|z_i - z_j| \le 1`$ keeps them in $`[0, 1]`$. Against an adversary whose moves come
# from losses, the two conversions undo each other.

there = play(HedgeAsPlayer(Hedge(5)), StochasticAdversary(), n_chips=5, horizon=1000, record=True)
back = play(
    PotentialPlayer(NormalHedgeDT()), StochasticAdversary(), n_chips=5, horizon=1000, record=True
)
print(f"largest difference of a probability: {np.abs(there.history.p - back.history.p).max():.0e}")

# ## What the theorem says
#
# Let the player's loss be the share of chips at or left of $`-R`$. If the learner's
# $`\epsilon`$-regret is below $`R`$ on every sequence, then fewer than a share $`\epsilon`$ of the
# chips end there. Count them for many chips.

from driftgames.games import LookaheadAdversary
from driftgames.plots import save_figure

potential, n_chips, horizon = NormalHedgeDT(), 12, 200
game = play(
    HedgeAsPlayer(Hedge(n_chips)), LookaheadAdversary(horizon), n_chips=n_chips, horizon=horizon
)
ends = np.sort(game.chips.positions)
for rank in (1, 3, 6, 12):
    epsilon = rank / n_chips
    print(
        f"epsilon {epsilon:.2f}: chip {rank:2d} ends at {ends[rank - 1]:7.2f}, "
        f"never left of {-potential.bound(horizon, epsilon):.2f}"
    )

# The picture shows the whole game: the chips, their probabilities, and the average potential.

record = play(
    PotentialPlayer(potential),
    LookaheadAdversary(horizon),
    n_chips=n_chips,
    horizon=horizon,
    record=True,
)
save_figure(record.plot(), "theorem_1_game.svg")

# ## Exercises
#
# Try each in a notebook before you open the answer.

# Exercise 1. Appendix A of the paper says that the player suffers the **sum** of the losses of the
# chips. Section 2 says that it is the **average**. Which of the two fits Theorem 1, whose claim is
# $`L_T \le i/N`$? Check it on the game above, with the loss 1 for a chip at or left of $`-3`$.

# Answer. The average. A sum would be a number of chips, and $`i/N`$ is a share. This is entry E7
# of the [errata](../errata.md).

behind = game.chips.positions <= -3
print(f"sum {behind.sum()}, average {behind.mean():.3f} = {behind.sum()}/{n_chips}")

# Exercise 2. `RandomAdversary` sometimes moves the chips further to the right than the rules ask,
# with $`p\cdot z > 0`$. Play it against `HedgeAsPlayer(Hedge(5))` and against
# `PotentialPlayer(NormalHedgeDT())` with the same seed. The two now play differently. Why? Which
# of the two does Theorem 1 cover?

# Answer. The learner sees differences of moves only: adding 1 to every move changes no loss. The
# player sees the positions, which have drifted to the right. So the learner goes on as if the
# adversary had not been generous. Theorem 1 covers the learner as a player in this case too: its
# chips stand at least as far to the right as its regrets say.

for name, player in (
    ("learner", HedgeAsPlayer(Hedge(5))),
    ("player", PotentialPlayer(NormalHedgeDT())),
):
    end = play(player, RandomAdversary(), n_chips=5, horizon=300, rng=1).chips.positions.min()
    print(f"{name:8} lowest chip at {end:.2f}")
hedge = HedgeAsPlayer(Hedge(5))
play(hedge, RandomAdversary(), n_chips=5, horizon=300, rng=1)
print(f"regret of the learner {hedge.learner.certificate().at(1 / 5).realised:.2f}")

# Exercise 3. Write an adversary that breaks the rule $`|z_i - z_j| \le 1`$ and see what `play`
# says. An adversary is any object with a method `moves(chips, p, rng)` that returns one move for
# each chip. Which losses would Algorithm 1 make of its moves?

# Answer. Two chips that move by $`\pm 1`$ obey $`p\cdot z \ge 0`$ if both weigh the same. Their
# losses would be 0 and 2, and a learner for losses in $`[0, 1]`$ has no guarantee for them.


class Wide:
    def moves(self, chips, p, rng):
        return np.array([1.0, -1.0])


try:
    play(PotentialPlayer(NormalHedgeDT()), Wide(), n_chips=2, horizon=1)
except ValueError as error:
    print(f"{type(error).__name__}: {error}")
