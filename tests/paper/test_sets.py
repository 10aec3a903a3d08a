import numpy as np
import pytest

from driftgames.datasets import DataError, MissingDataError, load
from driftgames.datasets.files import read_bytes
from driftgames.paper import published, sets
from driftgames.paper.sets import FIRST_CLASS, choose_sets


def test_every_set_of_the_table_has_its_positive_class():
    assert set(FIRST_CLASS) == set(published.TABLE_3)


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)


def test_without_any_file_the_sets_of_scikit_learn_stand_in(alone):
    chosen = choose_sets(allow_download=False)

    assert [data.name for data in chosen.sets] == ["digits49", "breast_cancer"]
    assert chosen.missing == ("a9a", "census", "ocr49", "splice", "w8a")


def test_a_cache_that_cannot_be_made_is_no_reason_to_stop(alone, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")

    chosen = choose_sets()

    assert [data.name for data in chosen.sets] == ["digits49", "breast_cancer"]
    assert chosen.missing[0] == "a9a"


def test_after_one_download_that_fails_no_other_is_tried(alone, monkeypatch):
    tried = []

    def fail(name, *, allow_download, **options):
        tried.append((name, allow_download))
        if name in ("digits49", "breast_cancer"):
            return load(name)
        raise MissingDataError("nowhere")

    monkeypatch.setattr(
        sets,
        "load",
        lambda name, allow_download=False, **options: fail(
            name, allow_download=allow_download, **options
        ),
    )
    choose_sets()

    assert [name for name, allowed in tried if allowed] == ["a9a"]


def test_a_set_asked_for_by_name_must_be_there(alone):
    with pytest.raises(MissingDataError):
        choose_sets(["a9a"], allow_download=False)
    with pytest.raises(ValueError, match="set must be one of"):
        choose_sets(["iris"])
    with pytest.raises(DataError, match=r"sets must name at least one of a9a, .*; got \[\]"):
        choose_sets([])


def test_a_set_named_twice_is_one_set():
    assert [data.name for data in choose_sets(["digits49", "digits49"]).sets] == ["digits49"]


@pytest.mark.parametrize(
    ("name", "file"), [("census", "census"), ("ocr49", "ocr49"), ("splice", "dna")]
)
def test_the_class_that_the_names_file_names_first_is_positive(shared_data, name, file):
    (data,) = choose_sets([name], directory=shared_data).sets
    names = read_bytes(shared_data / name / f"{file}.names.xz").decode()
    raw = read_bytes(shared_data / name / f"{file}.train.xz").decode().splitlines()

    first = names.split()[0]
    labels = [1 if line.split()[-1] == first else -1 for line in raw]
    assert data.classes[1] == first
    np.testing.assert_array_equal(np.concatenate([data.train.y, data.test.y]), labels)


@pytest.mark.parametrize("name", ["a9a", "w8a"])
def test_the_first_label_in_a_libsvm_file_is_positive(shared_data, name):
    (data,) = choose_sets([name], directory=shared_data).sets
    lines = read_bytes(shared_data / name / f"{name}.xz").decode().splitlines()

    labels = [line.split()[0] for line in lines]
    np.testing.assert_array_equal(data.train.y, [1 if y == labels[0] else -1 for y in labels])


@pytest.mark.parametrize("name", FIRST_CLASS)
def test_load_keeps_the_usual_labels(shared_data, name):
    """Users find the rarer or asked-for class as +1: >50K, a page of the category."""
    (data,) = choose_sets([name], directory=shared_data).sets
    usual = load(name, directory=shared_data)
    swapped = name in ("a9a", "ocr49", "w8a")

    assert usual.classes[1] == {"w8a": "the category", "ocr49": "9", "splice": "S"}.get(
        name, ">50K"
    )
    for part, other in ((data.train, usual.train), (data.test, usual.test)):
        np.testing.assert_array_equal(part.y, -other.y if swapped else other.y)


def test_honest_w8a_is_not_compared_with_the_published_numbers(shared_data):
    (data,) = choose_sets(["w8a-honest"], directory=shared_data).sets

    assert not data.published
    assert data.train.y.size == 34798
    assert data.classes == ("the category", "other pages")


def test_named_gives_all_where_none_has_the_name(chosen):
    assert chosen.named(["census"]) == chosen.sets
    assert chosen.named(["digits49"]) == chosen.sets
