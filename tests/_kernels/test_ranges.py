import numpy as np
import pytest

from driftgames._kernels.ranges import all_inside


@pytest.mark.parametrize("size", [1, 3, 4, 17, 100])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, -1e-300, np.nextafter(1.0, 2.0)])
def test_a_stray_entry_is_seen_wherever_it_stands(size, bad):
    row = np.linspace(0.0, 1.0, size)
    assert all_inside(row, 0.0, 1.0)
    for i in range(size):
        stray = row.copy()
        stray[i] = bad
        assert not all_inside(stray, 0.0, 1.0)
