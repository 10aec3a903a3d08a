"""Two writers, killed writers, and what they leave."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from driftgames.core.documents import atomic_write, read_document, write_document
from driftgames.core.locks import LockedError, sole_writer

WRITER = """
import sys
from driftgames.core.documents import read_document, write_document
from driftgames.core.locks import LockedError, sole_writer
path = sys.argv[1]
print("ready", flush=True)
for line in sys.stdin:  # one turn per line, so that both processes begin together
    try:
        with sole_writer(path):
            done = read_document(path, "test", 1)
            write_document(path, "test", 1, {"total": done["total"] + 1})
        print("written", flush=True)
    except LockedError:
        print("locked", flush=True)
"""

KILLED = """
import sys
from driftgames.core.documents import write_document
from driftgames.core.locks import sole_writer
path, n = sys.argv[1], 0
with sole_writer(path):
    while True:
        n += 1
        write_document(path, "test", 1, {"total": n, "padding": "x" * 20_000})
        print(n, flush=True)
"""


def start(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_two_writers_never_lose_what_one_has_written(tmp_path):
    path = tmp_path / "s.json"
    write_document(path, "test", 1, {"total": 0})
    writers = [start(WRITER, path) for _ in range(2)]
    written = 0
    try:
        for writer in writers:
            assert writer.stdout.readline() == "ready\n"
        for _ in range(100):
            for writer in writers:
                writer.stdin.write("go\n")
                writer.stdin.flush()
            answers = [writer.stdout.readline() for writer in writers]
            assert "written\n" in answers
            written += answers.count("written\n")
    finally:
        for writer in writers:
            writer.communicate()
    assert read_document(path, "test", 1) == {"total": written}
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_killed_writer_leaves_a_whole_file_and_no_lock_and_the_next_save_cleans_up(
    tmp_path, fork_server
):
    path = tmp_path / "s.json"
    left = 0
    for after in range(1, 9):
        writer = fork_server.start(KILLED, path, before="import driftgames.core.locks")
        try:
            for _ in range(after):
                acknowledged = int(writer.stdout.readline())
        finally:
            writer.kill()
        assert read_document(path, "test", 1)["total"] >= acknowledged
        left += sum(name.endswith(".tmp") for name in os.listdir(tmp_path))
        (tmp_path / f".s.json.{after}.tmp").touch()  # in case that all died between two saves
    with sole_writer(path):
        write_document(path, "test", 1, {"total": 0})
        assert sorted(os.listdir(tmp_path)) == [".s.json.lock", "s.json"]
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_file_that_another_writer_is_writing_is_not_stale(tmp_path):
    path = tmp_path / "s.json"
    with atomic_write(path) as outer:
        outer.write(b"outer")
        with atomic_write(path) as inner:
            inner.write(b"inner")
        assert path.read_bytes() == b"inner"
    assert path.read_bytes() == b"outer"
    assert os.listdir(tmp_path) == ["s.json"]


def test_the_second_writer_is_told_and_links_lead_to_one_lock(tmp_path):
    path, link = tmp_path / "s.json", tmp_path / "link.json"
    path.touch()
    link.symlink_to(path)
    second = sole_writer(link)
    with sole_writer(path), pytest.raises(LockedError, match=r"link\.json: another process works"):
        second.__enter__()
    with sole_writer(link):
        pass
    with sole_writer(None), sole_writer(os.devnull):
        pass
    assert sorted(os.listdir(tmp_path)) == ["link.json", "s.json"]


def test_saving_does_not_touch_the_umask_of_the_process(tmp_path, monkeypatch):
    def refuse(mask):
        raise AssertionError("the umask belongs to all threads")

    mask = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", refuse)
            write_document(tmp_path / "new.json", "test", 1, {})
        assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(mask)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not synced here")
def test_the_file_and_then_the_folder_are_synced(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def record(handle):
        synced.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", record)
    write_document(tmp_path / "s.json", "test", 1, {})
    assert synced == ["file", "folder"]


def test_threads_that_save_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "s.json"

    def save(number):
        for _ in range(20):
            write_document(path, "test", 1, {"total": number})

    threads = [threading.Thread(target=save, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_document(path, "test", 1)["total"] in range(4)
    assert os.listdir(tmp_path) == ["s.json"]


def test_a_file_system_without_locks_is_written_to_with_one_warning(tmp_path, monkeypatch):
    """Such as some network folders and FUSE: no temporary file and no open file stays."""
    import errno
    import warnings

    from driftgames.core import locks

    fcntl = pytest.importorskip("fcntl")

    def refuse(handle, operation):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(locks, "_warned", False)
    path = tmp_path / "s.json"
    others = tmp_path / f".{path.name}.0123.tmp"  # another process may be writing to it
    others.write_text("half")
    opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for total in range(5):
            with sole_writer(path):
                write_document(path, "test", 1, {"total": total})
    assert [each.category for each in heard] == [locks.NoLockWarning]
    assert read_document(path, "test", 1) == {"total": 4}
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, others.name])
    if opened is not None:
        assert len(os.listdir("/proc/self/fd")) == opened


def test_a_lock_that_fails_leaves_no_file_and_no_descriptor(tmp_path, monkeypatch):
    import errno
    import fcntl

    def fail(handle, operation):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", fail)
    path = tmp_path / "s.json"
    opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for _ in range(3):
        with pytest.raises(OSError, match=r"s\.json"):
            write_document(path, "test", 1, {"total": 1})
        with pytest.raises(OSError, match="error"), sole_writer(path):
            pass
    assert os.listdir(tmp_path) == []
    if opened is not None:
        assert len(os.listdir("/proc/self/fd")) == opened
