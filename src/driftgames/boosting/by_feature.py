"""What a model says of each feature, found by the feature's position or by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class ByFeature(dict[int, T]):
    """One value for each feature that votes, by its position; after a fit on a frame by name too.

    Examples
    --------
    >>> votes = ByFeature({1: 0.25}, ["age", "income"])
    >>> votes[1] == votes["income"], "age" in votes, votes.get("age")
    (True, False, None)
    >>> votes.named()
    {'income': 0.25}
    """

    def __init__(self, values: Mapping[int, T], names: Sequence[str] | None) -> None:
        super().__init__(values)
        self._names = None if names is None else [str(name) for name in names]

    def __missing__(self, key: Any) -> T:
        if isinstance(key, str) and key in (self._names or ()):
            return self[(self._names or []).index(key)]
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a feature, or ``default`` if the feature does not vote."""
        try:
            return self[key]
        except KeyError:
            return default

    def named(self) -> dict[str, T]:
        """Return the values by the names of their features; without names they are x0, x1, ..."""
        return {f"x{j}" if self._names is None else self._names[j]: v for j, v in self.items()}
