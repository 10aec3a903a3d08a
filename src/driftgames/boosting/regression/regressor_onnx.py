r"""Regressors as ONNX graphs: the stages one after the other, up to the mean and to quantiles.

Each stage votes in one node. Sigmoids turn its votes into the probabilities to lie above the
thresholds, and these into masses of bins; the mean and the quantiles follow. The mean of a stage is
a column of the next one. All this is done in float64, so the outputs are those of the regressor up
to rounding; a mean that is rounded over a threshold of the next stage may take another way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.boosting.export.onnx import Graph
from driftgames.boosting.regression.distribution import LEVELS
from driftgames.boosting.regression.outcome_thresholds import Thresholds
from driftgames.boosting.regression.stages import NumberStage, StagedModel
from driftgames.core.typing import FloatArray

_LABELS = np.array([1])  # the axis of thresholds
_ALL = np.array([2])  # the axis over which is summed


def regressor_graph(model: StagedModel, q: FloatArray, *, dtype: str, name: str) -> Any:
    """Return the ONNX model of a regressor, with the quantiles at the levels ``q``."""
    graph = Graph.of(dtype)
    if not model.stages:
        raise ValueError("all training outcomes are equal, so that there is no model to write")
    at = np.clip(np.searchsorted(LEVELS, q, side="right") - 1, 0, LEVELS.size - 2)
    known = np.unique([at, at + 1])  # quantiles are linear between these levels
    share = (q - LEVELS[at]) / (LEVELS[at + 1] - LEVELS[at])
    weights = np.zeros((known.size, q.size))
    weights[np.searchsorted(known, at), np.arange(q.size)] = 1.0 - share
    weights[np.searchsorted(known, at + 1), np.arange(q.size)] += share

    inputs, offset, played = graph.add_inputs(model.stages[0].model), None, []
    for stage in model.stages:
        above = _probabilities(graph, stage, inputs, offset)
        mean = graph.add("MatMul", _masses(graph, above), stage.thresholds.means[:, None])
        quantiles = _quantiles(graph, stage.thresholds, above, LEVELS[known])
        if offset is not None:
            mean, quantiles = (graph.add("Add", each, offset) for each in (mean, quantiles))
        played.append((mean, quantiles))
        offset = mean
    chosen = [played[number] for number in model.averaged]
    means, quantiles_of_all = zip(*chosen, strict=True)
    mean = graph.add("Squeeze", _average(graph, model, means), _LABELS)
    found = graph.add("MatMul", _average(graph, model, quantiles_of_all), weights)
    graph.output("mean", graph.cast(mean, graph.dtype), graph.dtype, 1)
    graph.output("quantiles", graph.cast(found, graph.dtype), graph.dtype, 2)
    return graph.model(name)


def _probabilities(graph: Graph, stage: NumberStage, inputs: list[str], offset: str | None) -> str:
    """Add the probabilities of rows to lie above each threshold, as `Sigmoids` has them."""
    columns = graph.columns(stage.model, inputs, offset)
    votes = graph.votes(stage.model, columns, exact=None if offset is None else False)
    scaled = graph.add("Mul", votes, stage.sigmoids.slopes[None])
    above = graph.add("Sigmoid", graph.add("Add", scaled, stage.sigmoids.intercepts[None]))
    each = graph.add("Unsqueeze", above, _LABELS)  # rows, 1, thresholds
    n = stage.thresholds.size
    later = 2.0 * np.triu(np.ones((1, n, n)), 1)
    falling = graph.add("ReduceMin", graph.add("Add", each, later), axes=[2], keepdims=0)
    earlier = 2.0 * np.tril(np.ones((1, n, n)), -1)
    rising = graph.add("ReduceMax", graph.add("Sub", each, earlier), axes=[2], keepdims=0)
    return graph.add("Div", graph.add("Add", falling, rising), np.float64(2.0))


def _masses(graph: Graph, above: str) -> str:
    """Add the probabilities of the bins between thresholds."""
    padded = graph.add("Pad", above, np.array([0, 1, 0, 0]), np.float64(1.0))
    return graph.add("Sub", padded, graph.add("Pad", above, np.array([0, 0, 0, 1])))


def _quantiles(graph: Graph, thresholds: Thresholds, above: str, levels: FloatArray) -> str:
    """Add the quantiles at ascending levels, as `Thresholds.quantiles` has them."""
    below = graph.add("Sub", np.float64(1.0), above)
    passed = graph.add("Less", graph.add("Unsqueeze", below, _LABELS), levels[None, :, None])
    bins = graph.add("ReduceSum", graph.cast(passed, np.int64), _ALL, keepdims=0)
    first = graph.add("Pad", below, np.array([0, 1, 0, 0]))
    last = graph.add("Pad", below, np.array([0, 0, 0, 1]), np.float64(1.0))
    begin, end = (graph.add("GatherElements", each, bins, axis=1) for each in (first, last))
    width = graph.add("Sub", end, begin)
    share = graph.add("Div", graph.add("Sub", levels[None], begin), width)
    share = graph.add("Where", graph.add("Greater", width, np.float64(0.0)), share, np.float64(1.0))
    share = graph.add("Min", graph.add("Max", share, np.float64(0.0)), np.float64(1.0))
    steps = np.diff(thresholds.starts) - 1.0
    place = graph.add("Mul", share, graph.add("Gather", steps, bins))
    whole = graph.add("Floor", place)
    whole = graph.add("Min", whole, graph.add("Gather", steps - 1.0, bins))
    knot = graph.add(
        "Add", graph.cast(whole, np.int64), graph.add("Gather", thresholds.starts, bins)
    )
    low = graph.add("Gather", thresholds.knots, knot)
    high = graph.add("Gather", thresholds.knots, graph.add("Add", knot, np.int64(1)))
    within = graph.add("Mul", graph.add("Sub", place, whole), graph.add("Sub", high, low))
    return graph.add("Add", low, within)


def _average(graph: Graph, model: StagedModel, parts: tuple[str, ...]) -> str:
    """Add the mean of parts, in the unit of the outcome."""
    mean = graph.add("Sum", *parts)
    mean = graph.add("Div", mean, np.float64(len(parts)))
    mean = graph.add("Add", mean, np.float64(model.origin))
    half = model.exponent // 2  # the whole power of two need not be a float
    for power in (half, model.exponent - half):
        mean = graph.add("Mul", mean, np.float64(2.0**power))
    return mean
