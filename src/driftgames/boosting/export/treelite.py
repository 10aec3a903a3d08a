r"""Boosters as Treelite models, which Treelite and TL2cgen run or compile.

The model adds up the votes :math:`\sum_t \alpha_t h_t(x)` in float64, divides them by
:math:`\sum_t \alpha_t` and applies the sigmoid of the calibration, if there is one. `predict`
returns the second class where the output is above 1/2, or without calibration above 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.stumps import Stumps, exact_weights
from driftgames.boosting.model.trees import Trees
from driftgames.core.typing import FloatArray


def treelite_model(model: FittedModel) -> Any:
    """Return the Treelite model of a fitted model of numbers and two classes."""
    try:
        import treelite.model_builder as tl
    except ImportError as error:
        raise ImportError(
            'to_treelite needs treelite: pip install "driftgames[treelite]"'
        ) from error
    if model.encoder is not None or model.classes.size != 2:
        raise ValueError("Treelite models are for columns of numbers and two classes")
    if model.pairs is not None:
        raise ValueError(
            "Treelite models ask about columns of X alone; this model has pairs of columns: fit "
            "with pairs=False"
        )
    trees, weights, _ = as_trees(model)
    total = model.vote_weights.sum() if model.n_rounds else 1.0
    calibration = model.calibration
    scale, base = 1.0 / total, 0.0
    if calibration is not None:
        scale, base = calibration.slope / total, calibration.intercept
    builder = tl.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=tl.Metadata(
            num_feature=model.n_features,
            task_type="kBinaryClf",
            average_tree_output=False,
            num_target=1,
            num_class=[1],
            leaf_vector_shape=(1, 1),
        ),
        tree_annotation=tl.TreeAnnotation(
            num_tree=len(trees), target_id=[0] * len(trees), class_id=[0] * len(trees)
        ),
        postprocessor=tl.PostProcessorFunc("identity" if calibration is None else "sigmoid"),
        base_scores=[base],
    )
    votes = scale * np.repeat(weights[:, 0], trees.n_nodes) * trees.vote.reshape(-1)
    for begin, end in pairwise(trees.starts.tolist()):
        builder.start_tree()
        for n in range(begin, end):
            builder.start_node(n - begin)
            if trees.left[n] > 0:
                builder.numerical_test(
                    feature_id=int(trees.feature[n]),
                    threshold=float(trees.threshold[n]),
                    default_left=bool(trees.missing_left[n]),
                    opname="<=",
                    left_child_key=int(trees.left[n]),
                    right_child_key=int(trees.left[n]) + 1,
                )
            else:
                builder.leaf(float(votes[n]))
            builder.end_node()
        builder.end_tree()
    return builder.commit()


def as_trees(model: FittedModel) -> tuple[Trees, FloatArray, bool]:
    """Return the weak hypotheses as trees, their weights, and whether all weights are 1.

    After no round there is one leaf, weighed by the default vote for each class.
    """
    if model.n_rounds == 0:
        votes = np.ones((1, model.default_vote.size), np.int8)
        return Trees([1], [-1], [0.0], [0], [0], votes, [0.0]), model.default_vote[None], False  # type: ignore[arg-type]
    weights, integer_votes = exact_weights(model.vote_weights, model.n_rounds)
    trees = model.trees if len(model.trees) else stumps_as_trees(model.stumps)
    return trees, weights[:, None], integer_votes


def stumps_as_trees(stumps: Stumps) -> Trees:
    """Return each stump as a tree of one question.

    >>> stumps_as_trees(Stumps([0], [1.5], [-1], [1])).vote
    array([ 0, -1,  1], dtype=int8)
    """
    n = len(stumps)

    def nodes(at_root: npt.ArrayLike, left: npt.ArrayLike, right: npt.ArrayLike) -> Array:
        return np.column_stack(
            [np.broadcast_to(each, n) for each in (at_root, left, right)]
        ).ravel()

    return Trees(
        n_nodes=np.full(n, 3),
        feature=nodes(stumps.feature, -1, -1),
        threshold=nodes(stumps.threshold, 0.0, 0.0),
        missing_left=nodes(stumps.missing_vote == stumps.left_vote, 0, 0),
        left=nodes(1, 0, 0),
        vote=nodes(0, stumps.left_vote, -stumps.left_vote),
        gain=np.zeros(3 * n),
    )
