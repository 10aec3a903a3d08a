import numpy as np
import pytest

from driftgames.datasets import adult, mnist, splice
from driftgames.datasets.binarise import (
    Attribute,
    Column,
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
        columns.append(Column(places[attribute], relation, value, name))
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

    part, names = splice.derive(text)

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
            for attribute in adult.ATTRIBUTES
        ]
        lines.append(", ".join([*fields, ">50K" if i % 2 else "<=50K"]))
    return "\n".join(lines) + "\n\n"


def test_adult_gives_a_balanced_set_of_binary_columns():
    part, names = adult.derive(adult_text())

    assert part.X.shape == (2000, len(names))
    assert part.y.sum() == 0
    assert sum(name.startswith("age>=") for name in names) == 7
    assert not any(name.startswith("fnlwgt") for name in names)
    again, _ = adult.derive(adult_text())
    assert (again.X != part.X).nnz == 0


def test_adult_skips_gaps_and_refuses_other_lines():
    good = adult_text(4)
    gap = good.splitlines()[0].replace(", ", ", ?, ", 1)
    rows, labels = adult.parse_adult("|1x3 Cross validator\n" + good.replace("K\n", "K.\n") + gap)
    assert len(rows) == 4
    assert set(labels) == {">50K", "<=50K"}

    with pytest.raises(DataError, match="adult: line 1: expected 14 fields"):
        adult.parse_adult("39, State-gov")


def test_a9a_column_names_agree_with_the_data(shared_data):
    from driftgames.datasets.libsvm import read_libsvm

    X, _ = read_libsvm(shared_data / "a9a" / "a9a.xz")
    counts = dict(zip(adult.a9a_feature_names(), X.sum(axis=0).A1, strict=True))

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
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (50, 28, 28))
    labels = np.tile([4, 9, 1, 0, 9], 10)

    part, names = mnist.derive(idx(images), idx(labels))

    assert part.y.tolist() == [-1, 1, 1] * 10
    block = images[0, :2, :2].mean() // 64
    dense = part.X[0].toarray().ravel()
    assert dense[names.index("1:1>=2")] == (block >= 2)
    assert set(np.unique(part.X.data)) == {1.0}


@pytest.mark.parametrize(
    "data",
    [b"", b"\0\0\x08", b"\0\0\x0d\x01\0\0\0\x01\x04", b"\0\0\x08\x01\0\0\0\x02\x04", b"PK\x03\x04"],
)
def test_bad_idx_is_refused(data):
    with pytest.raises(DataError, match="labels: "):
        mnist.parse_idx(data, "labels")
