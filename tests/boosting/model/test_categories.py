"""Categories: the stumps of binary columns, the orders of trees, and what is said of features."""

import lzma
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from driftgames.boosting import BOOSTERS, AdaBoostClassifier, DataWarning, NHBoostDTClassifier
from driftgames.boosting.data.sample_weights import SampleWeights
from driftgames.boosting.model.categories import RARE, CategoryColumn, CategoryEncoder
from driftgames.boosting.model.explanation import CategoryVotes
from driftgames.boosting.persistence import encode_model, load_model
from driftgames.datasets.binarise import Attribute, binarise, make_columns
from driftgames.datasets.libsvm import read_libsvm

MISSING = [None, np.nan, pd.NA, pd.NaT]


def draw(seed, n=240):
    """Return a frame of strings, numbers and missing values, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", "grey", "pink"], n),
            "size": rng.integers(0, 6, n),
            "shape": rng.choice(["round", "square", None], n),
            "town": [f"t{k:02}" for k in rng.geometric(0.15, n)],
        }
    )
    score = frame["colour"].isin(["red", "pink"]) + 0.3 * frame["size"]
    score += 0.1 * frame["town"].str[1:].astype(int) + rng.normal(size=n)
    return frame, np.where(score > score.median(), "yes", "no")


def model_of(booster):
    """Return the content of the model file but for the parameters."""
    return {name: part for name, part in encode_model(booster).items() if name != "parameters"}


def questions(booster, names):
    """Return each stump as the name of a binary column and the vote on 0."""
    encoder, found = booster.encoder_, []
    stumps = booster.stumps_
    for column, threshold, vote in zip(
        stumps.feature, stumps.threshold, stumps.left_vote, strict=True
    ):
        j = encoder.feature[column]
        feature, own = encoder.features[j], booster.feature_names_in_[j]
        if feature is None:
            reached = (name.rpartition(">=") for name in names)
            least = next(v for title, _, v in reached if title == own and float(v) > threshold)
            name = f"{own}>={least}"
        else:
            name = f"{own}={feature.categories[column - encoder.starts[j]]}"
        found.append((name, int(vote)))
    return found


def check_binarised(booster, frame, X, names, y, train):
    """Fit on a frame and on its binary columns: same stumps, edges and decisions."""
    plain = clone(booster).set_params(categorical_features=None).fit(X[train], y[train])
    booster.fit(frame[train], y[train])
    asked = [names[j] for j in plain.stumps_.feature]
    wanted = list(zip(asked, plain.stumps_.left_vote.tolist(), strict=True))
    assert questions(booster, names) == wanted
    np.testing.assert_array_equal(booster.history_["edge"], plain.history_["edge"])
    np.testing.assert_array_equal(booster.decision_function(frame), plain.decision_function(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_stumps_are_those_of_the_binary_columns(name):
    for seed in range(3):
        frame, y = draw(seed)
        frame = frame.drop(columns="shape")
        rows = [tuple(map(str, row)) for row in frame.itertuples(index=False)]
        values = {name: tuple(sorted(set(frame[name]))) for name in ("colour", "town")}
        columns = make_columns([Attribute(name, values.get(name)) for name in frame], rows)
        names, booster = (
            [c.name for c in columns],
            BOOSTERS[name](n_estimators=25, max_depth=1, calibrate=False),
        )
        check_binarised(booster, frame, binarise(rows, columns), names, y, slice(None))


@pytest.mark.parametrize("name", BOOSTERS)
def test_raw_census_gives_the_model_of_its_131_binary_columns(name, shared_data):
    def read(part):
        text = lzma.decompress((shared_data / "census" / part).read_bytes()).decode()
        return [line.split() for line in text.splitlines() if line.strip()]

    *columns, labels = zip(*read("census.train.xz"), strict=True)
    frame = pd.DataFrame(
        {
            title: np.array(column, dtype=float)
            if values == ["numeric"]
            else pd.Categorical(column, categories=values, ordered=True)
            for (title, *values), column in zip(read("census.names.xz")[1:], columns, strict=True)
        }
    )
    X, y = read_libsvm(shared_data / "census" / "census131.labelled.svm.xz")
    np.testing.assert_array_equal(np.array(labels) == ">50K", y > 0)
    names = [title for _, title in read("census131.features.txt.xz")]
    assert len(names) == X.shape[1] == 131
    named = list(frame.select_dtypes("category"))  # categories in their order, and no levels
    check_binarised(
        BOOSTERS[name](n_estimators=60, max_depth=1, calibrate=False, categorical_features=named),
        frame,
        X,
        names,
        y,
        slice(1000),
    )


def naive(frame, y, weights, *, ranked):
    """Encode a frame in plain loops: indicators, missing values, orders of the mean label."""
    columns = []
    for name in frame:
        values = list(frame[name])
        if not any(isinstance(v, str) for v in values):
            columns.append(np.array(values, dtype=float))
            continue
        held = sorted({v for v in values if isinstance(v, str)})
        columns += [np.array([float(v == c) for v in values]) for c in held]
        if not all(isinstance(v, str) for v in values):
            columns.append(np.array([float(not isinstance(v, str)) for v in values]))
        mass, means = dict.fromkeys(held, 0), dict.fromkeys(held, 0)
        for v, label, weight in zip(values, y, weights, strict=True):
            if isinstance(v, str):
                mass[v] += weight
                means[v] += weight * (label == "yes")
        share = sum(means.values()) / sum(mass.values())
        common = [c for c in held if mass[c] * min(share, 1 - share) >= RARE]
        common.sort(key=lambda c: (means[c] / mass[c], c))
        if ranked and len(common) > 2:
            columns.append(
                np.array([common.index(v) + 1 if v in common else np.nan for v in values])
            )
    return np.column_stack(columns)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", [NHBoostDTClassifier, AdaBoostClassifier])
def test_the_model_is_that_of_columns_made_in_plain_loops(kind, depth):
    for seed in range(6):
        frame, y = draw(seed)
        weights = np.random.default_rng(seed).integers(1, 4, y.size) if seed % 2 else None
        booster = kind(8, max_depth=depth, calibrate=False).fit(frame, y, weights)
        masses = np.ones(y.size, dtype=int) if weights is None else weights
        X = naive(frame, y, masses, ranked=depth > 1)
        plain = kind(8, max_depth=depth, calibrate=False).fit(X, y, weights)
        assert booster.stumps_ == plain.stumps_
        assert booster.trees_ == plain.trees_
        np.testing.assert_array_equal(booster.decision_function(frame), plain.decision_function(X))
        of_columns = plain.feature_importances_
        starts = booster.encoder_.starts[:-1]
        wanted = np.add.reduceat(of_columns, starts)
        np.testing.assert_allclose(booster.feature_importances_, wanted, atol=1e-15)


@pytest.mark.parametrize("depth", [1, 3])
def test_every_kind_of_frame_gives_the_same_model(depth):
    frame, y = draw(0)
    lists = {name: [None if v is None or v != v else v for v in frame[name]] for name in frame}
    model = NHBoostDTClassifier(12, max_depth=depth, calibrate=False).fit(frame, y)
    same = {
        "category": frame.astype({"colour": "category", "shape": "category"}),
        "string": frame.astype({"town": "string", "size": "Int64"}),
        "polars": pl.DataFrame(lists),
        "polars category": pl.DataFrame(lists).with_columns(pl.col("town").cast(pl.Categorical)),
        "arrow": pa.table({**lists, "town": pa.array(lists["town"]).dictionary_encode()}),
    }
    for each in same.values():
        assert model_of(
            NHBoostDTClassifier(12, max_depth=depth, calibrate=False).fit(each, y)
        ) == model_of(model)
        np.testing.assert_array_equal(model.decision_function(each), model.decision_function(frame))
    cells = frame.to_numpy(dtype=object)
    for chosen in ([0, 2, 3], [True, False, True, True], np.array([True, False, True, True])):
        listed = NHBoostDTClassifier(
            12, max_depth=depth, categorical_features=chosen, calibrate=False
        )
        content = model_of(listed.fit(cells, y))
        assert content == {**model_of(model), "feature_names_in": None}
    named = NHBoostDTClassifier(
        12, max_depth=depth, categorical_features=["colour", "shape", 3], calibrate=False
    )
    with pytest.raises(ValueError, match="of the 4 columns"):
        named.set_params(categorical_features=["colours"]).fit(frame, y)
    named.set_params(categorical_features=["colour", "shape", "town"])
    assert model_of(named.fit(frame, y)) == model_of(model)


@pytest.mark.parametrize("depth", [1, 3])
def test_order_threads_and_repeated_rows_do_not_matter(depth):
    frame, y = draw(1)
    weights = np.random.default_rng(0).integers(0, 3, y.size)
    model = NHBoostDTClassifier(10, calibrate=False, max_depth=depth).fit(frame, y, weights)
    order = np.random.default_rng(1).permutation(y.size)
    repeated = np.repeat(order, weights[order])
    plain = NHBoostDTClassifier(10, calibrate=False, max_depth=depth)
    same = [
        clone(plain).set_params(n_jobs=2).fit(frame.iloc[order], y[order], weights[order]),
        clone(plain).fit(frame.iloc[repeated], y[repeated]),
        clone(plain).fit(frame, y, 0.25 * weights),
    ]
    for each in same:
        assert model_of(each) == model_of(model)


def test_ranks_follow_the_mean_label_of_each_class_and_leave_out_rare_categories():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], [60, 60, 60, 20, 5])[:, None]
    labels = np.zeros(205, dtype=np.int64)
    labels[:30] = 1  # half of the first category, fewer of the next two
    labels[60:76] = labels[120:136] = 1
    labels[180:] = 2  # 20 examples and 200 known values: no category has 10 expected ones
    ones = SampleWeights(np.ones(205, dtype=np.int64), integer_weights=True)
    wanted = {2: ((3, 1, 2, 0),), 3: ((1, 2, 3, 0), (3, 1, 2, 0))}  # ties in the order of names
    for n_classes, ranks in wanted.items():
        label = np.minimum(labels, n_classes - 1)
        encoder = CategoryEncoder.learn(codes, (("a", "b", "c", "d"),), label, ones, ranked=True)
        assert encoder.features == (CategoryColumn(("a", "b", "c", "d"), True, ranks),)
    expanded = encoder.expand(np.array([[0.0], [3.0], [np.nan], [-1.0]])).toarray()
    np.testing.assert_array_equal(expanded[:, :5], [*np.eye(5)[[0, 3, 4]], np.zeros(5)])
    np.testing.assert_array_equal(expanded[:, 6], [3, np.nan, np.nan, np.nan])
    # rounded weights count in examples of mean weight
    rounded = SampleWeights(np.full(205, 10**9), integer_weights=False)
    again = CategoryEncoder.learn(codes, (("a", "b", "c", "d"),), labels, rounded, ranked=True)
    assert again == encoder


@pytest.mark.parametrize("depth", [1, 3])
def test_explanations_add_up_and_speak_of_the_columns_of_the_frame(depth):
    frame, y = draw(2)
    model = NHBoostDTClassifier(30, max_depth=depth, calibrate=False).fit(frame, y)
    for i in range(5):
        row = frame.iloc[[i]]
        for x in (row, frame.iloc[i], frame.iloc[i].tolist()):
            explanation = model.explain(x)
            assert set(explanation.features) <= set(range(4))
            assert explanation.decision == model.decision_function(row)[0]
        if depth == 1:
            shapes = model.shape_functions_
            votes = [shapes[j](frame.iloc[i, [j]].replace(np.nan, None))[0] for j in shapes]
            order = [explanation.features.tolist().index(j) for j in shapes]
            np.testing.assert_allclose(votes, explanation.contributions[order], rtol=1e-15)
    stages = list(model.staged_decision_function(frame))
    np.testing.assert_array_equal(stages[-1], model.decision_function(frame))
    with pytest.raises(ValueError, match="must be one row of 4 values; got a vector of 2"):
        model.explain(["red", 1])


def test_votes_of_categories_are_drawn_with_their_names():
    frame, y = draw(2)
    model = NHBoostDTClassifier(60, max_leaves=2, calibrate=False).fit(frame, y)
    figure = model.plot_shapes(show_missing=True)
    axes = {each.get_title(): each for each in figure.axes}
    assert set(axes) == {frame.columns[j] for j in model.shape_functions_}
    labels = [text.get_text() for text in axes["colour"].get_xticklabels()]
    assert labels == ["blue", "green", "grey", "pink", "red"]
    low, high = axes["colour"].get_xlim()
    assert low < 0
    assert high > 4
    assert "categories" in axes["town"].get_xlabel()


def test_unknown_categories_answer_no_and_missing_values_too_if_the_fit_saw_none():
    frame, y = draw(3)
    model = NHBoostDTClassifier(60, max_leaves=2, calibrate=False).fit(frame, y)
    strange = frame.iloc[[0, 0, 0]].reset_index(drop=True)
    strange["colour"] = ["purple", "no such colour", None]
    assert len(set(model.decision_function(strange))) == 1
    votes = model.shape_functions_[0]
    assert isinstance(votes, CategoryVotes)
    assert votes.missing == votes.unknown
    no = model.encoder_.expand(np.full((1, 4), -1.0))
    explained = model.model_.explain(no)
    assert votes.unknown == explained.contributions[explained.features.tolist().index(0)]
    shapes = model.shape_functions_[2]  # missing values in the fit: a category of their own
    assert shapes.missing != shapes.unknown
    gone = frame.iloc[[0] * 4].reset_index(drop=True).astype({"shape": object})
    gone["shape"] = MISSING
    assert len(set(model.decision_function(gone))) == 1


def test_a_single_category_asks_nothing_and_ten_thousand_are_kept_sparse():
    rng = np.random.default_rng(0)
    n = 20_000
    frame = pd.DataFrame(
        {"one": ["same"] * n, "many": [f"c{k}" for k in rng.integers(0, 10_000, n)]}
    )
    y = np.array([int(c[1:]) % 7 == 0 for c in frame["many"]]) ^ (rng.random(n) < 0.1)
    for depth in (1, 2):
        model = NHBoostDTClassifier(5, max_depth=depth, calibrate=False).fit(frame, y)
        assert model.feature_importances_.tolist() == [0.0, 1.0]
        assert model.encoder_.n_columns > 8_000
        assert model.model_.encode(frame).nnz <= 3 * n
    empty = frame[:400].assign(one=None, many="few")
    assert (
        NHBoostDTClassifier(3, max_depth=2, calibrate=False)
        .fit(empty.assign(x=np.arange(400)), y[:400])
        .encoder_.categories[0]
        == ()
    )
    ids = pd.DataFrame({"id": [f"i{k // 2}" for k in range(400)], "x": rng.normal(size=400)})
    model = NHBoostDTClassifier(5, max_depth=2, calibrate=False).fit(ids, ids["x"] > 0)
    assert model.encoder_.features[0].ranks == ()  # an order of labels would give them away


@pytest.mark.parametrize("depth", [1, 3])
def test_models_are_saved(depth, tmp_path):
    frame, y = draw(4)
    settings = {"max_depth": depth, "categorical_features": np.array([True, True, True, True])}
    whole = NHBoostDTClassifier(20, **settings, calibrate=False).fit(frame, y)
    assert whole.encoder_.categories[1] == (0, 1, 2, 3, 4, 5)
    whole.save(tmp_path / "m.json")
    loaded = NHBoostDTClassifier.load(tmp_path / "m.json")
    assert loaded.encoder_ == CategoryEncoder.decode(whole.encoder_.encode()) == whole.encoder_
    assert encode_model(loaded) == encode_model(whole)
    np.testing.assert_array_equal(loaded.decision_function(frame), whole.decision_function(frame))
    before = encode_model(loaded)
    assert encode_model(loaded.fit(frame, y)) == before
    truths = pd.DataFrame({"c": pd.Categorical(frame["size"] > 2), "x": frame["size"]})
    model = NHBoostDTClassifier(9, max_depth=depth, calibrate=False).fit(truths, y)
    model.save(tmp_path / "m.json")
    loaded = NHBoostDTClassifier.load(tmp_path / "m.json")
    assert loaded.encoder_.categories == ((False, True), None)
    np.testing.assert_array_equal(loaded.predict(truths), model.predict(truths))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"categories": ("a", "a"), "missing": False}, "distinct"),
        ({"categories": ("a", 1), "missing": False}, "all strings or all numbers"),
        ({"categories": (), "missing": False}, "a category or missing values"),
        ({"categories": ("a", "b"), "missing": False, "ranks": ((1, 3),)}, "1, 2, ... or 0"),
        ({"categories": ("a", "b"), "missing": False, "ranks": ((1,),)}, "each of 2 categories"),
    ],
)
def test_columns_that_no_fit_makes_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CategoryColumn(**settings)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_documents_say_what_a_model_is_and_how_to_predict_without_it(depth, tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    shared = {}
    for snippet in re.findall(
        r"```python\n(.*?)```", (docs / "categories.md").read_text(), re.DOTALL
    ):
        exec(snippet, shared)
    frame, y = draw(6)
    frame["shape"] = pd.Categorical(frame["shape"], ["square", "round"], ordered=True)
    booster = AdaBoostClassifier(9, max_depth=depth, calibrate=False).fit(frame, y)
    booster.save(tmp_path / "m.json")
    text = (docs / "model_format.md").read_text()
    codes = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    namespace = {}
    for code in (codes[0], codes[1 + (depth > 1)]):
        exec(code.replace('"m.json"', repr(str(tmp_path / "m.json"))), namespace)
    rows = frame.astype(object).where(frame.notna(), None).values.tolist()
    rows[0][0], rows[1][3] = "purple", None  # unknown, missing
    wanted = booster.predict(pd.DataFrame(rows, columns=frame.columns)).tolist()
    assert [namespace["predict"](namespace["encode"](x)) for x in rows] == wanted


LEVELS = ["none", "low", "middle", "high", "very high", "extreme", "most", "all"]


def ordered_frames(values, levels=LEVELS):
    """Return one column of an ordered type in each library of data frames."""
    codes = pa.array([None if each is None else levels.index(each) for each in values], pa.int8())
    arrow = pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=True)
    return {
        "pandas": pd.DataFrame({"level": pd.Categorical(values, levels, ordered=True)}),
        "polars": pl.DataFrame({"level": pl.Series(values, dtype=pl.Enum(levels))}),
        "pyarrow": pa.table({"level": arrow}),
    }


def test_one_stump_separates_ordered_levels(tmp_path):
    values = LEVELS * 25
    y = np.array([LEVELS.index(each) >= 5 for each in values])
    models = []
    for kind, frame in ordered_frames(values).items():
        stump = NHBoostDTClassifier(1, max_leaves=2, calibrate=False).fit(frame, y)
        assert stump.score(frame, y) == 1.0, kind
        models.append(model_of(stump))
        stump.save(tmp_path / "m.json")
        loaded = load_model(tmp_path / "m.json")
        strings = np.array([[each] for each in values], dtype=object)
        np.testing.assert_array_equal(loaded.predict(frame), y)
        np.testing.assert_array_equal(loaded.explain(["most"]).votes, [1])
        with pytest.warns(UserWarning, match="feature names"):
            np.testing.assert_array_equal(loaded.predict(strings), y)
    assert models[0] == models[1] == models[2]
    named = NHBoostDTClassifier(
        1, max_leaves=2, calibrate=False, categorical_features=["level"]
    ).fit(frame, y)
    assert named.score(frame, y) < 1.0  # "is it c?"


def test_ordered_levels_are_known_by_name_whatever_the_type_of_new_rows():
    values = [*LEVELS[:6], None] * 20  # two levels have no example
    y = np.array([each in LEVELS[3:6] for each in values])
    model = NHBoostDTClassifier(10, max_leaves=4, calibrate=False)
    model.fit(ordered_frames(values)["pandas"], y)
    asked = ["all", "low", "extreme", None]
    votes = [
        model.decision_function(frame)
        for levels in (LEVELS, LEVELS[::-1])
        for frame in ordered_frames(asked, levels).values()
    ]
    votes.append(model.decision_function(pd.DataFrame({"level": asked})))
    for each in votes:
        np.testing.assert_array_equal(each, votes[0])
    assert votes[0][0] == votes[0][2]  # the level above all examples is like the highest
    new = model.decision_function(pd.DataFrame({"level": ["a new word"]}))
    assert new[0] == votes[0][3]  # as a missing value


def test_an_ordered_type_may_have_a_monotonic_constraint_and_names_in_its_shape():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 8, 400)
    frame = pd.DataFrame({"level": pd.Categorical.from_codes(codes, LEVELS, ordered=True)})
    y = codes + rng.normal(size=400, scale=4) > 4
    frame["x"] = rng.normal(size=400)
    model = NHBoostDTClassifier(5, max_leaves=2, monotonic_cst={"level": 1}).fit(frame, y)
    shape = model.shape_functions_["level"]
    assert shape.categories == tuple(LEVELS)
    assert (np.diff(shape([*LEVELS])) >= 0).all()
    assert shape.values[0] < shape.values[-1]
    assert "very high" in str(model.scorecard().to_frame())


def test_batches_of_an_ordered_type_give_the_model_of_all_rows():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, 300)
    frame = pd.DataFrame({"level": pd.Categorical.from_codes(codes, LEVELS, ordered=True)})
    y = codes + rng.normal(size=300) > 4
    one = NHBoostDTClassifier(20, max_leaves=4, calibrate=False)
    parts = [(frame[k : k + 100], y[k : k + 100]) for k in (0, 100, 200)]
    assert model_of(clone(one).fit_batches(parts)) == model_of(one.fit(frame, y))


def test_names_of_rows_are_said_and_hardly_asked_for():
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    frame = pd.DataFrame({"x": x, "who": [f"p{k}" for k in rng.integers(0, 700, 600)]})
    y, n = x + rng.normal(size=600) > 0, frame["who"].nunique()
    assert n > 300
    booster = NHBoostDTClassifier(20, max_leaves=4, calibrate=False)
    words = f"column 'who' has {n} different categories in 600 rows: .* leave it out"
    with pytest.warns(DataWarning, match=words):
        booster.fit(frame, y)
    assert booster.encoder_.n_columns == 2  # x, and the most common name
    with pytest.warns(DataWarning, match=words.replace("'who'", "1")):
        batches = clone(booster).fit_batches([(frame[:300], y[:300]), (frame[300:], y[300:])])
    assert model_of(batches) == model_of(booster)
    frame["who"] = frame["who"].where(np.arange(600) < 250, "nobody")
    booster.fit(frame, y)  # fewer than half of the rows have names of their own
    assert booster.encoder_.n_columns > 200
