"""What the examples held out in a fit promise about new ones.

A promise must hold whatever the examples chose. So the chance of a miss is divided among all
candidates that they could have chosen, and where these cannot be counted nothing is promised.
"""

from __future__ import annotations

import math

from driftgames.boosting.fit.race import STAGES
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.training_record import TrainingRecord
from driftgames.certificates.new_examples import MEAN, OWN, REFIT, NewExamples

_CROSS_FIT_STAGES = 4 * 32
"""More numbers of rounds than ``early_stopping="cv"`` tries: four in an octave, up to 2**32."""

JOINT_WEIGHTS = 2**21
"""How many pairs of weights the mean of two sizes can have: one is 1, the other k / 2**20."""


def promise_of(record: TrainingRecord) -> NewExamples:
    """Return what a fit promises about new examples."""
    held_out, members = record.held_out, record.members
    if held_out is None or not held_out.n_examples:
        return NewExamples((), (), caveat=_none_held_out(record))
    n_folds = len(held_out.n_examples)
    model = REFIT
    if members:
        model = OWN if len(members) == n_folds == 1 else MEAN
    n_candidates, caveat = _count_candidates(record, n_folds)
    return NewExamples(*held_out, model, n_candidates, caveat=caveat)


def _none_held_out(record: TrainingRecord) -> str:
    if record.choice is not None or record.settings.get("early_stopping") == "cv":
        return "a class has too few examples to hold one out"
    return "no examples were held out; calibrate=True holds some out if each class has two examples"


def _count_candidates(record: TrainingRecord, n_folds: int) -> tuple[int, str]:
    """Return from how many candidates the examples held out chose, or why they cannot be counted.

    Of several sizes and stages the best trial is chosen, or the mean of two. Each of both kinds has
    half of the chance of a miss.
    """
    members, choice = record.members, record.choice
    if record.ended_early:
        return 1, "the fit ended early, and the examples held out had a part in that"
    sizes, stages = _raced(choice)
    stopping = record.settings.get("early_stopping")
    if stopping and not members:
        n_rounds = len(record.history["edge"])
        stages *= _CROSS_FIT_STAGES if stopping == "cv" else n_rounds * (n_rounds + 1)
    n_trials = sizes * stages
    if sizes == 1 or n_folds == 1:
        return n_trials, ""
    if len(members) in (0, n_folds):
        return 2 * n_trials, ""
    assert choice is not None
    tried = {trial.n_estimators for trial in choice.trials}
    for k in range(0, len(members), n_folds):
        rounds = {each.n_rounds for each in members[k : k + n_folds]}
        if len(rounds) > 1 or not rounds <= tried:
            return 1, "a fold of two sizes ended early, which the votes of the others depend on"
    return 2 * math.comb(n_trials, 2) * JOINT_WEIGHTS, ""


def _raced(choice: Choice | None) -> tuple[int, int]:
    """Return how many sizes and how many numbers of rounds could have been chosen."""
    if choice is None:
        return 1, 1
    sizes = {trial.max_leaves for trial in choice.trials}
    # every size plays two stages at least, where there are several
    several = len({trial.n_estimators for trial in choice.trials}) > 1
    return len(sizes), len(STAGES) if several else 1
