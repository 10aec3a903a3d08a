"""Objects as JSON: a class registers itself, and a file holds its name and its arguments."""

from dataclasses import dataclass

import numpy as np
import pytest

from driftgames.core.description import Describable, decode, describe, encode, restore
from driftgames.core.documents import DocumentError
from driftgames.potentials import TwoNorm


@dataclass(frozen=True)
class Ruler(Describable):
    length: float = 1.0
    marks: tuple = ()


@dataclass(frozen=True)
class Case(Describable):
    ruler: Ruler


def test_a_dataclass_comes_back_by_its_fields():
    assert describe(Ruler(2.5)) == {"name": "Ruler", "arguments": {"length": 2.5, "marks": []}}
    assert restore(describe(Ruler(0.1 + 0.2))).length == 0.1 + 0.2
    assert restore(describe(Case(Ruler(3.0)))).ruler.length == 3.0


def test_a_class_that_is_defined_again_replaces_the_first():
    def define():
        @dataclass(frozen=True)
        class Tape(Describable):
            length: float = 1.0

        return Tape

    first, second = define(), define()
    assert type(restore(describe(first(2.0)))) is second


def test_what_a_file_cannot_hold_is_said():
    assert describe(Ruler(marks=(len,)))["arguments"] is None
    with pytest.raises(DocumentError, match="Ruler, which a file cannot hold; give it as ruler="):
        restore(describe(Ruler(marks=(len,))), "ruler")
    with pytest.raises(DocumentError, match="Yardstick, which is not defined here; import"):
        restore({"name": "Yardstick", "arguments": {}})


def test_values_of_every_kind_come_back():
    value = {"x": np.arange(3), "y": [1, 2.5, None, "ü", True], "z": {"deep": np.float64(0.1)}}
    back = decode(encode(value))
    assert back["x"].tolist() == [0, 1, 2]
    assert back["x"].dtype == np.int64
    assert back["y"] == [1, 2.5, None, "ü", True]
    assert back["z"] == {"deep": 0.1}
    with pytest.raises(TypeError, match="a file cannot hold"):
        encode({"f": len})


def test_a_class_of_the_library_is_not_replaced():
    with pytest.raises(TypeError, match="TwoNorm is a class of driftgames; choose another name"):
        type(TwoNorm.__name__, (Describable,), {"__module__": "__main__"})


def test_a_tuple_comes_back_as_one_and_a_dict_with_other_keys_is_not_held():
    assert restore(describe(Ruler(1.0, marks=(1.0, 2.0)))) == Ruler(1.0, marks=(1.0, 2.0))
    assert describe(Ruler(1.0, marks={1: 2.0}))["arguments"] is None
