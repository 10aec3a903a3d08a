import dataclasses
import errno
import gzip
import hashlib
import lzma
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from driftgames.datasets import CATALOGUE, DataError, MissingDataError, fetch, load, loader, status
from driftgames.datasets.catalogue import Remote
from driftgames.datasets.dataset import Dataset, Split
from driftgames.datasets.download import download
from driftgames.datasets.files import read_bytes


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A machine with an empty cache, no other data and no network."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(cache))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)

    def no_network(urls, *arguments, **options):
        raise loader.DownloadError(f"no network in tests: {urls}")

    monkeypatch.setattr(loader, "download", no_network)
    return cache


@pytest.fixture
def tiny(monkeypatch):
    """A set of four rows in the catalogue, so that no test needs a large file."""
    text = b"+1 1:1\n-1 2:1\n+1 1:1\n-1\n"
    names = b"1 a\n2 b\n"
    entry = dataclasses.replace(
        CATALOGUE["splice"],
        name="tiny",
        n_features=2,
        files=(("tiny.svm", hashlib.sha256(text).hexdigest()),),
        features=("tiny.txt", hashlib.sha256(names).hexdigest()),
    )
    monkeypatch.setitem(CATALOGUE, "tiny", entry)

    def put(folder):
        (folder / "tiny").mkdir(parents=True)
        (folder / "tiny" / "tiny.svm.xz").write_bytes(lzma.compress(text))
        (folder / "tiny" / "tiny.txt.gz").write_bytes(gzip.compress(names))
        return folder

    return put


def test_the_search_path_is_looked_through_in_order(alone, tiny, tmp_path, monkeypatch):
    tiny(alone)
    assert load("tiny").source == f"cache ({alone})"

    variable = tiny(tmp_path / "variable")
    monkeypatch.setenv("DRIFTGAMES_DATA", str(variable))
    assert load("tiny").source == f"DRIFTGAMES_DATA ({variable})"

    given = tiny(tmp_path / "given")
    assert load("tiny", directory=given).source == f"directory ({given})"


