"""What the paper could not show: label noise, and the time against what people use now."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from driftgames.core.typing import Content
from driftgames.datasets import Dataset
from driftgames.experiments.boosting import AS_PROVED, Fit, best_of_turns
from driftgames.experiments.results import Cell, Column, Table
from driftgames.experiments.store import Part

NOISE: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2)
"""Shares of training labels that are flipped."""

NOISE_DRAWS = 3
"""How many draws of flipped labels are averaged."""

PEERS: tuple[str, ...] = ("LightGBM", "scikit-learn AdaBoost")


def noise_table(fits: Mapping[tuple[str, str, float], Sequence[Fit]], rounds: int) -> Table:
    """Return the test error of every booster as more training labels are wrong.

    ``fits`` holds the draws by set, algorithm and share of noise.
    """
    shares = list(dict.fromkeys(noise for _, _, noise in fits))
    columns = [Column("set"), Column("algorithm")]
    group = "Test error (%) by share of flipped labels"
    columns += [Column(f"{100 * noise:g} %", 2, group) for noise in shares]
    rows: list[tuple[Cell, ...]] = []
    for name, algorithm in dict.fromkeys((name, algorithm) for name, algorithm, _ in fits):
        errors = [
            100 * float(np.mean([fit.test_error for fit in fits[name, algorithm, noise]]))
            for noise in shares
        ]
        rows.append((name, algorithm, *errors))
    return Table(
        "noise",
        f"Robustness to label noise, {rounds:,} rounds",
        tuple(columns),
        tuple(rows),
        (
            f"Mean of {NOISE_DRAWS} draws of the flipped training labels (one where none is "
            "flipped); the test labels are the true ones.",
        ),
    )


def peer_part(data: Dataset, peer: str, rounds: int) -> Part:
    """Return the part that fits a peer on one set.

    Whether the peer can be used, and in which version, belongs to the part: one that was left
    out is run as soon as it is there.
    """
    version, _ = find_peer(peer)
    parameters = {
        "set": data.name,
        "peer": peer,
        "rounds": rounds,
        "version": version or "absent",
        "data": data.fingerprint,
    }
    return Part("peer", parameters, lambda: peer_fit(data, peer, rounds))


def find_peer(peer: str) -> tuple[str | None, str | None]:
    """Return the version of a peer, or None and why it cannot be used.

    >>> version, absent = find_peer("scikit-learn AdaBoost")
    >>> absent is None
    True
    """
    try:
        return str(importlib.import_module(_PACKAGES[peer]).__version__), None
    except (ImportError, OSError) as error:  # OSError: a library that it is linked with is missing
        return None, str(error)


def peer_fit(data: Dataset, peer: str, rounds: int) -> Content:
    """Return the seconds and the test error of a peer's stumps, or why it was left out."""
    version, absent = find_peer(peer)
    if version is None:
        return {"seconds": None, "test_error": None, "version": None, "absent": absent}
    train = _PEERS[peer](rounds)
    predict, seconds = best_of_turns(lambda: train(*data.train))
    error_rate = float(np.mean(predict(data.test.X) != data.test.y))
    return {"seconds": seconds, "test_error": error_rate, "version": version, "absent": None}


def peer_table(fits: Sequence[Fit], peers: Mapping[tuple[str, str], Content], rounds: int) -> Table:
    """Return the time and test error of NH-Boost.DT beside those of its peers."""
    columns = [
        Column("set"),
        Column("time (s)", 3, AS_PROVED),
        Column("error (%)", 2, AS_PROVED, on_terminal=False),
    ]
    for peer in PEERS:
        columns += [
            Column("time (s)", 3, peer),
            Column("to ours", 1, peer),
            Column("error (%)", 2, peer, on_terminal=False),
        ]
    rows: list[tuple[Cell, ...]] = []
    notes = ["One thread each. LightGBM has two leaves per tree; its binning is in its time."]
    for ours in fits:
        row: list[Cell] = [ours.data, ours.seconds, 100 * ours.test_error]
        for peer in PEERS:
            theirs = peers[ours.data, peer]
            seconds, error = theirs["seconds"], theirs["test_error"]
            absent = seconds is None
            row += [
                seconds,
                None if absent else seconds / ours.seconds,
                None if absent else 100 * error,
            ]
            if absent:
                notes.append(f"{peer} was left out: {theirs['absent']}.")
            else:
                notes.append(f"{peer} is of version {theirs['version']}.")
        rows.append(tuple(row))
    title = f"Time for {rounds:,} rounds of stumps against what people use now"
    return Table("peers", title, tuple(columns), tuple(rows), tuple(dict.fromkeys(notes)))


Train = Callable[[Any, Any], Callable[[Any], Any]]


def _lightgbm(rounds: int) -> Train:
    import lightgbm

    parameters = {
        "objective": "binary",
        "num_leaves": 2,
        "num_threads": 1,
        "verbose": -1,
        "seed": 0,
    }

    def train(X: Any, y: Any) -> Callable[[Any], Any]:
        data = lightgbm.Dataset(X, (y > 0).astype(np.float32))
        model = lightgbm.train(parameters, data, num_boost_round=rounds)
        return lambda X_test: np.where(model.predict(X_test) > 0.5, 1, -1)

    return train


def _sklearn_adaboost(rounds: int) -> Train:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    def train(X: Any, y: Any) -> Callable[[Any], Any]:
        stump = DecisionTreeClassifier(max_depth=1, random_state=0)
        model = AdaBoostClassifier(stump, n_estimators=rounds, random_state=0)
        return model.fit(X.tocsc(), y).predict  # type: ignore[no-any-return]

    return train


_PEERS: dict[str, Callable[[int], Train]] = {
    "LightGBM": _lightgbm,
    "scikit-learn AdaBoost": _sklearn_adaboost,
}
_PACKAGES: dict[str, str] = {"LightGBM": "lightgbm", "scikit-learn AdaBoost": "sklearn"}
