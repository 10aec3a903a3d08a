import contextlib
import hashlib
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pooch
import pytest

from driftgames.datasets.download import DownloadError, download

BODY = b"+1 1:1\n" * 40_000
SHA256 = hashlib.sha256(BODY).hexdigest()


class Server:
    """A server whose answers are scripted: one function of the handler per request."""

    def __init__(self):
        self.script = []
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                answer = outer.script.pop(0) if outer.script else whole
                answer(self)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/data.svm"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def whole(handler, body=BODY):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def truncated(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    handler.wfile.write(BODY[: len(BODY) // 2])


def changed(handler):
    whole(handler, b"X" + BODY[1:])


def silent(handler):
    time.sleep(0.6)


def stalls_in_the_middle(handler):
    truncated(handler)
    handler.wfile.flush()
    time.sleep(0.6)


def status(code):
    return lambda handler: handler.send_error(code)


def without_length(handler):
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(BODY)


def with_length(length):
    def answer(handler):
        announced = str(len(BODY)) if "mirror" in handler.path else length
        handler.send_response(200)
        handler.send_header("Content-Length", announced)
        handler.end_headers()
        handler.wfile.write(BODY)

    return answer


def trickling(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for at in range(60):
            handler.wfile.write(BODY[at : at + 1])
            handler.wfile.flush()
            time.sleep(0.02)


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture
def waits():
    return []


@pytest.fixture
def get(server, tmp_path, waits):
    def get(*, urls=None, sha256=SHA256, **options):
        target = tmp_path / "cache" / "data.svm"
        options = {"timeout": 0.2, "retries": 2, "pause": 1.0, "sleep": waits.append, **options}
        return download(urls or [server.url], target, sha256, **options)

    return get


def left_in(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache").iterdir())


def test_whole_body_is_written(get, server, tmp_path):
    path = get()

    assert path.read_bytes() == BODY
    assert left_in(tmp_path) == ["data.svm"]
    assert server.asked == ["/data.svm"]


def test_body_without_announced_length_is_checked_by_sha256(get, server):
    server.script = [without_length]

    assert get().read_bytes() == BODY


@pytest.mark.parametrize(
    ("trouble", "times"),
    [(truncated, 2), (silent, 1), (stalls_in_the_middle, 1), (status(503), 2)],
)
def test_trouble_that_passes_is_tried_again_after_a_longer_pause(
    get, server, waits, trouble, times
):
    server.script = [trouble] * times

    assert get().read_bytes() == BODY
    assert len(server.asked) == times + 1
    assert waits == [1.0, 2.0][:times]


@pytest.mark.parametrize(
    ("trouble", "timeout", "reason"),
    [
        (truncated, 0.2, rf"\({len(BODY) // 2} bytes read, {len(BODY) // 2} more expected\)"),
        (silent, 0.05, "no answer within 0.05 s"),
        (stalls_in_the_middle, 0.05, "no answer within 0.05 s"),
        (status(503), 0.2, "HTTP 503"),
    ],
)
def test_trouble_that_stays_leaves_nothing_behind(get, server, tmp_path, trouble, timeout, reason):
    server.script = [trouble] * 3

    with pytest.raises(DownloadError, match=reason):
        get(timeout=timeout)

    assert left_in(tmp_path) == []
    assert len(server.asked) == 3


def test_changed_content_is_thrown_away_and_not_asked_for_again(get, server, tmp_path):
    server.script = [changed]

    with pytest.raises(DownloadError, match=f"expected sha256:{SHA256} but got "):
        get()

    assert left_in(tmp_path) == []
    assert len(server.asked) == 1


def test_failure_leaves_the_older_file_as_it_was(get, server, tmp_path):
    older = tmp_path / "cache" / "data.svm"
    older.parent.mkdir()
    older.write_bytes(b"older")
    server.script = [changed]

    with pytest.raises(DownloadError):
        get()

    assert older.read_bytes() == b"older"


def test_a_file_that_is_there_is_not_asked_for(get, server):
    get()
    get()

    assert len(server.asked) == 1


def test_absent_file_is_not_asked_for_again(get, server):
    server.script = [status(404)]

    with pytest.raises(DownloadError, match="HTTP 404"):
        get()

    assert len(server.asked) == 1


def test_second_address_stands_in_for_the_first(get, server):
    server.script = [status(404)]

    get(urls=[server.url, server.url + "?mirror"])

    assert server.asked == ["/data.svm", "/data.svm?mirror"]


def test_refused_connection_is_named(get):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/data.svm"

        with pytest.raises(DownloadError, match="refused"):
            get(urls=[url], retries=0)


def test_only_http_is_downloaded(get, waits):
    with pytest.raises(DownloadError, match=r"No connection adapters .* 'file:///etc/hostname'"):
        get(urls=["file:///etc/hostname"])
    assert waits == []


def test_pooch_logs_nothing_and_keeps_its_level(get, monkeypatch):
    logger, records = pooch.get_logger(), []
    monkeypatch.setattr(logger, "handle", records.append)
    level = logger.level
    get()

    assert records == []
    assert logger.level == level


def test_a_terminal_shows_a_bar_of_the_announced_bytes(get, monkeypatch):
    moves = []

    @contextlib.contextmanager
    def recorded(name, total, unit, *, show):
        moves.append((name, total, unit, show))
        yield lambda size: moves.append(size)

    monkeypatch.setattr(sys.modules[download.__module__], "progress", recorded)
    get()

    assert moves[0] == ("data.svm", len(BODY), "bytes", True)
    assert sum(moves[1:]) == len(BODY)


@pytest.mark.parametrize("length", ["many", "5, 7", "-5", "²", "9" * 30, "10"])
def test_a_bad_announced_length_does_not_skip_the_mirrors(get, server, length):
    server.script = [with_length(length)] * 3

    assert get(urls=[server.url, server.url + "?mirror"]).read_bytes() == BODY


@pytest.mark.parametrize("answer", [whole, without_length])
def test_more_bytes_than_the_limit_are_given_up(get, server, tmp_path, monkeypatch, answer):
    monkeypatch.setenv("DRIFTGAMES_MOST_BYTES", str(len(BODY) - 1))
    server.script = [answer]

    with pytest.raises(DownloadError, match="more than 279,999 bytes; DRIFTGAMES_MOST_BYTES"):
        get()

    assert left_in(tmp_path) == []
    assert len(server.asked) == 1


def test_a_server_that_sends_single_bytes_is_given_up_at_the_deadline(get, server, tmp_path):
    server.script = [trickling] * 3

    with pytest.raises(DownloadError, match=r"bytes when the time was over; not done within 0.1 s"):
        get(urls=[server.url, server.url + "?mirror"], deadline=0.1)

    assert left_in(tmp_path) == []
    assert len(server.asked) == 1
