"""The numbers of the paper, as printed."""

from __future__ import annotations

from typing import NamedTuple


class Size(NamedTuple):
    """One line of [LS14, Tab. 2]."""

    features: int
    train: int
    test: int


class Outcome(NamedTuple):
    """One algorithm on one set in [LS14, Tab. 3]: seconds, and the rest in per cent."""

    seconds: float
    zeros: float | None
    train_error: float
    test_error: float


TABLE_2: dict[str, Size] = {
    "a9a": Size(123, 32561, 16281),
    "census": Size(131, 1000, 1000),
    "ocr49": Size(403, 1000, 1000),
    "splice": Size(240, 500, 500),
    "w8a": Size(300, 49749, 14951),
}
"""The sets. [LS14, Tab. 2]"""

TABLE_3: dict[str, dict[str, Outcome]] = {
    "a9a": {
        "AdaBoost": Outcome(57.5, None, 15.4, 15.0),
        "NH-Boost": Outcome(72.5, 1.1, 15.8, 15.6),
        "NH-Boost.DT": Outcome(46.2, 22.1, 15.5, 15.2),
    },
    "census": {
        "AdaBoost": Outcome(1.7, None, 15.6, 18.7),
        "NH-Boost": Outcome(2.2, 2.2, 17.0, 18.6),
        "NH-Boost.DT": Outcome(1.4, 19.2, 15.4, 18.3),
    },
    "ocr49": {
        "AdaBoost": Outcome(5.1, None, 1.7, 5.5),
        "NH-Boost": Outcome(4.7, 17.1, 1.7, 5.9),
        "NH-Boost.DT": Outcome(3.0, 42.0, 2.4, 5.8),
    },
    "splice": {
        "AdaBoost": Outcome(1.6, None, 0.0, 9.4),
        "NH-Boost": Outcome(1.5, 22.2, 0.0, 8.6),
        "NH-Boost.DT": Outcome(0.9, 45.1, 0.4, 8.2),
    },
    "w8a": {
        "AdaBoost": Outcome(237.6, None, 2.6, 2.7),
        "NH-Boost": Outcome(244.7, 3.0, 2.2, 2.3),
        "NH-Boost.DT": Outcome(170.7, 29.3, 2.4, 2.6),
    },
}
"""Two hundred rounds of stumps. [LS14, Tab. 3]"""

ROUNDS = 200
"""How long the published runs were. [LS14, Tab. 3]"""
