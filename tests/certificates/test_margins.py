from dataclasses import replace

import numpy as np
import pytest

from driftgames.certificates import NewExamples
from driftgames.certificates.margins import MarginCertificate, Margins, MemberEdges
from driftgames.certificates.pairs import PairCertificate
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


@pytest.mark.parametrize("mean_edge", [0.02, 0.1, 0.2])
def test_where_theorem_3_promises_nothing_it_tells_the_first_rounds_that_would(mean_edge):
    bound, mass = NormalHedgeDT().bound, int(MARGINS.masses.sum())
    made = MarginCertificate.of_regret("x", 5, MARGINS, 0.2, mean_edge, bound)
    assert made.error_bound == 1.0
    assert f"Theorem 3 promises nothing yet: the edges are too small for {mass} ex" in str(made)
    begin, end = made.needed[:2]

    def promised(n):
        return MarginCertificate.of_regret("x", n, MARGINS, 0.2, mean_edge, bound).error_bound

    assert promised(begin) < 1.0 == promised(begin - 1)
    assert promised(end) == 0.0 < promised(end - 1)
    assert f"after {begin:,} rounds, and no error after {end:,}" in str(made)


def test_bounds_that_hold_are_not_praised_where_they_promise_nothing_about_errors():
    made = MarginCertificate.of_regret("x", 200, MARGINS, 0.2, 0.1, NormalHedgeDT().bound)
    assert made.error_bound == 1.0 > made.promised.min()
    assert made.verdict.startswith("Theorem 3 promises nothing yet")
    assert str(made).count("promises nothing yet") == 1


def test_a_table_without_a_promise_is_left_out():
    bound = NormalHedgeDT().bound
    made = MarginCertificate.of_regret("x", 5, MARGINS, 0.2, 0.1, bound)
    assert (made.at(0.0).promised, made.at(-0.1).promised) == (1.0, 1.0)
    assert "1.000" not in str(made)
    assert "theta" not in str(made)
    assert "theta" in str(MarginCertificate.of_regret("x", 400, MARGINS, 0.2, 0.4, bound))
    broken = replace(made, promised=np.zeros(made.thetas.size), error_bound=0.0)
    assert broken.verdict == "A BOUND IS BROKEN"
    assert "theta" in str(broken)


def test_without_an_edge_no_number_of_rounds_is_enough():
    made = MarginCertificate.of_regret("x", 50, MARGINS, 0.2, 0.0, NormalHedgeDT().bound)
    assert made.needed.to_begin is None
    assert "no number of rounds is enough" in str(made)
    assert "Theorem 3 promises nothing: the edges are too small" in str(made)
    assert "yet" not in str(made)


def test_a_bound_for_one_horizon_alone_tells_no_other_rounds():
    def once(horizon, epsilon):
        if np.any(np.asarray(horizon) != 50):
            raise NoBoundError("another horizon")
        return np.full(np.shape(epsilon), 50.0)

    made = MarginCertificate.of_regret("x", 50, MARGINS, 0.2, 0.1, once)
    assert "there is no bound for other numbers of rounds" in str(made)
    assert "yet" not in str(made)


def test_a_promise_below_one_needs_no_more_rounds():
    made = MarginCertificate.of_regret("x", 5000, MARGINS, 0.0, 0.3, NormalHedgeDT().bound)
    assert made.error_bound < 1.0
    assert made.needed is None
    assert "promises nothing" not in str(made)


def test_of_a_mean_the_rounds_are_those_of_each_booster():
    members = [MemberEdges(10, 0.3, 4), MemberEdges(10, 0.35, 4)]
    made = MarginCertificate.of_mean("x", MARGINS, 0.2, members, 0.2, NormalHedgeDT().bound)
    begin = made.needed.to_begin
    for n_rounds, something in ((begin, True), (begin - 1, False)):
        more = [each._replace(n_rounds=n_rounds) for each in members]
        then = MarginCertificate.of_mean("x", MARGINS, 0.2, more, 0.2, NormalHedgeDT().bound)
        assert (then.error_bound < 1.0) is something
    assert f"after {begin} rounds of each of the 2 boosters" in str(made)


@pytest.mark.parametrize("held_share", [0.0, 0.2])
def test_of_a_mean_the_promise_is_the_sum_of_those_of_its_boosters(held_share):
    margins, bound = Margins.of_examples(np.linspace(-0.2, 1, 60)), NormalHedgeDT().bound
    members = [MemberEdges(900, 0.25, 40), MemberEdges(700, 0.3, 50), MemberEdges(800, 0.35, 30)]
    made = MarginCertificate.of_mean("x", margins, 0.1, members, held_share, bound)
    wanted = []
    for theta in made.thetas:
        sum_of_shares = 0.0
        for rounds, edge, mass in members:
            floors = 2 * (edge - bound(rounds, np.arange(1, mass + 1) / mass) / rounds)
            below = floors <= (theta + held_share) / (1 - held_share)
            sum_of_shares += np.count_nonzero(below) / 60  # of all examples
        wanted.append(min(sum_of_shares, 1.0))
    np.testing.assert_allclose(made.promised, wanted)
    inside = (made.promised > 0) & (made.promised < 1)
    assert inside.sum() > 5


def test_the_promise_about_new_examples_comes_first_everywhere():
    promise = NewExamples((100,), (7,))
    made = MarginCertificate.of_regret("x", 50, MARGINS, 0.2, 0.1, NormalHedgeDT().bound)
    told = replace(made, new_examples=promise)
    for each in (told, PairCertificate.of(told, 3, 4.0)):
        assert str(each).startswith(str(promise))
        assert promise.promise in each._repr_html_()
        assert each != made
