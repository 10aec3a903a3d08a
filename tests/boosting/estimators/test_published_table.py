"""The published table by plain rounding, and what comes out where it differs. [LS14, Tab. 3]"""

import pytest

from driftgames.boosting import AdaBoostClassifier, NHBoostClassifier, PotentialBoostClassifier
from driftgames.potentials import NormalHedgeDT

# per cent, as plain rounding gives them: training error, test error, average share of zeros
ADABOOST = {
    "a9a": (15.4, 15.0),
    "census": (15.6, 18.7),
    "ocr49": (1.7, 5.5),
    "splice": (0.0, 9.4),
    "w8a": (2.7, 2.7),  # published: 2.6 and 2.7
}
NH_BOOST = {
    "a9a": (15.8, 15.6, 1.1),
    "census": (17.0, 18.6, 2.1),  # published: 2.2 % zeros
    "ocr49": (1.7, 5.9, 17.1),
    "splice": (0.0, 8.6, 22.2),
    "w8a": (2.2, 2.3, 3.0),
}
NH_BOOST_DT = {
    "a9a": (15.5, 15.2, 22.1),
    "census": (15.4, 18.3, 19.2),
    "ocr49": (2.4, 5.8, 41.9),  # published: 42.0 % zeros
    "splice": (0.4, 8.2, 45.1),
    "w8a": (2.4, 2.5, 32.5),  # published: 2.4, 2.6 and 29.3 % zeros
}

SWAPPED = ("a9a", "ocr49", "w8a")
"""The sets of which +1 is the class labelled -1: it is named first, or stands first in the file."""


def measured(booster, paper_data, name):
    """Return both errors and the zeros, in per cent with one decimal."""
    sign = -1 if name in SWAPPED else 1  # a tied vote is for -1: which label is +1 matters
    (X, y), (X_test, y_test) = paper_data(name)
    booster.fit(X, sign * y)
    errors = [1 - booster.score(X, sign * y), 1 - booster.score(X_test, sign * y_test)]
    return tuple(
        round(100 * share, 1) for share in (*errors, booster.history_["zero_fraction"].mean())
    )


@pytest.mark.parametrize("name", ADABOOST)
def test_adaboost_has_the_published_errors(paper_data, name):
    assert measured(AdaBoostClassifier(calibrate=False), paper_data, name) == (*ADABOOST[name], 0.0)


@pytest.mark.parametrize("name", NH_BOOST)
def test_nh_boost_has_the_published_errors_and_zeros(paper_data, name):
    assert measured(NHBoostClassifier(calibrate=False), paper_data, name) == NH_BOOST[name]


@pytest.mark.parametrize("name", NH_BOOST_DT)
def test_nh_boost_dt_has_the_published_errors_and_zeros(paper_data, name):
    booster = PotentialBoostClassifier(NormalHedgeDT(d=4, lag=1), calibrate=False)
    assert measured(booster, paper_data, name) == NH_BOOST_DT[name]
