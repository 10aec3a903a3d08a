"""Trees in a model file: packed arrays, in which each different question stands once.

The nodes of all trees stand one behind the other, and each has a number ``left``. A question has a
number in the table of questions and a gain, and a leaf has a vote. `Trees` checks that nodes make
up trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftgames.boosting.data.bins import Array
from driftgames.boosting.model.trees import Trees
from driftgames.core.checks import shown
from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.schema import OBJECT
from driftgames.core.typing import BoolArray, Content, IntArray

Arrays = Mapping[str, Array]
"""Trees as a file has them; a regressor's votes are positions."""

_NODES = ("n_nodes", "left", "question", "gain", "vote")
_TABLE = ("feature", "threshold", "missing_left")


def arrays_of(trees: Trees) -> dict[str, Array]:
    """Return the arrays that a file has of trees."""
    asks = trees.left > 0
    asked = {name: getattr(trees, name)[asks] for name in _TABLE}
    return _join(trees.n_nodes, trees.left, trees.gain[asks], trees.vote[~asks], asked)


def _join(
    n_nodes: IntArray, left: Array, gain: Array, vote: Array, asked: dict[str, Array]
) -> dict[str, Array]:
    """Return the arrays of a file from those of trees, nodes, questions and leaves."""
    table, number = _number(asked)
    return {
        "n_nodes": smallest(n_nodes),
        "left": smallest(left),
        "question": smallest(number),
        "gain": gain,
        "vote": smallest(vote),
        "feature": smallest(table["feature"]),
        "threshold": table["threshold"],
        "missing_left": smallest(table["missing_left"]),
    }


def trees_of(arrays: Arrays) -> Trees:
    """Return the trees of checked arrays; raise ValueError if the nodes do not make up trees."""
    asks, number = arrays["left"] > 0, arrays["question"]

    def spread(values: Array, where: BoolArray, dtype: Any, other: int = 0) -> Array:
        """Return one value for each node, which is ``other`` but for some nodes."""
        spread_out = np.full((asks.size, *values.shape[1:]), other, dtype=dtype)
        spread_out[where] = values
        return spread_out

    return Trees(
        n_nodes=arrays["n_nodes"].astype(np.int64),
        feature=spread(arrays["feature"][number], asks, np.int32, -1),
        threshold=spread(arrays["threshold"][number], asks, np.float64),
        missing_left=spread(arrays["missing_left"][number], asks, np.int8),
        left=arrays["left"].astype(np.int32),
        vote=spread(arrays["vote"], ~asks, np.int8),
        gain=spread(arrays["gain"], asks, np.float64),
    )


def pack_trees(content: Content) -> Content:
    """Return the content of a model with its trees, if it has any, as JSON."""
    if "trees" not in content:
        return content
    packed = {name: encode_array(array) for name, array in content["trees"].items()}
    return content | {"trees": packed}


def unpack_trees(content: Content) -> Content:
    """Return the content of a model with its trees, if it has any, as arrays."""
    if "trees" not in content:
        return content
    OBJECT.check("trees", content["trees"])
    arrays = {}
    for name, packed in content["trees"].items():
        try:
            arrays[name] = decode_array(packed)
        except DocumentError as error:
            raise ValueError(f"trees.{name}: {error}") from error
    return content | {"trees": arrays}


