import os

import pytest

from driftgames.datasets import load
from driftgames.paper.boosting import ALGORITHMS, THETAS, Fit
from driftgames.paper.sets import Chosen
from driftgames.paper.store import Store


@pytest.fixture(scope="session")
def digits():
    return load("digits49")


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """Finished fits on the paper's sets, which all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return Store((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tasks")


@pytest.fixture
def chosen(digits):
    return Chosen((digits,), missing=("a9a",))


@pytest.fixture
def make_fit():
    def make(data="census", algorithm=ALGORITHMS[0], *, train=0.156, test=0.187, zeros=0.0, **more):
        return Fit(
            **{
                "data": data,
                "algorithm": algorithm,
                "seconds": 0.01,
                "rounds": 3,
                "zeros": zeros,
                "train_error": train,
                "test_error": test,
                "zero_fractions": [0.0, 0.1, 0.2],
                "margins": [float(theta >= 0.5) for theta in THETAS],
                "weighted_margins": None,
                **more,
            }
        )

    return make
