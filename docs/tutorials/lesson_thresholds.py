r"""Lesson 6: thresholds are chips.

Boosting is a game about right and wrong, and a number is neither. This lesson turns a number into
questions that are: is it above this threshold? Each pair of example and threshold is a chip. Thirty
lines of NumPy play the rounds, and Theorem 3 becomes a bound on an absolute error. The reduction is
not in the paper; the theorem that it uses is.
"""

import numpy as np

from driftgames.hedge.plain import normal_hedge_dt_weights

# ## Pairs
#
# Let $`\theta_1 < \dots < \theta_K`$ be quantiles of the outcomes. Example $`i`$ has the label
# $`Y_{ik} = +1`$ for threshold $`k`$ if $`y_i > \theta_k`$, else $`-1`$. The outcomes here spread
# more and more from left to right, and a second column is noise.

rng = np.random.default_rng(0)
n = 250
X = rng.uniform(0, 10, size=(n, 2))
y = 10 * np.sin(X[:, 0] / 3) + X[:, 0] * rng.normal(size=n) / 4
thresholds = np.quantile(y, np.arange(1, 12) / 12)
Y = np.where(y[:, None] > thresholds, 1, -1)
print(Y.shape, "pairs; the first row:", Y[0])

# A row of labels begins with $`+1`$ and ends with $`-1`$. How many are $`+1`$ is the *position* of
# the example among the thresholds.
#
# A pair should count as much as it says about the number. The *gap* of a threshold is half the
# distance between its neighbours.

steps = np.diff(thresholds)
gaps = (np.append(steps[0], steps) + np.append(steps, steps[-1])) / 2
print("gaps", gaps.round(2))

# ## Thirty lines
#
# A leaf votes a position $`j`$: $`+1`$ for the first $`j`$ thresholds, $`-1`$ for the others. So it
# never says that a number lies above a threshold and below a lower one. The best position of a leaf
# follows from one cumulative sum. The rest is NH-Boost.DT: the chips are pairs, and their weights
# are multiplied by the gaps.


def best_positions(signed):
    """Return the position of the largest edge for each row of signed weights, and that edge."""
    before = np.cumsum(np.pad(signed, ((0, 0), (1, 0))), axis=1)
    edges = 2 * before - before[:, -1:]
    return edges.argmax(axis=1), edges.max(axis=1)


def best_stump(X, signed):
    """Return the position that the best question gives to each example."""
    best, voted = 0.0, None
    for x in X.T:
        order = np.argsort(x)
        left = np.cumsum(signed[order], axis=0)[:-1]
        (low, one), (high, other) = best_positions(left), best_positions(signed.sum(axis=0) - left)
        cut = int(np.argmax(one + other))
        if one[cut] + other[cut] > best:
            best, voted = one[cut] + other[cut], np.where(x <= x[order[cut]], low[cut], high[cut])
    return voted


def boost(X, Y, gaps, n_rounds):
    """Return the position that each round gives to each example, and the edges."""
    s, voted, edges = np.zeros(Y.shape), [], []
    for t in range(1, n_rounds + 1):
        w = gaps * normal_hedge_dt_weights(s, t)
        w = w / w.sum()
        voted.append(best_stump(X, w * Y))
        h = np.where(np.arange(Y.shape[1]) < voted[-1][:, None], 1, -1)
        edges.append((w * Y * h).sum() / 2)
        s += Y * h / 2 - edges[-1]  # [LS14, Alg. 6]: the move of a pair
    return np.array(voted), np.array(edges)


n_rounds = 201
voted, edges = boost(X, Y, gaps, n_rounds)
print(f"mean edge {edges.mean():.3f}")

# ## The vote is a median
#
# The vote for a threshold is the majority of the rounds. So the thresholds that the vote puts below
# a number are those below the *median* of the positions.

h = np.where(np.arange(gaps.size) < voted[:, :, None], 1, -1)  # rounds, examples, thresholds
votes = h.mean(axis=0)
positions = (votes > 0).sum(axis=1)
print((positions == np.median(voted, axis=0)).all())

# The vote $`v_k`$ says more than its sign: it falls from threshold to threshold, as
# $`P(y > \theta_k)`$ does. The sigmoid $`1 / (1 + e^{-a v_k})`$ makes a probability of it. Where
# this passes a tenth, a half and nine tenths, it draws a band, wide on the right, where outcomes
# spread. The slope $`a`$ is the best one for the training set here, so the band is too narrow;
# `NHBoostDTRegressor` fits sigmoids to held-out votes.

from driftgames.plots import save_figure
from driftgames.plots.style import new_axes

middles = np.append(thresholds[0] - gaps[0] / 2, thresholds + np.append(steps, steps[-1]) / 2)
slopes = np.arange(1, 101)
scores = [(((1 / (1 + np.exp(-a * votes)) - (Y > 0)) ** 2) * gaps).sum() for a in slopes]
above = 1 / (1 + np.exp(-slopes[np.argmin(scores)] * votes))
low, median, high = (middles[(above > level).sum(axis=1)] for level in (0.9, 0.5, 0.1))
order = np.argsort(X[:, 0])
figure, axes = new_axes()
axes.fill_between(X[order, 0], low[order], high[order], alpha=0.3, step="mid", color="#0072b2")
axes.step(X[order, 0], median[order], where="mid", color="#0072b2")
axes.plot(X[:, 0], y, ".", color="#d55e00", markersize=4)
axes.set(xlabel="first column", ylabel="outcome")
save_figure(figure, "thresholds_band.svg")

