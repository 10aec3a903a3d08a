"""One object of each public class, small enough to make in a test."""

import numpy as np

from driftgames import bandit, certificates, datasets, games, hedge, oco, plots, portfolio, tables
from driftgames.bandit import BernoulliArms, Exp3IX, PotentialBandit, PullLog, TsallisINF
from driftgames.boosting import NHBoostDTClassifier, NHBoostDTRegressor
from driftgames.certificates.margins import MarginCertificate, Margins
from driftgames.certificates.new_log_loss import LossCounts
from driftgames.certificates.pairs import PairCertificate
from driftgames.dask import ExchangeReport
from driftgames.games import DGv1, PotentialPlayer, StochasticAdversary
from driftgames.online_boosting import AdaBoostOL, OnlineBBM
from driftgames.potentials import BackwardHeat, Exponential, NormalHedgeDT, TwoNorm, check_potential

LOSSES = np.random.default_rng(0).random((40, 5))
RELATIVES = np.random.default_rng(1).uniform(0.9, 1.1, (30, 3))
OUTCOMES = np.random.default_rng(2).normal(size=60)


def results():
    """Return one result of each public class that holds what a computation found, by name."""
    learner = hedge.Hedge(5)
    run = learner.run(LOSSES)
    policy = PotentialBandit(4, horizon=40, random_state=0)
    pulls = PullLog(TsallisINF(3, random_state=0))
    pulls.run(LOSSES[:, :3])
    environment = BernoulliArms([0.2, 0.5, 0.5])
    series = bandit.play_games(bandit.POLICIES["exp3"], environment, 60, n_games=3)
    both = {name: bandit.POLICIES[name] for name in ("exp3", "tsallis-inf")}
    seen = bandit.SquareCB(3, n_features=2, random_state=0).run(LOSSES[:, 3:], LOSSES[:, :3])
    race = bandit.ArmRace(["red", "green"])
    for row in LOSSES:
        race.update("red", row[0])
        race.update("green", row[1])
    market = portfolio.UniversalPortfolio(3)
    held = market.run(RELATIVES)
    coin = oco.CoinBetting(oco.Box([-1.0], [1.0]))
    points = coin.run([oco.LinearLoss(np.array([g])) for g in (0.5, 0.25, 0.75)])
    square = oco.ContinuousHedge(oco.Box([0.0], [1.0]), integration=oco.Grid(15))
    square.run([oco.LinearLoss(np.array([g])) for g in (0.5, 0.25, 0.75)])
    intervals = hedge.AdaptiveIntervals(0.9)
    covered = intervals.run(np.zeros(60), OUTCOMES)
    voter = OnlineBBM(3, 0.1)
    voted = voter.run(np.sign(OUTCOMES.reshape(20, 3)), np.sign(OUTCOMES[:20]))
    record = games.play(
        PotentialPlayer(NormalHedgeDT()), StochasticAdversary(), n_chips=4, horizon=20, record=True
    )
    boosted = MarginCertificate.of_regret(
        "2-norm",
        100,
        Margins.of_examples([0.2, 0.5, 0.7, 0.9]),
        0.0,
        0.3,
        TwoNorm().bound,
    )
    X = np.random.default_rng(3).normal(size=(80, 3)).round(1)
    colours = np.where(X[:, :1] > 0.5, "red", np.where(X[:, :1] < -0.5, "green", "blue"))
    y = X[:, 0] + X[:, 1] > 0
    stumps = NHBoostDTClassifier(9, max_leaves=2, calibrate=False).fit(X, y)
    trees = NHBoostDTClassifier(9, max_depth=2, calibrate=False).fit(X, y)
    painted = NHBoostDTClassifier(9, max_leaves=2, categorical_features=[0], calibrate=False).fit(
        colours, y
    )
    numbers = NHBoostDTRegressor(9, max_leaves=2, n_stages=1).fit(X, X[:, 0])
    table = tables.Table("Sets", (tables.Column("set"), tables.Column("rows")), (("a9a", 5),))
    made = [
        stumps.model_,
        stumps.model_.additive,
        stumps.record_,
        stumps.stumps_,
        stumps.explain(X[0]),
        stumps.shape_functions_[0],
        painted.shape_functions_[0],
        trees.trees_,
        numbers.predict_distribution(X[:3]),
        numbers.certificate_,
        certificates.ConfidenceSequence().run(LOSSES[:, 0]),
        certificates.mean_interval(LOSSES[:, 0]),
        certificates.NewExamples((200,) * 5, (20, 18, 25, 21, 16), "mean"),
        certificates.NewLogLoss((LossCounts.of(LOSSES[:, 0]),)),
        certificates.NewNumbers(200, 0.0, 50.0, 1.25, 1.7, 1.512, 2.003, 0.9),
        check_potential(TwoNorm(), 20),
        learner.certificate(),
        run,
        boosted,
        PairCertificate.of(boosted, 3, 4.0),
        policy.run(LOSSES[:, :4]),
        series,
        bandit.compare(environment, 60, policies=both, n_games=2),
        pulls,
        bandit.off_policy_value(pulls.to_frame(), {0: 0.2, 1: 0.3, 2: 0.5}),
        bandit.check_bandit_potential(Exponential(0.1), 4, 50),
        seen,
        race,
        held,
        held.certificate(),
        portfolio.best_constant_rebalanced(RELATIVES),
        portfolio.run(RELATIVES, ["uniform", "hold"], holds="relatives"),
        portfolio.Quote(np.array([1.0, 2.0]), "2024-01-02", ("ant", "bee")),
        points,
        points.certificate(),
        square.certificate(),
        covered,
        covered.certificate(),
        voted,
        voted.certificate(),
        hedge.best_combination(LOSSES, LOSSES.mean(axis=1)),
        certificates.IntervalCertificate.of_run(
            "run", run.learner_losses, LOSSES, lambda r, s: 2.0 * (s - r + 1) ** 0.5
        ),
        certificates.regret_curve(LOSSES.sum(axis=0), 20.0),
        record,
        record.chips,
        record.history,
        games.Turn(np.array([1.0]), np.array([0.0]), games.Chips.at_start(1)),
        table,
        datasets.Market("djia", RELATIVES, ("ant", "bee", "cow"), "a test"),
        datasets.Series("load", OUTCOMES, np.ones((60, 1)), ("one",), "a test"),
        ExchangeReport(1.5, 0.25, 120, 0),
    ]
    return {type(each).__name__: each for each in made}


