import pytest
from typer.testing import CliRunner

from driftgames.cli.datasets import app
from driftgames.datasets import loader


@pytest.fixture
def alone(tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("DRIFTGAMES_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path / "cache"


def run(*arguments):
    return CliRunner().invoke(app, arguments)


def test_list_shows_what_is_where_and_how_to_get_the_rest(alone):
    result = run("list")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert any("a9a" in line and "32,561" in line and "not here yet" in line for line in lines)
    assert any("digits49" in line and "scikit-learn" in line for line in lines)
    assert "driftgames datasets fetch a9a census ocr49 splice w8a" in result.stdout
    assert max(len(line) for line in lines) <= 80


def test_fetch_says_where_the_set_is(alone, monkeypatch):
    monkeypatch.setattr("driftgames.datasets.fetch", lambda name, timeout, retries: alone / name)

    result = run("fetch", "a9a", "w8a")

    assert result.exit_code == 0
    assert f"a9a: {alone / 'a9a'}" in result.stdout
    assert f"w8a: {alone / 'w8a'}" in result.stdout


def test_fetch_that_fails_ends_with_one_line_and_code_2(alone, monkeypatch):
    def refuse(urls, *arguments, **options):
        raise loader.DownloadError("splice.data could not be downloaded: refused")

    monkeypatch.setattr(loader, "download", refuse)

    result = run("fetch", "splice")

    assert result.exit_code == 2
    assert result.stderr == "error: splice.data could not be downloaded: refused\n"


def test_fetch_names_a_set_and_its_folder_as_they_are(alone, monkeypatch):
    folder = alone / "[/x] [usd]"
    monkeypatch.setattr("driftgames.datasets.fetch", lambda name, timeout, retries: folder)

    assert f"a9a: {folder}" in run("fetch", "a9a").stdout


def test_fetch_to_a_cache_that_cannot_be_made_ends_with_one_line(alone, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DRIFTGAMES_CACHE", str(tmp_path / "file" / "cache"))

    result = run("fetch", "splice")

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'file' / 'cache'}")
    assert result.stderr.endswith(": Not a directory\n")
    assert result.stderr.count("\n") == 1


def test_unknown_set_is_refused(alone):
    result = run("fetch", "iris")

    assert result.exit_code == 2
    assert "'iris' is not one of" in result.stderr


def test_folder_that_is_not_there_is_named(alone, tmp_path):
    result = run("list", "--data", str(tmp_path / "none"))

    assert result.exit_code == 2
    assert "directory must be a folder that exists" in result.stderr
