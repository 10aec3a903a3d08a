"""The universal portfolio, and Cover's numbers on NYSE(O)."""

import math

import numpy as np
import pytest

from driftgames.certificates.bounds import universal_portfolio
from driftgames.core.documents import DocumentError
from driftgames.portfolio import (
    BuyAndHold,
    UniformRebalancing,
    UniversalPortfolio,
    best_constant_rebalanced,
)
from driftgames.portfolio.trading_kernels import left_after_trading
from driftgames.potentials import Exponential, NormalHedgeDT, RecipePotential, TwoNorm

GRID = np.column_stack([np.linspace(0, 1, 21), np.linspace(1, 0, 21)])

PAIRS = {  # wealth of the 21 portfolios on average, of the best of the 21, and of the best of all
    "Iroquois and Kin Ark": ("T", "W", 38.6727, 73.619, 73.7012),
    "Commercial Metals and Kin Ark": ("F", "W", 78.4742, 144.003, 144.0085),
    "Commercial Metals and Meicco": ("F", "Z", 72.6289, 102.959, 102.9607),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_covers_numbers_on_pairs_of_stocks(nyse_o, pair):
    relatives, column = nyse_o
    first, second, mean, best_of_grid, best = PAIRS[pair]
    X = relatives[:, [column[first], column[second]]]
    universal = UniversalPortfolio(2, points=GRID)
    assert universal.run(X).final_wealth == pytest.approx(mean, abs=5e-5)
    grid_wealths = universal.wealth * np.exp(-universal.positions)
    assert grid_wealths.max() == pytest.approx(best_of_grid, abs=6e-4)
    # the published best is that of the same 21 portfolios; the very best is a little better
    assert best_constant_rebalanced(X).wealth == pytest.approx(best, abs=5e-5)


def test_quadrature_for_two_assets_is_exact(nyse_o):
    """Enough nodes for a polynomial of degree 5,651 change nothing but rounding."""
    relatives, column = nyse_o
    X = relatives[:, [column["T"], column["W"]]]
    usual = UniversalPortfolio(2).run(X).final_wealth
    assert usual == pytest.approx(
        UniversalPortfolio(2, n_points=2826).run(X).final_wealth, rel=1e-11
    )


def test_all_stocks_of_nyse_o(nyse_o):
    relatives, _ = nyse_o
    assert relatives.shape == (5651, 36)
    best = best_constant_rebalanced(relatives)
    assert best.wealth == pytest.approx(250.597, abs=5e-4)
    assert best.gap < 1e-6
    uniform = UniformRebalancing(36).run(relatives).final_wealth
    assert uniform == pytest.approx(27.0753, abs=1e-4)
    assert BuyAndHold(36).run(relatives).final_wealth == pytest.approx(14.50, abs=5e-3)
    for seed in range(2):
        universal = UniversalPortfolio(36, random_state=seed)
        assert universal.run(relatives).final_wealth == pytest.approx(27.056, abs=0.01)
        assert best.log_wealth - universal.log_wealth <= universal.regret_bound(best) < 10.0


def test_wealth_is_the_mean_wealth_of_the_points():
    X = np.exp(np.random.default_rng(0).normal(0, 0.05, size=(200, 3)))
    points = np.random.default_rng(1).dirichlet(np.ones(3), size=100)  # not whole tiles
    prior = np.random.default_rng(2).dirichlet(np.ones(100))
    universal = UniversalPortfolio(3, points=points, prior=prior)
    wealths = np.prod(points @ X.T, axis=1)
    assert universal.run(X).final_wealth == pytest.approx(prior @ wealths, rel=1e-12)
    held = (prior * wealths) @ points / (prior @ wealths)
    assert np.allclose(universal.predict(), held, atol=1e-12)
    assert np.allclose(universal.positions, np.log(universal.wealth / wealths), atol=1e-11)


def test_the_mean_over_all_portfolios_of_three_assets():
    """One day: the mean of b.x is that of x; two days: moments of the Dirichlet law."""
    X = np.array([[2.0, 1.0, 0.5], [0.5, 3.0, 1.0]])
    moments = (np.eye(3) + 1) / 12
    run = UniversalPortfolio(3).run(X)
    assert run.wealth == pytest.approx([X[0].mean(), X[0] @ moments @ X[1]], rel=1e-12)


def test_the_certificate_holds_and_is_that_of_the_mean():
    X = np.exp(np.random.default_rng(3).normal(0, 0.3, size=(300, 4)))
    universal = UniversalPortfolio(4, n_points=256)
    universal.run(X)
    certificate = universal.quantile_certificate()
    assert certificate.holds
    assert certificate.at(0.25).promised == pytest.approx(math.log(4), abs=0.05)


def test_normal_hedge_dt_density_keeps_theorem_2():
    X = np.exp(np.random.default_rng(4).uniform(-0.35, 0.35, size=(300, 4)))
    X[:, 0] = np.exp(0.35)
    universal = UniversalPortfolio(4, n_points=256, potential=NormalHedgeDT(), span=0.7)
    universal.run(X)
    assert universal.quantile_certificate().holds
    assert universal.predict()[0] > 0.8  # it found the asset that always wins


def test_exp_with_rate_one_is_cover():
    X = np.exp(np.random.default_rng(5).normal(0, 0.05, size=(50, 3)))
    cover = UniversalPortfolio(3, n_points=128).run(X)
    general = UniversalPortfolio(3, n_points=128, potential=Exponential(1.0), span=1.0).run(X)
    assert np.allclose(cover.portfolios, general.portfolios, atol=1e-12)


def test_a_day_beyond_the_span_is_refused_and_the_state_is_unchanged():
    universal = UniversalPortfolio(2, potential=NormalHedgeDT(), span=0.1)
    universal.update([1.05, 1.0])
    before = universal.predict()
    with pytest.raises(ValueError, match=r"got a spread of exp\(0.6931\) in row 0 for span=0.1"):
        universal.update([2.0, 1.0])
    assert np.array_equal(universal.predict(), before)
    assert universal.t == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"potential": NormalHedgeDT()}, "potential and span go together"),
        ({"span": 1.0}, "potential and span go together"),
        ({"n_points": 100}, "n_points must be a power of two; got 100"),
        ({"n_points": 1}, "n_points must be an integer >= 2"),
        ({"points": [[0.5, 0.6, 0.0]]}, "points must be portfolios.*in row 0"),
        ({"points": [[1.0 + 1e-12, -1e-12, 0.0]]}, "points must be portfolios: nonnegative"),
        ({"points": [[0.5, 0.5]]}, "points must have 3 columns"),
        ({"points": [[1.0, 0.0, 0.0]], "prior": [0.5]}, "prior must sum to 1"),
        ({"prior": [1.0]}, "prior is for points of your own"),
        ({"points": [[1.0, 0.0, 0.0]], "n_points": 8}, "give either points or n_points"),
    ],
)
def test_bad_arguments_say_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        UniversalPortfolio(3, **arguments)