def others():
    """Return public objects that are no results: learners, rules, sets and losses."""
    record = games.play(
        PotentialPlayer(TwoNorm()), StochasticAdversary(), n_chips=4, horizon=20, record=True
    )
    bundled = datasets.load("breast_cancer")
    made = [
        hedge.Hedge(500),
        hedge.AdaHedge(5),
        hedge.TwoExperts(),
        hedge.Squint(5),
        hedge.AdaptiveIntervals(0.9),
        hedge.RandomizedHedge(5),
        hedge.NormalHedge(5),
        Exp3IX(4),
        TsallisINF(4),
        PotentialBandit(4),
        BernoulliArms([0.2, 0.5]),
        portfolio.UniversalPortfolio(36),
        portfolio.BuyAndHold(3),
        portfolio.SoftBayes(3),
        portfolio.ExponentiatedGradient(3),
        portfolio.OnlineNewtonStep(3),
        portfolio.UniformRebalancing(3),
        oco.CoinBetting(oco.Box([-1.0], [1.0])),
        oco.ContinuousHedge(oco.Box([0.0], [1.0]), integration=oco.Grid(15)),
        OnlineBBM(3, 0.1),
        AdaBoostOL(3),
        DGv1(),
        games.DGv2(),
        games.DGv3(),
        games.DriftingGame(),
        PotentialPlayer(TwoNorm()),
        StochasticAdversary(),
        games.RandomAdversary(),
        games.LookaheadAdversary(10),
        games.GreedyAdversary(TwoNorm()),
        games.HedgeAsPlayer(hedge.Hedge(5)),
        games.PlayerAsHedge(PotentialPlayer(TwoNorm()), 4),
        record.animate(),
        plots.ExplanationPage("a model", "yes", [plots.FeatureShape("age", [1.0], [0.1, 0.2])]),
        BackwardHeat(),
        NormalHedgeDT(),
        TwoNorm(),
        Exponential(0.1),
        tables.Column("rows"),
        oco.Box([0.0, 0.0], [1.0, 1.0]),
        oco.Ball([0.0, 0.0], 1.0),
        oco.Simplex(3),
        bundled,
        bundled.train,
        datasets.Status("a9a", "Adult", None, published=True),
    ]
    return {type(each).__name__: each for each in made}
