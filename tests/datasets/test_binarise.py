import numpy as np
import pytest

from driftgames.datasets import public_files
from driftgames.datasets.binarise import (
    Attribute,
    BinaryColumn,
    binarise,
    make_columns,
    quantise,
)
from driftgames.datasets.files import DataError, read_bytes
from driftgames.datasets.libsvm import format_libsvm

PUBLISHED = [
    ("census", "census.train", "census.names", "census131"),
    ("splice", "dna.train", "dna.names", "splice240"),
    ("ocr49", "ocr49.train", "ocr49.names", "ocr49_403"),
]


def parse_names(text):
    """Return the classes and the attributes of a ``.names`` file."""
    first, *rest = [line.split() for line in text.splitlines() if line.strip()]
    attributes = [
        Attribute(name, None if values == ["numeric"] else tuple(values)) for name, *values in rest
    ]
    return first, attributes


def parse_columns(attributes, names):
    """Return the columns that have these names."""
    places = {attribute.name: j for j, attribute in enumerate(attributes)}
    columns = []
    for name in names:
        relation = ">=" if name.partition(">=")[0] in places else "="
        attribute, _, value = name.partition(relation)
        columns.append(BinaryColumn(places[attribute], relation, value, name))
    return columns


@pytest.mark.parametrize(("name", "raw", "names", "stem"), PUBLISHED)
def test_raw_rows_become_the_published_file_to_the_byte(shared_data, name, raw, names, stem):
    folder = shared_data / name
    classes, attributes = parse_names(read_bytes(folder / f"{names}.xz").decode())
    lines = read_bytes(folder / f"{raw}.xz").decode().splitlines()
    rows = [line.split() for line in lines]
    features = read_bytes(folder / f"{stem}.features.txt.xz").decode().splitlines()
    columns = parse_columns(attributes, [line.split(" ", 1)[1] for line in features])
    # census and splice name their positive class first, ocr49 the digit 4
    positive = classes[1] if name == "ocr49" else classes[0]
    y = np.where([row[-1] == positive for row in rows], 1, -1)

    text = format_libsvm(binarise(rows, columns), y)

    assert text == read_bytes(folder / f"{stem}.labelled.svm.xz")


@pytest.mark.parametrize(("name", "raw", "names", "stem"), PUBLISHED)
def test_rule_gives_published_columns_only(shared_data, name, raw, names, stem):
    """The published columns also cover rows that the public files lack; none may be missing."""
    folder = shared_data / name
    _, attributes = parse_names(read_bytes(folder / f"{names}.xz").decode())
    rows = [line.split() for line in read_bytes(folder / f"{raw}.xz").decode().splitlines()]
    published = read_bytes(folder / f"{stem}.features.txt.xz").decode().splitlines()
    names_of = [line.split(" ", 1)[1] for line in published]

    ours = [column.name for column in make_columns(attributes, rows)]

    assert ours == [column for column in names_of if column in set(ours)]
    if name == "splice":
        assert ours == names_of


def test_splice_comes_exactly_from_the_public_file(shared_data):
    text = read_bytes(shared_data / "splice" / "splice.data.xz").decode()

    part, names = public_files.derive_splice(text)

    published = read_bytes(shared_data / "splice" / "splice240.labelled.svm.xz")
    assert format_libsvm(part.X, part.y) == published
    assert names[0] == "-30=A"
    assert names[-1] == "+30=T"


def test_numeric_columns_are_ordered_by_size_and_not_as_text():
    columns = make_columns([Attribute("x")], [["10"], ["9"], ["2"]])

    assert [column.name for column in columns] == ["x>=9", "x>=10"]


def test_quantise_keeps_ties_together_and_makes_every_level():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.zeros(900), rng.integers(1, 1000, 100)]).astype(float)

    levels = quantise(values, 8)

    assert np.unique(levels).size == 8
    assert (levels[values == 0] == 0).all()
    _, sizes = np.unique(levels, return_counts=True)
    assert sizes[1:].max() - sizes[1:].min() <= 4
    order = np.argsort(values, kind="stable")
    assert (np.diff(levels[order]) >= 0).all()


def test_quantise_gives_the_lower_median_of_even_groups():
    values = np.arange(12.0)
    np.testing.assert_array_equal(quantise(values, 3), np.repeat([1.0, 5.0, 9.0], 4))
    np.testing.assert_array_equal(quantise(values[::-1], 3), np.repeat([9.0, 5.0, 1.0], 4))
    np.testing.assert_array_equal(quantise(np.arange(5.0), 2), [1, 1, 1, 3, 3])


