"""Decision stumps: the weak hypotheses of a booster, kept as four arrays in the order chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftgames.boosting.data.bins import Matrix
from driftgames.boosting.model.additive import AdditiveModel
from driftgames.core.checks import as_floats, check_integer, check_vector, shown
from driftgames.core.display import PREVIEW, Displayed, Sketch
from driftgames.core.typing import FloatArray, IntArray
from driftgames.tables import counted

VoteArray = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Stumps(Displayed):
    r"""Stumps :math:`h_1, \dots, h_n`, each a question about one feature.

    .. math:: h(x) = \begin{cases}
        \text{missing vote} & x_j \text{ is NaN} \\
        \text{left vote} & x_j \le \theta \\
        -\text{left vote} & x_j > \theta \end{cases}

    A vote is +1 for ``classes_[1]`` and -1 for ``classes_[0]``. A threshold of infinity asks
    whether the value is missing.

    Parameters
    ----------
    feature : array of int32
        The column asked about.
    threshold : array of float64
        Values at most this go left; never NaN.
    left_vote, missing_vote : arrays of int8
        +1 or -1.

    Examples
    --------
    >>> stump = Stumps([0], [1.5], [-1], [1])
    >>> stump.votes([[1.0], [2.0], [float("nan")]])
    array([[-1],
           [ 1],
           [ 1]], dtype=int8)
    """

    feature: npt.NDArray[np.int32]
    threshold: FloatArray
    left_vote: VoteArray
    missing_vote: VoteArray

    def __post_init__(self) -> None:
        for name, dtype in _FIELDS.items():
            column = frozen_column(name, getattr(self, name), dtype)
            object.__setattr__(self, name, column)
        shapes = {getattr(self, name).shape for name in _FIELDS}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            raise ValueError(f"the four arrays of stumps must be of one length; got {shapes}")
        if np.isnan(self.threshold).any():
            raise ValueError("the threshold of a stump must not be NaN")
        if self.feature.size and self.feature.min() < 0:
            raise ValueError(f"feature must be >= 0; got {self.feature.min()}")
        for name in ("left_vote", "missing_vote"):
            votes = getattr(self, name)
            if not (np.abs(votes) == 1).all():
                raise ValueError(f"{name} must be +1 or -1; got {votes[np.abs(votes) != 1][0]}")

    def _headline(self) -> str:
        return (
            f"{counted(len(self), 'stump')} on {counted(np.unique(self.feature).size, 'feature')}"
        )

    def _sketch(self) -> Sketch:
        return count_questions(self.feature)

    @classmethod
    def none(cls) -> Stumps:
        """Return the stumps of a booster that has played no round."""
        return cls(*(np.empty(0, dtype) for dtype in _FIELDS.values()))

    def __len__(self) -> int:
        return int(self.feature.size)

    def __getitem__(self, rounds: slice) -> Stumps:
        """Return the stumps of a slice of rounds, counted from 0."""
        return Stumps(*(getattr(self, name)[rounds] for name in _FIELDS))

    def take(self, order: IntArray) -> Stumps:
        """Return the stumps in another order."""
        return Stumps(*(getattr(self, name)[order] for name in _FIELDS))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stumps):
            return NotImplemented
        return all(np.array_equal(getattr(self, n), getattr(other, n)) for n in _FIELDS)

    __hash__ = None  # type: ignore[assignment]

    def votes(self, X: Matrix) -> VoteArray:
        """Return the vote of every stump on every row, of shape ``(n_rows, n_stumps)``.

        The plain definition, for tests and small data: one column of the answer per stump.
        ``X`` is an array or a SciPy sparse matrix.
        """
        sparse = hasattr(X, "tocsc")
        table: Any = X.tocsc() if sparse else np.asarray(X)
        answer = np.empty((table.shape[0], len(self)), dtype=np.int8)
        for t, j in enumerate(self.feature):
            column = table[:, [j]].toarray()[:, 0] if sparse else table[:, j]
            x = np.asarray(column, dtype=np.float64)
            known = np.where(x <= self.threshold[t], self.left_vote[t], -self.left_vote[t])
            answer[:, t] = np.where(np.isnan(x), self.missing_vote[t], known)
        return answer

    def share_gains(self, gains: FloatArray, n_columns: int) -> FloatArray:
        """Give each column what its stumps gained."""
        shares = np.zeros(n_columns)
        np.add.at(shares, self.feature, gains)
        return shares

    def add_up(
        self, vote_weights: npt.ArrayLike | None = None, *, n_features: int
    ) -> AdditiveModel:
        """Return the sum of the votes as one step function per feature.

        The default is one vote for each stump.
        """
        features = self.feature.astype(np.int64)
        check_integer("n_features", n_features, least=1)
        if features.size and features.max() >= n_features:
            raise ValueError(
                f"a stump's feature must lie in [0, {n_features - 1}]; "
                f"got {features.min()} to {features.max()}"
            )
        weights, integer_votes = exact_weights(vote_weights, features.size)
        order = np.lexsort((self.threshold, features))
        features, cuts = features[order], self.threshold[order]
        signed, absent = (weights * self.left_vote)[order], (weights * self.missing_vote)[order]

        used, begins = np.unique(features, return_index=True)
        new_cut = np.ones(features.size, dtype=bool)
        new_cut[1:] = (features[1:] != features[:-1]) | (cuts[1:] != cuts[:-1])
        at = np.flatnonzero(new_cut)
        offsets = np.append(np.searchsorted(at, begins), at.size)
        steps = -2.0 * _group_sums(signed, at)  # the change of the vote when x passes a threshold
        values = np.empty(at.size + used.size)
        for f, start in enumerate(_group_sums(signed, begins)):
            moves = steps[offsets[f] : offsets[f + 1]]
            begin = offsets[f] + f
            values[begin : begin + moves.size + 1] = start + np.append(0.0, np.cumsum(moves))
        missing = _group_sums(absent, begins)
        total = float(np.abs(weights).sum())
        return AdditiveModel(
            n_features, used, offsets, cuts[at], values, missing, total, integer_votes
        )


_FIELDS = {
    "feature": np.int32,
    "threshold": np.float64,
    "left_vote": np.int8,
    "missing_vote": np.int8,
}


def exact_weights(vote_weights: npt.ArrayLike | None, n_votes: int) -> tuple[FloatArray, bool]:
    """Return the weights as multiples of one power of two, and whether all of them are 1.

    The default is a weight of 1 for each vote.
    """
    if vote_weights is None:
        return np.ones(n_votes), True
    weights = check_vector("vote_weights", vote_weights, n_votes)
    if (weights == 1.0).all():
        return weights, True
    return round_to_unit(weights, float(np.abs(weights).sum())), False


def round_to_unit(values: FloatArray, total: float) -> FloatArray:
    """Round values to multiples of a power of two, some ``2**-51`` of ``total``.

    Two bits are to spare: steps between votes are up to twice their sum.
    """
    scale = 51 - math.frexp(total)[1]
    return np.asarray(np.ldexp(np.rint(np.ldexp(values, scale)), -scale))


def _group_sums(values: FloatArray, begins: IntArray) -> FloatArray:
    return np.add.reduceat(values, begins) if begins.size else np.empty(0)


def frozen_column(name: str, values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a read-only copy of values as numbers of this type, or say that they are none.

    >>> frozen_column("left_vote", [1, 300], np.int8)
    Traceback (most recent call last):
    ...
    ValueError: left_vote must be integers from -128 to 127; got [1, 300]
    """
    if not isinstance(values, np.ndarray) or values.dtype != dtype:
        numbers = as_floats(name, values)
        if np.dtype(dtype).kind == "i":
            least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
            whole = (numbers == np.rint(numbers)) & (numbers >= least) & (numbers <= most)
            if not whole.all() or (numbers >= 2.0**63).any():
                raise ValueError(
                    f"{name} must be integers from {least} to {most}; got {shown(values)}"
                )
    column = np.array(values, dtype=dtype)
    column.flags.writeable = False
    return column


def count_questions(features: npt.NDArray[np.int32]) -> Sketch:
    """Return a picture of how often the most frequent features are asked about."""
    features_asked, counts = np.unique(features, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:PREVIEW]
    return Sketch(bars={f"x{features_asked[k]}": float(counts[k]) for k in most})
