"""Gauss-Legendre quadrature is exact up to its degree."""

import pytest

from driftgames.portfolio.quadrature import gauss_legendre


@pytest.mark.parametrize("n", [1, 2, 3, 4, 64, 512])
def test_gauss_legendre_integrates_every_power_up_to_its_degree(n):
    nodes, weights = gauss_legendre(n)
    assert weights.sum() == pytest.approx(1.0, abs=1e-14)
    for degree in {0, 1, n, 2 * n - 1}:
        assert weights @ nodes**degree == pytest.approx(1 / (degree + 1), rel=1e-12)
    if n <= 4:  # one degree more shows
        assert weights @ nodes ** (2 * n) != pytest.approx(1 / (2 * n + 1), rel=1e-6)


def test_who_writes_into_the_nodes_changes_no_others():
    nodes, weights = gauss_legendre(3)
    kept = nodes.tolist(), weights.tolist()
    nodes[:] = weights[:] = 0.0
    assert tuple(part.tolist() for part in gauss_legendre(3)) == kept
