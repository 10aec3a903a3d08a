r"""Boosters as ONNX graphs: the trees vote in one node, and the calibration follows.

The inputs become the columns that the weak hypotheses ask about; a TreeEnsembleRegressor adds up
the votes :math:`\sum_t \alpha_t h_t(x)`; the sum over :math:`\sum_t \alpha_t` is the decision. The
outputs are ``label`` (what `predict` returns), ``votes`` (the decision function) and
``probabilities``.

Notes
-----
A float32 number :math:`x` is at most :math:`\theta` if and only if it is at most :math:`\theta`
rounded down to float32. So thresholds are rounded down, and each example takes the same way as in
the booster. Integer votes add up exactly in float32. Other votes are added up in float64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.frames import UNKNOWN
from driftgames.boosting.data.pairs import ColumnPairs
from driftgames.boosting.export.treelite import as_trees
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryColumn, CategoryEncoder
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.core.typing import FloatArray

try:
    from onnx import TensorProto, checker, helper, numpy_helper
except ImportError as error:
    raise ImportError('to_onnx needs onnx: pip install "driftgames[onnx]"') from error

_OPSET, _ML_OPSET, _IR = 13, 3, 8  # of 2021: every onnxruntime from 1.11 on runs them
_OUTPUTS = ("label", "votes", "probabilities", "mean", "quantiles")
_COLUMN = np.array([1])  # the axis of a matrix with one column, or over which is summed


def onnx_model(fitted: FittedModel, *, dtype: str, name: str) -> Any:
    """Return the ONNX model of a fitted model of stumps or trees.

    ``name`` is that of the graph, and ``dtype`` is the type of numbers in the inputs and outputs,
    float32 or float64.
    """
    graph = Graph.of(dtype)
    votes = graph.votes(fitted, graph.columns(fitted, graph.add_inputs(fitted)))
    _name_label(graph, fitted, votes)
    of_two = fitted.classes.size == 2
    shown = graph.add("Squeeze", votes, _COLUMN) if of_two else votes
    graph.output("votes", graph.cast(shown, graph.dtype), graph.dtype, 1 if of_two else 2)
    shares = graph.cast(_probabilities(graph, fitted, votes), graph.dtype)
    graph.output("probabilities", shares, graph.dtype, 2)
    return graph.model(name)


@dataclass
class Graph:
    """The parts of a graph; a method that adds a value returns its name."""

    dtype: np.dtype[Any]
    nodes: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def add(self, kind: str, *values: Any, domain: str = "", **attributes: Any) -> str:
        """Add a node; its ``values`` are names, or arrays, which become constants."""
        named = [value if isinstance(value, str) else self._keep(value) for value in values]
        name = f"/{kind}/{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, named, [name], name=name, domain=domain, **attributes)
        )
        return name

    def _keep(self, constant: npt.ArrayLike) -> str:
        name = f"/constant/{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(constant), name))
        return name

    def cast(self, value: str, dtype: npt.DTypeLike) -> str:
        """Add a value as another type."""
        return self.add("Cast", value, to=_type_of(dtype))

    def input(self, name: str, dtype: npt.DTypeLike, width: int) -> str:
        """Add an input of so many columns."""
        shape, taken = ["rows", width], {*_OUTPUTS, *(each.name for each in self.inputs)}
        while name in taken or name.startswith("/"):
            name = f"input {name}"
        self.inputs.append(helper.make_tensor_value_info(name, _type_of(dtype), shape))
        return name

    def output(self, name: str, value: str, dtype: npt.DTypeLike, n_axes: int) -> None:
        """Let a value be an output."""
        shape = ["rows", *([None] * (n_axes - 1))]
        self.outputs.append(helper.make_tensor_value_info(name, _type_of(dtype), shape))
        self.nodes.append(helper.make_node("Identity", [value], [name]))

    @classmethod
    def of(cls, dtype: str) -> Self:
        """Return a graph whose inputs and outputs have this type."""
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64"; got {dtype!r}')
        return cls(np.dtype(dtype))

    def model(self, name: str) -> Any:
        """Return the model of the graph, checked."""
        model = helper.make_model(
            helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.constants),
            opset_imports=[
                helper.make_opsetid("", _OPSET),
                helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
            ],
            producer_name="driftgames",
            ir_version=_IR,
        )
        checker.check_model(model)
        return model

    def add_inputs(self, fitted: FittedModel) -> list[str]:
        """Add the inputs: one matrix or, with categories, one column for each feature."""
        if fitted.encoder is None:
            return [self.input("X", self.dtype, fitted.n_features)]
        features = fitted.encoder.features
        names = [f"x{j}" for j in range(len(features))]
        if fitted.feature_names is not None:
            names = fitted.feature_names.tolist()
        return [
            self.input(str(name), object if _has_words(feature) else self.dtype, 1)
            for name, feature in zip(names, features, strict=True)
        ]

    def columns(self, fitted: FittedModel, inputs: list[str], offset: str | None = None) -> str:
        """Add the columns that the trees ask about; with an ``offset`` it is the last one."""
        parts = inputs
        if fitted.encoder is not None:
            known = zip(inputs, fitted.encoder.features, strict=offset is None)
            parts = [
                name if feature is None else _add_categories(self, name, feature)
                for name, feature in known
            ]
        if offset is not None:
            parts = [*(self.cast(part, np.float64) for part in parts), offset]
        if fitted.pairs is not None:
            parts = [self.cast(part, np.float64) for part in parts]
            parts.append(self._pairs(fitted.pairs, parts))
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=1)

    def _pairs(self, pairs: ColumnPairs, parts: list[str]) -> str:
        """Add the columns of pairs of columns: of one matrix, or of one part for each feature."""
        left, right = np.array(pairs.left), np.array(pairs.right)
        matrix = parts[0]
        if len(parts) > 1:
            used, at = np.unique([left, right], return_inverse=True)
            matrix = self.add("Concat", *(parts[j] for j in used), axis=1)
            left, right = at.reshape(2, -1)
        both = [self.add("Gather", matrix, side.astype(np.int64), axis=1) for side in (left, right)]
        made = self.add("Sub", *both)
        for sign, kind in (("*", "Mul"), ("+", "Add")):
            asked = np.array([[each == sign for each in pairs.operation]])
            made = self.add("Where", asked, self.add(kind, *both), made)
        return made

    def votes(self, fitted: FittedModel, columns: str, *, exact: bool | None = None) -> str:
        """Add the normalised votes of all hypotheses, a column for each class if more than two.

        ``exact`` tells whether votes are added up in float32, as they may be if they are integers.
        """
        trees, weights, integer_votes = as_trees(fitted)
        n_columns = 1 if fitted.classes.size == 2 else fitted.classes.size
        if exact is None:
            exact = self.dtype == np.float32 and integer_votes and fitted.pairs is None
        columns = columns if exact else self.cast(columns, np.float64)
        threshold = _round_down(trees.threshold) if exact else trees.threshold
        of_tree = np.repeat(np.arange(trees.n_nodes.size), trees.n_nodes)
        number = np.arange(of_tree.size) - trees.starts[of_tree]
        asks = trees.left > 0
        leaves = np.flatnonzero(~asks)
        votes = weights[of_tree[leaves]] * trees.vote[leaves].reshape(-1, n_columns)
        real = np.float32 if exact else np.float64

        def numbers(name: str, values: FloatArray) -> dict[str, Any]:
            """Return an attribute of floats; doubles are a tensor and have a name of their own."""
            if exact:
                return {name: values.astype(real).tolist()}
            return {f"{name}_as_tensor": numpy_helper.from_array(values.astype(real), name)}

        votes_of_all = self.add(
            "TreeEnsembleRegressor",
            columns,
            domain="ai.onnx.ml",
            n_targets=n_columns,
            nodes_treeids=of_tree.tolist(),
            nodes_nodeids=number.tolist(),
            nodes_featureids=np.where(asks, trees.feature, 0).tolist(),
            nodes_modes=np.where(asks, "BRANCH_LEQ", "LEAF").tolist(),
            nodes_truenodeids=trees.left.tolist(),
            nodes_falsenodeids=np.where(asks, trees.left + 1, 0).tolist(),
            nodes_missing_value_tracks_true=np.where(asks, trees.missing_left, 0).tolist(),
            target_treeids=np.repeat(of_tree[leaves], n_columns).tolist(),
            target_nodeids=np.repeat(number[leaves], n_columns).tolist(),
            target_ids=np.tile(np.arange(n_columns), leaves.size).tolist(),
            **numbers("nodes_values", np.where(asks, threshold, 0.0)),
            **numbers("target_weights", votes.ravel()),
        )
        total = fitted.vote_weights.sum() if fitted.n_rounds else 1.0
        return self.add("Div", self.cast(votes_of_all, np.float64), np.float64(total))


def _type_of(dtype: npt.DTypeLike) -> int:
    kind = np.dtype(dtype)
    return int(TensorProto.STRING if kind.kind in "OU" else helper.np_dtype_to_tensor_dtype(kind))


def _round_down(thresholds: FloatArray) -> FloatArray:
    """Return the largest float32 numbers that are at most the thresholds."""
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
    down = np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)
    return np.asarray(down, dtype=np.float64)


def _has_words(feature: CategoryColumn | None) -> bool:
    """Return whether these are categories that are all strings."""
    return feature is not None and all(isinstance(each, str) for each in feature.categories)


def _add_categories(graph: Graph, name: str, feature: CategoryColumn) -> str:
    """Add the columns that an input of categories becomes.

    A category is first coded by its number, a missing value by ``n`` and any other by ``n + 1``.
    """
    n = len(feature.categories)
    if _has_words(feature):
        keys = [*feature.categories, *([] if "" in feature.categories else [""])]
        code = graph.add(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_int64s=list(range(len(keys))),
            default_int64=n + 1,
        )
        code = graph.add("Squeeze", code, _COLUMN)
    else:
        known = np.array([feature.categories], dtype=graph.dtype)
        equal = graph.cast(graph.add("Equal", name, known), np.float32)
        missing = graph.cast(graph.add("IsNaN", name), np.float32)
        none = graph.add("Mul", missing, np.float32(0.0))
        none = graph.add("Add", none, np.float32(0.5))  # less than a hit
        answers = graph.add("Concat", equal, missing, none, axis=1)
        code = graph.add("ArgMax", answers, axis=1, keepdims=0)
    codes = np.append(np.arange(n, dtype=np.float64), [np.nan, UNKNOWN])
    rows = CategoryEncoder((feature,)).expand(codes[:, None])
    table = (rows.toarray() if hasattr(rows, "toarray") else rows).astype(graph.dtype)
    return graph.add("Gather", table, code, axis=0)


def _name_label(graph: Graph, fitted: FittedModel, votes: str) -> None:
    """Add the label that `predict` returns."""
    classes, calibration = fitted.classes, fitted.deciding_calibration
    if classes.size == 2:
        above = 0.0
        if calibration is not None:
            votes = graph.add("Mul", votes, np.array([calibration.slope]))
            above = -calibration.intercept
        at = graph.cast(graph.add("Greater", votes, np.float64(above)), np.int64)
        at = graph.add("Squeeze", at, _COLUMN)
    else:
        scores = votes if calibration is None else _scores(graph, calibration, votes)
        at = graph.add("ArgMax", scores, axis=1, keepdims=0)
    labels = classes.astype(object) if classes.dtype.kind in "OU" else classes
    graph.output("label", graph.add("Gather", labels, at, axis=0), labels.dtype, 1)


def _scores(graph: Graph, calibration: Calibration, votes: str) -> str:
    """Add what `Calibration.scores` does to the votes."""
    z = graph.add("Mul", votes, np.array([calibration.slope]))
    intercepts = calibration.class_intercepts or (calibration.intercept,)
    return graph.add("Add", z, np.array(intercepts)) if any(intercepts) else z


def _probabilities(graph: Graph, fitted: FittedModel, votes: str) -> str:
    """Add what `predict_proba` does to the votes."""
    n_classes, calibration = fitted.classes.size, fitted.calibration
    if calibration is not None:
        z = _scores(graph, calibration, votes)
        if n_classes > 2:
            return graph.add("Softmax", z, axis=1)
        first, second = graph.add("Sigmoid", graph.add("Neg", z)), graph.add("Sigmoid", z)
        return graph.add("Concat", first, second, axis=1)
    shares = graph.add("Div", graph.add("Add", votes, np.float64(1.0)), np.float64(2.0))
    if n_classes == 2:
        return graph.add("Concat", graph.add("Sub", np.float64(1.0), shares), shares, axis=1)
    total = graph.add("ReduceSum", shares, _COLUMN, keepdims=1)
    none = graph.add("Equal", total, np.float64(0.0))
    equal = np.full((1, n_classes), 1.0 / n_classes)
    return graph.add("Where", none, equal, graph.add("Div", shares, total))
