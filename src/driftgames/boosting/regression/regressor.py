"""The regressor that scikit-learn knows: a whole distribution for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from driftgames.boosting.data.bins import Array, Matrix
from driftgames.boosting.data.checks import ExampleChecks, warn_of_identifiers
from driftgames.boosting.data.frames import find_categories, find_dates
from driftgames.boosting.data.sample_weights import check_weights
from driftgames.boosting.engine.rules import PotentialRule
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.engine.thresholds import EDGE_UNIT
from driftgames.boosting.fit.folds import LARGE
from driftgames.boosting.fit.job import Job
from driftgames.boosting.fit.watch import name_sets
from driftgames.boosting.parameters import (
    N_ESTIMATORS,
    OWN,
    SHARED,
    Parameter,
    at_least,
    auto_or,
)
from driftgames.boosting.promises import mean_certificate
from driftgames.boosting.regression.distribution import PredictedDistribution, check_levels
from driftgames.boosting.regression.new_outcomes import divide, promise
from driftgames.boosting.regression.outcome_thresholds import N_THRESHOLDS
from driftgames.boosting.regression.stages import (
    HeldOutScores,
    NumberExamples,
    StagedModel,
    fit_stages,
)
from driftgames.certificates.numbers_held_out import NumberCertificate
from driftgames.core.checks import (
    as_floats,
    check_finite,
    check_fraction,
    check_integer,
    check_vector,
    float_errors,
    shown,
)
from driftgames.core.documents import atomic_write
from driftgames.core.schema import Requirement, integer
from driftgames.core.threads import count_threads
from driftgames.core.typing import FloatArray, Path
from driftgames.potentials import NormalHedgeDT

if TYPE_CHECKING:
    from driftgames.plots.explanation_page import ExplanationPage

BINS = 64
"""The number of bins where none is given; from `LARGE` examples on it is doubled."""


SHOWN_ERROR = 0.001
"""The error of edges from which a certificate shows it."""


@dataclass(eq=False, repr=False)
class NHBoostDTRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    r"""NH-Boost.DT for numbers: thresholds of the outcome are chips, and there is nothing to tune.

    Let :math:`\theta_1 < \dots < \theta_K` be quantiles of the outcomes. Each pair of example and
    threshold is a chip of label +1 if :math:`y_i > \theta_k`, else -1, and a leaf votes +1 for the
    thresholds below a position. Chips weigh as in `NHBoostDTClassifier`, times the gap between
    thresholds. The votes for a threshold become :math:`P(y > \theta_k \mid x)` by a sigmoid that
    examples held out fit: a distribution for every row, from which mean, quantiles and intervals
    follow.

    The weighted training error over pairs is the mean absolute error of the median vote, for
    outcomes rounded to the middles of their bins, so Theorem 3 bounds it. [LS14, Alg. 6, Thm. 3]
    The reduction from numbers to pairs is not in the paper.

    Parameters
    ----------
    n_estimators : int or "auto"
        The rounds of each booster: one tree votes in each. "auto" chooses by the CRPS on examples
        held out.
    d : float
        The constant in the exponent of the weights.
    max_leaves : int or "auto"
        The most leaves of a tree. "auto" chooses by the CRPS on examples held out.
    min_samples_leaf : int
        The least number of examples of nonzero weight in a leaf.
    n_thresholds : int
        The number of thresholds; from 12 on there are two more in each outer bin.
    n_stages : int or "auto"
        The number of boosters, each of which learns what the mean of the one before leaves. "auto"
        goes on while the CRPS on examples held out falls by 2 %, up to 4. From 3,000 examples on a
        stage ends after its first fold if it brings less than 0.3 % there.
    validation_fraction : float, int or None
        The share or the number of examples that are held out of everything, so that intervals, CRPS
        and mean absolute error on new examples come with a promise: see ``certificate_``. They are
        drawn by their contents. Default: None, all examples are learnt from.
    max_bins : int or "auto"
        Bins per feature, from 2 to 255. "auto" is 64, and 128 from 50,000 examples on.
    categorical_features : "from_dtype", list or None
        The columns that hold categories, as in `NHBoostDTClassifier`. Trees have them in the order
        of their mean outcome.
    monotonic_cst : dict or array-like of -1, 0 and 1, optional
        Constraints, by the names of a data frame's columns or one for each feature. 1: neither the
        mean nor a quantile falls where this feature alone rises; -1: none rises; 0: none. Missing
        values are not bound.
    n_jobs : int, optional
        Threads, as joblib counts them. The model does not depend on it.
    random_state : int, Generator or RandomState, optional
        Has no effect, because nothing is random.
    verbose : int
        Show a progress bar.

    Notes
    -----
    Within the bins between thresholds outcomes are spread as in the training set. So predictions
    never leave the range of the training outcomes, moved by the means of the stages: a quantile at
    level 0 or 1 is an end of that range, and no trend is followed beyond it.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> booster = NHBoostDTRegressor(100, max_leaves=4, n_stages=1).fit(X[:350], y[:350])
    >>> booster.predict(X[350:353]).round()
    array([250., 111.,  83.])
    >>> booster.predict_interval(X[350:353], coverage=0.8).round()
    array([[167., 297.],
           [ 55., 179.],
           [ 47., 142.]])
    """

    n_estimators: int | str = "auto"
    d: float = 3.0
    _: KW_ONLY
    max_leaves: int | str = "auto"
    min_samples_leaf: int = 1
    n_thresholds: int = N_THRESHOLDS
    n_stages: int | str = "auto"
    validation_fraction: float | int | None = None
    max_bins: int | str = "auto"
    categorical_features: Any = "from_dtype"
    monotonic_cst: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: object,
        y: object,
        sample_weight: npt.ArrayLike | None = None,
        *,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
    ) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix, shape (n_samples, n_features)
            NaN is a missing value. Sparse matrices stay sparse. A data frame may have columns
            of categories.
        y : array, shape (n_samples,)
            The outcomes: finite numbers.
        sample_weight : array, shape (n_samples,), optional
            A prior over the examples; an example of weight 2 counts as two.
        eval_set : pair (X, y) or list of such pairs, optional
            Examples on which the stages are evaluated: ``evals_result_[name]["crps"]`` has the mean
            CRPS of each stage of the model, and last that of what it predicts, the mean of some
            stages. There is none for each round, because a stage is the mean of boosters whose
            rounds have no common order. The fit does not depend on these examples.
        eval_names : list of str, optional
            Their names. Default: ``valid_0``, ``valid_1`` and so on.

        Returns
        -------
        self
            A failed or interrupted call does not change the booster.
        """
        job = self._make_job()
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        checks = ExampleChecks(type(self)(**self.get_params(deep=False)))
        _check_known(y)
        rows, labels, categories = checks.check_examples(X, y)
        outcomes = as_floats("y", labels)
        if categories is not None:
            n_values = np.count_nonzero(~np.isnan(rows), axis=0).tolist()
            warn_of_identifiers(categories, n_values, checks.names)
        categorical = None if categories is None else [each is not None for each in categories]
        watched = {
            name: (checks.check_rows(X_of, categorical), _outcomes_of(name, X_of, y_of))
            for name, (X_of, y_of) in pairs.items()
        }
        with float_errors("sample_weight"):
            weights = check_weights(sample_weight, rows, outcomes, None)
        if weights is not None:
            heavy = weights > 0
            rows, outcomes, weights = rows[heavy], outcomes[heavy], weights[heavy]
        examples, held_out = NumberExamples(rows, outcomes, categories, weights, checks.names), None
        if self.validation_fraction is not None:
            trained, kept = divide(examples, self.validation_fraction)
            examples, held_out = examples.take(trained), examples.take(kept)
        if job.max_bins is None:
            job = replace(job, max_bins=BINS if examples.y.size < LARGE else 2 * BINS)
        n_stages = None if isinstance(self.n_stages, str) else self.n_stages
        model, scores = fit_stages(job, examples, n_thresholds=self.n_thresholds, n_stages=n_stages)
        if held_out is not None:
            scores = promise(model, scores, examples, held_out)
        n_threads = count_threads(self.n_jobs)
        evaluated = {
            name: {"crps": model.crps_of_stages(*pair, n_threads=n_threads)}
            for name, pair in watched.items()
        }
        return self.adopt(model, scores, checks.n_features, checks.names, evaluated)

    def adopt(
        self,
        model: StagedModel,
        scores: HeldOutScores,
        n_features: int,
        names: Array | None,
        evaluated: Mapping[str, Mapping[str, FloatArray]] | None = None,
    ) -> Self:
        """Take over a fitted model; the settings stay."""
        stale = names is None and hasattr(self, "feature_names_in_")
        # no call stands between these, so that no interruption comes between them
        self._fitted = model, scores, evaluated or {}
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        elif stale:
            del self.feature_names_in_
        return self

    def _make_job(self) -> Job:
        """Return the settings, checked."""
        values = self.get_params(deep=False)
        for name, value in values.items():
            if (check := PARAMETERS[name].check) is not None:
                check(name, value)
        return Job.of(
            values,
            rule=PotentialRule(NormalHedgeDT(self.d)),
            shape=TreeShape(
                max_depth=None, max_leaves=self.max_leaves, min_samples_leaf=self.min_samples_leaf
            ),
            ensemble=True,
            settings=self.binding_settings(),
        )

    def binding_settings(self) -> dict[str, Any]:
        """Return the settings that certificates depend on."""
        return {"d": self.d}

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    if not TYPE_CHECKING:  # type checkers know the attributes

        def __getattr__(self, name: str) -> Any:
            """Raise the usual error, or one that says that only classifiers have this."""
            from driftgames.boosting.estimators import NHBoostDTClassifier

            others = hasattr(NHBoostDTClassifier, name) and not hasattr(type(self), name)
            if name == "fit_batches":
                raise AttributeError(
                    f"{type(self).__name__} has no fit_batches, and none for Dask: a stage needs "
                    "the held-out mean of every row before the next one begins. Fit a sample of "
                    "the rows that is in memory, or classes of the outcome by "
                    "NHBoostDTClassifier.fit_batches"
                )
            if others and not name.startswith("_"):
                raise AttributeError(
                    f"{type(self).__name__} has no {name}: only classifiers have it. A regressor "
                    "has predict, predict_interval, predict_quantiles, predict_distribution, "
                    "explain_model, feature_importances_, certificate_, to_onnx and save"
                )
            return object.__getattribute__(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------- what was fitted

    @property
    def model_(self) -> StagedModel:
        """The fitted model, which is never changed: a fit makes another one."""
        check_is_fitted(self)
        return self._fitted[0]

    @property
    def scores_(self) -> HeldOutScores:
        """What the distributions of the examples were worth, each by boosters that held it out."""
        check_is_fitted(self)
        return self._fitted[1]

    @property
    def evals_result_(self) -> dict[str, dict[str, FloatArray]]:
        """The mean ``crps`` of each stage, then of the model, on each ``eval_set`` of `fit`.

        A file does not hold it.
        """
        check_is_fitted(self)
        return {name: dict(found) for name, found in self._fitted[2].items()}

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of all edges that the trees of each feature had.

        What a stage owes to the mean of the stage before is shared as that stage shares it. Late
        trees fit noise, so a feature that says nothing has a few per cent; the shapes of
        `explain_model` do not show it.
        """
        model = self.model_
        shares = np.zeros(self.n_features_in_)
        found = []
        for stage in model.stages:
            own = stage.model.importances(stage.record.history["edge"])
            before = own[shares.size :].sum()
            shares = own[: shares.size] + before * shares
            found.append(shares)
        averaged = [found[number] for number in model.averaged]
        return np.mean(averaged, axis=0) if averaged else shares

    @property
    def certificate_(self) -> NumberCertificate:
        """What is promised, or measured, by examples held out, and Theorem 3 of the training set.

        The theorem is about the pairs of examples and thresholds of the best stage.
        """
        check_is_fitted(self)
        model, scores = self.model_, self.scores_
        pairs = None
        if model.stages:
            stage = model.stages[model.averaged[0]]
            bound = NormalHedgeDT(stage.record.settings["d"]).bound
            if len(stage.record.members) > 1:
                pairs = mean_certificate("NH-Boost.DT over pairs", stage.model, stage.record, bound)
                if pairs.needed is not None:
                    n_examples = pairs.needed.n_examples // int(stage.thresholds.gaps.sum())
                    pairs = replace(pairs, needed=pairs.needed._replace(n_examples=n_examples))
                off = scores.n_examples * stage.thresholds.size * EDGE_UNIT
                if off >= SHOWN_ERROR:
                    exact = f"edges are exact to {100 * off:.1f} %"
                    pairs = replace(pairs, caveat=f"{pairs.caveat}; {exact}")
        covered = scores.places.share_within(0.05, 0.95)
        return NumberCertificate(
            scores.n_examples, scores.crps[-1], scores.mae, covered, pairs, scores.new_examples
        )

    def explain_model(
        self,
        X: object = None,
        *,
        n_examples: int = 10,
        title: str | None = None,
        dates: Sequence[int] | None = None,
    ) -> ExplanationPage:
        """Return the model as a page to click through; its ``save`` writes one HTML file.

        Its tabs are the importance and the shape of each feature, the first ``n_examples`` examples
        of ``X``, and what was fitted and is promised. A shape is the mean prediction over up to 200
        rows of ``X`` that have one value of the feature, less their mean prediction: it is in the
        unit of the outcome. An example has its distribution, and what each feature adds to its
        mean. Without ``X`` there are importances alone. ``dates`` are as in `NHBoostDTClassifier`.
        """
        from driftgames.boosting.regression.regressor_page import ExplainedRegressor

        most = check_integer("n_examples", n_examples, least=0)
        if not (title is None or isinstance(title, str)):
            raise ValueError(f"title must be a string or None; got {shown(title)}")
        rows: Matrix = np.empty((0, self.n_features_in_))
        if X is not None:
            bare = isinstance(X, np.ndarray) or scipy.sparse.issparse(X)  # in the order of the fit
            rows = self._rows(X, named=not bare)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        explained = ExplainedRegressor.of(
            self.model_, self.scores_, names, self.feature_importances_, rows
        )
        explained = replace(explained, dates=find_dates(X, names, dates))
        name = type(self).__name__
        title = name if title is None else title
        return explained.page(title, most, {"algorithm": name}, str(self.certificate_))

    # ------------------------------------------------------------------- predictions

    def predict(self, X: object) -> FloatArray:
        """Return the mean outcome of each row."""
        rows = self._rows(X)
        return self.model_.means(rows, n_threads=count_threads(self.n_jobs))

    def predict_distribution(self, X: object) -> PredictedDistribution:
        """Return the distribution of the outcome of each row."""
        rows = self._rows(X)
        return self.model_.distribution(rows, n_threads=count_threads(self.n_jobs))

    def predict_quantiles(self, X: object, q: npt.ArrayLike) -> FloatArray:
        """Return the quantiles of each row at a level, or a column for each of several."""
        return self.predict_distribution(X).ppf(q)

    def predict_interval(self, X: object, coverage: float = 0.9) -> FloatArray:
        """Return the ends of an interval for each row that covers so many outcomes.

        The ends are quantiles, at levels between which that share of outcomes lay in distributions
        that did not see them. With ``validation_fraction`` these are examples held out of
        everything, and a new outcome is covered with at least this probability (split conformal
        prediction); the ends are infinite where too few were held out. Without it they are the
        training examples, each held out by some boosters (CV+, Barber et al., Annals of Statistics
        49, 2021). These chose sizes and sigmoids too, so nothing is promised, and
        docs/regression.md tells what was measured.
        """
        places = self.scores_.places
        check_fraction("coverage", coverage)  # before rows are predicted
        return places.interval(self.predict_distribution(X), coverage)

    def score(
        self, X: object, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> float:
        """Return R2: the share of the variance of the outcomes that the means explain."""
        from sklearn.metrics import r2_score  # slow to import

        outcomes = check_vector("y", y)
        exponent = int(np.frexp(np.abs(outcomes).max(initial=0.0))[1])  # so no square overflows
        near_one = (np.ldexp(each, -exponent) for each in (outcomes, self.predict(X)))
        return float(r2_score(*near_one, sample_weight=sample_weight))

    def _rows(self, X: object, *, named: bool = True) -> Matrix:
        """Return examples to predict: numbers, or what the codes of categories are found in.

        Those that are not ``named`` are in the order of the columns of the fit.
        """
        stages = self.model_.stages
        if stages:
            encoder = stages[0].model.encoder
            categorical = None if encoder is None else encoder.categorical
        else:  # all predictions are equal, whatever the categories are
            found = find_categories(X, self.categorical_features)
            categorical = None if found is None else found.tolist()
        known = copy(self)
        if not named and hasattr(known, "feature_names_in_"):
            del known.feature_names_in_
        return ExampleChecks(known).check_rows(X, categorical)

    # ------------------------------------------------------------------- files

    def save(self, path: Path) -> None:
        """Write the model to a JSON file, atomically; docs/model_format.md describes it."""
        from driftgames.boosting.regression.regressor_document import save_regressor

        save_regressor(self, path)

    def to_onnx(
        self, path: Path, *, q: npt.ArrayLike = (0.05, 0.5, 0.95), dtype: str = "float32"
    ) -> None:
        """Write the model as an ONNX file, which other languages run; needs the extra ``onnx``.

        Its outputs are ``mean``, and ``quantiles`` with a column for each level of ``q``: those of
        `predict_quantiles`, up to rounding. ``scores_.places.levels(coverage)`` are the levels of
        `predict_interval`. Inputs are as those of `NHBoostDTClassifier.to_onnx`.
        """
        from driftgames.boosting.regression.regressor_onnx import regressor_graph

        levels = np.atleast_1d(check_levels(q))
        graph = regressor_graph(self.model_, levels, dtype=dtype, name=type(self).__name__)
        content = graph.SerializeToString()
        with atomic_write(path) as stream:
            stream.write(content)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the model that `save` wrote."""
        from driftgames.boosting.regression.regressor_document import load_regressor

        return cast(Self, load_regressor(cls, PARAMETERS, path))


_STAGES = Requirement(
    'an integer from 1 or "auto"', lambda v: v == "auto" or (type(v) is int and v >= 1)
)


def _outcomes_of(name: str, X: Any, y: Any) -> FloatArray:
    """Return the outcomes of an evaluation set, checked."""
    outcomes = check_vector(f"y of {name}", y)
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if outcomes.size != n_rows or not outcomes.size:
        raise ValueError(
            f"y of {name} must have one outcome for each of {n_rows} rows, and one or more; got "
            f"{outcomes.size}"
        )
    return outcomes


def _check_known(y: Any) -> None:
    """Raise ValueError for outcomes that are missing or infinite; checks of examples say the rest.

    >>> _check_known([1.0, None])
    Traceback (most recent call last):
    ...
    ValueError: y must be finite; got nan at index 1
    """
    try:
        outcomes = as_floats("y", y)
    except (TypeError, ValueError):
        return
    if outcomes.ndim:
        check_finite("y", outcomes)


PARAMETERS: Mapping[str, Parameter] = {
    **{each.name: SHARED[each.name] for each in fields(NHBoostDTRegressor) if each.name in SHARED},
    "n_estimators": N_ESTIMATORS,
    "d": OWN["d"],
    "max_leaves": replace(SHARED["max_leaves"], check=auto_or(at_least(2))),
    "n_thresholds": Parameter("", integer(1), at_least(1)),
    "n_stages": Parameter("", _STAGES, auto_or(at_least(1))),
}
"""The parameters by their names."""