def test_a_set_is_read_with_names_and_labels(alone, tiny):
    tiny(alone)
    data = load("tiny")

    assert data.feature_names == ("a", "b")
    assert data.published
    np.testing.assert_array_equal(data.train.X.toarray(), [[1, 0], [0, 1]])
    np.testing.assert_array_equal(data.test.y, [1, -1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.name = "other"


def test_changed_content_is_refused(alone, tiny):
    tiny(alone)
    (alone / "tiny" / "tiny.svm.xz").write_bytes(lzma.compress(b"+1 1:1\n"))

    with pytest.raises(DataError, match="changed or cut short"):
        load("tiny")


def test_missing_set_says_where_it_was_looked_for_and_what_to_do(alone):
    with pytest.raises(MissingDataError) as caught:
        load("a9a")

    message = str(caught.value)
    assert str(alone / "a9a") in message
    assert "driftgames datasets fetch a9a" in message
    assert "no network in tests" in message
    with pytest.raises(MissingDataError):
        load("a9a", allow_download=False)


def test_unknown_names_and_folders_are_named(alone, tmp_path):
    with pytest.raises(ValueError, match=r"set must be one of a9a, .*, digits49, .*; got 'iris'"):
        load("iris")
    with pytest.raises(DataError, match="directory must be a folder that exists"):
        load("a9a", directory=tmp_path / "none")


@pytest.fixture
def served(monkeypatch):
    """Downloads that copy from a mapping of file name to bytes, and count."""
    files, asked = {}, []

    def copy(urls, target, sha256, **options):
        asked.append(Path(target).name)
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        Path(target).write_bytes(files[Path(target).name])

    monkeypatch.setattr(loader, "download", copy)
    return files, asked


def test_downloaded_splice_is_the_published_set(alone, served, shared_data):
    files, asked = served
    files["splice.data"] = read_bytes(shared_data / "splice" / "splice.data.xz")

    data = load("splice")

    assert data.published
    assert data.source == f"cache ({alone})"
    published = load("splice", directory=shared_data)
    assert (data.train.X != published.train.X).nnz == 0
    assert data.feature_names == published.feature_names
    load("splice")
    fetch("splice")
    assert asked == ["splice.data"]


def test_downloaded_census_is_said_not_to_be_the_published_set(alone, served, monkeypatch):
    files, asked = served
    files["adult.data"] = b"raw"
    X = load("digits49").train.X[:6, :3]
    derived = Split(X, np.array([1, -1, 1, 1, -1, -1])), ("a", "b", "c")
    remote = Remote("adult.data", ("http://nowhere",), hashlib.sha256(b"raw").hexdigest())
    entry = dataclasses.replace(CATALOGUE["census"], remotes=(remote,), derive=lambda raw: derived)
    monkeypatch.setitem(CATALOGUE, "census", entry)

    data = load("census")
    again = load("census", allow_download=False)

    assert not data.published
    assert "other rows" in data.note
    assert again.feature_names == ("a", "b", "c")
    assert again.train.y.tolist() == [1, -1, 1]
    assert asked == ["adult.data"]
    states = {state.name: state for state in status()}
    assert states["census"].where is not None
    assert not states["census"].published
    assert states["a9a"].where is None
    assert states["digits49"].where == "scikit-learn"


def test_damaged_download_in_the_cache_is_fetched_again(alone, served, shared_data):
    files, asked = served
    files["splice.data"] = read_bytes(shared_data / "splice" / "splice.data.xz")
    (alone / "splice").mkdir(parents=True)
    (alone / "splice" / "splice.data").write_bytes(files["splice.data"][:-1])

    assert load("splice").published
    assert asked == ["splice.data"]


@pytest.mark.parametrize("ending", ["", ".xz"])
def test_a_damaged_derived_file_is_refused_and_fetch_makes_it_again(
    alone, served, shared_data, ending
):
    files, asked = served
    files["splice.data"] = read_bytes(shared_data / "splice" / "splice.data.xz")
    folder = fetch("splice")
    derived = folder / "splice240.labelled.svm"
    whole = derived.read_bytes()
    derived.unlink()
    Path(f"{derived}{ending}").write_bytes(whole[:1000])
    with pytest.raises(DataError, match="changed or cut short"):
        load("splice")

    fetch("splice")

    assert load("splice").published
    assert derived.read_bytes() == whole
    assert asked == ["splice.data"]


def test_a_derived_set_that_is_whole_is_not_made_again(alone, served, shared_data, monkeypatch):
    files, _ = served
    files["splice.data"] = read_bytes(shared_data / "splice" / "splice.data.xz")
    fetch("splice")
    monkeypatch.setitem(
        CATALOGUE, "splice", dataclasses.replace(CATALOGUE["splice"], derive=pytest.fail)
    )

    fetch("splice")


def test_a_cache_that_cannot_be_written_to_is_a_missing_set(alone, monkeypatch):
    monkeypatch.setattr(loader, "download", download)
    alone.write_text("a file where the folder should be")

    with pytest.raises(DataError, match=f"{alone / 'splice'}: nothing can be written there"):
        fetch("splice")
    with pytest.raises(MissingDataError, match="DRIFTGAMES_CACHE names another folder"):
        load("splice")


def test_what_is_derived_needs_a_cache_that_can_be_written_to(
    alone, served, shared_data, monkeypatch
):
    files, _ = served
    files["splice.data"] = read_bytes(shared_data / "splice" / "splice.data.xz")
    fetch("splice")
    (alone / "splice" / "splice240.labelled.svm").unlink()

    def read_only(*arguments, **options):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", read_only)

    with pytest.raises(DataError, match=r"written there .*: Read-only file system"):
        fetch("splice")


def test_a_cache_that_may_not_be_looked_into_holds_nothing(alone, monkeypatch):
    real = os.stat

    def closed(path, *arguments, **options):
        if str(path).startswith(str(alone)):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", closed)

    with pytest.raises(MissingDataError):
        load("a9a", allow_download=False)
    assert {state.where for state in status()} == {None, "scikit-learn"}


@pytest.mark.parametrize("name", ["a9a", "census", "ocr49", "splice", "w8a"])
def test_published_sets_have_the_sizes_of_table_2(shared_data, name):
    data, entry = load(name, directory=shared_data), CATALOGUE[name]

    assert data.train.X.shape == (entry.n_train, entry.n_features)
    assert data.test.X.shape == (entry.n_test, entry.n_features)
    positives = {"a9a": 7841, "w8a": 1479, "census": 509, "splice": 241, "ocr49": 497}[name]
    assert (data.train.y == 1).sum() == positives


def test_columns_without_a_file_of_names_are_named_by_the_catalogue(shared_data):
    a9a, w8a = (load(name, directory=shared_data).feature_names for name in ("a9a", "w8a"))

    assert (a9a[0], a9a[73], w8a[0], w8a[-1]) == (
        "age in fifth 1",
        "capital-gain=0",
        "keyword 1",
        "keyword 300",
    )


def test_test_rows_of_w8a_are_training_rows_and_can_be_taken_out(shared_data):
    data = load("w8a", directory=shared_data)
    honest = data.without_test_rows()

    assert "training" in data.note
    assert honest.train.y.size == data.train.y.size - data.test.y.size  # each had its own copy
    assert honest.test is data.test


def test_swapping_labels_swaps_both_parts_and_the_classes():
    data = load("digits49")
    swapped = data.with_labels_swapped()

    assert swapped.classes == ("9", "4")
    np.testing.assert_array_equal(swapped.test.y, -data.test.y)


def test_bundled_sets_are_binary_and_the_same_each_time():
    for name in ("digits49", "breast_cancer"):
        data = load(name)
        assert set(np.unique(data.train.X.data)) == {1.0}
        assert (load(name).test.X != data.test.X).nnz == 0
        assert not data.published


def test_dataset_checks_its_parts():
    X = load("digits49").train.X
    good = Split(X[:2, :2], np.array([1, -1]))

    def make(train):
        return Dataset("mine", train, good, ("a", "b"), ("no", "yes"), "here", published=False)

    make(good)
    with pytest.raises(DataError, match=r"train.X must have shape \(1, 2\)"):
        make(Split(good.X, good.y[:1]))
    with pytest.raises(DataError, match="must be -1 or"):
        make(Split(good.X, np.array([0, 1])))


def test_a_folder_copied_from_shared_data_works_as_directory(shared_data, tmp_path, alone):
    shutil.copytree(shared_data / "census", tmp_path / "mine" / "census")

    assert load("census", directory=tmp_path / "mine").source.startswith("directory")


def test_fingerprint_tells_rows_and_labels_apart():
    data = load("digits49")
    swapped = data.with_labels_swapped()
    fewer = dataclasses.replace(data, train=Split(data.train.X[:-1], data.train.y[:-1]))

    assert len({each.fingerprint for each in (data, swapped, fewer)}) == 3
    assert load("digits49").fingerprint == data.fingerprint
