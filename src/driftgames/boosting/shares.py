"""Shares of the examples: what a worker holds of them, and what it answers.

A share keeps its rows in bins and the state of a fit on them: numbers of mistakes, or votes. It
never chooses a hypothesis. It answers with sums over its rows, which are integers, so that the sum
over all shares does not depend on how the rows were cut. `combine` joins the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from driftgames.boosting.best_first import Question
from driftgames.boosting.binned_training_set import BinnedTrainingSet
from driftgames.boosting.pair_training_set import PairCounts
from driftgames.boosting.shared_rows import PairShare, SumGrower, list_all_bins
from driftgames.boosting.tree_growth import TreeShape
from driftgames.boosting.tree_training_set import TreeTrainingSet
from driftgames.boosting.vote_totals import Standing
from driftgames.certificates.margins import Margins
from driftgames.core.typing import IntArray

Command = tuple[str, tuple[Any, ...]]
"""The name of a question, and its arguments."""

LASTING = frozenset({"count_mistakes", "add_votes", "move", "add"})
"""The questions after which a share stands elsewhere; the others belong to one round."""


class SummedBins(BinnedTrainingSet):
    """Binned rows whose answer is their sums, instead of the best stump for them alone."""

    def best_stump(self, sums: IntArray) -> Any:
        """Return the sums of all bins; behind them come the two totals."""
        return np.append(list_all_bins(self, sums[None, :-2], lambda: sums[-2:-1]), sums[-2:])


class Share:
    """Some of the examples, in bins, and where they stand in a fit.

    Stumps have no ``shape``. ``labels`` number the classes if there are more than two.
    """

    def __init__(
        self,
        data: BinnedTrainingSet,
        shape: TreeShape | None,
        labels: IntArray | None = None,
        n_classes: int = 2,
    ) -> None:
        self._set: SummedBins | TreeTrainingSet | PairShare
        self._divide: Callable[[Sequence[Question]], list[IntArray]] | None = None  # for trees
        self._masses = np.array(data.masses)
        if labels is not None:
            self._set = pairs = PairShare(data, labels, n_classes, shape or TreeShape())
            self._divide = pairs.divide
            self._masses = np.zeros(n_classes, dtype=np.int64)
            np.add.at(self._masses, pairs.labels, pairs.example_weights)
        elif shape is None:
            self._set = SummedBins(**{f: getattr(data, f) for f in data.__dataclass_fields__})
        else:
            grower = SumGrower(data, shape)
            self._set = TreeTrainingSet(data, shape, grower)
            self._divide = grower.divide
        self._counts = data.counts
        self._state: Any = None

    def ask(self, name: str, *arguments: Any) -> Any:
        """Return the answer to a question: a method of `MistakeCounts`, `VoteTotals` or trees."""
        if name == "counts":
            return self._counts
        if name == "masses":
            return self._masses
        if name == "divide" and self._divide is not None:
            return self._divide(*arguments)
        if name in ("count_mistakes", "add_votes"):
            answer = self._state = getattr(self._set, name)()
        else:
            answer = getattr(self._state, name)(*arguments)
        if name == "add_votes":
            return answer.masses()
        if name in ("count_mistakes", "move"):
            self._state = answer
            return *answer.masses(), answer.wrong if isinstance(answer, PairCounts) else 0
        return answer


def combine(name: str, answers: Sequence[Any]) -> Any:
    """Return the answer of all examples to a question, from those of their shares."""
    return answers[0] if len(answers) == 1 else _JOIN[name](answers)


def _add(answers: Sequence[Any]) -> Any:
    return sum(answers[1:], start=answers[0])


def _add_each(answers: Sequence[Any]) -> Any:
    """Add up tuples or lists, member by member."""
    return [_add(members) for members in zip(*answers, strict=True)]


def _join_masses(answers: Sequence[tuple[int, IntArray, int]]) -> tuple[int, IntArray, int]:
    first = min(begin for begin, _, _ in answers)
    end = max(begin + masses.shape[1] for begin, masses, _ in answers)
    joined = np.zeros((2, end - first), dtype=np.int64)
    for begin, masses, _ in answers:
        joined[:, begin - first : begin - first + masses.shape[1]] += masses
    return first, joined, sum(wrong for _, _, wrong in answers)


def _join_standings(answers: Sequence[Standing]) -> Standing:
    return Standing(min(each.lowest for each in answers), sum(each.wrong for each in answers))


def _join_margins(answers: Sequence[Margins]) -> Margins:
    return Margins.of_examples(*map(np.concatenate, zip(*answers, strict=True)))


_JOIN: dict[str, Callable[[Sequence[Any]], Any]] = {
    "counts": _add,
    "masses": _add,
    "count_mistakes": _join_masses,
    "best": _add,
    "divide": _add_each,
    "move": _join_masses,
    "add_votes": _add_each,
    "heaviest": max,
    "measure": _add,
    "value": _add_each,
    "add": _join_standings,
    "margins": _join_margins,
}
