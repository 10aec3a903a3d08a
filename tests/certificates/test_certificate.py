import math
from dataclasses import replace

import numpy as np
import pytest

from driftgames.certificates import (
    Certificate,
    CoverageCertificate,
    IntervalCertificate,
    bounds,
)
from driftgames.certificates.certificate import MistakeCertificate
from driftgames.plots import save_figure
from driftgames.potentials import Exponential, NormalHedgeDT, TwoNorm


def certificate(bound=None, **options):
    totals = [30.0, 10.0, 20.0, 40.0]
    bound = TwoNorm().bound if bound is None else bound
    return Certificate.of_run("run", 64, totals, 25.0, bound, **options)


def test_realised_promised_and_slack_stand_side_by_side():
    c = certificate()
    assert c.realised.tolist() == [15.0, 5.0, -5.0, -15.0]
    np.testing.assert_allclose(c.promised, [16.0, math.sqrt(128), math.sqrt(64 / 0.75), 8.0])
    np.testing.assert_array_equal(c.slack, c.promised - c.realised)
    assert c.holds


def test_one_round_is_said_in_the_singular():
    one = np.ones(1)
    for made, words in [
        (IntervalCertificate.of_run("x", one, np.ones((1, 1)), lambda r, s: s), "of 1 round:"),
        (CoverageCertificate("x", 1, 0.9, 1.0, ("a",), one, one), "after 1 round:"),
        (MistakeCertificate("x", 1, 0.0, 1.0, one), "after 1 example:"),
    ]:
        assert words in str(made)


def test_a_broken_promise_is_said_loudly():
    c = certificate(lambda horizon, epsilons: np.full(4, 14.9))
    assert not c.holds
    assert "A BOUND IS BROKEN" in str(c)


def test_no_bound_becomes_the_caveat():
    c = certificate(NormalHedgeDT(d=2).bound)
    assert np.isinf(c.promised).all()
    assert "nothing is promised (no bound is known for d < 3" in str(c)


def test_lines_are_found_by_epsilon():
    c = certificate()
    assert c.at(0.25).realised == 15.0
    assert c.at(0.26).realised == 5.0
    assert c.at(1.0).realised == -15.0
    assert [row.epsilon for row in c.rows([0.001, 0.5, 1.0])] == [0.25, 0.5, 1.0]
    with pytest.raises(ValueError, match=r"epsilon must lie in \(0, 1\]; got 0"):
        c.at(0)


def test_rounding_skips_no_line():
    # ten tenths sum to 0.7999... where 0.8 is asked for
    losses = np.arange(10.0)
    c = Certificate.of_run("run", 9, losses, 9.0, TwoNorm().bound, prior=np.full(10, 0.1))
    assert c.epsilons[7] < 0.8
    assert [c.at(k / 10).realised for k in range(1, 11)] == (9.0 - losses).tolist()


def test_a_run_without_rounds_has_no_certificate():
    with pytest.raises(ValueError, match="no round was played, so there is nothing to certify"):
        Certificate.of_run("run", 0, [0.0], 0.0, TwoNorm().bound)
    with pytest.raises(ValueError, match="horizon must be an integer >= 0; got -1"):
        Certificate.of_run("run", -1, [0.0], 0.0, TwoNorm().bound)


def test_certificates_are_equal_where_all_their_lines_are():
    assert certificate() == certificate()
    assert certificate() != certificate(caveat="with luck")
    assert certificate() != certificate(lambda horizon, epsilons: np.full(4, 14.9))
    assert certificate() != certificate(prior=[0.1, 0.2, 0.3, 0.4])
    assert certificate() != "run"
    with pytest.raises(TypeError, match="unhashable"):
        hash(certificate())


def test_the_plot_shows_both_curves(tmp_path):
    figure = certificate().plot()
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels == ["run", "run, bound"]
    save_figure(figure, tmp_path / "c.svg")
    assert (tmp_path / "c.svg").stat().st_size > 1000


