import json
import os
import stat

import numpy as np
import pytest

from driftgames.core.documents import (
    DocumentError,
    atomic_write,
    decode_array,
    encode_array,
    read_document,
    write_document,
)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "d.json"
    write_document(path, "driftgames.test", 2, {"x": 0.1 + 0.2, "name": "ü"})
    return path


def test_content_reads_back_to_the_same_bits(written):
    assert read_document(written, "driftgames.test", 2) == {"x": 0.1 + 0.2, "name": "ü"}


def test_older_versions_are_refused(written):
    with pytest.raises(DocumentError, match=r"version 2 is older than .* reads \(3\)"):
        read_document(written, "driftgames.test", 3)


def test_older_versions_are_read_by_upgrades(written):
    upgrades = {
        2: lambda content: {**content, "y": content["x"] * 2},
        3: lambda content: {"names": [content["name"]], "y": content["y"]},
    }
    read = read_document(written, "driftgames.test", 4, upgrades)
    assert read == {"names": ["ü"], "y": 2 * (0.1 + 0.2)}
    with pytest.raises(DocumentError, match=r"version 2 is older than .* reads \(3 to 4\)"):
        read_document(written, "driftgames.test", 4, {3: upgrades[3]})
    with pytest.raises(DocumentError, match=r"version 2 is older than .* reads \(4\)"):
        read_document(written, "driftgames.test", 4, {2: upgrades[2]})
    write_document(written, "driftgames.test", 2, {"name": "no x"})
    with pytest.raises(DocumentError, match="not whole for version 2: KeyError"):
        read_document(written, "driftgames.test", 4, upgrades)


def test_newer_versions_are_refused(written):
    with pytest.raises(DocumentError, match=r"version 2 is newer than this driftgames reads \(1\)"):
        read_document(written, "driftgames.test", 1)


def test_other_kinds_are_refused(written):
    with pytest.raises(
        DocumentError, match=r"holds a 'driftgames\.test', where 'other' was wanted"
    ):
        read_document(written, "other", 2)


@pytest.mark.parametrize("keep", [0, 1, 20, -1])
def test_truncated_files_are_refused(written, keep):
    written.write_bytes(written.read_bytes()[:keep])
    with pytest.raises(DocumentError, match="not JSON, or cut short"):
        read_document(written, "driftgames.test", 2)


def test_changed_content_is_refused(written):
    document = json.loads(written.read_text())
    document["content"]["x"] = 0.31
    written.write_text(json.dumps(document))
    with pytest.raises(DocumentError, match="does not match its sha256"):
        read_document(written, "driftgames.test", 2)


@pytest.mark.parametrize("version", [None, True, 0, -4, "2", 1.0])
def test_a_version_is_a_positive_integer(written, version):
    document = {**json.loads(written.read_text()), "version": version}
    written.write_text(json.dumps(document))
    with pytest.raises(DocumentError, match="its version must be an integer >= 1; got"):
        read_document(written, "driftgames.test", 2)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"version": ' + "9" * 5_000 + "}"])
def test_json_beyond_the_readers_limits_is_refused(written, text):
    written.write_text(text)
    with pytest.raises(DocumentError, match="not JSON, or cut short"):
        read_document(written, "driftgames.test", 2)


@pytest.mark.parametrize("text", ["[1, 2]", "{}", "3"])
def test_other_json_is_refused(written, text):
    written.write_text(text)
    with pytest.raises(DocumentError, match="not a driftgames document"):
        read_document(written, "driftgames.test", 2)


def test_an_error_while_writing_leaves_the_old_file_and_nothing_else(written):
    before = written.read_bytes()

    def write_half():
        with atomic_write(written) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert written.read_bytes() == before
    assert os.listdir(written.parent) == ["d.json"]


def test_a_link_stays_a_link_and_its_file_is_replaced(written):
    link = written.parent / "link.json"
    link.symlink_to(written.name)
    write_document(link, "driftgames.test", 2, {"x": 1})
    assert link.is_symlink()
    assert read_document(written, "driftgames.test", 2) == {"x": 1}


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with atomic_write(pipe) as stream:
            stream.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_pipe_without_a_name_is_written_to():
    reader, writer = os.pipe()
    try:
        with atomic_write(f"/dev/fd/{writer}") as stream:
            stream.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
        os.close(writer)


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError) as raised:
        write_document(tmp_path, "driftgames.test", 1, {})
    assert raised.value.filename == str(tmp_path)


def test_an_old_files_permissions_stay(written):
    written.chmod(0o600)
    write_document(written, "driftgames.test", 2, {})
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_a_folder_that_is_not_there_is_named_by_the_path_that_was_given(tmp_path):
    path = tmp_path / "absent" / "d.json"
    with pytest.raises(FileNotFoundError) as raised:
        write_document(path, "driftgames.test", 1, {})
    assert raised.value.filename == str(path)


def test_files_are_readable_as_the_umask_says(written):
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(written.stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize(
    "array",
    [
        np.array([1.5, -0.0, np.inf]),
        np.arange(6, dtype=np.int32).reshape(2, 3),
        np.zeros((0, 4), dtype=np.float32),
        np.array([1.0, 2.0], dtype=">f8"),
    ],
)
def test_arrays_read_back_bit_for_bit(array):
    again = decode_array(json.loads(json.dumps(encode_array(array))))
    assert again.dtype == array.dtype.newbyteorder("=")
    assert again.shape == array.shape
    assert again.tobytes() == array.astype(again.dtype).tobytes()
    again.fill(0)  # free to be changed


@pytest.mark.parametrize(
    "encoded",
    [
        {},
        {"dtype": "<f8", "shape": [2], "base64": "AAAA"},
        {"dtype": "O", "shape": [1], "base64": ""},
    ],
)
def test_bad_arrays_are_refused(encoded):
    with pytest.raises(DocumentError, match="an array in the document cannot be read"):
        decode_array(encoded)
