"""Fits in batches: the model of a fit on all rows, byte for byte, or a clear error."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from driftgames.boosting import BOOSTERS, AdaBoostClassifier, NHBoostDTClassifier
from driftgames.boosting.data.cuts import CutSummary, cut_dense, cut_sparse

RNG = np.random.default_rng(3)
N = 400


def _examples(seed=0):
    """Few-valued, many-valued, sparse and missing columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5))
    X[:, 1] = rng.integers(0, 4, N)
    X[:, 2] *= rng.random(N) < 0.2
    X[rng.random(N) < 0.1, 3] = np.nan
    y = np.where(X[:, 0] + X[:, 1] - 1 + rng.normal(size=N) > 0, "up", "down")
    return X, y


X, Y = _examples()
REALS, COUNTS = RNG.random(N), RNG.integers(0, 4, N)


def _cut(order, sizes):
    """Return batches of rows in this order, of these sizes in turn."""
    at, batches, k = 0, [], 0
    while at < N:
        rows = order[at : at + sizes[k % len(sizes)]]
        batches.append((X[rows], Y[rows]))
        at, k = at + rows.size, k + 1
    return batches


def _bytes(model, path):
    model.save(path)
    return path.read_bytes()


def test_an_array_names_the_columns_of_categories(tmp_path):
    make = partial(NHBoostDTClassifier, 8, max_leaves=2, calibrate=False)
    chosen = np.array([False, True, False, False, False])
    whole = make(categorical_features=chosen).fit(X, Y)
    assert whole.encoder_ is not None
    parts = make(categorical_features=chosen).fit_batches([(X[:150], Y[:150]), (X[150:], Y[150:])])
    assert _bytes(parts, tmp_path / "parts") == _bytes(whole, tmp_path / "whole")


@pytest.mark.parametrize("name", BOOSTERS)
@pytest.mark.parametrize("shape", [{"max_depth": 1}, {"max_depth": 2}])
def test_batches_give_the_model_of_all_rows_byte_for_byte(name, shape, tmp_path):
    make = partial(BOOSTERS[name], calibrate=False)
    whole = _bytes(make(n_estimators=8, max_bins=16, **shape).fit(X, Y), tmp_path / "whole")
    for order, sizes in [
        (np.arange(N), [N]),
        (np.arange(N)[::-1], [1, 150]),
        (RNG.permutation(N), [7, 90, 33]),
    ]:
        batches = _cut(order, sizes)
        model = make(n_estimators=8, max_bins=16, **shape).fit_batches(lambda b=batches: iter(b))
        assert _bytes(model, tmp_path / "parts") == whole


def test_sparse_batches_give_the_model_of_all_rows(tmp_path):
    S = sp.csr_matrix(np.nan_to_num(X) * (np.abs(np.nan_to_num(X)) > 1))
    whole = NHBoostDTClassifier(8, max_leaves=2, calibrate=False, max_bins=16).fit(S, Y)
    batches = [(S[a:b], Y[a:b]) for a, b in [(200, N), (0, 3), (3, 200)]]
    parts = NHBoostDTClassifier(8, max_leaves=2, calibrate=False, max_bins=16).fit_batches(batches)
    assert _bytes(parts, tmp_path / "a") == _bytes(whole, tmp_path / "b")


@pytest.mark.parametrize("weights", [COUNTS, REALS], ids=["counts", "reals"])
@pytest.mark.parametrize("booster", [NHBoostDTClassifier, AdaBoostClassifier])
def test_sample_weights_in_batches(weights, booster, tmp_path):
    whole = booster(8, max_depth=1, max_bins=16, calibrate=False).fit(X, Y, sample_weight=weights)
    batches = [(X[a:b], Y[a:b], weights[a:b]) for a, b in [(250, N), (0, 250)]]
    parts = booster(8, max_depth=1, max_bins=16, calibrate=False).fit_batches(batches)
    assert _bytes(parts, tmp_path / "a") == _bytes(whole, tmp_path / "b")


