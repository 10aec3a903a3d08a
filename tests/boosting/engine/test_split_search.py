"""Scores and edges of all cuts of a feature are those of sums in NumPy."""

import numpy as np
import pytest
from numba import njit

from driftgames._kernels.templates import instantiate
from driftgames.boosting.engine import several_classes, two_classes
from driftgames.boosting.engine.shape import GINI, KEARNS_MANSOUR
from driftgames.boosting.engine.split_search import FeatureCuts


def compile_sides(sides):
    score_cuts = instantiate(sides.score_cuts, sides=sides)
    edge_cuts = instantiate(sides.edge_cuts, sides=sides)

    @njit
    def scores(cuts, least, criterion, running, out):
        score_cuts(cuts, least, criterion, running, out)

    @njit
    def edges(cuts, running, out):
        edge_cuts(cuts, running, out)

    return scores, edges


@njit
def score_pairs(left, right, criterion):
    return several_classes.score(left, criterion) + several_classes.score(right, criterion)


TWO, SEVERAL = "two classes", "several classes"
COMPILED = {TWO: compile_sides(two_classes), SEVERAL: compile_sides(several_classes)}
LANES = {TWO: two_classes.LANES, SEVERAL: several_classes.LANES}


def draw(rng, kind):
    """Return a table of bins, where a feature begins, its cuts, and which bins are its own.

    The sums of other features stand on both sides. Some bins are empty. The last bin of the
    feature holds its missing values.
    """
    n_blocks, lanes = (1 if kind == TWO else int(rng.integers(1, 3))), LANES[kind]
    first, n_cuts, least = (int(rng.integers(*ends)) for ends in ((0, 4), (1, 7), (1, 4)))
    n_bins = first + n_cuts + 3
    bins = rng.integers(0, 9, (2 * n_blocks + (least > 1), n_bins, lanes))
    if least > 1:
        bins[-1] = 0
        bins[-1, :, 0] = rng.integers(1, 4, n_bins)
    bins[:, rng.random(n_bins) < 0.3] = 0
    totals = bins[:, first : first + n_cuts + 1].sum(axis=1)
    return bins, first, n_cuts, least, totals


def left_sides(bins, first, n_cuts, lost):
    """Return the sums on the left of every cut."""
    lefts = bins[:, first : first + n_cuts].cumsum(axis=1)
    return lefts if lost < 0 else lefts + bins[:, lost, np.newaxis]


def split_parts(sums):
    """Return the sums of both kinds, and the size if there is one."""
    half = len(sums) // 2
    return sums[:half], sums[half : 2 * half], sums[-1].flat[0]


def score(sums, criterion):
    lower, upper, _ = split_parts(sums)
    below = (lower + upper).astype(float)
    if criterion == KEARNS_MANSOUR:
        below += 2 * np.sqrt(lower * upper)
    return float(((upper - lower) ** 2 / np.maximum(below, 1)).sum())


def weight(sums):
    return int(sums[: len(sums) // 2 * 2].sum())


def edge(sums):
    lower, upper, _ = split_parts(sums)
    return upper - lower


def is_question(bin_sums, left, right, least, direction):
    """Tell whether a cut is a question; ``direction`` is 0 at the last cut."""
    if weight(bin_sums) == 0 or weight(right) == 0:
        return False
    if direction and edge(left).sum() * direction > 0 > edge(right).sum() * direction:
        return False
    return least == 1 or min(split_parts(left)[2], split_parts(right)[2]) >= least


def scratch(bins, n_cuts, kind):
    """Return buffers that hold the numbers of another feature."""
    columns = n_cuts if kind == TWO else LANES[kind]
    table = np.ascontiguousarray(bins.reshape(len(bins), -1))
    return table, np.full((len(bins), columns), 77)


@pytest.mark.parametrize("kind", [TWO, SEVERAL])
@pytest.mark.parametrize("criterion", [GINI, KEARNS_MANSOUR])
def test_every_cut_has_the_score_of_its_sides(kind, criterion):
    rng = np.random.default_rng(7)
    kernel, _ = COMPILED[kind]
    n_marked = n_scored = 0
    for _ in range(300):
        bins, first, n_cuts, least, totals = draw(rng, kind)
        direction = int(rng.integers(-1, 2)) if kind == TWO else 0
        table, running = scratch(bins, n_cuts, kind)
        for lost in (first + n_cuts, -1):
            found = np.full(n_cuts, 99.0)
            cuts = FeatureCuts(table, first, n_cuts, lost, totals, direction)
            kernel(cuts, least, criterion, running, found)
            lefts = left_sides(bins, first, n_cuts, lost)
            for b in range(n_cuts):
                left = np.ascontiguousarray(lefts[:, b])
                right = totals - left
                steps = direction if b < n_cuts - 1 else 0
                if is_question(bins[:, first + b], left, right, least, steps):
                    expected = score(left, criterion) + score(right, criterion)
                    assert found[b] == pytest.approx(expected, rel=1e-12)
                    if kind == SEVERAL:  # both sides at once round as one by one
                        assert found[b] == score_pairs(left, right, criterion)
                    n_scored += 1
                else:
                    assert found[b] == -1.0
                    n_marked += 1
    assert min(n_marked, n_scored) > 300


@pytest.mark.parametrize("kind", [TWO, SEVERAL])
def test_every_cut_has_the_edge_of_its_sides(kind):
    rng = np.random.default_rng(8)
    for _ in range(300):
        bins, first, n_cuts, _, totals = draw(rng, kind)
        direction = int(rng.integers(-1, 2)) if kind == TWO else 0
        table, running = scratch(bins, n_cuts, kind)
        for lost in (first + n_cuts, -1):
            found = np.full(n_cuts, 99)
            cuts = FeatureCuts(table, first, n_cuts, lost, totals, direction)
            COMPILED[kind][1](cuts, running, found)
            lefts = left_sides(bins, first, n_cuts, lost)
            for b in range(n_cuts):
                left, right = edge(lefts[:, b]), edge(totals - lefts[:, b])
                if kind == SEVERAL:
                    assert found[b] == np.abs(left).sum() + np.abs(right).sum()
                elif b > 0 and weight(bins[:, first + b]) == 0:
                    assert found[b] == -1
                elif direction and b < n_cuts - 1:
                    assert found[b] == direction * (right - left).item()
                else:
                    assert found[b] == abs(left - right).item()
