"""Promises by a gap cover the rounding of totals that are large in between."""

import numpy as np
import pytest

from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.state import nested, restore_nested
from driftgames.hedge import AdaFixedShare, AdaHedge, ExpertLearner

LEARNERS = pytest.mark.parametrize("learner", [AdaHedge, AdaFixedShare])


def draw_equal(seed):
    """Draw losses that all actions share; the totals are large in between and end near 0."""
    rng = np.random.default_rng(seed)
    n, rounds = int(rng.integers(1, 30)), int(rng.integers(1, 40))
    losses = rng.normal(size=rounds) * 10.0 ** rng.integers(-3, 4)
    losses = np.append(losses, -losses.sum() + rng.normal() * 1e-12)
    return np.repeat(losses[:, np.newaxis], n, axis=1)


@LEARNERS
@pytest.mark.parametrize("form", ["rows", "one by one", "prior", "gains"])
def test_the_promise_holds_for_equal_losses_of_both_signs(learner, form):
    for seed in range(100):
        losses = draw_equal(seed)
        n = losses.shape[1]
        prior = np.arange(n, 0.0, -1.0) / (n * (n + 1) / 2) if form == "prior" else None
        played = learner(n, prior=prior, loss_range=None, gains=form == "gains")
        if form == "one by one":
            for row in losses:
                played.update(row)
        else:
            played.run(losses)
        certificate = played.certificate()
        assert certificate.holds, seed
        # the allowance is of the size of rounding errors
        assert certificate.promised.max() <= 1e-12 * len(losses) * np.abs(losses).sum()


@LEARNERS
def test_the_largest_total_is_remembered_in_the_state(learner):
    played = learner(3, prior=[0.5, 0.5, 0.0], loss_range=None)
    played.run([[50.0, 40.0, 9000.0], [-50.0, -70.0, -9000.0], [1.0, 2.0, 0.0]])
    content = nested(played)
    memory = decode_array(content["state"]["memory"])
    assert memory[-1] == 50.0  # the action of prior 0 does not count
    assert restore_nested(content, ExpertLearner).certificate() == played.certificate()
    memory[-1] = 27.0
    content["state"]["memory"] = encode_array(memory)
    with pytest.raises(DocumentError, match="must end with a total of at least 28; got 27"):
        restore_nested(content, ExpertLearner)


@LEARNERS
def test_with_a_range_no_total_is_remembered(learner):
    sizes = [
        decode_array(nested(learner(3, loss_range=bounds))["state"]["memory"]).size
        for bounds in ((0.0, 1.0), None)
    ]
    assert sizes[1] == sizes[0] + 1
