r"""Lesson 4: why NormalHedge.DT needs no epsilon.

The regret to the **best** action is one question. The regret to the best **tenth** of them, where
any of them would do, is an easier one: it is called the $`\epsilon`$-regret, with
$`\epsilon = 0.1`$. Exponential weights must be told $`\epsilon`$ and the number of rounds before
they start. NormalHedge.DT keeps all promises at once. This lesson shows why, and how close play
comes to the promises.
"""

import numpy as np

from driftgames.potentials import Exponential, NormalHedgeDT

# ## One tuning for each epsilon
#
# Exponential weights with rate $`\eta`$ promise
#
# $$\frac{\ln(1/\epsilon)}{\eta} + \frac{T \ln\cosh\eta}{\eta}$$
#
# for moves in $`[-1, 1]`$. The best $`\eta`$ depends on $`\epsilon`$ and $`T`$. Tune it for one
# $`\epsilon`$ and look at the promise for another.

T, epsilons = 1000, np.array([0.001, 0.01, 0.1, 0.5])
print(f"{'epsilon':16}" + "".join(f"{e:>8g}" for e in epsilons))
for tuned in (0.001, 0.5):
    bounds = Exponential.for_game(T, tuned).bound(T, epsilons)
    print(f"EXP for {tuned:<8g}" + "".join(f"{each:8.1f}" for each in bounds))
dt = NormalHedgeDT().bound(T, epsilons)
print(f"{'NormalHedge.DT':16}" + "".join(f"{each:8.1f}" for each in dt))

# A rate that is tuned for the wrong $`\epsilon`$ costs up to 1.7 times the promise. A rate in the
# middle is near the best for all of these. But every rate must know $`T`$: with that of 1,000
# rounds the promise for 100,000 grows in proportion to the rounds.

for length in (1_000, 100_000):
    fixed = float(Exponential.for_game(T, 0.1).bound(length, 0.1))
    free = float(NormalHedgeDT().bound(length, 0.1))
    print(f"{length:7,d} rounds: EXP for 1,000 rounds {fixed:7.1f}, NormalHedge.DT {free:7.1f}")

# NormalHedge.DT knows neither number, and pays a factor for that. The figure divides each promise
# by $`\sqrt{2 T \ln(1/\epsilon)}`$, the best one of a tuned learner.

from driftgames.plots.style import new_axes, with_styles
from driftgames.plots import save_figure

fine = np.logspace(-4, np.log10(0.5), 60)
best = np.sqrt(2 * T * np.log(1 / fine))
curves = {
    f"EXP tuned for {e:g}": Exponential.for_game(T, e).bound(T, fine) for e in (0.001, 0.1, 0.5)
}
curves["NormalHedge.DT"] = NormalHedgeDT().bound(T, fine)
figure, axes = new_axes()
for _, curve, style in with_styles(curves.items()):
    axes.plot(fine, curve / best, **style)
axes.set_xscale("log")
axes.set(xlabel="ε", ylabel="promise / best tuned promise", ylim=(0, 3))
axes.legend(frameon=False)
save_figure(figure, "no_epsilon_promises.svg")

# ## Why it works
#
# The weight of a chip under exponential weights depends on $`e^{-\eta s}`$: one scale for ever. A
# chip at $`-\sqrt{T}`$ and a chip at $`-3\sqrt{T}`$ differ by a factor that is right for one
# $`\epsilon`$ only. In $`e^{s^2/(3t)}`$ the rate is $`2s/(3t)`$: **the further a chip is behind,
# the larger the rate that it sees**. A chip at the distance that matters for $`\epsilon`$ sees the
# rate that is right for $`\epsilon`$.

for epsilon in (0.001, 0.1, 0.5):
    distance = float(NormalHedgeDT().bound(T, epsilon))
    tuned = Exponential.for_game(T, epsilon).eta
    print(
        f"epsilon {epsilon:5g}: rate at -{distance:5.1f} is {2 * distance / (3 * T):.4f}, "
        f"tuned eta {tuned:.4f}"
    )

# ## How close does play come?
#
# Coins are the classical hard case. Every learner loses $`T/2`$ on average, so its expected regret
# is the lead of the luckiest of $`N`$ coins. Divided by $`\sqrt{T \ln N}`$ that lead tends to
# $`\sqrt{1/2} = 0.71`$, but slowly: for 4, 32 and 256 coins it is about 0.44, 0.56 and 0.60.

from driftgames.games import LookaheadAdversary, PotentialPlayer, StochasticAdversary, play

