"""The votes of weak hypotheses, and the class that votes are for."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.stumps import Stumps
from driftgames.boosting.model.tree_model import PairModel, TreeModel
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray


def cast_votes(
    hypothesis: Stumps | Trees, X: Any, classes: Array, *, n_threads: int = 1
) -> FloatArray:
    """Return the votes of one weak hypothesis: -1 or +1 on each row.

    With more than two classes there is a column for each.
    """
    if isinstance(hypothesis, Stumps):
        return hypothesis.votes(X)[:, 0].astype(np.float64)
    of_tree = hypothesis, [1.0], X.shape[1]
    several = classes.size > 2
    tree = PairModel(*of_tree, classes.size) if several else TreeModel(*of_tree)
    return tree.scores(X, n_threads=n_threads).astype(np.float64)


def winners(votes: FloatArray) -> Array:
    """Return the number of the class of most votes, or of the largest score, on each row.

    Of two classes it is the second above 0. A tie is for the first of the tied classes.
    """
    return (votes > 0).astype(np.intp) if votes.ndim == 1 else votes.argmax(axis=1)
