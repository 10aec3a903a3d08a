"""Boosting: every potential makes a booster, and training examples are the chips.

A round weighs the examples by their positions, finds the weak hypothesis of largest edge under
these weights, and moves each example to the right if the hypothesis is right on it, else to the
left (`driftgames.boosting.rounds`). With one vote per round an example's position is its number of
mistakes, so the exhaustive stump is found by counting: integers, a small table of weights, and only
the examples that change position are touched. Stumps add up to one step function per feature: the
model predicts with it, and it explains the predictions. With ``max_depth`` above 1 the weak
hypotheses are trees, grown on the same integers (`driftgames.boosting.tree_growth`).
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
