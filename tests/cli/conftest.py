"""The command line is built once for each app, as in a process of its own, not for each call."""

from functools import cache

import pytest
from typer import testing

testing._get_command = cache(testing._get_command)


@pytest.fixture
def few_folds(monkeypatch):
    """Calibrate by one fit in place of ten, in the command and in the library alike."""
    monkeypatch.setattr("driftgames.boosting.fit.folds.SMALL", 0)
    monkeypatch.setattr("driftgames.boosting.fit.folds.LARGE", 0)
