"""Parts of collections, without a cluster: their checks, and how they are stacked."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("dask")
from driftgames.boosting import NHBoostDTClassifier
from driftgames.boosting.data.checks import ExampleChecks
from driftgames.dask import partitions

X, Y = np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3)
HIDDEN = np.arange(6) == 4


def test_masked_features_are_missing_values():
    masked = np.ma.array(X, mask=np.column_stack([HIDDEN, ~HIDDEN]))
    part = partitions.prepare(0, ExampleChecks(NHBoostDTClassifier()), masked, Y)
    np.testing.assert_array_equal(np.isnan(part.X), masked.mask)
    np.testing.assert_array_equal(part.X[~masked.mask], X[~masked.mask])


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (np.ma.array(Y, mask=HIDDEN), None, "y must have no masked entries; got one at index 4"),
        (
            Y,
            np.ma.array(np.ones(6), mask=HIDDEN),
            "sample_weight must have no masked entries; got one at index 4",
        ),
        (Y, Y, "sample_weight must be numbers; got"),
    ],
    ids=["labels", "weights", "text"],
)
def test_masked_labels_and_weights_are_refused(y, weights, message):
    with pytest.raises(ValueError, match=f"partition 7: {message}"):
        partitions.prepare(7, ExampleChecks(NHBoostDTClassifier()), X, y, weights)


def test_stacked_parts_keep_masks_and_missing_labels():
    stacked = partitions.stack([X, np.ma.array(X, mask=X > 8)])
    np.testing.assert_array_equal(stacked.mask, np.concatenate([X > 99, X > 8]))
    labels = partitions.stack([pd.Series(["a", "b"]), pd.Series(["a", pd.NA])])
    assert labels[:3].tolist() == ["a", "b", "a"]
    assert pd.isna(labels[3])
