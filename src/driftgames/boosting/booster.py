"""What all boosters share: fits, certificates and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from driftgames.boosting.data.batch_readers import ReadOptions, open_source
from driftgames.boosting.data.checks import (
    ExampleChecks,
    find_classes,
    plain_constraints,
    warn_of_identifiers,
    warn_of_row_names,
)
from driftgames.boosting.data.sample_weights import check_weights
from driftgames.boosting.engine.game import GameRule
from driftgames.boosting.engine.shape import SETTINGS as SHAPE_SETTINGS
from driftgames.boosting.engine.shape import TreeShape
from driftgames.boosting.fit.batches import BatchPasses, BatchSource
from driftgames.boosting.fit.fit_booster import fit_booster
from driftgames.boosting.fit.job import Columns, Job, Stopping
from driftgames.boosting.fit.source import MemorySource
from driftgames.boosting.fit.watch import Callback, EvaluationPairs, Watch, name_sets
from driftgames.boosting.fitted import FittedBooster
from driftgames.boosting.model.training_record import Fitted
from driftgames.boosting.parameters import PARAMETERS, check_parameters
from driftgames.boosting.promises import mean_certificate, promise_of
from driftgames.certificates.certificate import Bound
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.pairs import PairCertificate
from driftgames.core.checks import check_integer, float_errors, shown
from driftgames.core.documents import atomic_write
from driftgames.core.typing import Path

BATCH_ROWS = 65_536
"""The number of rows that `fit_batches` works on at a time."""


class BaseBooster(FittedBooster, ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """A classifier by vote of weak hypotheses; subclasses say how the examples are weighed.

    Attributes
    ----------
    classes_ : array of labels
        Of two, a vote of -1 is for the first, +1 for the second. Of more, every hypothesis votes -1
        or +1 for each of them (docs/choosing.md).
    stumps_ : Stumps
        The weak hypotheses in order; empty if they are trees, or if there are more than two
        classes.
    trees_ : Trees
        The weak hypotheses in order if they are trees, or if there are more than two classes;
        else empty.
    encoder_ : CategoryEncoder or None
        The columns that stumps and trees ask about, if there are categories: the features of
        ``stumps_`` and ``trees_`` are then columns of ``encoder_``.
    estimator_weights_ : array
        The weight of each vote.
    history_ : dict of arrays
        For each round the ``edge`` of its weak hypothesis and, after it, the ``zero_fraction``
        of examples that weigh zero and the ``training_error`` of the vote. The boosters of a mean
        take turns, and each number is that of its own booster.
    certificate_ : MarginCertificate or None
        What is promised about new examples, and the margins beside what the edges promise; None
        after no round.
    chosen_ : Choice
        The size that the examples held out chose, if a size was left to them, with the table that
        it was chosen from (docs/choosing.md).
    n_iter_ : int
        How many weak hypotheses vote: the rounds, of all boosters if the model is their mean.
    ended_early_ : bool
        Whether the fit ended because no weak hypothesis had an edge. After no round every
        prediction is the class of more weight.
    evals_result_ : dict of dicts of arrays
        The ``log_loss`` and the ``error`` on each ``eval_set`` of `fit` after each round.
    validation_score_ : array
        With early stopping, the score before the first round and after each.
    calibration_ : Calibration or None
        The sigmoid from votes to probabilities; None with ``calibrate=False``.
    model_ : FittedModel
        All that predictions need, in one object that is never changed.
    record_ : TrainingRecord
        All else that is known of the fit.
    """

    n_estimators: int | str
    chooses_rounds: ClassVar[bool] = True
    """Whether ``n_estimators`` may be "auto"."""

    @abstractmethod
    def _rule(self) -> GameRule:
        """Return the rule that weighs the examples, checked."""

    def fit(
        self,
        X: object,
        y: object,
        sample_weight: npt.ArrayLike | None = None,
        *,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
        **unknown: Any,
    ) -> Self:
        """Fit the booster.

        Parameters
        ----------
        X : array, data frame or SciPy sparse matrix, shape (n_samples, n_features)
            NaN is a missing value. Sparse matrices stay sparse. A data frame may have columns
            of categories; see ``categorical_features``.
        y : array, shape (n_samples,)
            Labels of two values or more.
        sample_weight : array, shape (n_samples,), optional
            A prior over the examples; an example of weight 2 counts as two.
        eval_set : pair (X, y) or list of such pairs, optional
            Examples on which each round is evaluated: ``evals_result_[name]`` has the
            ``log_loss`` and the ``error`` after each.
        eval_names : list of str, optional
            Their names. Default: ``valid_0``, ``valid_1`` and so on.
        callbacks : list of callables
            Each is called after a round with its number and a `Stage`. The fit stops where one
            returns True.

        Returns
        -------
        self
            A failed or interrupted call does not change the booster.
        """
        self._refuse(unknown)
        job = self.make_job()
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        checks = ExampleChecks(self.unfitted_copy())
        rows, labels, categories = checks.check_examples(X, y)
        columns = Columns.of(find_classes(labels), checks)
        warn_of_row_names(labels, columns.classes)
        if categories is not None:
            n_values = np.count_nonzero(~np.isnan(rows), axis=0).tolist()
            warn_of_identifiers(categories, n_values, columns.names)
        with float_errors("sample_weight"):
            weights = check_weights(sample_weight, rows, labels, columns.classes)
        source = MemorySource(columns, rows, labels, categories, weights, job.class_weight)
        return self.adopt(fit_booster(job, source, self.make_watch(checks, pairs, callbacks)))

    def fit_batches(
        self,
        source: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        filter: Any = None,  # noqa: A002  # pyarrow's word
        batch_rows: int = BATCH_ROWS,
        eval_set: Any = None,
        eval_names: Sequence[str] | None = None,
        callbacks: Sequence[Callback] = (),
        **unknown: Any,
    ) -> Self:
        """Fit the booster to examples that come in batches, and need not fit in memory.

        The model is that of `fit` on all rows, to the bit, for any size and order of the batches,
        unless there are categories and a size is chosen: then 200 rounds are played, and there is
        no mean of boosters (docs/choosing.md).
        The source is read twice: once for the cuts, once for the bins, two bytes for each value.
        Weights, categories, examples held out and calibration need more passes: docs/scale.md has
        them, and figures. ``calibrate=False`` saves the time of calibration.

        Parameters
        ----------
        source : function, list, str, pyarrow Dataset or polars LazyFrame
            A function that returns an iterator over batches, or a list of batches. A batch is
            ``(X, y)`` or ``(X, y, sample_weight)``, of what `fit` takes, memory maps or names of
            ``.npy`` files. Or parquet files: a name, a pattern such as ``"data/*.parquet"`` or a
            list of names.
        label, weight : str, optional
            The columns of the labels and of the sample weights, in parquet files, a Dataset or a
            LazyFrame.
        columns : list of str, optional
            The columns of the features. Default: all others.
        filter : expression, optional
            The rows to take: an expression of pyarrow, or of polars for a LazyFrame.
        batch_rows : int
            The largest number of rows that are worked on at a time.
        eval_set, eval_names, callbacks
            As in `fit`; evaluation sets are in memory.

        Returns
        -------
        self
            A failed or interrupted call does not change the booster.
        """
        self._refuse(unknown, "fit_batches")
        batch_rows = check_integer("batch_rows", batch_rows, least=1)
        job = self.make_job()
        pairs = {} if eval_set is None else name_sets(eval_set, eval_names)
        # a list of columns may name them, so columns of files come as data frames then
        chosen = self.categorical_features
        frames = not (chosen is None or isinstance(chosen, str) or np.size(chosen) == 0)
        options = ReadOptions(batch_rows, label, weight, columns, filter, frames)
        opened = open_source(source, options)
        checks = ExampleChecks(self.unfitted_copy(), opened.names)
        passes = BatchPasses(opened, checks, job.class_weight, job.makes_folds, job.verbose)
        watch = self.make_watch(checks, pairs, callbacks)
        return self.adopt(fit_booster(job, BatchSource(passes), watch))

    def _refuse(self, unknown: Mapping[str, Any], method: str = "fit") -> None:
        """Raise TypeError for arguments that a method does not have; say what takes their place."""
        for name in unknown:
            booster = type(self).__name__
            message = f"{booster}.{method}() has no argument {name!r}"
            if name in self.get_params(deep=False):
                message += f": it is a parameter of {booster}"
            elif name.startswith("early_stopping"):
                message += f": early_stopping and n_iter_no_change are parameters of {booster}"
            raise TypeError(message)

    def unfitted_copy(self) -> Self:
        """Return an unfitted booster of the same settings."""
        return type(self)(**self.get_params(deep=False))

    def make_watch(
        self, checks: ExampleChecks, pairs: EvaluationPairs, callbacks: Sequence[Callback]
    ) -> Watch:
        """Return what follows a fit; evaluation sets must pass the ``checks`` of its examples."""
        if not (isinstance(callbacks, Sequence) and all(map(callable, callbacks))):
            raise ValueError(f"callbacks must be a list of callables; got {shown(callbacks)}")

        def wrap(fitted: Fitted) -> BaseBooster:
            return self.unfitted_copy().adopt(fitted)

        return Watch(pairs, callbacks, checks.check_rows, wrap)

    def make_job(self) -> Job:
        """Return the settings, checked: all that a fit knows of this booster."""
        values = self.get_params(deep=False)
        if isinstance(self.n_estimators, str) and not self.chooses_rounds:
            check_integer("n_estimators", self.n_estimators, least=1)
        check_parameters(values)
        shape = TreeShape(**{name: values[name] for name in SHAPE_SETTINGS})
        stopping = None
        if self.early_stopping:
            stopping = Stopping(
                self.validation_fraction,
                self.n_iter_no_change,
                self.scoring,
                self.tol,
                only_if_many=self.early_stopping == "auto",
            )
        return Job.of(
            values,
            rule=self._rule(),
            shape=shape,
            ensemble=None if isinstance(self.ensemble, str) else bool(self.ensemble),
            settings=self.binding_settings(),
            calibrate=bool(self.calibrate),
            class_weight=self.class_weight,
            stopping=stopping,
        )

    def binding_settings(self) -> dict[str, Any]:
        """Return the settings that the rounds played depend on."""
        settings = self.get_params(deep=False)
        if isinstance(settings["categorical_features"], np.ndarray):
            settings["categorical_features"] = settings["categorical_features"].tolist()
        if self.monotonic_cst is not None:
            settings["monotonic_cst"] = plain_constraints(self.monotonic_cst)
        return {
            name: value
            for name, value in settings.items()
            if name not in PARAMETERS or PARAMETERS[name].binds
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------- certificates

    @abstractmethod
    def _certify(self, margins: Margins, error: float) -> MarginCertificate:
        """Return the certificate of the fit in ``record_``."""

    def _certify_regret(
        self, title: str, bound: Bound, margins: Margins, error: float
    ) -> MarginCertificate:
        """Return the certificate that a bound on the epsilon-regret gives."""
        edges, members = self.history_["edge"], self.record_.members
        if len(members) > 1:
            return mean_certificate(title, self.model_, self.record_, bound)
        mean = float(edges.mean())
        return MarginCertificate.of_regret(title, edges.size, margins, error, mean, bound)

    @property
    def certificate_(self) -> MarginCertificate | None:
        """What is promised about new examples, then about the margins; None after no round."""
        margins = self.record_.margins
        if margins is None:
            return None
        error = float(self.history_["training_error"][-1])
        if len(self.record_.members) > 1:
            error = float(self.record_.mean_error or 0.0)
        certificate = self._certify(margins, error)
        certificate = replace(
            certificate, new_examples=promise_of(self.record_, self.classes_.size)
        )
        n_classes = self.classes_.size
        if n_classes == 2:
            return certificate
        return PairCertificate.of(certificate, n_classes, self._errors_per_pair(n_classes))

    def _errors_per_pair(self, n_classes: int) -> float:
        """Return how many times the bound on pairs bounds the errors; see `PairCertificate`."""
        return 2.0 * (n_classes - 1)

    # ------------------------------------------------------------------- files

    def save(self, path: Path) -> None:
        """Write the model to a JSON file, atomically; docs/model_format.md describes it."""
        from driftgames.boosting.persistence import save_model

        save_model(self, path)

    def to_onnx(self, path: Path, *, dtype: str = "float32") -> None:
        """Write the model as an ONNX file, which other languages run; needs the extra ``onnx``.

        Its outputs are ``label``, ``votes`` and ``probabilities``. Its input is ``X``, a matrix of
        type ``dtype``. After a fit with categories there is one input of shape (n, 1) for each
        feature, by its name; a category that is a string may be missing, which is ``""``.
        On numbers of that type the graph gives the same labels. Votes and probabilities are
        rounded to float32, or with ``dtype="float64"`` to float64 where all votes are integers.
        """
        from driftgames.boosting.export.onnx import onnx_model

        model = onnx_model(self.model_, dtype=dtype, name=type(self).__name__)
        content = model.SerializeToString()
        with atomic_write(path) as stream:
            stream.write(content)

    def to_treelite(self) -> Any:
        """Return the model as a `treelite.Model`, for columns of numbers and two classes.

        It predicts the probability of the second class, or without calibration the vote. `predict`
        returns that class where it is above 1/2, or the vote above 0.
        """
        from driftgames.boosting.export.treelite import treelite_model

        return treelite_model(self.model_)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the model that `save` wrote."""
        from driftgames.boosting.persistence import load_model

        model = load_model(path)
        if not isinstance(model, cls):
            raise ValueError(f"{path} holds a {type(model).__name__}, not a {cls.__name__}")
        return model