for n_chips in (4, 32, 256):
    ratio = [
        -play(
            PotentialPlayer(NormalHedgeDT()),
            StochasticAdversary(gap=0.0),
            n_chips=n_chips,
            horizon=400,
            rng=seed,
        ).chips.positions.min()
        / np.sqrt(400 * np.log(n_chips))
        for seed in range(10)
    ]
    print(f"{n_chips:3d} chips: mean regret is {np.mean(ratio):.2f} sqrt(T ln N) on coins")

# Coins have luck. `LookaheadAdversary` has none: it always chooses the losses after which coins
# would hurt most. Against exponential weights that are tuned for the game it uses 84 % of the
# promise.

N, T = 8, 200
players = {"EXP, tuned": Exponential.for_game(T, 1 / N), "NormalHedge.DT": NormalHedgeDT()}
regret, promised = {}, {}
rounds = np.arange(1, T + 1)
for name, potential in players.items():
    game = play(
        PotentialPlayer(potential), LookaheadAdversary(T), n_chips=N, horizon=T, record=True
    )
    regret[name] = -game.history.positions[1:].min(axis=1)
    promised[name] = potential.hedge_bound(rounds, 1 / N)
    last, bound = regret[name][-1], promised[name][-1]
    print(f"{name:15} regret {last:.2f} of {bound:.2f} promised, {last / bound:.0%}")

from driftgames.plots import plot_regret_over_time

save_figure(plot_regret_over_time(rounds.astype(float), regret, promised), "no_epsilon_bites.svg")

# ## Exercises

# Exercise 1. Half of 64 actions are copies of one good action. Which $`\epsilon`$ makes the
# promise of NormalHedge.DT smallest and still useful here? Play 500 rounds of losses and compare
# the certificate at $`\epsilon = 1/64`$ and at $`\epsilon = 1/2`$.

# Answer. All 32 copies have the same loss, so the regret to the best half **is** the regret to the
# best action, and the promise at $`\epsilon = 1/2`$ is the smaller one. You need not know about
# the copies before you play.

from driftgames import Hedge

rng = np.random.default_rng(3)
good = (rng.random((500, 1)) < 0.35).astype(float)
others = (rng.random((500, 32)) < 0.5).astype(float)
certificate = Hedge(64).run(np.hstack([np.repeat(good, 32, axis=1), others])).certificate()
for epsilon in (1 / 64, 1 / 2):
    row = certificate.at(epsilon)
    print(f"epsilon {epsilon:.3f}: regret {row.realised:.2f}, promised {row.promised:.1f}")

# Exercise 2. Table 1 of the paper says that the $`\epsilon`$-regret of NormalHedge is of order
# $`\sqrt{T \ln(1/\epsilon)} + \ln^2 N`$. What would that mean at $`\epsilon = 1`$? Play two
# actions whose losses alternate, 1 and 0, then 0 and 1, for 100 and for 10,000 rounds, and look at
# the regret to the **worse** of the two.

# Answer. The printed order does not depend on $`T`$ at $`\epsilon = 1`$, but the regret grows as
# $`\sqrt{T}`$. The bound of Chaudhuri, Freund and Hsu has $`1 + \ln(1/\epsilon)`$. This is entry
# E6 of the [errata](../errata.md).

from driftgames import NormalHedge

for n_rounds in (100, 10_000):
    alternating = np.tile([[1.0, 0.0], [0.0, 1.0]], (n_rounds // 2, 1))
    learner = NormalHedge(2)
    learner.run(alternating)
    worst = learner.certificate().at(1.0).realised
    print(f"{n_rounds:6d} rounds: {worst:6.2f}, that is {worst / n_rounds**0.5:.2f} sqrt(T)")

# Exercise 3. The printed Corollary 2 replaces $`1 - b_0`$ by $`\tfrac12(e^{4/3} - 1)(\ln T + 1)`$.
# How much does that cost at $`T = 10^6`$ and $`\epsilon = 0.01`$? The printed form is the function
# `corollary_2` of `driftgames.certificates.bounds`.

# Answer. A few per cent, because it stands inside a logarithm and a root. `bound` uses the sum
# itself. This is remark R3 of the [errata](../errata.md).

from driftgames.certificates.bounds import corollary_2

exact = float(NormalHedgeDT().bound(10**6, 0.01))
printed = float(corollary_2(10**6, 0.01))
print(f"exact {exact:.1f}, printed {printed:.1f}: {printed / exact - 1:.1%} more")
