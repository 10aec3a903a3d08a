import numpy as np
import pytest

from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.potentials import Exponential, NoBoundError, NormalHedgeDT, TwoNorm

MARGINS = Margins.of_examples([0.5, -0.2, 0.5, 0.1, 0.9])


def test_margins_of_examples_are_counted_ascending():
    assert MARGINS.values.tolist() == [-0.2, 0.1, 0.5, 0.9]
    assert MARGINS.masses.tolist() == [1, 1, 2, 1]
    weighted = Margins.of_examples([0.5, 0.1, 0.5], [3, 1, 1])
    assert weighted.masses.tolist() == [1, 4]
    assert weighted.share([0.0, 0.1, 0.4, 0.5]).tolist() == [0.0, 0.2, 0.2, 1.0]


@pytest.mark.parametrize(
    "potential", [TwoNorm(), NormalHedgeDT(), NormalHedgeDT(5), Exponential(0.1)]
)
@pytest.mark.parametrize("mean_edge", [0.01, 0.1, 0.3])
def test_the_promise_is_the_largest_share_that_the_regret_allows(potential, mean_edge):
    n_rounds, n = 400, 50
    margins = Margins.of_examples(np.linspace(-1, 1, n))
    made = MarginCertificate.of_regret("x", n_rounds, margins, 0.1, mean_edge, potential.bound)
    regret = potential.bound(n_rounds, np.arange(1, n + 1) / n)
    floors = 2 * (mean_edge - regret / n_rounds)  # what the j-th smallest margin must exceed
    allowed = [np.count_nonzero(floors <= theta) / n for theta in made.thetas]
    np.testing.assert_allclose(made.promised, allowed)
    np.testing.assert_array_equal(made.realised, margins.share(made.thetas))
    assert made.error_bound == made.at(0.0).promised


def test_a_broken_promise_is_seen():
    bad = Margins.of_examples(np.full(100, -0.5))
    made = MarginCertificate.of_regret("liar", 1000, bad, 1.0, 0.3, NormalHedgeDT().bound)
    assert not made.holds
    assert "A BOUND IS BROKEN" in str(made)


def test_the_table_has_every_theta_that_says_something():
    good = Margins.of_examples(np.linspace(0.3, 0.6, 50))
    made = MarginCertificate.of_regret("x", 1000, good, 0.0, 0.15, NormalHedgeDT().bound)
    shown = {row.theta: row for row in made.rows()}
    assert 0 < made.at(0.1).promised < 1  # no margin is so small, and few were promised to be
    assert 0.1 in shown
    assert 0.5 in shown
    assert -0.1 not in shown  # nobody there, and nobody promised
    bad = Margins.of_examples(np.full(100, -0.5))
    liar = MarginCertificate.of_regret("liar", 1000, bad, 1.0, 0.3, NormalHedgeDT().bound)
    assert [row for row in liar.rows() if row.realised == 1 and row.promised == 0]


def test_no_bound_becomes_a_caveat():
    def no_bound(horizon, epsilon):
        raise NoBoundError("nobody knows")

    made = MarginCertificate.of_regret("x", 10, MARGINS, 0.2, 0.1, no_bound)
    assert (made.promised == 1.0).all()
    assert made.holds
    assert str(made).startswith("x after 10 rounds: nothing is promised (nobody knows)")


def test_adaboosts_product_at_zero_is_the_classical_error_bound():
    edges = np.array([0.3, 0.1, 0.2])
    votes = np.arctanh(2 * edges)
    made = MarginCertificate.of_product("AdaBoost", MARGINS, 0.2, edges, votes)
    assert made.error_bound == pytest.approx(np.prod(np.sqrt(1 - 4 * edges**2)))
    theta = 0.1
    by_hand = np.prod((1 + 2 * edges) ** ((1 + theta) / 2) * (1 - 2 * edges) ** ((1 - theta) / 2))
    assert made.at(theta).promised == pytest.approx(by_hand)


def test_the_value_of_a_game_bounds_errors_only():
    made = MarginCertificate.of_game_value("majority", 7, MARGINS, 0.2, 0.25)
    assert made.error_bound == 0.25
    assert made.at(-0.5).promised == 0.25
    assert made.at(0.01).promised == 1.0
    assert made.holds


def test_between_two_margins_the_upper_promise_holds():
    made = MarginCertificate.of_regret("x", 500, MARGINS, 0.2, 0.2, NormalHedgeDT().bound)
    row = made.at(0.123)
    assert row.realised == 0.4
    assert row.promised == made.at(0.13).promised
    with pytest.raises(ValueError, match=r"theta must lie in \[-1, 1\]; got 2"):
        made.at(2)


def test_the_plot_shows_both_curves():
    made = MarginCertificate.of_regret("x", 500, MARGINS, 0.2, 0.2, NormalHedgeDT().bound)
    (ax,) = made.plot().axes
    assert [line.get_label() for line in ax.get_lines()][:2] == ["x", "x, bound"]


def test_certificates_are_equal_where_all_their_lines_are():
    def made(mean_edge):
        return MarginCertificate.of_regret("x", 400, MARGINS, 0.2, mean_edge, TwoNorm().bound)

    assert made(0.3) == made(0.3)
    assert made(0.3) != made(0.2)
