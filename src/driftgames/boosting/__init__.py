"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by their positions, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right if the hypothesis is right on it, else to the
left. With one vote per round an example's position is its number of mistakes, so weights and sums
of them are integers: neither the order of rows nor the number of threads changes a bit.

A stump of two classes asks one question and votes for another class on each side. The constant vote
is no stump: where one class has most of the weight, a constant vote could have a larger edge.

Read ``plain`` first: it is the algorithm in NumPy, and the booster of any weak learner. Then, from
the data to the classifier:

- ``data``: what comes in: frames, categories, weights, cuts and bins
- ``model``: what comes out: hypotheses, votes, explanations and files; ``export`` has other forms
- ``engine``: the game: weigh the examples, grow a stump or a tree, move the examples
- ``fit``: the steps of a fit, for examples in memory, in batches or on a cluster
- ``parameters``, ``fitted``, ``booster``, ``estimators``: the classifiers that scikit-learn knows
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
