"""Values and names in messages: short and without control characters.

Every message shows values by `shown`, names by `listed`, and texts of others by `visible`: the one
place that shortens and escapes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MOST_CHARACTERS = 300
"""A longer value is cut in a message."""

MOST_OF_A_MESSAGE = 2_000
"""A longer message is cut."""

_NUMPY_SCALAR = re.compile(
    r"\bnp\.(?:void\((\(.*?\)), dtype=\[.*?\]\)|\w+\(([^()]*)\)|(True|False)_)"
)


def shown(value: object) -> str:
    r"""Return ``repr(value)`` for a message.

    NumPy's scalars are written as plain numbers, control characters as escapes, and a long text is
    cut. Python refuses to write integers of 4,301 digits.

    >>> import numpy as np
    >>> shown((np.float64(15.0), np.True_)), shown([10**5000])
    ('(15.0, True)', 'a list with more digits than Python shows')
    >>> shown("x" * 1000)[-30:]
    "xxxxxxx'... (1,000 characters)"
    """
    if isinstance(value, str | bytes) and len(value) > MOST_CHARACTERS:
        unit = "characters" if isinstance(value, str) else "bytes"
        return f"{value[: MOST_CHARACTERS // 2]!r}... ({len(value):,} {unit})"
    try:
        text = _NUMPY_SCALAR.sub(r"\1\2\3", repr(value))
    except RecursionError:
        return f"a {type(value).__name__} nested too deep to show"
    except ValueError:
        return f"a {type(value).__name__} with more digits than Python shows"
    return shorten(visible(text))


def shorten(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return a text, cut if it has more than ``most`` characters.

    >>> shorten("abcdefghij", most=6)
    'abc... (10 characters)'
    """
    return text if len(text) <= most else f"{text[: most // 2]}... ({len(text):,} characters)"


def listed(names: Iterable[object], most: int = 12) -> str:
    """Return names with commas between, each short and visible; ``most`` of them are named.

    >>> listed(["a", "b", "c", "d"], most=3)
    'a, b, c and 1 more'
    """
    every = list(names)
    text = ", ".join(shorten(visible(str(name)), 60) for name in every[:most])
    return text if len(every) <= most else f"{text} and {len(every) - most:,} more"


def visible(text: str) -> str:
    r"""Return a text for a terminal or a page: control characters are written as escapes.

    Names come from files. A terminal would obey the sequences in them.

    >>> visible("price\x1b[2J")
    'price\\x1b[2J'
    """
    if text.isprintable():
        return text
    return "".join(
        each
        if each.isprintable() or each in "\n\t" or unicodedata.category(each) == "Zs"
        else each.encode("unicode_escape").decode()
        for each in text
    )