def check_trees(arrays: Arrays, n_columns: int, n_classes: int) -> int:
    """Return the number of trees; raise ValueError for the first array that is wrong.

    They ask about ``n_columns`` columns, and of more than two classes a leaf has a vote for each.
    """
    for name in (*_NODES, *_TABLE):
        if name not in arrays:
            raise ValueError(f"trees.{name} is missing")
    if unknown := set(arrays) - {*_NODES, *_TABLE}:
        raise ValueError(f"trees.{min(unknown)} is not a member of such a model")
    left = arrays["left"]
    n_nodes = left.size
    _check(arrays, "n_nodes", None, 1, n_nodes)
    _check(arrays, "left", None, 0, n_nodes)
    if (total := sum(arrays["n_nodes"].tolist())) != n_nodes:
        raise ValueError(f"trees.n_nodes must be of the {n_nodes} nodes; got {total} in all")
    n_questions, n_table = int(np.count_nonzero(left)), arrays["feature"].size
    _check(arrays, "question", (n_questions,), 0, n_table - 1)
    _check(arrays, "gain", (n_questions,), 0.0, 1.0)
    n_leaves = n_nodes - n_questions
    _check(arrays, "vote", (n_leaves,) if n_classes == 2 else (n_leaves, n_classes), -1, 1)
    if not arrays["vote"].all():
        raise ValueError("trees.vote must be 1 or -1; got 0")
    _check(arrays, "feature", None, 0, n_columns - 1)
    _check(arrays, "threshold", (n_table,), -np.finfo(float).max, np.inf)
    _check(arrays, "missing_left", (n_table,), 0, 1)
    return int(arrays["n_nodes"].size)


def _check(
    arrays: Arrays, name: str, shape: tuple[int, ...] | None, low: float, high: float
) -> None:
    """Raise ValueError unless an array has this shape, and numbers of this kind in a range.

    Without a shape it is a list of any length.
    """
    array, is_float = arrays[name], isinstance(low, float)
    fits = array.ndim == 1 if shape is None else array.shape == shape
    if not fits or array.dtype.kind not in ("f" if is_float else "iu"):
        sizes = "any length" if shape is None else f"shape {list(shape)}"
        kind = "numbers" if is_float else "integers"
        got = f"{array.dtype}{list(array.shape)}"
        raise ValueError(f"trees.{name} must be an array of {kind} of {sizes}; got {got}")
    wrong = np.flatnonzero(~((array >= low) & (array <= high)).reshape(-1))
    if wrong.size:
        kind = "a number" if is_float else "an integer"
        value = array.reshape(-1)[wrong[0]].item()
        raise ValueError(
            f"trees.{name}[{wrong[0]}] must be {kind} from {low:g} to {high:g}; got {shown(value)}"
        )


def _number(asked: Mapping[str, Array]) -> tuple[dict[str, Array], IntArray]:
    """Return each different question once, in order, and the number that each one has there."""
    bits = asked["threshold"].view(np.int64)  # 0.0 and -0.0 differ
    columns = (asked["missing_left"], bits, asked["threshold"], asked["feature"])
    order = np.lexsort(columns)
    new = np.zeros(order.size, dtype=bool)
    new[:1] = True
    for column in (asked["missing_left"], bits, asked["feature"]):
        new[1:] |= column[order][1:] != column[order][:-1]
    number = np.empty(order.size, dtype=np.int64)
    number[order] = np.cumsum(new) - 1
    return {name: column[order[new]] for name, column in asked.items()}, number


def smallest(numbers: Array) -> Array:
    """Return integers in the smallest type that holds them, unsigned if none is negative."""
    largest = int(np.abs(numbers).max(initial=0))
    return numbers.astype(np.min_scalar_type(-largest if (numbers < 0).any() else largest))


def upgrade_trees(content: Content) -> Content:
    """Return the content of a model whose trees are lists, one entry for each node, as packed."""
    if "trees" not in content:
        return content
    lists: dict[str, Any] = dict(content["trees"])
    left = _integers(lists["left"])
    asks = left > 0
    votes = [vote for vote, asking in zip(lists["vote"], asks, strict=True) if not asking]
    asked = {
        "feature": _integers(lists["feature"])[asks],
        "threshold": np.array([float(each) for each in lists["threshold"]])[asks],
        "missing_left": _integers(lists["missing_left"])[asks],
    }
    gain = np.array(lists["gain"], dtype=np.float64)[asks]
    arrays = _join(_integers(lists["n_nodes"]), left, gain, _integers(votes), asked)
    return pack_trees(content | {"trees": arrays})


def _integers(values: list[Any]) -> IntArray:
    """Return integers as an array; raise ValueError for anything else."""
    array = np.array(values)
    if array.dtype.kind != "i" and array.size:
        raise ValueError(f"these must be integers: {shown(values)}")
    return array.astype(np.int64)
