"""Boosters on a cluster of processes: the model in memory, byte for byte, or a clear error."""

import os
import signal
import time
from contextlib import nullcontext

import numba.core.event
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402
from distributed import Client, LocalCluster  # noqa: E402
from distributed.utils import get_mp_context  # noqa: E402

import driftgames.dask as on_dask  # noqa: E402
from driftgames.boosting import BOOSTERS  # noqa: E402
from driftgames.boosting.data.cuts import CutSummary  # noqa: E402
from driftgames.dask import partitions  # noqa: E402
from driftgames.dask.cluster_source import Survey  # noqa: E402
from driftgames.dask.exchange import ActorExchange, ClusterWatch  # noqa: E402
from driftgames.dask.holder import Holder  # noqa: E402

N = 350
RNG = np.random.default_rng(11)
X = RNG.normal(size=(N, 4))
X[:, 1] = RNG.integers(0, 3, N)
X[:, 2] *= RNG.random(N) < 0.1
X[RNG.random(N) < 0.1, 3] = np.nan
Y = np.where(X[:, 0] + X[:, 1] - 1 + RNG.normal(size=N) > 0, "up", "down")
REALS, COUNTS = RNG.random(N), RNG.integers(0, 3, N)
BY_CLASS = np.argsort(Y, kind="stable")

pytestmark = pytest.mark.filterwarnings("ignore")  # of a cluster whose workers are killed


@pytest.fixture(scope="module")
def client():
    """A cluster of two processes of two threads for the whole module."""
    # on a busy machine a new worker would be given up while it imports and loads compiled code
    patient = {"distributed.deploy.lost-worker-timeout": "600s"}
    # workers are forked from a server that has imported the library: a start costs no imports
    forked = {"distributed.worker.multiprocessing-method": "forkserver"}
    dask.config.set({"distributed.comm.timeouts.tcp": "600s", **patient, **forked})
    get_mp_context().set_forkserver_preload(["distributed", "driftgames.dask"])
    options = {"threads_per_worker": 2, "dashboard_address": None, "death_timeout": 600}
    with LocalCluster(n_workers=2, **options) as cluster, Client(cluster) as client:
        yield client


def _actors(client):
    """Return the number of actors on all workers; the message that ends them may be on its way."""
    for _ in range(2000):
        found = sum(client.run(lambda dask_worker: len(dask_worker.state.actors)).values())
        if not found:
            break
        time.sleep(0.005)
    return found


def _delayed(values, sizes):
    """Return delayed parts of these sizes."""
    ends = np.cumsum(sizes)
    return [dask.delayed(values[end - n : end]) for end, n in zip(ends, sizes, strict=True)]


def _arrays(sizes):
    return [da.from_array(X, chunks=(sizes, 4)), da.from_array(Y, chunks=(sizes,))]


def _frames(n):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=Y)
    frame = dd.from_pandas(frame, npartitions=n, sort=False)
    return [frame[list("abcd")], frame["label"]]


SIZES = (1, 0, 200, 0, 100, 49, 0)
CASES = {
    "one": ("nh-boost.dt", {}, lambda: _arrays((N,)), (X, Y)),
    "twenty": (
        "nh-boost",
        {"n_estimators": 12},
        lambda: _arrays((17,) * 19 + (27,)),
        (X, Y),
    ),
    "uneven, empty": ("nh-boost.dt", {}, lambda: _arrays(SIZES), (X, Y)),
    "classes apart": (
        "nh-boost.dt",
        {},
        lambda: [_delayed(values[BY_CLASS], SIZES) for values in (X, Y)],
        (X, Y),
    ),
    "trees": ("nh-boost.dt", {"max_depth": 2}, lambda: _arrays(SIZES), (X, Y)),
    "sparse": (
        "nh-boost.dt",
        {"max_depth": 2},
        lambda: [_delayed(sp.csr_matrix(X), SIZES), _delayed(Y, SIZES)],
        (sp.csr_matrix(X), Y),
    ),
    "weights": (
        "nh-boost",
        {},
        lambda: [*_arrays(SIZES), da.from_array(REALS, chunks=(SIZES,))],
        (X, Y, REALS),
    ),
    "counts": (
        "potential boost",
        {},
        lambda: [*_arrays((175, 175)), da.from_array(COUNTS, chunks=175)],
        (X, Y, COUNTS),
    ),
    "frame": (
        "nh-boost.dt",
        {},
        lambda: _frames(3),
        (pd.DataFrame(X, columns=list("abcd")), pd.Series(Y)),
    ),
}


