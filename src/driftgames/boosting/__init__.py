"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by their positions, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right if the hypothesis is right on it, else to the
left. With one vote per round an example's position is its number of mistakes, so weights and sums
of them are integers: neither the order of rows nor the number of threads changes a bit.

A stump of two classes asks one question and votes for another class on each side. The constant vote
is no stump: where one class has most of the weight, a constant vote could have a larger edge.

The rooms, read from the data to the classifier:

- ``data``: what comes in: frames, categories, weights, cuts and bins
- ``growth``: choose and move: the engine that grows stumps and trees, and moves the examples
- ``weights``: weigh: examples are chips
- ``model``: what comes out: hypotheses, votes, explanations, files and exports
- ``fit``: how: the steps of a fit
- ``estimators``: the classifiers that scikit-learn knows
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