def test_a_potential_that_a_file_cannot_hold_is_given_again(tmp_path):
    own = RecipePotential(lambda s: np.minimum(s, 0.0) ** 2, 20)
    universal = UniversalPortfolio(2, potential=own, span=1.0)
    universal.update([1.2, 1.0])
    universal.save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match="give it as potential="):
        UniversalPortfolio.load(tmp_path / "state.json")
    again = UniversalPortfolio.load(tmp_path / "state.json", potential=own)
    assert np.array_equal(again.predict(), universal.predict())


def test_a_state_is_not_taken_for_other_points(tmp_path, rewrite):
    path = tmp_path / "state.json"
    UniversalPortfolio(3, n_points=64).save(path)
    rewrite(path, lambda content: content["arguments"].update(random_state=1))
    with pytest.raises(DocumentError, match="its points lie elsewhere here"):
        UniversalPortfolio.load(path)


@pytest.mark.parametrize("given", [{"random_state": 1}, {"cost": 0.5}, {"potential": TwoNorm()}])
def test_what_a_file_holds_is_not_given_again(tmp_path, given):
    UniversalPortfolio(3, n_points=64).save(tmp_path / "state.json")
    with pytest.raises(DocumentError, match=r"it was made with \w+ = .*; given is"):
        UniversalPortfolio.load(tmp_path / "state.json", **given)


