"""Which sets an experiment runs on: those of the paper, or else those that need no file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from driftgames.datasets import BUNDLED, CATALOGUE, DataError, Dataset, MissingDataError, load

HONEST = "w8a-honest"
"""w8a with its test rows taken out of its training rows."""

KNOWN: tuple[str, ...] = (*CATALOGUE, HONEST, *BUNDLED)
"""All names that `choose_sets` takes."""

FIRST_CLASS: dict[str, str] = {
    "a9a": "<=50K",
    "census": ">50K",
    "ocr49": "4",
    "splice": "S",
    "w8a": "other pages",
}
"""The class that is +1 in the paper's experiments.

One rule fits all sets: it is the class that the ``.names`` file names first, or the first label
in the LIBSVM file. The paper does not state a rule. This one was found after seeing the numbers
of [LS14, Tab. 3].
"""

_TIMEOUT = 10.0


@dataclass(frozen=True)
class Chosen:
    """The sets that an experiment runs on, and those that it had to do without."""

    sets: tuple[Dataset, ...]
    missing: tuple[str, ...] = ()

    def named(self, names: Sequence[str]) -> tuple[Dataset, ...]:
        """Return those of these names that are there, or all where none is."""
        return tuple(data for data in self.sets if data.name in names) or self.sets


def choose_sets(
    names: Sequence[str] | None = None,
    *,
    directory: str | os.PathLike[str] | None = None,
    allow_download: bool = True,
) -> Chosen:
    """Return the sets of these names, or all of the paper's that can be had.

    Where names are given all of them must be there. Otherwise what is missing is left out, and
    where nothing is left the sets of scikit-learn stand in. After one download that fails no
    other is tried.
    """
    if names is not None:
        if not names:
            raise DataError(f"sets must name at least one of {', '.join(KNOWN)}; got {names!r}")
        wanted = dict.fromkeys(names)
        return Chosen(tuple(_load(name, directory, allow_download) for name in wanted))
    found: list[Dataset] = []
    missing: list[str] = []
    for name in (*CATALOGUE, HONEST):
        try:
            found.append(_load(name, directory, allow_download))
        except MissingDataError:
            missing.append(name)
            allow_download = False
    if not found:
        found = [load(name) for name in BUNDLED]
    return Chosen(tuple(found), tuple(name for name in missing if name != HONEST))


def _load(name: str, directory: str | os.PathLike[str] | None, allow_download: bool) -> Dataset:
    if name not in KNOWN:
        raise DataError(f"a set must be one of {', '.join(KNOWN)}; got {name!r}")
    source = "w8a" if name == HONEST else name
    data = load(
        source, directory=directory, allow_download=allow_download, timeout=_TIMEOUT, retries=0
    )
    data = with_first_class_positive(data)
    if name == HONEST:
        note = "The test rows of w8a are taken out of its training rows, one copy each."
        return replace(data.without_test_rows(), name=HONEST, published=False, note=note)
    return data


def with_first_class_positive(data: Dataset) -> Dataset:
    """Return a set of the paper with its `FIRST_CLASS` as +1; return any other set as it is.

    The choice matters because 200 rounds are even and a tied vote counts as -1.

    >>> load("digits49").classes, with_first_class_positive(load("digits49")).classes
    (('4', '9'), ('4', '9'))
    """
    first = FIRST_CLASS.get(data.name)
    return data if first in (None, data.classes[1]) else data.with_labels_swapped()
