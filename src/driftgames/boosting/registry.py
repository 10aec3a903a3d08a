"""Every booster by name: what runs on all of them starts here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from driftgames import boosting

if TYPE_CHECKING:
    from driftgames.boosting import BaseBooster

_CLASSES = {
    "nh-boost.dt": "NHBoostDTClassifier",
    "nh-boost": "NHBoostClassifier",
    "adaboost": "AdaBoostClassifier",
    "boost-by-majority": "BoostByMajorityClassifier",
    "potential boost": "PotentialBoostClassifier",
}


class _Boosters(Mapping[str, "type[BaseBooster]"]):
    """Name to class; a class is imported when it is asked for."""

    def __getitem__(self, name: str) -> type[BaseBooster]:
        found: type[BaseBooster] = getattr(boosting, _CLASSES[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


BOOSTERS = _Boosters()
"""Name to class; every argument has a default. The command line offers all but the last."""