def test_quantise_puts_a_tie_where_most_of_it_lies():
    """Ten values in two groups, and a tie of three across the middle."""
    two_left = np.array([0.0, 1, 2, 3, 3, 3, 4, 5, 6, 7])
    np.testing.assert_array_equal(quantise(two_left, 2), [2.0] * 6 + [5.0] * 4)
    one_left = np.array([0.0, 1, 2, 3, 4, 4, 4, 5, 6, 7])
    np.testing.assert_array_equal(quantise(one_left, 2), [1.0] * 4 + [4.0] * 6)


def test_quantise_keeps_enough_values_for_the_groups_that_remain():
    values = np.array([0.0] * 4 + [1] + [2] * 20)  # three values and three groups: unchanged
    np.testing.assert_array_equal(quantise(values, 3), values)
    heavy_end = np.array([0.0, 1, 2, 3] + [4] * 30)
    np.testing.assert_array_equal(quantise(heavy_end, 4), [0.0, 0, 2, 3] + [4.0] * 30)


def test_quantise_leaves_few_values_alone():
    values = np.array([3.0, 1.0, 2.0])

    np.testing.assert_array_equal(quantise(values, 8), values)


def adult_text(n=2400):
    rng = np.random.default_rng(0)
    lines = []
    for i in range(n):
        fields = [
            str(rng.integers(17, 90))
            if attribute.values is None
            else attribute.values[rng.integers(len(attribute.values))]
            for attribute in public_files.ADULT
        ]
        lines.append(", ".join([*fields, ">50K" if i % 2 else "<=50K"]))
    return "\n".join(lines) + "\n\n"


def test_adult_gives_a_balanced_set_of_binary_columns():
    part, names = public_files.derive_census(adult_text())

    assert part.X.shape == (2000, len(names))
    assert part.y.sum() == 0
    assert sum(name.startswith("age>=") for name in names) == 7
    assert not any(name.startswith("fnlwgt") for name in names)
    again, _ = public_files.derive_census(adult_text())
    assert (again.X != part.X).nnz == 0


KEYS = ("education", "occupation", "native-country")
"""Attributes that together give every row of `keyed_adult_text` a name of its own."""


def keyed_adult_text(n=2600):
    """Rows that can be told apart by `KEYS`, a third of them above 50K, and those come first."""
    values = [next(a.values for a in public_files.ADULT if a.name == key) for key in KEYS]
    keys = [(a, b, c) for c in values[2] for b in values[1] for a in values[0]][:n]
    rng = np.random.default_rng(1)
    lines = []
    for i, key in enumerate(keys):
        own = dict(zip(KEYS, key, strict=True))
        fields = [
            own.get(attribute.name)
            or (
                str(rng.integers(17, 90) * 10**k)
                if attribute.values is None
                else attribute.values[rng.integers(len(attribute.values))]
            )
            for k, attribute in enumerate(public_files.ADULT)
        ]
        lines.append(", ".join([*fields, ">50K" if i < 1200 else "<=50K"]))
    return "\n".join(lines)


def test_adult_draws_rows_without_repetition_and_says_of_each_what_it_is():
    """Every derived row leads back to one raw row, and agrees with it in all columns."""
    text = keyed_adult_text()
    raw = [line.split(", ") for line in text.splitlines()]
    places = [[a.name for a in public_files.ADULT].index(key) for key in KEYS]
    by_key = {tuple(row[j] for j in places): row for row in raw}
    assert len(by_key) == len(raw)

    part, names = public_files.derive_census(text)

    dense = part.X.toarray()
    held = [{names[j] for j in np.flatnonzero(row)} for row in dense]
    found = [
        by_key[tuple(next(n[len(k) + 1 :] for n in own if n.startswith(f"{k}=")) for k in KEYS)]
        for own in held
    ]
    assert len({id(row) for row in found}) == 2000
    np.testing.assert_array_equal(part.y, [1 if row[-1] == ">50K" else -1 for row in found])
    assert (part.y == 1).sum() == 1000
    assert 400 < (part.y[:1000] == 1).sum() < 600  # both halves have both classes
    expected = []
    for j, attribute in enumerate(public_files.ADULT):
        column = [row[j] for row in found]
        if attribute.name == "fnlwgt":
            continue
        if attribute.values is None:
            levels = quantise(np.array(column, dtype=float), 8)
            assert np.unique(levels).size == 8
            expected += [
                (f"{attribute.name}>={level:g}", levels >= level) for level in np.unique(levels)[1:]
            ]
        else:
            seen = [value for value in attribute.values if value in column]
            expected += [(f"{attribute.name}={value}", np.array(column) == value) for value in seen]
    assert names == tuple(name for name, _ in expected)
    np.testing.assert_array_equal(dense, np.column_stack([column for _, column in expected]))


