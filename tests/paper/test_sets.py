import socket
import threading
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import requests  # noqa: F401 - no host waits for this import

from driftgames.datasets import CATALOGUE, DataError, MissingDataError, load, loader
from driftgames.datasets.download import answering, host_of
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


class Server(ThreadingHTTPServer):
    """Serves ``files`` by their last name; a hanging one accepts connections and stays silent."""

    daemon_threads = True

    def __init__(self, files=(), *, hangs=False):
        served = dict(files)
        self.over = threading.Event()
        over = self.over

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if hangs:
                    over.wait(20)
                    return
                body = served.get(self.path.rpartition("/")[2])
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body or b"")

            def do_HEAD(self):
                self.do_GET()

            def log_message(self, *arguments):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.over.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def homes(alone, monkeypatch):
    """Return a function that moves the homes of sets to servers; a silent one costs 0.7 s."""
    servers = []

    def move(**homes):
        servers.extend(home for home in homes.values() if isinstance(home, Server))
        moved = {}
        for name, entry in CATALOGUE.items():
            home = homes[name]
            url = home.url if isinstance(home, Server) else home
            remotes = [replace(each, urls=(f"{url}/{each.file}",)) for each in entry.remotes]
            moved[name] = replace(entry, remotes=tuple(remotes))
        monkeypatch.setattr(sets, "CATALOGUE", moved)
        monkeypatch.setattr(loader, "CATALOGUE", moved)
        monkeypatch.setattr(sets, "answering", partial(answering, within=0.7))
        monkeypatch.setattr(sets, "_TIMEOUT", 1.5)

    yield move
    for server in servers:
        server.close()


def dead_address():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def test_sets_come_from_the_homes_that_answer_and_a_reason_is_kept_for_the_rest(homes, shared_data):
    splice = read_bytes(shared_data / "splice" / "splice.data.xz")
    whole, hanging, dead = Server({"splice.data": splice}), Server(hangs=True), dead_address()
    homes(a9a=dead, census=hanging, ocr49=whole, splice=whole, w8a=dead)
    said = []

    chosen = choose_sets(announce=said.append)

    assert [data.name for data in chosen.sets] == ["splice"]
    assert chosen.sets[0].train.y.size == 500
    assert chosen.missing == ("a9a", "census", "ocr49", "w8a")
    for why in (f"{host_of(dead)} did not answer", f"{host_of(hanging.url)} did not", "HTTP 404"):
        assert why in chosen.reason
    assert "\n" not in chosen.reason
    assert said == [f"downloading {name} from {host_of(whole.url)}" for name in ("ocr49", "splice")]
    assert choose_sets(allow_download=False).sets[0].name == "splice"  # from the cache


def test_a_file_with_another_checksum_is_not_taken(homes, tmp_path):
    changed = Server({"splice.data": b"EI,  x,  ACGT"})
    homes(**dict.fromkeys(CATALOGUE, dead_address()) | {"splice": changed})

    chosen = choose_sets()

    assert "splice" in chosen.missing
    assert "sha256" in chosen.reason
    assert not list((tmp_path / "cache" / "splice").iterdir())


def test_without_a_network_a_set_asked_for_by_name_is_one_error_that_says_so(homes):
    homes(**dict.fromkeys(CATALOGUE, dead_address()))
    with pytest.raises(MissingDataError, match=r"w8a is not in .*no host answered; is there a net"):
        choose_sets(["w8a-honest"])


def test_offline_asks_no_host(alone, monkeypatch):
    monkeypatch.setattr(sets, "answering", None)
    assert choose_sets(allow_download=False).reason == ""


def test_a_cache_that_cannot_be_made_is_no_reason_to_stop(homes, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    homes(**dict.fromkeys(CATALOGUE, Server()))

    chosen = choose_sets()

    assert [data.name for data in chosen.sets] == ["digits49", "breast_cancer"]
    assert chosen.missing[0] == "a9a"
    assert "nothing can be written there" in chosen.reason


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