THREE = np.where(X[:, 1] > 2, "left", Y)
FRAME = pd.DataFrame(X, columns=list("abcde")).assign(
    f=pd.Categorical(np.array(list("zyxw"))[RNG.integers(0, 4, N)], list("wzyx"), ordered=True),
    g=np.where(
        RNG.random(N) < 0.1, None, np.array(["red", "green", "blue"])[RNG.integers(0, 3, N)]
    ),
)
FRAME.loc[3, "g"] = "rare"
WAYS = {
    "balanced": (X, Y, None, {"class_weight": "balanced"}),
    "class weights of reals": (X, Y, REALS, {"class_weight": {"up": 0.3}}),
    "balanced reals": (X, THREE, REALS, {"class_weight": "balanced"}),
    "monotonic": (X, Y, None, {"monotonic_cst": [1, 0, 0, -1, 0]}),
    "monotonic trees": (X, Y, None, {"monotonic_cst": [1, 0, 0, -1, 0], "max_depth": 3}),
    "three classes": (X, THREE, COUNTS, {}),
    "three classes, trees": (X, THREE, None, {"max_depth": 2}),
    "three classes, sparse": (sp.csr_matrix(np.nan_to_num(X)), THREE, REALS, {"max_depth": 2}),
    "heavy leaves": (X, THREE, COUNTS, {"max_depth": 2, "min_weight_fraction_leaf": 0.1}),
    "categories": (FRAME, Y, COUNTS, {}),
    "categories, trees": (FRAME, Y, REALS, {"max_depth": 3}),
    "categories, three classes": (FRAME, THREE, None, {"max_depth": 2}),
    "held out": (X, Y, COUNTS, {"early_stopping": True, "n_iter_no_change": 1, "tol": 0.05}),
    "held out, categories": (FRAME, THREE, REALS, {"early_stopping": True, "max_depth": 2}),
    "calibrated": (X, Y, None, {"calibrate": True}),
    "calibrated, three classes": (
        X,
        THREE,
        COUNTS,
        {"calibrate": True, "class_weight": "balanced"},
    ),
    "calibrated, categories": (
        FRAME,
        Y,
        REALS,
        {"calibrate": True, "early_stopping": True, "max_depth": 2},
    ),
    "calibrated, one example": (
        FRAME,
        np.where(np.arange(N) == 7, "once", "often"),
        np.where(np.arange(N) == 3, 0.0, 1.0),
        {"calibrate": True},
    ),
}


def _take(rows, at):
    return rows.iloc[at] if isinstance(rows, pd.DataFrame) else rows[at]


@pytest.mark.parametrize("way", WAYS)
def test_whatever_fit_does_batches_do_byte_for_byte(way, tmp_path, monkeypatch):
    rows, labels, weights, settings = WAYS[way]
    if weights is not None:  # one fold instead of ten
        monkeypatch.setattr("driftgames.boosting.fit.folds.SMALL", 100)
        monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 100)
    kind = AdaBoostClassifier if weights is REALS else NHBoostDTClassifier
    settings = {"n_estimators": 4, "max_depth": 1, "max_bins": 16, "calibrate": False, **settings}
    whole = kind(**settings).fit(rows, labels, weights)
    pieces = np.array_split(RNG.permutation(N), 3)
    given = [rows, labels] + ([] if weights is None else [weights])
    batches = [tuple(_take(each, at) for each in given) for at in pieces]
    model = kind(**settings).fit_batches(batches, batch_rows=90)
    assert _bytes(model, tmp_path / "parts") == _bytes(whole, tmp_path / "whole")


def test_evaluation_sets_and_callbacks_see_each_round_of_batches():
    settings = {"calibrate": False, "early_stopping": True, "n_iter_no_change": 1}
    seen: list[int] = []
    watched = {
        "eval_set": (X[:90], Y[:90]),
        "eval_names": ["some"],
        "callbacks": [lambda t, _: seen.append(t)],
    }
    whole = NHBoostDTClassifier(20, max_leaves=2, **settings).fit(X, Y, **watched)
    parts = NHBoostDTClassifier(20, max_leaves=2, **settings).fit_batches(
        _cut(np.arange(N), [99]), **watched
    )
    assert seen == [*range(1, whole.n_iter_ + 1)] * 2
    np.testing.assert_equal(parts.evals_result_, whole.evals_result_)
    with pytest.raises(ValueError, match="validation_fraction must be a number"):
        NHBoostDTClassifier(3, max_leaves=2, **settings, validation_fraction=None).fit_batches(
            _first()
        )


