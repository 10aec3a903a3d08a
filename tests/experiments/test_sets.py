import pytest

from driftgames.datasets import DataError, MissingDataError, load
from driftgames.experiments import sets
from driftgames.experiments.sets import choose_sets


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)
    monkeypatch.setattr("driftgames.datasets.places.beside_repository", lambda: None)


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
    with pytest.raises(DataError, match="a set must be one of"):
        choose_sets(["iris"])
    with pytest.raises(DataError, match=r"sets must name at least one of a9a, .*; got \[\]"):
        choose_sets([])


def test_a_set_named_twice_is_one_set():
    assert [data.name for data in choose_sets(["digits49", "digits49"]).sets] == ["digits49"]


def test_published_runs_take_the_digit_4_as_positive(shared_data):
    (data,) = choose_sets(["ocr49"], directory=shared_data).sets

    assert data.classes == ("9", "4")
    assert (data.train.y == 1).sum() == 503


def test_honest_w8a_is_not_compared_with_the_published_numbers(shared_data):
    (data,) = choose_sets(["w8a-honest"], directory=shared_data).sets

    assert not data.published
    assert data.train.y.size == 34798


def test_named_gives_all_where_none_has_the_name(chosen):
    assert chosen.named(["census"]) == chosen.sets
    assert chosen.named(["digits49"]) == chosen.sets
