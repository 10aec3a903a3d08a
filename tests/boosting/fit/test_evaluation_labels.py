"""Labels of evaluation sets: missing ones are refused by the name of their set."""

import numpy as np
import pandas as pd
import pytest

from driftgames.boosting import NHBoostDTClassifier

X, Y = np.arange(20.0)[:, None], np.array(["a", "b"] * 10)
LABELS = {
    "None": (["a", None], "valid_0: y must not hold missing labels; got None at index 1"),
    "pandas.NA": (["a", pd.NA], "valid_0: y must not hold missing labels; got <NA> at index 1"),
    "masked": (
        np.ma.array(["a", "b"], mask=[False, True]),
        "valid_0: y must have no masked entries; got one at index 1",
    ),
}


@pytest.mark.parametrize("case", LABELS)
def test_missing_labels_of_an_evaluation_set_are_refused(case):
    labels, message = LABELS[case]
    with pytest.raises(ValueError, match=message):
        NHBoostDTClassifier(2, max_leaves=2).fit(X, Y, eval_set=(X[:2], labels))