@pytest.mark.parametrize(("n_above", "n_below"), [(999, 1000), (1000, 999)])
def test_adult_needs_a_thousand_rows_of_each_class(n_above, n_below):
    lines = adult_text().splitlines()[:2400]
    above = [line for line in lines if line.endswith(">50K")]
    below = [line for line in lines if line.endswith("<=50K")]

    with pytest.raises(DataError, match="fewer than 1000 rows of one class"):
        public_files.derive_census("\n".join(above[:n_above] + below[:n_below]))
    part, _ = public_files.derive_census("\n".join(above[:1000] + below[:1000]))
    assert part.y.size == 2000


def test_adult_skips_gaps_and_refuses_other_lines():
    good = adult_text(4)
    gap = good.splitlines()[0].replace(", ", ", ?, ", 1)
    rows, labels = public_files.parse_adult(
        "|1x3 Cross validator\n" + good.replace("K\n", "K.\n") + gap
    )
    assert len(rows) == 4
    assert set(labels) == {">50K", "<=50K"}

    with pytest.raises(DataError, match="adult: line 1: expected 14 fields"):
        public_files.parse_adult("39, State-gov")


def test_a9a_column_names_agree_with_the_data(shared_data):
    from driftgames.datasets.libsvm import read_libsvm

    X, _ = read_libsvm(shared_data / "a9a" / "a9a.xz")
    counts = dict(zip(public_files.a9a_feature_names(), X.sum(axis=0).A1, strict=True))

    # known counts of UCI Adult
    assert counts["sex=Male"] == 21790
    assert counts["workclass=Private"] == 22696
    assert counts["native-country=United-States"] == 29170
    assert counts["education=HS-grad"] == 10501
    assert counts["capital-gain=0"] == 29849


def idx(array):
    shape = b"".join(n.to_bytes(4, "big") for n in array.shape)
    return b"\0\0\x08" + bytes([array.ndim]) + shape + array.astype(np.uint8).tobytes()


def test_mnist_is_reduced_and_binarised():
    """Pixel ``column:row`` is the mean of a 2 x 2 block in four levels: every column, naively."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (50, 28, 28))
    images[:, 0, 0] = images[:, 27, 27] = 255
    images[0, :2, :2] = [[255, 1], [0, 0]]  # the mean of 64 is level 1, and of 63.75 level 0
    images[1, :2, :2] = [[255, 0], [0, 0]]
    labels = np.tile([4, 9, 1, 0, 9], 10)

    part, names = public_files.derive_ocr49(idx(images), idx(labels))

    assert part.y.tolist() == [-1, 1, 1] * 10
    chosen = images[np.isin(labels, (4, 9))]
    expected = []
    for row in range(14):
        for column in range(14):
            block = chosen[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
            level = block.sum(axis=(1, 2)) // 256
            name = f"{column + 1}:{row + 1}"
            expected += [(f"{name}>={least}", level >= least) for least in np.unique(level)[1:]]
    assert names == tuple(name for name, _ in expected)
    found = np.column_stack([column for _, column in expected])
    np.testing.assert_array_equal(part.X.toarray(), found)
    assert found[0, names.index("1:1>=1")] == 1
    assert found[1, names.index("1:1>=1")] == 0


def test_mnist_takes_the_first_2000_fours_and_nines():
    """Other digits stand between them, and all after the first 2,000 are fours."""
    labels = np.append(np.tile([9, 0, 1, 2, 3, 4, 5, 6, 7, 8], 1000), np.full(100, 4))
    images = np.zeros((labels.size, 28, 28))
    images[:, 0, 0] = np.arange(labels.size) % 251

    part, _ = public_files.derive_ocr49(idx(images), idx(labels))

    assert part.y.tolist() == [1, -1] * 1000


def test_mnist_refuses_other_shapes():
    with pytest.raises(DataError, match="expected 28 x 28 images with a label each"):
        public_files.derive_ocr49(idx(np.zeros((3, 28, 27))), idx(np.zeros(3)))
    with pytest.raises(DataError, match="expected 28 x 28 images with a label each"):
        public_files.derive_ocr49(idx(np.zeros((3, 28, 28))), idx(np.zeros(2)))


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0\x08", b"\0\0\x0d\x01\0\0\0\x01\x04", b"\0\0\x08\x01\0\0\0\x02\x04", b"PK\x03\x04"],
)
def test_bad_idx_is_refused(data):
    with pytest.raises(DataError, match="labels: "):
        public_files.parse_idx(data, "labels")