THREE = np.where(X[:, 1] > 1, "left", Y)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    e=pd.Categorical(np.array(list("zyxw"))[RNG.integers(0, 4, N)], list("wzyx"), ordered=True),
    f=np.where(RNG.random(N) < 0.1, None, RNG.choice(["red", "green", "blue"], N)),
)
FRAME.loc[3, "f"] = "rare"
PARTS = (100, 0, 200, 50)
WAYS = {
    "class weights": ("nh-boost.dt", X, Y, None, {"class_weight": "balanced"}),
    "class weights of reals": ("nh-boost", X, THREE, REALS, {"class_weight": "balanced"}),
    "monotonic trees": (
        "nh-boost.dt",
        X,
        Y,
        None,
        {"monotonic_cst": [1, 0, -1, -1], "max_depth": 3},
    ),
    "three classes": ("nh-boost.dt", X, THREE, COUNTS, {"class_weight": {"left": 2}}),
    "three classes, trees": ("nh-boost", sp.csr_matrix(X), THREE, REALS, {"max_depth": 2}),
    "heavy leaves": (
        "nh-boost.dt",
        X,
        Y,
        REALS,
        {"class_weight": "balanced", "max_depth": 2, "min_weight_fraction_leaf": 0.1},
    ),
    "categories": ("nh-boost.dt", FRAME, Y, COUNTS, {"max_depth": 2}),
    "held out": (
        "nh-boost.dt",
        FRAME,
        THREE,
        REALS,
        {"early_stopping": True, "n_iter_no_change": 1, "tol": 0.02},
    ),
    "calibrated": ("nh-boost.dt", X, Y, None, {"calibrate": True}),
    "calibrated, all at once": (
        "nh-boost",
        FRAME,
        THREE,
        COUNTS,
        {"calibrate": True, "early_stopping": True, "max_depth": 2, "class_weight": "balanced"},
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_whatever_fit_does_a_cluster_does_byte_for_byte(way, client, tmp_path, monkeypatch):
    monkeypatch.setattr("driftgames.boosting.fit.folds.SMALL", 100)
    monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 200)
    name, rows, y, weights, settings = WAYS[way]
    settings = {"n_estimators": 4, "max_depth": 1, "max_bins": 16, "calibrate": False, **settings}
    local = BOOSTERS[name](**settings).fit(rows, y, weights)
    given = [_delayed(each, PARTS) for each in (rows, y, weights) if each is not None]
    if way == "categories":
        frame = dd.from_pandas(FRAME.assign(y=y, w=weights), npartitions=3, sort=False)
        given = [frame[[*FRAME]], frame["y"], frame["w"]]
        local.fit(rows, pd.Series(y), weights)
    model = getattr(on_dask, f"Dask{type(local).__name__}")(**settings)
    model.fit(*given).save(tmp_path / "cluster")
    local.save(tmp_path / "memory")
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "memory").read_bytes()
    assert _actors(client) == 0


def test_a_validation_collection_stops_a_fit(client, tmp_path):
    settings = {
        "max_leaves": 2,
        "calibrate": False,
        "early_stopping": True,
        "n_iter_no_change": 1,
        "tol": 0.01,
    }
    local = BOOSTERS["nh-boost.dt"](20, **settings).fit(X, Y, eval_set=(X[:99], Y[:99]))
    model = on_dask.DaskNHBoostDTClassifier(20, **settings)
    valid = _delayed(X[:99], (40, 59)), da.from_array(Y[:99], chunks=50)
    seen: list[int] = []
    model.fit(*_arrays(SIZES), eval_set=valid, callbacks=[lambda t, _: seen.append(t)])
    assert seen == [*range(1, local.n_iter_ + 1)]
    assert local.n_iter_ < 20
    np.testing.assert_equal(model.to_local().evals_result_, local.evals_result_)
    with pytest.raises(ValueError, match="validation_fraction must be a number"):
        model.set_params(validation_fraction=None).fit(*_arrays(SIZES))


