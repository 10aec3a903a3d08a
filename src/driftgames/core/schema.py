"""The schema of a file: a requirement for each member, checked before anything is made of them.

A member of a member has a dotted name, such as ``state.totals``. Arrays are those that
`decode_array` made of the file's own bytes, so a size that agrees with them is bounded by the file.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from driftgames.core.checks import is_real
from driftgames.core.text import shown
from driftgames.core.threads import is_jobs
from driftgames.core.typing import Content

LARGEST = sys.float_info.max
"""The largest finite float; JSON has larger integers."""


@dataclass(frozen=True)
class Requirement:
    """A condition on a value, in words and as a test; for a list, also one on its entries."""

    words: str
    allows: Callable[[Any], bool]
    entry: Requirement | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise ValueError for a value, or the first entry of a list, that does not meet it."""
        if not self.allows(value):
            raise ValueError(f"{name} must be {self.words}; got {_shown(value)}")
        if self.entry is not None and value is not None:
            for i, each in enumerate(value):
                self.entry.check(f"{name}[{i}]", each)

    @property
    def or_null(self) -> Requirement:
        """The same requirement, which null meets too."""
        words = f"{self.words}, or null"
        return Requirement(words, lambda v: v is None or self.allows(v), self.entry)


Schema = Mapping[str, Requirement]


def check_members(members: Content, schema: Schema) -> None:
    """Raise ValueError for the first member of the schema that is missing or wrong."""
    for name, requirement in schema.items():
        if name not in members:
            raise ValueError(f"{name} is missing")
        requirement.check(name, members[name])


def dotted(content: Content) -> Content:
    """Return members of members by their dotted names.

    >>> dotted({"a": 1, "b": {"c": 2, "d": {}}})
    {'a': 1, 'b.c': 2, 'b.d': {}}
    """
    members: Content = {}
    for name, value in content.items():
        if isinstance(value, dict):
            members |= {f"{name}.{part}": each for part, each in value.items()}
        else:
            members[name] = value
    return members


def one_of(*values: Any) -> Requirement:
    """Require one of these values, as JSON has them."""
    kinds = {type(value) for value in values}  # JSON's true is not its 1
    words = " or ".join(json.dumps(value) for value in values)
    return Requirement(words, lambda v: type(v) in kinds and v in values)


def integer(low: int, high: int | None = None) -> Requirement:
    """Require an integer from ``low`` to ``high``. Default: any from ``low``."""
    words = f"an integer from {low}" + ("" if high is None else f" to {high}")
    return Requirement(words, lambda v: type(v) is int and low <= v and (high is None or v <= high))


def between(low: float, high: float) -> Requirement:
    """Require a number in ``[low, high]``."""
    return Requirement(f"a number in [{low}, {high}]", lambda v: is_real(v) and low <= v <= high)


def list_of(length: int | None, entry: Requirement) -> Requirement:
    """Require a list of ``length`` entries."""
    return Requirement(
        f"a list of {length}", lambda v: isinstance(v, list) and len(v) == length, entry
    )


def array_of(*shape: int | None, dtype: Any = np.float64) -> Requirement:
    """Require an array of this shape; None stands for any size."""
    kind = np.dtype(dtype)

    def allows(value: Any) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype != kind or value.ndim != len(shape):
            return False
        return all(n is None or n == size for n, size in zip(shape, value.shape, strict=True))

    sizes = ", ".join("*" if n is None else str(n) for n in shape)
    return Requirement(f"{kind}[{sizes}]", allows)


def made_as(kind: type) -> Requirement:
    """Require an object of this class, which a file holds by its name and arguments."""
    return Requirement(f"a {kind.__name__}", lambda v: isinstance(v, kind))


DIGEST = Requirement(
    "64 hexadecimal digits",
    lambda v: isinstance(v, str) and re.fullmatch("[0-9a-f]{64}", v) is not None,
)
FLAG = one_of(True, False)
LABEL = Requirement("a number, a string, true or false", lambda v: isinstance(v, (int, float, str)))
"""A label of a class."""

JOBS = Requirement("an integer other than 0, of at most 31 bits", is_jobs)
LIST = Requirement("a list", lambda v: isinstance(v, list))
NULL = Requirement("null", lambda v: v is None)
NUMBER = Requirement("a finite number", lambda v: is_real(v) and -LARGEST <= v <= LARGEST)
OBJECT = Requirement("an object", lambda v: isinstance(v, dict))
PAIR = list_of(2, NUMBER)
POSITIVE = Requirement("a finite number > 0", lambda v: is_real(v) and 0 < v <= LARGEST)
SHARE = between(0, 1)
STRING = Requirement("a string", lambda v: isinstance(v, str))


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return shown(value)