# ## An error over pairs is an absolute error
#
# An example at position $`k_i`$ that the vote puts at $`m_i`$ is wrong on the thresholds between.
# Their gaps add up to the distance between the middles of two bins. So with $`n`$ examples
#
# $$\frac{\sum_{i,k} g_k [\text{pair } (i, k) \text{ is wrong}]}{n \sum_k g_k}
#   = \frac{1}{n \sum_k g_k} \sum_i |\mu_{m_i} - \mu_{k_i}|$$
#
# where $`\mu_j`$ is the middle of bin $`j`$: the weighted training error is the mean absolute error
# of the median vote, for outcomes rounded to the middles of their bins, in units of all gaps.

wrong = np.where(votes > 0, 1, -1) != Y
own = (Y > 0).sum(axis=1)
over_pairs = (wrong * gaps).sum() / (n * gaps.sum())
absolute = np.abs(middles[positions] - middles[own]).mean() / gaps.sum()
print(f"over pairs {over_pairs:.6f}, absolute {absolute:.6f}")

# ## Theorem 3 over pairs
#
# The theorem is about chips with a prior, and knows nothing of numbers. With the gaps as the prior
# of the pairs it bounds the left side of this equation, and so the right side. The gaps are rounded
# to integers here, as in the library, and their sum stands for the number of examples.

from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.potentials import NormalHedgeDT

masses = np.broadcast_to(np.rint(gaps / gaps.max() * 1000).astype(int), Y.shape)
certificate = MarginCertificate.of_regret(
    "NH-Boost.DT over pairs",
    n_rounds,
    Margins.of_examples((Y * votes).ravel(), masses.ravel()),
    float((wrong * masses).sum() / masses.sum()),
    float(edges.mean()),
    NormalHedgeDT().bound,
)
print(certificate)
save_figure(certificate.plot(), "thresholds_certificate.svg")

# The first edges are large; then the pairs remain whose outcome is near to their threshold, and one
# question says little about them. So the theorem needs more rounds. Larger trees have larger edges.

for first in (10, 50, n_rounds):
    print(f"mean edge of the first {first:3d} rounds: {edges[:first].mean():.3f}")

# A promise would be about the rows of the training set. What is seen on new rows is another
# question: [regression](../regression.md#a-promise-about-new-rows) says what rows held out promise
# there.
#
# ## Exercises

# Exercise 1. Let every leaf vote for each threshold by itself, $`+1`$ where the signed weight is
# positive. For the same weights the edge cannot be smaller. What is lost?

# Answer. The order. A leaf may say that a number is above a threshold and below a lower one, and
# then the votes of an example are no position. The training error falls, because more is fitted;
# some final votes are in no order, and no distribution has them.


def boost_apart(X, Y, gaps, n_rounds):
    s, total = np.zeros(Y.shape), np.zeros(Y.shape)
    for t in range(1, n_rounds + 1):
        w = gaps * normal_hedge_dt_weights(s, t)
        signed = w / w.sum() * Y
        best, h = -1.0, None
        for x in X.T:
            order = np.argsort(x)
            left = np.cumsum(signed[order], axis=0)[:-1]
            value = (np.abs(left) + np.abs(signed.sum(axis=0) - left)).sum(axis=1)
            cut = int(np.argmax(value))
            if value[cut] > best:
                sides = np.sign(left[cut]), np.sign(signed.sum(axis=0) - left[cut])
                best, h = value[cut], np.where((x <= x[order[cut]])[:, None], *sides)
        s += Y * h / 2 - (signed * h).sum() / 2
        total += h
    return total / n_rounds


apart = boost_apart(X, Y, gaps, n_rounds)
mixed = (np.diff((apart > 0).astype(int), axis=1) > 0).any(axis=1)
error = ((np.where(apart > 0, 1, -1) != Y) * gaps).sum() / (n * gaps.sum())
print(
    f"error over pairs {error:.4f}, was {over_pairs:.4f}; votes in no order: {mixed.sum()} of {n}"
)

# Exercise 2. Replace the gaps by ones. Which error does Theorem 3 bound then? Take an outcome with
# a long tail, $`e^{y/2}`$, and compare both fits in units of it and in numbers of thresholds.

# Answer. The mean number of thresholds between the vote and the outcome: an absolute error of
# ranks. Each fit is better in the unit that it was weighed by. Where quantiles are far apart, in
# the tail, ranks do not care.

quantiles = np.exp(thresholds / 2)
widths = np.diff(quantiles)
tailed = (np.append(widths[0], widths) + np.append(widths, widths[-1])) / 2
centres = np.append(quantiles[0] - tailed[0] / 2, quantiles + np.append(widths, widths[-1]) / 2)
for name, prior in (("gaps", tailed), ("ones", np.ones(gaps.size))):
    found, _ = boost(X, Y, prior, 61)
    median = np.median(found, axis=0).astype(int)
    units, ranks = np.abs(centres[median] - centres[own]), np.abs(median - own)
    print(f"{name}: off by {units.mean():.3f} units, {ranks.mean():.3f} thresholds")

# Exercise 3. The Brier score of a pair is
# $`(P(y > \theta_k) - [y > \theta_k])^2`$. What is its sum over the thresholds, each times its gap?

# Answer. The CRPS of a distribution function that is constant around each threshold, for outcomes
# rounded as above: $`\int (F(z) - [z \ge y])^2 dz`$. So the gaps make an absolute error of the
# votes, and a CRPS of the probabilities. The library chooses sizes by this score on held-out rows.

brier = ((above - (Y > 0)) ** 2 * gaps).sum(axis=1)
z = np.linspace(middles[0], middles[-1], 200_001)
cell = np.clip(np.searchsorted(middles, z, side="right") - 1, 0, gaps.size - 1)
for i in (0, 1, 2):
    integral = np.mean((1 - above[i, cell] - (z >= middles[own[i]])) ** 2) * (z[-1] - z[0])
    print(f"Brier score {brier[i]:.4f}, integral {integral:.4f}")