def test_masked_entries_are_missing_values(client, tmp_path):
    hidden = X[:, :1] > 1
    hidden = hidden & (np.arange(4) < 2)
    missing = np.where(hidden, np.nan, X)
    settings = {"n_estimators": 4, "max_leaves": 2, "calibrate": False}
    chunks = (SIZES, 4)
    masked = da.ma.masked_array(da.from_array(X, chunks=chunks), da.from_array(hidden, chunks))
    local = BOOSTERS["nh-boost.dt"](**settings).fit(missing, Y, eval_set=(missing, Y))
    model = on_dask.DaskNHBoostDTClassifier(**settings)
    model.fit(masked, _arrays(SIZES)[1], eval_set=(masked, Y)).save(tmp_path / "cluster")
    local.save(tmp_path / "memory")
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "memory").read_bytes()
    np.testing.assert_equal(model.to_local().evals_result_, local.evals_result_)
    found = model.decision_function(masked).compute()
    np.testing.assert_array_equal(found, local.decision_function(missing))


LABELS = {
    "None": ([*Y[:9], None], "valid_0: y must not hold missing labels; got None at index 9"),
    "pandas.NA": (
        pd.Series([*Y[:9], pd.NA]),
        "valid_0: y must not hold missing labels; got (<NA>|nan) at index 9",
    ),
    "masked": (
        np.ma.array(Y[:10], mask=np.arange(10) == 9),
        "valid_0: y must have no masked entries; got one at index 9",
    ),
    "two kinds": ([*Y[:9], 3], "valid_0: y must hold labels of one kind.*; got '.*' and 3"),
}


@pytest.mark.parametrize("case", LABELS)
def test_missing_labels_of_an_evaluation_set_are_refused(case, client):
    labels, message = LABELS[case]
    settings = {"n_estimators": 3, "calibrate": False}
    with pytest.raises(ValueError, match=message):
        BOOSTERS["nh-boost.dt"](**settings).fit(X, Y, eval_set=(X[:10], labels))
    parts = labels if case in ("pandas.NA", "masked") else np.array(labels, dtype=object)
    pair = _delayed(X[:10], (6, 4)), _delayed(parts, (6, 4))
    with pytest.raises(ValueError, match=message):
        on_dask.DaskNHBoostDTClassifier(**settings).fit(*_arrays(SIZES), eval_set=pair)


@pytest.mark.parametrize("case", CASES)
def test_the_model_file_is_that_of_a_fit_in_memory(case, client, tmp_path):
    name, shape, collections, rows = CASES[case]
    settings = {"n_estimators": 4, "max_depth": 1, "calibrate": False, "max_bins": 16, **shape}
    local = BOOSTERS[name](**settings).fit(*rows)
    kind = getattr(on_dask, f"Dask{type(local).__name__}")
    model = kind(**settings).fit(*collections())
    model.to_local().save(tmp_path / "cluster")
    local.save(tmp_path / "memory")
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "memory").read_bytes()
    assert type(model.to_local()) is type(local)
    assert _actors(client) == 0
    methods = ("predict", "predict_proba", "decision_function")
    expected = [getattr(local, method)(rows[0]) for method in methods]
    lazy = [getattr(model, method)(collections()[0]) for method in methods]
    assert all(map(dask.is_dask_collection, lazy))
    assert [each.ndim for each in lazy] == [each.ndim for each in expected]
    found = dask.compute(*lazy)
    at_once = [getattr(model, method)(rows[0]) for method in methods]
    for k, wanted in enumerate(expected):
        if case != "classes apart":
            np.testing.assert_array_equal(found[k], wanted)
        np.testing.assert_array_equal(at_once[k], wanted)


def test_rows_with_many_copies_have_the_cuts_of_a_fit_in_memory(client, monkeypatch):
    asked, find = [], Survey._find_cuts

    def find_cuts(self, plan, max_bins, n_expected):
        asked.append(n_expected)
        return find(self, plan, max_bins, n_expected) if len(asked) == 2 else None

    monkeypatch.setattr(Survey, "_find_cuts", find_cuts)
    settings = {"n_estimators": 4, "max_leaves": 2, "max_bins": 16, "calibrate": False}
    model = on_dask.DaskNHBoostDTClassifier(**settings).fit(*_arrays(SIZES))
    assert asked == [N, None]
    assert model.stumps_ == BOOSTERS["nh-boost.dt"](**settings).fit(X, Y).stumps_


def test_a_summary_that_kept_too_few_rows_chooses_no_cuts(monkeypatch):
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", 200)
    X, weights = np.arange(10_000.0)[:, None], np.ones(10_000, dtype=np.int64)
    for rows, enough in ((X, True), (X % 150, False)):
        whole, foreseen = CutSummary(16), CutSummary(16, n_expected=10_000)
        whole.add(rows, weights)
        foreseen.add(rows, weights)
        cuts = partitions.choose_cuts(foreseen)
        assert (cuts is not None) == enough
        if cuts is not None:
            assert cuts.thresholds.tolist() == whole.cuts().thresholds.tolist()