def test_categories_of_parquet_files(tmp_path):
    frame = FRAME.astype({"f": str}).assign(label=Y)
    for k, part in enumerate(np.array_split(np.arange(N), 3)):
        pq.write_table(pa.Table.from_pandas(frame.iloc[part]), tmp_path / f"{k}.parquet")
    pattern, features = str(tmp_path / "*.parquet"), list("abcdefg")
    for named in ({}, {"categorical_features": ["b", "f", "g"]}):
        for source, y in ((pattern, frame["label"]), (pl.scan_parquet(pattern), Y)):
            whole = NHBoostDTClassifier(5, max_leaves=2, calibrate=False, **named).fit(
                frame[features], y
            )
            model = NHBoostDTClassifier(5, max_leaves=2, calibrate=False, **named)
            model.fit_batches(source, label="label", columns=features)
            assert _bytes(model, tmp_path / "parts") == _bytes(whole, tmp_path / "whole")


def test_a_category_and_a_missing_value_may_be_in_one_batch_alone(tmp_path):
    frame = pd.DataFrame({"a": ["x", "y", "x", "y", None, "z"] + ["x", "y"] * 7})
    y = np.arange(20) % 2
    whole = NHBoostDTClassifier(4, max_leaves=2, calibrate=False).fit(frame, y)
    parts = [(frame[10:], y[10:]), (frame[:10], y[:10])]
    model = NHBoostDTClassifier(4, max_leaves=2, calibrate=False).fit_batches(parts)
    assert _bytes(model, tmp_path / "a") == _bytes(whole, tmp_path / "b")


def test_late_categories_and_other_types_are_refused():
    late = FRAME.assign(g=FRAME["g"].replace("rare", "late"))
    reads = iter([FRAME, late])
    with pytest.raises(ValueError, match="batch 0 holds the category 'late' in column 6 now"):
        NHBoostDTClassifier(3, max_leaves=2).fit_batches(lambda: iter([(next(reads), Y)]))
    other = FRAME.assign(f=FRAME["f"].cat.as_unordered())
    with pytest.raises(ValueError, match="column 5 must have one type in all parts"):
        NHBoostDTClassifier(3, max_leaves=2).fit_batches([(FRAME, Y), (other, Y)])
    with pytest.raises(ValueError, match="strings or numbers; got 'blue' and 0"):
        NHBoostDTClassifier(3, max_leaves=2).fit_batches(
            [(FRAME, Y), (FRAME.assign(g=pd.Categorical(X[:, 1])), Y)]
        )


def test_rows_in_another_order_are_refused_where_some_are_held_out():
    reads = iter([_first(), [(X[::-1], Y[::-1])]])
    with pytest.raises(ValueError, match="other values the second time"):
        NHBoostDTClassifier(3, max_leaves=2, early_stopping=True).fit_batches(
            lambda: iter(next(reads))
        )


@pytest.fixture
def files(tmp_path):
    """Return parquet files of the examples, their frame, and a pattern for the files."""
    frame = pd.DataFrame(X, columns=list("abcde")).assign(w=RNG.integers(1, 4, N), label=Y)
    for k, part in enumerate(np.array_split(np.arange(N), 3)):
        table = pa.Table.from_pandas(frame.iloc[part], preserve_index=False)
        pq.write_table(table, tmp_path / f"{k}.parquet", row_group_size=50)
    return frame, str(tmp_path / "*.parquet")


def test_parquet_files_datasets_and_lazy_frames(files, tmp_path):
    frame, pattern = files
    settings = {"label": "label", "weight": "w", "columns": list("abd"), "batch_rows": 64}
    by_arrow, by_polars = ds.field("b") > 0, pl.col("b") > 0
    of_pandas, of_polars = frame[frame.b > 0], pl.from_pandas(frame).filter(by_polars)
    for source, rows, chosen in [
        (pattern, by_arrow, of_pandas),
        (ds.dataset(sorted(tmp_path.glob("*.parquet"))), by_arrow, of_pandas),
        (pl.scan_parquet(pattern), by_polars, of_polars),
    ]:
        whole = NHBoostDTClassifier(8, max_leaves=2, calibrate=False).fit(
            chosen[list("abd")], chosen["label"], chosen["w"]
        )
        model = NHBoostDTClassifier(8, max_leaves=2, calibrate=False).fit_batches(
            source, filter=rows, **settings
        )
        assert _bytes(model, tmp_path / "parts") == _bytes(whole, tmp_path / "whole")
    assert model.feature_names_in_.tolist() == list("abd")
    with pytest.raises(ValueError, match="there is no column 'z'"):
        model.fit_batches(pattern, label="z")
    with pytest.raises(ValueError, match="label must name the column"):
        model.fit_batches(pattern)


