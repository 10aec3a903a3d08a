"""What holds for the mean of several boosters."""

from __future__ import annotations

import numpy as np

from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import TrainingRecord, take_turns
from driftgames.certificates.certificate import Bound
from driftgames.certificates.margins import MarginCertificate, MemberEdges


def mean_certificate(
    title: str, model: FittedModel, record: TrainingRecord, bound: Bound
) -> MarginCertificate:
    """Return the certificate of a mean of boosters, from the edges of each."""
    assert record.margins is not None
    members, margins = record.members, record.margins
    counts = [each.n_rounds for each in members]
    member = np.repeat(np.arange(len(counts)), counts)[take_turns(counts)]
    n_folds = 1 + max(each.fold for each in members)
    shares = np.bincount(member, weights=model.vote_weights, minlength=len(members))
    held = shares.reshape(-1, n_folds).max(axis=1)  # each deal holds an example out once
    examples = sum(each.mass for each in members[:n_folds]) // (n_folds - 1)
    copies = int(margins.masses.sum()) // examples  # pairs of one example
    edges = record.history["edge"]
    parts = [
        MemberEdges(each.n_rounds, float(edges[member == k].mean()), copies * each.mass)
        for k, each in enumerate(members)
        if each.n_rounds
    ]
    error = float(record.mean_error or 0.0)
    return MarginCertificate.of_mean(
        title, margins, error, parts, float(held.sum() / shares.sum()), bound
    )


def no_certificate(title: str, record: TrainingRecord) -> MarginCertificate:
    """Return the certificate of a mean of boosters for which no bound is known."""
    assert record.margins is not None
    n_rounds = sum(each.n_rounds for each in record.members)
    caveat = "no bound is known for a mean of such boosters; ensemble=False has one"
    error = float(record.mean_error or 0.0)
    return MarginCertificate.of_game_value(title, n_rounds, record.margins, error, 1.0, caveat)