def test_the_client_need_not_be_the_default(client, monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})
    model = on_dask.DaskNHBoostDTClassifier(3, max_leaves=2, calibrate=False, client=client).fit(
        *_arrays(SIZES)
    )
    assert model.n_iter_ == 3


def test_boosters_by_mistakes_have_one_on_dask_with_the_same_settings():
    kinds = [BOOSTERS[name] for name in ("nh-boost.dt", "nh-boost", "potential boost")]
    twins = {f"Dask{kind.__name__}" for kind in kinds}
    assert {name for name in on_dask.__all__ if name.endswith("Classifier")} == twins
    for kind in kinds:
        twin = getattr(on_dask, f"Dask{kind.__name__}")
        own = {"client", "timeout"}
        assert {**twin().get_params(), **kind().get_params()} == twin().get_params()
        assert set(twin().get_params()) - set(kind().get_params()) == own


def _fail_at(monkeypatch, turns):
    """Call ``turns[n]`` before the question number ``n``."""
    ask, asked = ActorExchange.ask_each, []

    def watched(self, *questions):
        asked.append(questions)
        if len(asked) in turns:
            turns[len(asked)](self)
        return ask(self, *questions)

    monkeypatch.setattr(ActorExchange, "ask_each", watched)


def _kill(client):
    """Kill a worker that holds partitions."""

    def kill(exchange):
        pids = client.run(os.getpid)
        os.kill(pids[exchange._holders[0].address], signal.SIGKILL)

    return kill


@pytest.mark.parametrize("shape", [{"max_depth": 1}, {"max_depth": 2}], ids=["stumps", "trees"])
def test_killed_workers_cost_time_and_not_the_model(shape, client, monkeypatch, tmp_path):
    local = BOOSTERS["nh-boost.dt"](12, calibrate=False, **shape).fit(X, Y)
    local.save(tmp_path / "memory")
    drawn = [1, 14] if shape["max_depth"] == 1 else [9]
    _fail_at(monkeypatch, {n: _kill(client) for n in drawn})
    model = on_dask.DaskNHBoostDTClassifier(12, calibrate=False, timeout=60, **shape).fit(
        *_arrays(SIZES)
    )
    model.save(tmp_path / "cluster")
    assert model.exchange_.n_lost >= len(drawn)
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "memory").read_bytes()
    assert _actors(client) == 0


def test_a_worker_that_dies_as_its_holder_is_made_is_lost(client, monkeypatch):
    wait, killed = ClusterWatch.wait, []

    def wait_and_kill(self, futures, *, address=None):
        wait(self, futures, address=address)
        if address is not None and not killed:
            killed.append(client.run(os.getpid, workers=[address])[address])
            os.kill(killed[0], signal.SIGKILL)
            while futures[0].status == "finished":
                time.sleep(0.005)

    monkeypatch.setattr(ClusterWatch, "wait", wait_and_kill)
    model = on_dask.DaskNHBoostDTClassifier(3, max_leaves=2, calibrate=False, timeout=60).fit(
        *_arrays(SIZES)
    )
    assert (model.n_iter_, model.exchange_.n_lost) == (3, 1)
    assert _actors(client) == 0


@pytest.mark.parametrize("compiles", [True, False])
def test_a_worker_is_lost_if_it_is_silent_and_does_not_compile(compiles, client):
    def delay(compiles):
        """Let the first answer of this worker take longer than the time limit."""
        answer, event = Holder._answer, numba.core.event

        def answer_late(self, command):
            Holder._answer = answer
            busy = event.trigger_event("numba:compiler_lock") if compiles else nullcontext()
            with busy:
                time.sleep(8)
            return answer(self, command)

        Holder._answer = answer_late

    client.run(delay, compiles)
    model = on_dask.DaskNHBoostDTClassifier(3, calibrate=False, timeout=5).fit(*_arrays(SIZES))
    assert model.n_iter_ == 3
    assert (model.exchange_.n_lost == 0) == compiles


def test_an_interrupted_fit_leaves_nothing_behind(client, monkeypatch, tmp_path):
    def stop(exchange):
        raise KeyboardInterrupt

    model = on_dask.DaskNHBoostDTClassifier(8, max_leaves=2, calibrate=False)
    with monkeypatch.context() as patch:
        _fail_at(patch, {10: stop})
        with pytest.raises(KeyboardInterrupt):
            model.fit(*_arrays(SIZES))
    assert not hasattr(model, "classes_")
    assert _actors(client) == 0
    model.fit(*_arrays((N,))).save(tmp_path / "cluster")
    BOOSTERS["nh-boost.dt"](8, max_leaves=2, calibrate=False).fit(X, Y).save(tmp_path / "memory")
    assert (tmp_path / "cluster").read_bytes() == (tmp_path / "memory").read_bytes()