def test_a_plot_of_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must end in .svg, .pdf or .png; got"):
        save_figure(certificate().plot(), tmp_path / "c.bmp")


def test_thm1_counts_the_regrets_from_r_on():
    assert bounds.theorem_1([5.0, 3.0, 1.0, -1.0], 3.0) == 0.5
    assert bounds.theorem_1([5.0, 3.0, 1.0, -1.0], 6.0) == 0.0


def test_high_probability_is_theorem_2_at_delta_over_n():
    phi = Exponential.tuned(100, 0.05 / 10)
    assert bounds.high_probability(phi, 100, 10, 0.05) == phi.bound(100, 0.005)
    assert bounds.high_probability(phi, 100, 10, 0.05) <= math.sqrt(2 * 100 * math.log(10 / 0.05))


@pytest.mark.parametrize(("T", "N", "epsilon"), [(1000, 2, 0.5), (10**5, 10, 0.1)])
def test_thm5_exact_bound_at_the_best_rate_is_below_the_printed_one(T, N, epsilon):
    eta = math.sqrt(2 * math.log(1 / epsilon) / (T * (1 + N * math.sqrt(math.e))))
    exact = bounds.theorem_5(T, epsilon, N, eta)
    assert exact <= bounds.theorem_5_tuned(T, epsilon, N)
    assert exact >= 0.7 * bounds.theorem_5_tuned(T, epsilon, N)


def test_thm6_adds_the_cost_of_a_small_volume():
    phi = TwoNorm()
    assert bounds.theorem_6(phi, 100, 0.25, 2) == phi.bound(100, 0.25) + 100 * 0.5


def test_relaxed_game_value_is_the_same_by_logarithms():
    exact = sum(math.comb(1003, j) for j in range(472)) * 2**-1002
    assert bounds.relaxed_game_value(1002, 60) == pytest.approx(exact, rel=1e-9)
    with pytest.raises(ValueError, match="T - R must be even and nonnegative; got T=4, R=1"):
        bounds.relaxed_game_value(4, 1)


def test_a_certificate_says_in_words_what_is_promised_and_what_happened():
    made = Certificate.of_run("x", 10, [30.0, 50.0], 34.0, TwoNorm().bound, unit="MW")
    promised = float(TwoNorm().bound(10, 0.5))
    assert str(made).splitlines()[0] == (
        f"at most {promised / 10:.3g} MW worse per round than the best action; in fact 0.4"
    )
    assert repr(made) == "<Certificate: x after 10 rounds: every bound holds>"
    assert made.words in made._repr_html_()
    better = Certificate.of_run("x", 10, [30.0, 50.0], 29.0, TwoNorm().bound, rival="all")
    assert better.words.endswith("worse per round than all; in fact 0.1 better")
    upper = replace(better, is_upper=True)
    assert upper.words.endswith("in fact at least 0.1 better")
    unknown = replace(made, promised=np.full(2, np.inf))
    assert unknown.words == "0.4 MW worse per round than the best action"


def test_coverage_is_said_in_words_first():
    each = np.array([0.02, 0.5])
    found = CoverageCertificate(
        "x", 1000, 0.9, 0.88, ("played", "step size 0.1"), each, each + 0.03
    )
    words = "88.0% of the outcomes covered, 90.0% asked for, at least 85.0% promised"
    assert str(found).splitlines()[0] == found.words == words
    alone = CoverageCertificate("x", 9, 0.9, 0.88, ("step size 0.1",), each[:1], each[:1])
    assert alone.words == "88.0% of the outcomes covered, 90.0% asked for"


def test_large_numbers_have_no_exponent_in_words():
    made = Certificate.of_run("x", 1, [0.0], 123456.0, lambda t, e: 3059180.0 + 0 * e)
    assert made.words == "at most 3,059,180 worse per round than the best action; in fact 123,456"
