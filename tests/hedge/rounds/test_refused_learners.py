"""Files of learners, mixtures and intervals that must be refused: one table for each."""

import numpy as np
import pytest

from driftgames.core.documents import DocumentError
from driftgames.hedge import (
    AdaptiveIntervals,
    ExpertMixture,
    FixedShare,
    Hedge,
    NormalHedge,
    SeriesMixture,
    SignedIntervals,
    Squint,
)
from driftgames.hedge.losses.interval_losses import SquareLoss
from driftgames.hedge.mixture.combiners import Combiners
from tests.refusals import check_files_of

LEARNER = [
    ("state", [], "not a whole Hedge"),
    ("state.cumulative", np.zeros(4), r"cumulative must be float64\[3\]"),
    ("state.cumulative", np.full(3, np.nan), "cumulative must be finite"),
    ("state.totals", np.zeros(4, dtype=np.float32), r"totals must be float64\[4\]"),
    ("state.totals.0", -5.0, "the clock must be an integer >= 0; got -5"),
    ("state.totals.0", 1.5, "the clock must be an integer >= 0; got 1.5"),
    ("state.totals", np.array([2, 0, -1e6, 0]), r"the lowest total must be 0; got -1e\+06"),
    ("state.totals", np.array([2, 2.5, 0, 0]), "2 rounds cannot bring an action so far"),
    ("state.extra", np.zeros(3), "the state must be"),
]
SQUINT = [("state.memory", np.array([0.0, -1.0, 0.0]), "memory must be nonnegative")]
FIXED_SHARE = [
    (
        "state.memory",
        FixedShare(2, rate=0.4).content()["state"]["memory"],
        r"rate 0.5 .* got 0.4 and 0.01",
    ),
]
MIXTURE = [
    ("arguments.outside", "foo", "outside must be 'error' or 'nearest'; got 'foo'"),
    ("state.total_loss", float("nan"), "total_loss must be a finite number"),
    ("state.total_loss", 10**400, "not a whole ExpertMixture"),
    ("state.experts", ["a", "b", "c"], "experts must be a name for each or null"),
    ("state.experts", 5, "not a whole ExpertMixture"),
    ("state.combiners", lambda state: state[:-1], "combiners must be 77 finite numbers"),
    ("state.combiners.3", np.nan, "77 finite numbers"),
    ("state.combiners.3", -1.0, "nonnegative errors"),
    ("state.combiners.0", 60.5, "its combiners have 60.5 rounds"),
    ("state.combiners.17", 5.0, "must sum to 1"),
    ("state.combiners.28", 5.0, "must be symmetric"),
    ("state.combiners", lambda state: state.astype(np.float32), "combiners need"),
]
SERIES = [
    ("state.series.0.rounds", 12, "mixture 0 of '' must have 6 rounds; got 5"),
    ("arguments.linearise", False, "its mixtures have"),
]
INTERVALS = [
    ("state.levels", np.full(8, 3.0), "a level must lie in"),
    ("state.misses", np.full(8, 99.0), "20 rounds cannot have 99 misses"),
    ("state.scores", np.ones(3), "scores must be 20 nonnegative numbers; got 3"),
    ("state.scores", -np.ones(20), "scores must be 20 nonnegative numbers"),
    ("state.numbers", np.full(8, 0.5), "the clock must be an integer; got 0.5"),
    ("state.losses", np.ones(3), r"losses must be float64\[8\]"),
    (
        "state.learners",
        AdaptiveIntervals(method="agaci").content()["state"]["learners"],
        "its learners are not those of its arguments",
    ),
]
SIGNED = [
    ("state.missed", 999, "cannot have 999 misses"),
    ("arguments.coverage", 0.5, "not those of its arguments"),
]


def forecasts(n, experts=5):
    rng = np.random.default_rng(0)
    y = rng.normal(size=n).cumsum()
    return y[:, None] + rng.normal(size=(n, experts)), y


def mixture():
    assert Combiners(5).state.size == 77
    return ExpertMixture().fit(*forecasts(60))


def series():
    found = SeriesMixture(delay=1)
    found.predict_then_fit(*forecasts(9))
    return found


def intervals(kind):
    found = kind()
    y = np.random.default_rng(1).normal(size=20)
    found.run(np.zeros(20), y)
    return found


FORMATS = {
    "learner": (lambda: Hedge(3), LEARNER),
    "squint": (lambda: Squint(3), SQUINT),
    "fixed share": (lambda: FixedShare(2, rate=0.5), FIXED_SHARE),
    "mixture": (mixture, MIXTURE),
    "series": (series, SERIES),
    "intervals": (lambda: intervals(AdaptiveIntervals), INTERVALS),
    "signed intervals": (lambda: intervals(SignedIntervals), SIGNED),
}


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_no_run_wrote_are_refused(name, tmp_path):
    make, table = FORMATS[name]
    check_files_of(make(), tmp_path / "f.json", table)


@pytest.mark.parametrize("kind", [Hedge, ExpertMixture])
def test_a_file_of_another_kind_or_cut_short_or_changed_is_refused(kind, tmp_path):
    path = tmp_path / "f.json"
    NormalHedge(3).save(path)
    with pytest.raises(DocumentError, match=r"holds a 'driftgames.NormalHedge'"):
        kind.load(path)
    (Hedge(3) if kind is Hedge else mixture()).save(path)
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    with pytest.raises(DocumentError, match="cut short"):
        kind.load(path)
    path.write_text(whole.replace('"gains":false', '"gains":true'))
    with pytest.raises(DocumentError, match="sha256"):
        kind.load(path)


@pytest.mark.parametrize(
    ("linearise", "message"),
    [
        (False, r"takes losses in \(0.0, 1.0\), its loss has \(0.0, 4"),
        (True, r"takes losses in \(-1.0, 1.0\), its loss has \(-4.0, 4"),
    ],
)
def test_a_learner_that_does_not_fit_its_loss_is_refused(linearise, message, tmp_path):
    found = ExpertMixture(SquareLoss(), learner="adahedge", linearise=linearise)
    found.fit(np.full((3, 2), 0.5), np.zeros(3))
    path = tmp_path / "f.json"
    check_files_of(found, path, [("arguments.loss.arguments.high", 2.0, message)])
