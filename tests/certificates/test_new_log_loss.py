"""The promise about the log-loss on new examples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgames.certificates import NewExamples, NewLogLoss, mean_interval
from driftgames.certificates.new_log_loss import CLIP, LEVELS, LossCounts

LEAST, MOST = -math.log(1 - CLIP), -math.log(CLIP)


def drawn(rng, n, chance=0.1):
    """Return losses that are 0.05 or, rarely, 4: skewed, as log-losses are."""
    return np.where(rng.random(n) < chance, 4.0, 0.05)


@given(st.lists(st.floats(0, 50), min_size=1, max_size=40))
def test_losses_are_clipped_and_rounded_up_by_less_than_a_fortieth(losses):
    made = LossCounts.of(np.array(losses))
    assert made.n_examples == len(losses)
    levels = np.repeat(LEVELS[[k for k, _ in made.counts]], [n for _, n in made.counts])
    clipped = np.sort(np.clip(losses, LEAST, MOST))
    assert (levels >= clipped * (1 - 1e-12)).all()
    assert (levels <= clipped * 1.0251).all()
    assert made.mean == pytest.approx(clipped.mean())


def test_what_is_at_most_takes_the_place_of_a_loss_in_the_bound_and_not_in_the_estimate():
    losses = drawn(np.random.default_rng(0), 400)
    plain, more = LossCounts.of(losses), LossCounts.of(losses, 1.2 * losses)
    assert plain.mean == more.mean
    assert more.high(0.05) > 1.1 * plain.high(0.05)


def test_the_bound_of_one_part_is_that_of_a_mean_with_delta_shared_by_the_candidates():
    part = LossCounts.of(drawn(np.random.default_rng(0), 300))
    values = np.repeat(LEVELS[[k for k, _ in part.counts]], [n for _, n in part.counts])
    wanted = mean_interval(
        values, 0.05 / 7, value_range=(LEAST, MOST), side="upper", any_order=True
    )
    assert NewLogLoss((part,), n_candidates=7).high == pytest.approx(wanted.high, rel=1e-12)


def test_folds_share_delta_and_are_averaged_by_their_examples():
    rng = np.random.default_rng(0)
    parts = LossCounts.of(drawn(rng, 300)), LossCounts.of(drawn(rng, 100))
    bounds = [part.high(0.05 / 2) for part in parts]
    made = NewLogLoss(parts)
    assert made.high == pytest.approx(0.75 * bounds[0] + 0.25 * bounds[1])
    assert made.estimate == pytest.approx(0.75 * parts[0].mean + 0.25 * parts[1].mean)


@pytest.mark.parametrize(("n", "n_parts"), [(60, 1), (200, 1), (60, 3)])
def test_the_true_loss_exceeds_the_bound_in_at_most_delta_of_all_draws(n, n_parts):
    rng, truth, missed, gaps = np.random.default_rng(n), 0.1 * 4.0 + 0.9 * 0.05, 0, []
    for _ in range(1000):
        parts = tuple(LossCounts.of(drawn(rng, n)) for _ in range(n_parts))
        high = NewLogLoss(parts, delta=0.2).high
        missed += high < truth
        gaps.append(high - truth)
    assert missed <= 200
    assert np.mean(gaps) < 6.5 / math.sqrt(n)  # and it says something


def test_the_text_says_to_whom_what_the_clip_is_and_where_it_says_nothing():
    few, many = (LossCounts.of(np.full(n, 0.2)) for n in (10, 5000))
    told = str(NewLogLoss((many,)))
    assert told.splitlines()[0].startswith("log-loss on new examples at most 0.2")
    assert "with confidence 95 %, p clipped to [0.01, 0.99]: this booster" in told
    assert told.splitlines()[1] == "it was 0.200 on the examples held out"
    void = NewLogLoss((few,))
    assert str(void).startswith("nothing is promised about log-loss: too few examples were held o")
    assert void.to_json()["log_loss_at_most"] is None
    assert NewLogLoss((many,)).to_json()["log_loss_at_most"] == NewLogLoss((many,)).high
    # equal probabilities have a larger loss with more classes
    some = LossCounts.of(np.full(40, 0.2))
    assert math.log(2) < NewLogLoss((some,), n_candidates=1000).high < math.log(8)
    assert "nothing" in str(NewLogLoss((some,), n_candidates=1000))
    assert "nothing" not in str(NewLogLoss((some,), n_candidates=1000, n_classes=8))
    steep = NewLogLoss((), caveat="the sigmoid is too steep")
    assert str(steep) == "nothing is promised about log-loss: the sigmoid is too steep"
    assert math.isinf(steep.high)


def test_it_comes_last_in_the_promise_about_new_examples():
    loss = NewLogLoss((LossCounts.of(np.full(5000, 0.2)),))
    made = NewExamples((5000,), (10,), log_loss=loss)
    assert str(made).splitlines()[2:] == str(loss).splitlines()
    assert made.to_json()["log_loss"] == loss.to_json()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"parts": ()}, "caveat must say why"),
        ({"n_classes": 1}, "n_classes must be an integer >= 2"),
        ({"n_candidates": 0}, "n_candidates must be an integer >= 1"),
        ({"delta": 0.0}, "delta must lie in"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    parts = (LossCounts.of(np.full(9, 0.2)),)
    with pytest.raises(ValueError, match=message):
        NewLogLoss(**{"parts": parts, **settings})
