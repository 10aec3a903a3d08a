"""What the examples held out in a fit promise about new ones.

A promise must hold whatever the examples chose. So the chance of a miss is divided among all
candidates that they could have chosen, and where these cannot be counted nothing is promised.
"""

from __future__ import annotations

from driftgames.boosting.fit.race import STAGES
from driftgames.boosting.model.choice import Choice
from driftgames.boosting.model.held_out_losses import count_sigmoids
from driftgames.boosting.model.training_record import TrainingRecord
from driftgames.certificates.new_examples import MEAN, OWN, REFIT, NewExamples, name_boosters
from driftgames.certificates.new_log_loss import NewLogLoss

_CROSS_FIT_STAGES = 4 * 32
"""More numbers of rounds than ``early_stopping="cv"`` tries: four in an octave, up to 2**32."""


def promise_of(record: TrainingRecord, n_classes: int = 2) -> NewExamples:
    """Return what a fit promises about new examples."""
    held_out, members = record.held_out, record.members
    if held_out is None or not held_out.n_examples:
        return NewExamples((), (), caveat=_none_held_out(record))
    n_folds = len(held_out.n_examples)
    model = REFIT
    if members:
        model = OWN if len(members) == n_folds == 1 else MEAN
    n_candidates, caveat = _count_candidates(record)
    n_examples, n_errors, losses = held_out
    log_loss = NewLogLoss(
        losses,
        name_boosters(model, n_folds),
        n_classes,
        n_candidates * count_sigmoids(n_classes),
        caveat=caveat if losses else caveat or "the sigmoid of the probabilities is too steep",
    )
    return NewExamples(n_examples, n_errors, model, n_candidates, caveat=caveat, log_loss=log_loss)


def _none_held_out(record: TrainingRecord) -> str:
    if record.choice is not None or record.settings.get("early_stopping") == "cv":
        return "a class has too few examples to hold one out"
    return "no examples were held out; calibrate=True holds some out if each class has two examples"


def _count_candidates(record: TrainingRecord) -> tuple[int, str]:
    """Return from how many candidates the examples held out chose, or why they cannot be counted.

    Each size after each number of rounds is a candidate. What is promised is about the boosters of
    the chosen one, also where the model is a mean of theirs and of others.
    """
    if record.ended_early:
        return 1, "the fit ended early, and the examples held out had a part in that"
    sizes, stages = _raced(record.choice)
    stopping = record.settings.get("early_stopping")
    if stopping and not record.members:
        n_rounds = len(record.history["edge"])
        stages *= _CROSS_FIT_STAGES if stopping == "cv" else n_rounds * (n_rounds + 1)
    return sizes * stages, ""


def _raced(choice: Choice | None) -> tuple[int, int]:
    """Return how many sizes and how many numbers of rounds could have been chosen."""
    if choice is None:
        return 1, 1
    sizes = {trial.max_leaves for trial in choice.trials}
    # every size plays two stages at least, where there are several
    several = len({trial.n_estimators for trial in choice.trials}) > 1
    return len(sizes), len(STAGES) if several else 1
