"""Beyond the paper: label noise, and the time against LightGBM and scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from driftgames.core.typing import Content
from driftgames.datasets import Dataset
from driftgames.paper.boosting import AS_PROVED, Fit, best_of_turns
from driftgames.paper.peers import PEERS
from driftgames.paper.store import Task
from driftgames.tables import Column, Row, Table

NOISE: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2)
"""Shares of training labels that are flipped."""

NOISE_DRAWS = 3
"""How many draws of flipped labels are averaged."""


def noise_table(fits: Mapping[tuple[str, str, float], Sequence[Fit]], rounds: int) -> Table:
    """Return the test error of every booster as more training labels are wrong.

    ``fits`` holds the draws by set, algorithm and share of noise.
    """
    shares = list(dict.fromkeys(noise for _, _, noise in fits))
    columns = [Column("set"), Column("algorithm")]
    group = "Test error (%) by share of flipped labels"
    columns += [Column(f"{100 * noise:g} %", ",.2f", group) for noise in shares]
    rows: list[Row] = []
    for name, algorithm in dict.fromkeys((name, algorithm) for name, algorithm, _ in fits):
        errors = [
            100 * float(np.mean([fit.test_error for fit in fits[name, algorithm, noise]]))
            for noise in shares
        ]
        rows.append((name, algorithm, *errors))
    return Table(
        f"Robustness to label noise, {rounds:,} rounds",
        tuple(columns),
        tuple(rows),
        (
            f"Mean of {NOISE_DRAWS} draws of the flipped training labels (one where none is "
            "flipped); the test labels are the true ones.",
        ),
        name="noise",
    )


def peer_task(data: Dataset, peer: str, rounds: int) -> Task:
    """Return the task that fits a peer on one set.

    Its version belongs to the task: a peer that was left out is run once it is installed.
    """
    version, _ = PEERS[peer].find()
    task = Task.of(peer_fit, data, peer, rounds)
    return replace(task, parameters={**task.parameters, "version": version or "absent"})


def peer_fit(data: Dataset, peer: str, rounds: int) -> Content:
    """Return the seconds and the test error of a peer's stumps, or why it was left out."""
    library = PEERS[peer]
    version, absent = library.find()
    if version is None:
        return {"seconds": None, "test_error": None, "version": None, "absent": absent}
    model, seconds = best_of_turns(library.fit(*data.train, rounds))
    error_rate = float(np.mean(library.predict(model, data.test.X) != data.test.y))
    return {"seconds": seconds, "test_error": error_rate, "version": version, "absent": None}


def peer_table(fits: Sequence[Fit], peers: Mapping[tuple[str, str], Content], rounds: int) -> Table:
    """Return the time and test error of NH-Boost.DT beside those of its peers."""
    columns = [
        Column("set"),
        Column("time (s)", ",.3f", AS_PROVED),
        Column("error (%)", ",.2f", AS_PROVED, on_terminal=False),
    ]
    for peer in PEERS:
        columns += [
            Column("time (s)", ",.3f", peer),
            Column("to ours", ",.1f", peer),
            Column("error (%)", ",.2f", peer, on_terminal=False),
        ]
    rows: list[Row] = []
    notes = ["One thread each. LightGBM has two leaves per tree; its binning is in its time."]
    for ours in fits:
        row: list[Any] = [ours.data, ours.seconds, 100 * ours.test_error]
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
    return Table(title, tuple(columns), tuple(rows), tuple(dict.fromkeys(notes)), name="peers")
