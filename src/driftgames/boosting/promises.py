"""What a fit promises: about new examples, and about the margins of a mean of boosters.

A promise about new examples is about what `predict` returns: the class of the largest calibrated
probability, or of most votes with class weights or without calibration. It must hold whatever the
held-out examples chose. So the chance of a miss is divided among all candidates that they could
have chosen, sizes, rounds, pairs of columns and rules of the sigmoid, and where these cannot be
counted nothing is promised. Margins and the training error are those of the vote.
"""

from __future__ import annotations

import numpy as np

from driftgames.boosting.fit.race import stages_for
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.fitted_model import FittedModel
from driftgames.boosting.model.training_record import TrainingRecord, count_sigmoids, take_turns
from driftgames.certificates.certificate import Bound
from driftgames.certificates.margins import MarginCertificate, MemberEdges
from driftgames.certificates.new_examples import MEAN, REFIT, NewExamples, name_boosters
from driftgames.certificates.new_log_loss import NewLogLoss


def promise_of(record: TrainingRecord, n_classes: int = 2) -> NewExamples:
    """Return what a fit promises about new examples."""
    held_out, members = record.held_out, record.members
    if held_out is None or not held_out.n_examples:
        return NewExamples((), (), caveat=_none_held_out(record))
    n_folds = len(held_out.n_examples)
    model = MEAN if members else REFIT
    n_candidates, caveat = _count_candidates(record, n_classes)
    n_examples, n_errors, losses, n_rules, _ = held_out
    log_loss = None
    if losses or n_rules != 1:  # else there is no sigmoid, or one with an intercept for each class
        log_loss = NewLogLoss(
            losses,
            name_boosters(model, n_folds),
            n_classes,
            n_candidates * count_sigmoids(n_classes),
            caveat=caveat if losses else caveat or "the sigmoid of the probabilities is too steep",
        )
    if not n_rules:
        caveat = caveat or "votes on examples held out are too near to the threshold of the sigmoid"
    n_candidates *= max(n_rules, 1)
    return NewExamples(n_examples, n_errors, model, n_candidates, caveat=caveat, log_loss=log_loss)


def _none_held_out(record: TrainingRecord) -> str:
    if record.choice is not None:
        return "a class has too few examples to hold one out"
    return "no examples were held out; calibrate=True holds some out if each class has two examples"


def _count_candidates(record: TrainingRecord, n_classes: int) -> tuple[int, str]:
    """Return from how many candidates the examples held out chose, or why they cannot be counted.

    Each size after each number of rounds is a candidate. What is promised is about the boosters of
    the chosen one, also where the model is a mean of theirs and of others.

    Where pairs of columns could join, half of the chance of a miss is for boosters without pairs.
    The other half is divided among all sets of columns that pairs can be made of. For one set, as
    for one size, the booster of a fold depends on the rows that the fold trains on alone. Which
    set was chosen may then depend on all rows, also on those that the fold holds out.
    """
    if record.ended_early:
        return 1, "the fit ended early, and the examples held out had a part in that"
    sizes, stages = _count_trials(record.choice, n_classes)
    stopping = record.settings.get("early_stopping")
    if stopping and not record.members:
        n_rounds = len(record.history["edge"])
        stages *= n_rounds * (n_rounds + 1)
    pairs = None if record.choice is None else record.choice.pairs
    return sizes * stages * (1 if pairs is None else pairs.n_candidates), ""


def _count_trials(choice: Choice | None, n_classes: int) -> tuple[int, int]:
    """Return how many sizes and how many numbers of rounds could have been chosen."""
    if choice is None:
        return 1, 1
    sizes = {trial.max_leaves for trial in choice.trials}
    # every size plays two stages at least, where there are several
    several = len({trial.n_estimators for trial in choice.trials}) > 1
    return len(sizes), len(stages_for(n_classes, choice.n_examples)) if several else 1


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
    # each race holds an example out of one booster, at worst of that with most votes
    largest = shares.reshape(-1, n_folds).max(axis=1)
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
        title, margins, error, parts, float(largest.sum() / shares.sum()), bound
    )


def no_certificate(title: str, record: TrainingRecord) -> MarginCertificate:
    """Return the certificate of a mean of boosters for which no bound is known."""
    assert record.margins is not None
    n_rounds = sum(each.n_rounds for each in record.members)
    caveat = "no bound is known for a mean of such boosters; ensemble=False has one"
    error = float(record.mean_error or 0.0)
    return MarginCertificate.of_game_value(title, n_rounds, record.margins, error, 1.0, caveat)
