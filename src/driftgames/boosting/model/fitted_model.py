r"""The fitted model: weak hypotheses that vote, and what makes columns and probabilities.

It is made once and never changed. An estimator has one and shows it to scikit-learn; a stage of a
fit, a part of a model, a file and an export are made of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import INPUT
from driftgames.boosting.data.frames import Categories, code_columns
from driftgames.boosting.data.pairs import ColumnPairs
from driftgames.boosting.model.additive import AdditiveModel
from driftgames.boosting.model.calibration import Calibration
from driftgames.boosting.model.categories import CategoryEncoder
from driftgames.boosting.model.explanation import ByFeature, Explanation
from driftgames.boosting.model.stumps import Stumps, count_questions
from driftgames.boosting.model.tree_scores import PairModel, TreeModel, TreeVotes
from driftgames.boosting.model.trees import NO_TREES, Trees
from driftgames.core.caching import cached_property
from driftgames.core.display import Displayed, Fields, Sketch
from driftgames.core.text import listed
from driftgames.core.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FittedModel(Displayed):
    r"""Weak hypotheses that vote, and all that a prediction needs beside them.

    .. math:: v(x) = \frac{\sum_t \alpha_t h_t(x)}{\sum_t \alpha_t}

    All :math:`\alpha_t` of [LS14, Alg. 6] are 1. The methods take the columns that the hypotheses
    ask about: those of the examples, or what `encode` makes of them if there are categories.

    Parameters
    ----------
    classes : array of labels
        Of two, a vote of -1 is for the first, +1 for the second. Of more, a hypothesis votes for
        each of them.
    n_features : int
        The number of columns of the examples.
    hypotheses : Stumps or Trees
        The weak hypotheses in order.
    vote_weights : array
        The weight of each vote.
    default_vote : array
        The vote if there is no hypothesis: one number for two classes, else one for each. Default:
        zeros.
    feature_names : array of str, optional
        The names of the columns of the examples.
    encoder : CategoryEncoder, optional
        It makes columns of categories.
    calibration : Calibration, optional
        It makes probabilities of votes.
    pairs : ColumnPairs, optional
        Columns made of two others, behind all other columns that trees ask about.

    Examples
    --------
    >>> stumps = Stumps([0, 1], [1.5, 4.0], [-1, 1], [1, 1])
    >>> model = FittedModel(np.array(["no", "yes"]), 2, stumps, np.ones(2))
    >>> rows = np.array([[1.0, 3.0], [2.0, 3.0]])
    >>> model.votes(rows)
    array([0., 1.])
    >>> model.part(0, 1).votes(rows)
    array([-1.,  1.])
    """

    classes: Array
    n_features: int
    hypotheses: Stumps | Trees = field(default_factory=Stumps.none)
    vote_weights: FloatArray = field(default_factory=lambda: np.zeros(0))
    default_vote: FloatArray = field(default_factory=lambda: np.zeros(0))
    feature_names: Array | None = None
    encoder: CategoryEncoder | None = None
    calibration: Calibration | None = None
    pairs: ColumnPairs | None = None

    def _headline(self) -> str:
        hypotheses = type(self.hypotheses).__name__.lower()
        classes = listed(self.classes.tolist(), 6)
        return f"{self.n_rounds:,} {hypotheses} on {self.n_features:,} features for {classes}"

    def _facts(self) -> Fields:
        calibrated = self.calibration is not None
        return {"rounds": self.n_rounds, "features": self.n_features, "calibrated": calibrated}

    def _columns(self) -> Fields:
        return {"round": np.arange(1, self.n_rounds + 1), "vote_weight": self.vote_weights}

    def _preview(self) -> Fields:
        return {}  # weights are mostly 1

    def _sketch(self) -> Sketch | None:
        features = self.hypotheses.feature
        return count_questions(features[features >= 0])  # those of leaves are -1

    def __post_init__(self) -> None:
        if not len(self.default_vote):
            n_classes = len(self.classes)
            object.__setattr__(self, "default_vote", np.zeros(1 if n_classes == 2 else n_classes))
        for name in ("classes", "vote_weights", "default_vote"):
            array = np.array(getattr(self, name))
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if len(self.hypotheses) != self.vote_weights.size:
            raise ValueError(
                "there must be a vote weight for each hypothesis; got "
                f"{self.vote_weights.size} weights for {len(self.hypotheses)}"
            )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise ValueError(
                f"feature_names must be a list of {self.n_features}; got {list(self.feature_names)}"
            )

    def __reduce__(self) -> tuple[Any, ...]:
        # the tables are made anew
        return FittedModel, tuple(getattr(self, each.name) for each in fields(self))

    # ------------------------------------------------------------------- what it is made of

    @property
    def n_rounds(self) -> int:
        """The number of weak hypotheses."""
        return int(self.vote_weights.size)

    @property
    def n_columns(self) -> int:
        """The number of columns that the weak hypotheses ask about."""
        n_columns = self.n_features if self.encoder is None else self.encoder.n_columns
        return n_columns + self.n_pairs

    @property
    def n_pairs(self) -> int:
        """The number of columns of pairs, which come last."""
        return 0 if self.pairs is None else len(self.pairs)

    @property
    def categorical(self) -> list[bool] | None:
        """Which features hold categories; None if none does."""
        return None if self.encoder is None else self.encoder.categorical

    @property
    def stumps(self) -> Stumps:
        """The hypotheses if they are stumps, else none."""
        return self.hypotheses if isinstance(self.hypotheses, Stumps) else Stumps.none()

    @property
    def trees(self) -> Trees:
        """The hypotheses if they are trees, else none."""
        return self.hypotheses if isinstance(self.hypotheses, Trees) else NO_TREES

    @cached_property
    def scorer(self) -> AdditiveModel | TreeVotes:
        """What predictions read: the hypotheses as sums of votes."""
        if self.classes.size > 2:
            return PairModel(self.trees, self.vote_weights, self.n_columns, self.classes.size)
        if len(self.trees):
            return TreeModel(self.trees, self.vote_weights, self.n_columns)
        return self.stumps.add_up(self.vote_weights, n_features=self.n_columns)

    @property
    def additive(self) -> AdditiveModel:
        """The votes as one function of each column; AttributeError if there is no such function."""
        scorer = self.scorer
        if isinstance(scorer, AdditiveModel):
            return scorer
        if self._has_shapes_by_class:
            raise AttributeError(
                f"there is one additive model for each of {self.classes.size} classes: "
                "shape_functions_ has their step functions"
            )
        raise AttributeError(_INTERACT)

    @property
    def _has_shapes_by_class(self) -> bool:
        """Whether the hypotheses are stumps of several classes."""
        return self.classes.size > 2 and bool((self.trees.n_nodes <= 3).all())

    @property
    def bases(self) -> list[float]:
        """The part of the votes for each of several classes that no column decides."""
        assert isinstance(self.scorer, PairModel)
        return [self.scorer.of_class(k).base for k in range(self.classes.size)]

    @property
    def searches_infinities(self) -> bool:
        """Whether `votes` finds the infinities of a plain array on its way."""
        return self.n_rounds > 0 and self.encoder is None and self.pairs is None

    def part(self, begin: int, end: int) -> FittedModel:
        """Return the model of the rounds from ``begin`` to ``end``."""
        some = slice(begin, end)
        return replace(self, hypotheses=self.hypotheses[some], vote_weights=self.vote_weights[some])

    def first(self, n_rounds: int) -> FittedModel:
        """Return the model of the first rounds."""
        return self if n_rounds >= self.n_rounds else self.part(0, n_rounds)

    # ------------------------------------------------------------------- columns and votes

    def encode(self, X: object) -> Matrix:
        """Return the columns of examples, whose categories are looked up."""
        if self.encoder is None:
            return self._append_pairs(X, X)
        codes, _ = code_columns(X, self.encoder.categories)
        codes = check_array(codes, **INPUT)
        return self._append_pairs(self.encoder.expand(codes), codes)

    def expand(self, X: Matrix, categories: tuple[Categories | None, ...] | None) -> Matrix:
        """Return the columns of examples whose categories are codes among these."""
        if self.encoder is None:
            return self._append_pairs(X, X)
        codes = X if categories is None else self.encoder.recode(X, categories)
        return self._append_pairs(self.encoder.expand(codes), codes)

    def _append_pairs(self, columns: Matrix, X: Matrix) -> Matrix:
        """Return columns with those of pairs of columns of the examples behind them."""
        return columns if self.pairs is None else self.pairs.append(columns, X)

    def votes(self, X: Matrix, *, n_threads: int = 1, finite: bool = False) -> FloatArray:
        """Return the normalised votes in [-1, 1], with a column for each class if more than two.

        With ``finite`` an infinity in a contiguous array of floats raises ValueError.
        """
        if self.n_rounds == 0:
            return np.broadcast_to(self.default_vote, self._shape(X)).copy()
        total = float(self.vote_weights.sum())
        return self.scorer.scores(X, n_threads=n_threads, divisor=total, finite=finite)

    def each_vote(self, X: Matrix, *, n_threads: int = 1) -> Iterator[FloatArray]:
        """Yield the vote of each weak hypothesis on every row, in order."""
        if len(self.stumps) and issparse(X):
            X = X.tocsc()  # a stump reads one column
        for t in range(self.n_rounds):
            yield cast_votes(self.hypotheses[t : t + 1], X, self.classes, n_threads=n_threads)

    def staged_votes(self, X: Matrix, *, n_threads: int = 1) -> Iterator[FloatArray]:
        """Yield `votes` after 1, 2, ... rounds."""
        votes, total = np.zeros(self._shape(X)), 0.0
        each = self.each_vote(X, n_threads=n_threads)
        for weight, vote in zip(self.vote_weights, each, strict=True):
            votes += weight * vote
            total += weight
            yield votes / total

    def probabilities(self, votes: FloatArray) -> FloatArray:
        """Return the probability of each class: the calibration, or the share of the votes."""
        if self.calibration is not None:
            return self.calibration.probabilities(votes)
        shares = (1.0 + votes) / 2.0
        if votes.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        shares[~shares.any(axis=1)] = 1.0
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def winners(self, votes: FloatArray) -> Array:
        """Return the number of the class that `predict` returns; a tie is for the first.

        It is the class of the largest calibrated probability. Without a calibration, and with class
        weights, it is the class of most votes.
        """
        return winners(votes if self.calibration is None else self.calibration.decide(votes))

    @property
    def deciding_calibration(self) -> Calibration | None:
        """The calibration if `predict` follows it; None if it follows the vote."""
        calibration = self.calibration
        return None if calibration is None or calibration.class_weighted else calibration

    def _shape(self, X: Matrix) -> tuple[int, ...]:
        n_classes = self.classes.size
        return (X.shape[0],) if n_classes == 2 else (X.shape[0], n_classes)

    # ------------------------------------------------------------------- explanations

    def importances(self, edges: FloatArray) -> FloatArray:
        """Return the share of all edges, times their votes, that each feature had.

        The two features of a pair share what it had.
        """
        shares = self.hypotheses.share_gains(self.vote_weights * edges, self.n_columns)
        if self.pairs is not None:
            halves = shares / 2.0
            shares = np.zeros(self.n_features)
            for owner in self.owners:
                np.add.at(shares, owner, halves)
        elif self.encoder is not None:
            shares = np.add.reduceat(shares, self.encoder.starts[:-1])
        return np.asarray(shares / (shares.sum() or 1.0))

    def _by_feature(self, explanation: Explanation) -> Explanation:
        """Return the votes of the features from those of their columns."""
        asked = [owner[explanation.features] for owner in self.owners]
        parts = explanation.votes if len(asked) == 1 else explanation.votes / 2.0  # exact
        votes = np.zeros(self.n_features, dtype=parts.dtype)
        for features in asked:
            np.add.at(votes, features, parts)
        used = np.unique(np.concatenate(asked))
        return replace(explanation, features=used, votes=votes[used])

    def pair_names(self, edges: FloatArray) -> list[str]:
        """Return the names of the pairs of columns, those of the largest shares first."""
        if self.pairs is None:
            return []
        shares = self.hypotheses.share_gains(self.vote_weights * edges, self.n_columns)
        order = np.argsort(-shares[-self.n_pairs :], kind="stable")
        names = self.pairs.names(self.feature_names)
        return [names[k] for k in order]

    @property
    def owners(self) -> list[IntArray]:
        """The feature of each column; if there are pairs, the first ones and the second ones."""
        encoder, pairs = self.encoder, self.pairs
        own = np.arange(self.n_features) if encoder is None else encoder.feature
        sides = [()] if pairs is None else [pairs.left, pairs.right]
        return [np.append(own, np.array(side, dtype=np.int64)) for side in sides]

    def shape_functions(self) -> list[ByFeature[Any]]:
        """Return the vote of each feature as a function; of several classes, those of each."""
        scorer, shapes_by_class = self.scorer, []
        if isinstance(scorer, PairModel) and self._has_shapes_by_class:
            by_column = [scorer.shape_functions(k) for k in range(self.classes.size)]
        else:
            by_column = [self.additive.shape_functions]
        for columns in by_column:
            shapes: Any = columns
            if self.encoder is not None:
                shapes = self.encoder.shape_functions(columns)
            if (names := self.feature_names) is not None:
                shapes = {j: replace(each, name=str(names[j])) for j, each in shapes.items()}
            shapes_by_class.append(ByFeature(shapes, names))
        return shapes_by_class

    def explain(self, row: Matrix, label: int | None = None) -> Explanation:
        """Return the vote of each feature on one row, for one class, given by its number.

        Default: of two classes the second, of more the predicted one. The two features of a pair
        share its votes.
        """
        if label is None:
            label = int(self.winners(self.votes(row))[0]) if self.classes.size > 2 else 1
        scorer = self.scorer
        if isinstance(scorer, PairModel):
            explanation = scorer.of_class(label).explain(row)
        else:
            assert isinstance(scorer, (AdditiveModel, TreeModel))
            explanation = scorer.explain(row)
            if label == 0:  # a vote for the first of two classes is one against the second
                votes, base = -explanation.votes, -explanation.base
                explanation = replace(explanation, votes=votes, base=base)
        if self.encoder is not None or self.pairs is not None:
            explanation = self._by_feature(explanation)
        named = self.classes.tolist()[label]
        return replace(explanation, names=self.feature_names, label=named)


_INTERACT = (
    "only a booster of the built-in stump is an additive model (max_leaves=2); this one was fitted "
    "with trees, whose questions interact"
)


def cast_votes(
    hypothesis: Stumps | Trees, X: Matrix, classes: Array, *, n_threads: int = 1
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