@pytest.mark.parametrize("potential", [None, NormalHedgeDT()], ids=["cover", "normalhedge.dt"])
def test_a_portfolio_without_mass_may_do_as_well_as_it_likes(potential):
    """Its wealth over the learner's, 4**600, is beyond all floats; times nothing it is nothing."""
    universal = UniversalPortfolio(
        2,
        points=np.eye(2),
        prior=[1.0, 0.0],
        potential=potential,
        span=None if potential is None else 2.0,
    )
    run = universal.run([[0.5, 2.0]] * 600)
    assert run.log_wealth[-1] == pytest.approx(600 * math.log(0.5))
    assert universal.predict().tolist() == [1.0, 0.0]
    assert np.isfinite(universal.positions).all()
    assert universal.quantile_certificate().holds


def test_a_share_that_is_hardly_a_float_grows_into_all_of_the_wealth():
    universal = UniversalPortfolio(2, points=np.eye(2), prior=[1.0, 5e-324])
    universal.run([[0.5, 2.0]] * 600)
    assert universal.predict()[1] == pytest.approx(1.0, abs=1e-12)
    assert universal.log_wealth == pytest.approx(600 * math.log(2) + math.log(5e-324), rel=1e-9)


@pytest.mark.parametrize(
    ("n", "days"), [(2, 300), (2, 3000), (3, 300), (5, 300), (10, 1000)], ids=str
)
def test_the_promise_holds_where_one_asset_wins_every_day(n, days):
    """For more than two assets no point holds all of the winner, and Cover's bound fails."""
    X = np.full((days, n), 0.5)
    X[:, 0] = 2.0
    universal, best = UniversalPortfolio(n), best_constant_rebalanced(X)
    regret = best.log_wealth - universal.run(X).log_wealth[-1]
    assert regret <= universal.regret_bound(best) + 1e-9
    assert (regret > best.universal_bound) == (n > 2)


@pytest.mark.parametrize("prior", [[0.1, 0.2, 0.3, 0.4], [0.7, 0.3, 0.0, 0.0]], ids=str)
def test_the_promise_is_that_of_the_point_for_which_it_is_least(prior):
    X = np.exp(np.random.default_rng(7).uniform(-1, 1, size=(40, 4)))
    points, share = np.random.default_rng(6).dirichlet(np.ones(4), size=4), np.array(prior)
    universal, best = UniversalPortfolio(4, points=points, prior=share), best_constant_rebalanced(X)
    universal.run(X)
    behind = best.log_wealth - np.log(points @ X.T).sum(axis=1)
    there = share > 0
    wanted = (behind[there] - np.log(share[there])).min()
    assert universal.regret_bound(best) == pytest.approx(wanted)


def test_with_a_potential_the_promise_is_its_epsilon_regret():
    X = np.exp(np.random.default_rng(7).uniform(-1, 1, size=(40, 4)))
    points, phi = np.eye(4), NormalHedgeDT()
    universal = UniversalPortfolio(4, points=points, potential=phi, span=2.5)
    universal.run(X)
    best = best_constant_rebalanced(X)
    behind = best.log_wealth - np.log(points @ X.T).sum(axis=1)
    wanted = 2.5 * float(phi.bound(40, 0.25)) + behind.min()
    assert universal.regret_bound(best) == pytest.approx(wanted)


