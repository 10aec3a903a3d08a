"""What messages show: short, plain, and without control characters."""

import json

import numpy as np
import pytest

from driftgames.core.documents import DocumentError, read_document
from driftgames.core.text import MOST_OF_A_MESSAGE, listed, shorten, shown, visible


def test_long_values_are_cut_and_say_how_long_they_are():
    for value, size in (("x" * 100_000, "100,000 characters"), (b"x" * 5_000, "5,000 bytes")):
        assert len(shown(value)) < 250
        assert shown(value).endswith(f"... ({size})")
    assert len(shown(list(range(100_000)))) < 250
    assert shown("short") == "'short'"


def test_control_characters_are_escaped_wherever_they_come_from():
    class Odd:
        def __repr__(self):
            return "odd\x1b[31m"

    assert shown(Odd()) == "odd\\x1b[31m"
    assert visible("a\x00b\ud800c\u2028") == "a\\x00b\\ud800c\\u2028"
    assert listed(["a\x1b", "b" * 1000])[:40].startswith("a\\x1b, bbbb")


def test_names_are_listed_up_to_a_number():
    assert listed(range(3)) == "0, 1, 2"
    assert listed(range(1000)).endswith("11 and 988 more")
    assert shorten("abc", 3) == "abc"


@pytest.mark.parametrize("member", ["format", "version", "kind"])
def test_a_message_of_a_file_is_not_as_long_as_the_file(tmp_path, member):
    from driftgames.hedge import Hedge

    path = tmp_path / "s.json"
    Hedge(2).save(path)
    document = json.loads(path.read_text())
    document[member if member != "kind" else "format"] = "\x1b" + "x" * 3_000_000
    path.write_text(json.dumps(document))
    with pytest.raises(DocumentError) as caught:
        read_document(path, "driftgames.Hedge", 2)
    assert len(str(caught.value)) <= MOST_OF_A_MESSAGE
    assert "\x1b" not in str(caught.value)


def test_numpy_scalars_are_plain():
    assert shown((np.float64(15.0), np.True_)) == "(15.0, True)"