@pytest.mark.parametrize(
    "settings", [{}, {"calibrate": True}, {"early_stopping": True}], ids=["plain", "cal", "stops"]
)
def test_a_sample_of_all_examples_chooses_as_in_memory(settings, client, monkeypatch, tmp_path):
    monkeypatch.setattr("driftgames.boosting.fit.race.STAGES", (3, 6))
    monkeypatch.setattr("driftgames.boosting.fit.fit_booster.MOST_WATCHED", 6)
    settings = {"calibrate": False, "ensemble": False, **settings}
    model = on_dask.DaskNHBoostDTClassifier(**settings).fit(*_arrays(SIZES))
    local = BOOSTERS["nh-boost.dt"](**settings).fit(X, Y)
    assert model.n_iter_ in {3, 6}
    assert model.chosen_ == local.chosen_
    np.testing.assert_array_equal(model.to_local().decision_function(X), local.decision_function(X))
    assert _actors(client) == 0


def _at(k, sizes):
    """Return a mask of row ``k``."""
    return da.from_array(np.arange(N) == k, chunks=(sizes,))


def _unknown():
    return dd.from_pandas(pd.DataFrame(X), npartitions=2).values


BAD = {
    "X must have known chunk sizes": lambda: [_unknown(), _arrays((175, 175))[1]],
    "y must have the partitions of X; X has 2 \\(175, 175\\), y has 1 \\(350,\\)": lambda: [
        _arrays((175, 175))[0],
        _arrays((N,))[1],
    ],
    "y must be a dask array": lambda: [_arrays((N,))[0], Y],
    "y must hold two classes or more; got one class only: \\['up'\\]": lambda: [
        _arrays((175, 175))[0],
        da.from_array(np.full(N, "up"), chunks=175),
    ],
    "all partitions are empty": lambda: [_delayed(X, (0, 0)), _delayed(Y, (0, 0))],
    "partition 1: .*inconsistent numbers of samples": lambda: [
        _delayed(X, (100, 250)),
        _delayed(Y, (100, 249)),
    ],
    "partition 0 has 4, partition 1 has 3": lambda: [
        [dask.delayed(X[:9]), dask.delayed(X[9:, :3])],
        _delayed(Y, (9, N - 9)),
    ],
    "partition 0: sample_weight must be finite and nonnegative; got -1": lambda: [
        *_arrays((N,)),
        da.from_array(np.where(np.arange(N) == 5, -1.0, 1.0), chunks=N),
    ],
    "partition 1: y must have no masked entries; got one at index 5": lambda: [
        _arrays((100, 250))[0],
        da.ma.masked_array(_arrays((100, 250))[1], _at(105, (100, 250))),
    ],
    "partition 1: sample_weight must have no masked entries; got one at index 5": lambda: [
        *_arrays((100, 250)),
        da.ma.masked_array(da.ones(N, chunks=((100, 250),)), _at(105, (100, 250))),
    ],
    "partition 0: sample_weight must be numbers": lambda: [*_arrays((N,)), _arrays((N,))[1]],
    "sample_weight must not be zero for all of one class": lambda: [
        *_arrays((N,)),
        da.from_array(1.0 * (Y == "up"), chunks=N),
    ],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_collections_are_refused_and_nothing_is_left_behind(message, client):
    with pytest.raises(ValueError, match=message):
        on_dask.DaskNHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(*BAD[message]())
    assert _actors(client) == 0


def test_bad_settings_are_refused(client):
    closed = Client(client.cluster, set_as_default=False)
    closed.close()
    for settings, message in [
        ({"client": closed}, "client must be running; it is closed"),
        ({"client": "tcp"}, "client must be a distributed.Client; got 'tcp'"),
        ({"timeout": 0}, "timeout must be a positive number; got 0"),
        ({"ensemble": True}, "a cluster fits one booster to all rows; got ensemble=True"),
        ({"max_bins": 1}, "max_bins"),
    ]:
        with pytest.raises(ValueError, match=message):
            on_dask.DaskNHBoostDTClassifier(3, calibrate=False, **settings).fit(*_arrays((N,)))
