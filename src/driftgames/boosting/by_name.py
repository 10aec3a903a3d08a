"""Every booster by name: what runs on all of them starts here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from driftgames import boosting

if TYPE_CHECKING:
    from driftgames.boosting import BaseBooster

_CLASSES: dict[str, Callable[[], type[BaseBooster]]] = {
    "nh-boost.dt": lambda: boosting.NHBoostDTClassifier,
    "nh-boost": lambda: boosting.NHBoostClassifier,
    "adaboost": lambda: boosting.AdaBoostClassifier,
    "boost-by-majority": lambda: boosting.BoostByMajorityClassifier,
    "potential boost": lambda: boosting.PotentialBoostClassifier,
}


class _Boosters(Mapping[str, "type[BaseBooster]"]):
    """Name to class; a class is imported when it is asked for."""

    def __getitem__(self, name: str) -> type[BaseBooster]:
        return _CLASSES[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(_CLASSES)

    def __len__(self) -> int:
        return len(_CLASSES)


BOOSTERS = _Boosters()
"""Name to class; every argument has a default. The command line offers all but the last."""