def test_two_assets_promise_what_cover_does_while_the_quadrature_is_exact():
    X = np.exp(np.random.default_rng(8).normal(0, 0.05, size=(9, 2)))
    universal = UniversalPortfolio(2, n_points=4)
    universal.run(X[:7])
    assert universal.regret_bound(best_constant_rebalanced(X[:7])) == pytest.approx(math.log(8))
    universal.run(X[7:])
    best = best_constant_rebalanced(X)
    behind = best.log_wealth - np.log(universal.points @ X.T).sum(axis=1)
    share = np.array([0.1739274226, 0.3260725774, 0.3260725774, 0.1739274226])  # of 4 nodes
    assert universal.regret_bound(best) == pytest.approx((behind - np.log(share)).min())


def test_a_promise_is_refused_where_there_is_none():
    X = np.exp(np.random.default_rng(9).normal(0, 0.05, size=(5, 3)))
    paid = UniversalPortfolio(3, n_points=64, cost=0.01, potential=NormalHedgeDT(), span=1.0)
    paid.run(X)
    with pytest.raises(ValueError, match=r"no bound with a potential and costs; got cost=0"):
        paid.regret_bound(best_constant_rebalanced(X))
    free = UniversalPortfolio(3, n_points=64)
    free.run(X)
    for other in (X[:4], X[:, :2]):
        with pytest.raises(ValueError, match="best must be of the same 5 days and 3 assets; got"):
            free.regret_bound(best_constant_rebalanced(other))


def test_rounding_does_not_break_the_certificate_of_a_long_run():
    """All wealth is in one point, whose regret is its bound; rounding put it 1e-12 above."""
    universal = UniversalPortfolio(3)
    universal.run([[2.0, 0.5, 0.5]] * 5000)
    certificate = universal.quantile_certificate()
    assert abs(certificate.slack.min()) < 1e-9
    assert certificate.holds


# ------------------------------------------------------------------------ costs


def net_log_wealth(b, X, cost):
    """Return the log-wealth of constant rebalanced portfolios that pay, by bisection."""
    wealth, held = np.zeros(b.shape[:-1]), np.zeros(b.shape)
    for row in X:
        low, high = np.zeros(b.shape[:-1]), np.ones(b.shape[:-1])
        for _ in range(60):
            middle = (low + high) / 2
            above = middle + cost * np.abs(middle[..., None] * b - held).sum(axis=-1) > 1
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        wealth += np.log(low * (b @ row))
        held = b * row / (b @ row)[..., None]
    return wealth


@pytest.mark.parametrize("cost", [0.001, 0.02, 0.5])
def test_with_costs_points_are_weighed_by_what_they_have_left(cost):
    X = np.exp(np.random.default_rng(10).normal(0, 0.2, size=(25, 3)))
    points = np.random.default_rng(11).dirichlet(np.ones(3), size=40)  # not whole tiles
    universal = UniversalPortfolio(3, points=points, cost=cost)
    universal.run(X)
    net = net_log_wealth(points, X, cost)
    assert universal.log_wealth - universal.positions == pytest.approx(net, abs=1e-9)
    # the weights of the next day are after paying for it
    drifted = points * X[-1] / (points @ X[-1])[:, None]
    left = np.array([left_after_trading(b, h, cost) for b, h in zip(points, drifted, strict=True)])
    weights = np.exp(net - net.max()) * left
    assert universal.predict() == pytest.approx(weights @ points / weights.sum(), abs=1e-12)