def test_memory_maps_are_read_in_pieces(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    whole = _bytes(NHBoostDTClassifier(8, max_leaves=2, calibrate=False).fit(X, Y), tmp_path / "a")
    files = tmp_path / "X.npy", tmp_path / "y.npy"
    maps = tuple(np.load(file, mmap_mode="r") for file in files)
    for source in ([files], [maps]):
        model = NHBoostDTClassifier(8, max_leaves=2, calibrate=False).fit_batches(
            source, batch_rows=64
        )
        assert _bytes(model, tmp_path / "b") == whole


def _first(n=N, at=0):
    return [(X[at : at + n], Y[at : at + n])]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "it yielded no batch"),
        (iter(_first()), "an iterator can be read once"),
        (3, "source must be a function"),
        ([X], "batch 0 must be \\(X, y\\)"),
        ([*_first(), (X[:0], Y[:0])], "batch 1 must not be empty"),
        ([*_first(), (X[:, :3], Y)], "batch 1: X has 3 features"),
        ([(X[:9], Y[:9], np.ones(9)), *_first()], "batch 1 has 0 weights for 400 labels"),
        ([*_first(), (X[:9], Y[:9], np.ones(9))], "batch 0 has 0 weights for 400 labels"),
        ([(X, np.full(N, "up"))], "two classes"),
        ([*_first(), (sp.csr_matrix(X), Y)], "all dense or all sparse; batch 1 differs"),
        ([(X, Y[:-1])], "batch 0: Found input variables with inconsistent"),
    ],
)
def test_bad_sources_are_refused_and_leave_the_booster_as_it_was(source, message):
    model = NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit(X, Y)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match=message):
        model.fit_batches(source)
    assert model.__dict__ == before


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (_first(N - 1), "rows instead of"),
        ([*_first(), *_first(1)], "more rows of class"),
        ([(X + 1.0, Y)], "has other values the second time"),
        ([(X, np.where(Y == "up", "up", "late"))], "more rows of class 'late'"),
        ([(X, np.roll(Y, 1))], "has other values the second time"),
    ],
)
def test_a_source_that_yields_other_rows_the_second_time_is_refused(second, message):
    turns = iter([_first(), second])
    with pytest.raises(ValueError, match=message):
        NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit_batches(lambda: iter(next(turns)))


def test_columns_of_other_sources_are_refused():
    with pytest.raises(ValueError, match="label belongs to parquet"):
        NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit_batches(_first(), label="y")
    with pytest.raises(ValueError, match="batch_rows"):
        NHBoostDTClassifier(3, max_leaves=2, calibrate=False).fit_batches(_first(), batch_rows=0)


@pytest.mark.parametrize("max_bins", [3, 200])
def test_the_summary_gives_the_cuts_of_all_rows_in_either_layout(max_bins, monkeypatch):
    monkeypatch.setattr("driftgames.boosting.data.cuts.SAMPLE", 100)
    weights = RNG.integers(1, 3, N)
    S = sp.csr_matrix(X)
    parts = [CutSummary(max_bins) for _ in range(3)]
    parts[0].add(X[:150], weights[:150])
    parts[1].add(S[150:200], weights[150:200])
    parts[2].add(X[200:], weights[200:])
    parts[2].merge(parts[0])
    parts[2].merge(parts[1])
    for whole in (cut_dense(X, weights, max_bins), cut_sparse(S, weights, max_bins)):
        found = parts[2].cuts()
        np.testing.assert_array_equal(found.thresholds, whole.thresholds)
        np.testing.assert_array_equal(found.starts, whole.starts)
        np.testing.assert_array_equal(found.missing, whole.missing)
