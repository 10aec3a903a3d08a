"""Log-loss on real sets: our calibrated probabilities against those of other libraries."""

from __future__ import annotations

from typing import Any

from bench.accuracy import LIBRARIES, Libraries, compare
from bench.harness import Tell, silent
from driftgames.tables import Table


def ebm() -> Any:
    """Return the explainable boosting machine without interactions, in one thread."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(interactions=0, n_jobs=1, random_state=0)


def run(*, quick: bool = False, tell: Tell = silent) -> list[Table]:
    """Return a table of log-loss; ``quick`` takes three small sets and leaves EBM out."""
    libraries: Libraries = {**LIBRARIES}
    del libraries["AdaBoost"]  # its votes are no probabilities
    if not quick:
        libraries["EBM"] = ("interpret", ebm)
    return compare(libraries, ("log-loss",), quick=quick, tell=tell)
