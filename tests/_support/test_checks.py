import math

import numpy as np
import pytest

from driftgames._support import checks


@pytest.mark.parametrize("value", [1, 5, np.int64(3)])
def test_integers_come_back_as_int(value):
    assert checks.check_integer("n", value, least=1) == int(value)
    assert type(checks.check_integer("n", value, least=1)) is int


@pytest.mark.parametrize("value", [0, 1.0, "3", True, None, math.nan])
def test_what_is_not_an_integer_from_one_on_is_refused(value):
    with pytest.raises(ValueError, match="n must be an integer >= 1; got"):
        checks.check_integer("n", value, least=1)


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, "x", True, None])
def test_what_is_not_positive_and_finite_is_refused(value):
    with pytest.raises(ValueError, match="rate must be a finite number > 0; got"):
        checks.check_positive("rate", value)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0000001, math.nan])
def test_what_is_not_a_fraction_is_refused(value):
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]; got"):
        checks.check_fraction("epsilon", value)
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]; got"):
        checks.check_fractions("epsilon", [0.5, value])


def test_range_names_value_index_and_extremes():
    with pytest.raises(
        ValueError, match=r"losses must lie in \[0, 1\]; got -0.5 at index \(1, 0\)"
    ):
        checks.check_range("losses", np.array([[0.0, 1.0], [-0.5, 2.0]]), 0.0, 1.0)
    with pytest.raises(ValueError, match="got nan at index 0"):
        checks.check_range("losses", np.array([np.nan]), 0.0, 1.0)


def test_vector_length_and_shape():
    with pytest.raises(ValueError, match=r"must be of shape \(3,\); got shape \(2,\)"):
        checks.check_vector("losses", [1, 2], 3)
    with pytest.raises(ValueError, match=r"must be one-dimensional; got shape \(1, 2\)"):
        checks.check_vector("losses", [[1, 2]])


@pytest.mark.parametrize(
    ("p", "message"),
    [([0.5, 0.6], "must sum to 1"), ([-0.5, 1.5], "nonnegative; got -0.5 at index 0")],
)
def test_what_is_no_distribution_is_refused(p, message):
    with pytest.raises(ValueError, match=message):
        checks.check_distribution("p", p, 2)