@pytest.mark.parametrize("cost", [0.001, 0.02, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_blum_kalai_wealth_is_at_least_the_mean_net_wealth(cost, seed):
    X = np.exp(np.random.default_rng(seed).normal(0, 0.3, size=(30, 3)))
    universal = UniversalPortfolio(3, n_points=64, cost=cost)
    universal.run(X)
    net = universal.log_wealth - universal.positions
    mean = net.max() + np.log(universal._prior @ np.exp(net - net.max()))
    assert universal.log_wealth >= mean - 1e-12
    assert universal.quantile_certificate().holds
    best = best_constant_rebalanced(X)
    assert best.log_wealth - universal.log_wealth <= universal.regret_bound(best) + 1e-12


@pytest.mark.parametrize("cost", [0.001, 0.05, 0.5])
def test_blum_kalai_bound_holds_against_the_best_portfolio_that_pays(cost):
    """Two assets that swing, near ruin, and one that always wins; 512 nodes for the integral."""
    rng = np.random.default_rng(12)
    swing = np.tile([[2.0, 0.5], [0.5, 2.0]], (20, 1))
    for X in (swing, np.where(rng.random((40, 2)) < 0.5, 0.05, 1.0), np.tile([2.0, 0.5], (40, 1))):
        universal = UniversalPortfolio(2, cost=cost)
        universal.run(X)
        grid = np.linspace(0, 1, 101)
        best = net_log_wealth(np.column_stack([grid, 1 - grid]), X, cost).max()
        regret = best - universal.log_wealth
        assert regret <= float(universal_portfolio(40, 2, cost=cost)) + 1e-9
        assert float(universal_portfolio(40, 2, cost=cost)) > float(universal_portfolio(40, 2))


def test_with_costs_two_assets_promise_what_their_nodes_keep():
    """Net wealth is no polynomial, so no number of nodes is exact."""
    X = np.exp(np.random.default_rng(13).normal(0, 0.2, size=(7, 2)))
    universal, best = UniversalPortfolio(2, n_points=4, cost=0.05), best_constant_rebalanced(X)
    universal.run(X)
    net = net_log_wealth(universal.points, X, 0.05)
    share = np.array([0.1739274226, 0.3260725774, 0.3260725774, 0.1739274226])  # of 4 nodes
    wanted = best.log_wealth - (net + np.log(share)).max()
    assert universal.regret_bound(best) == pytest.approx(wanted)


@pytest.mark.parametrize("cost", [0.0, 0.01])
def test_a_hundred_thousand_days_of_swings_stay_finite(cost):
    """Trades of different portfolios cancel, so wealth runs away from the mean net wealth."""
    universal = UniversalPortfolio(2, n_points=16, cost=cost)
    universal.run(np.tile([[1.5, 0.6], [0.6, 1.5]], (50_000, 1)))
    assert np.isfinite(universal.positions).all()
    assert universal.predict().sum() == pytest.approx(1.0)


@pytest.mark.parametrize("cost", [0.0, 0.01])
def test_a_loaded_portfolio_promises_the_same(tmp_path, cost):
    X = np.exp(np.random.default_rng(14).normal(0, 0.2, size=(9, 3)))
    universal, best = UniversalPortfolio(3, n_points=64, cost=cost), best_constant_rebalanced(X)
    universal.run(X)
    universal.save(tmp_path / "state.json")
    again = UniversalPortfolio.load(tmp_path / "state.json")
    assert np.array_equal(again.positions, universal.positions)
    assert again.regret_bound(best) == universal.regret_bound(best)


def test_own_points_are_not_those_of_the_caller():
    points, prior = np.eye(2), np.array([0.25, 0.75])
    universal = UniversalPortfolio(2, points=points, prior=prior)
    twin = universal.copy()
    points[:], prior[:] = 0.5, 0.5
    assert universal == twin


@pytest.mark.parametrize("n_points", [2, 3, 4])
def test_the_promise_of_two_assets_changes_on_the_day_that_quadrature_ends(n_points):
    """2n - 1 days are exact, 2n are not: with one asset worthless the mean of b**T shows it."""
    for days in range(1, 2 * n_points + 2):
        X = np.column_stack([np.ones(days), np.full(days, 1e-12)])
        universal, best = UniversalPortfolio(2, n_points=n_points), best_constant_rebalanced(X)
        wealth = universal.run(X).final_wealth
        exact = days <= 2 * n_points - 1
        assert (wealth == pytest.approx(1 / (days + 1), rel=1e-9)) == exact
        assert (universal.regret_bound(best) == best.universal_bound) == exact
        assert best.log_wealth - universal.log_wealth <= universal.regret_bound(best) + 1e-9
