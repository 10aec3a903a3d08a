import numpy as np
import pytest

from driftgames.core import threads
from driftgames.core.schema import JOBS


@pytest.mark.parametrize(
    ("n_jobs", "wanted"),
    [(None, 1), (1, 1), (np.int64(2), 2), (3, 3), (10_000, 4), (-1, 4), (-2, 3), (-4, 1), (-99, 1)],
)
def test_threads_are_at_most_the_processors(monkeypatch, n_jobs, wanted):
    monkeypatch.setattr(threads, "count_processors", lambda: 4)
    assert threads.count_jobs(n_jobs) == wanted


@pytest.mark.parametrize("n_jobs", [0, True, 1.0, "2", 2**63, 10**30, -(2**40), [1], object()])
def test_what_is_no_number_of_jobs_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0"):
        threads.count_jobs(n_jobs)
    assert not JOBS.allows(n_jobs)


def test_this_process_has_a_processor():
    assert threads.count_processors() >= 1
