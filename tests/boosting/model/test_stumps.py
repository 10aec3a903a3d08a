import numpy as np
import pytest
import scipy.sparse as sp

from driftgames.boosting import Stumps

STUMPS = Stumps([0, 1, 0], [0.5, np.inf, -1.0], [1, -1, -1], [-1, 1, 1])


def test_votes_go_left_right_or_missing():
    X = np.array([[0.5, 3.0], [0.6, np.nan], [np.nan, -9.0], [-1.0, 0.0]])
    expected = [[1, -1, 1], [-1, 1, 1], [-1, -1, 1], [1, -1, -1]]
    np.testing.assert_array_equal(STUMPS.votes(X), expected)
    np.testing.assert_array_equal(STUMPS.votes(sp.csr_matrix(X)), expected)


def test_a_threshold_between_two_float32_values_is_compared_exactly():
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    stump = Stumps([0], [(float(low) + float(high)) / 2], [1], [1])
    votes = stump.votes(np.array([[low], [high]], dtype=np.float32))
    np.testing.assert_array_equal(votes[:, 0], [1, -1])


def test_slices_are_stumps_of_some_rounds():
    assert STUMPS[1:] == Stumps([1, 0], [np.inf, -1.0], [-1, -1], [1, 1])
    assert STUMPS[3:] == Stumps.none()
    assert STUMPS[:2] != STUMPS
    assert len(STUMPS) == 3
    assert STUMPS != "stumps"


def test_arrays_cannot_be_written_to():
    with pytest.raises(ValueError, match="read-only"):
        STUMPS.threshold[0] = 0.0


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (([0], [np.nan], [1], [1]), "NaN"),
        (([-1], [0.0], [1], [1]), "feature must be >= 0; got -1"),
        (([0], [0.0], [0], [1]), r"left_vote must be \+1 or -1; got 0"),
        (([0], [0.0], [1], [2]), r"missing_vote must be \+1 or -1; got 2"),
        (([0, 1], [0.0], [1], [1]), "of one length"),
        (([[0]], [[0.0]], [[1]], [[1]]), "of one length"),
    ],
)
def test_what_is_no_stump_is_refused(arrays, message):
    with pytest.raises(ValueError, match=message):
        Stumps(*arrays)
