"""The units of losses: a range, and whether the numbers are losses or gains."""

import numpy as np
import pytest

from driftgames.core.registry import choose
from driftgames.core.units import Units


@pytest.mark.parametrize(
    ("units", "numbers", "losses"),
    [
        (Units(), [0.0, 0.3, 1.0], [0.0, 0.3, 1.0]),
        (Units(-1.0, 3.0), [-1.0, 1.0, 3.0], [0.0, 0.5, 1.0]),
        (Units(0.0, 5.0, gains=True), [5.0, 4.0, 0.0], [0.0, 0.2, 1.0]),
    ],
)
def test_numbers_become_losses_in_0_1_and_come_back_as_losses(units, numbers, losses):
    np.testing.assert_allclose(units.to_game(np.array(numbers)), losses)
    own = [-x for x in numbers] if units.gains else numbers
    np.testing.assert_allclose(units.from_game(np.array(losses)), own)


def test_words_and_ends():
    gains = Units.of((2.0, 6.0), gains=True)
    assert (gains.word, gains.plural, gains.best, gains.least, gains.width) == (
        "gain",
        "gains",
        6.0,
        -6.0,
        4.0,
    )
    assert Units.of((2, 6)).best == 2.0
    assert Units().plain
    assert not gains.plain


def test_bad_units_are_refused():
    with pytest.raises(ValueError, match="loss_range must be"):
        Units.of((1.0, 1.0))
    with pytest.raises(ValueError, match="gains must be True or False; got 'yes'"):
        Units.of((0.0, 1.0), "yes")


def test_a_name_that_is_not_registered_is_an_error_that_lists_the_names():
    assert choose("learner", "exp", {"exp": 1}) == 1
    for name in ("best", None, 3):
        with pytest.raises(ValueError, match=r"learner must be one of exp, 2-norm; got"):
            choose("learner", name, {"exp": 1, "2-norm": 2})
