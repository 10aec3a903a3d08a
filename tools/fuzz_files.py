"""One file of every kind that the library reads back, and what a user does with it then.

A `Kind` makes a document, reads it from a path and uses the object that came of it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_tables import table_kinds

from driftgames.core.documents import DocumentError


class BrokenError(AssertionError):
    """A file was accepted, and what came of it does not work."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: ``write(path)`` makes one, ``read(path)`` and ``use(object)`` take it.

    A broken file must make ``read`` raise ``error``. ``file`` is the name that it has.
    """

    name: str
    write: Callable[[Path], None]
    read: Callable[[Path], Any]
    use: Callable[[Any], None]
    file: str = "file.json"
    error: type[Exception] = DocumentError

    def content(self) -> bytes:
        """Return a whole file of this kind."""
        with tempfile.TemporaryDirectory() as folder:
            self.write(path := Path(folder) / self.file)
            return path.read_bytes()


def check_shares(p: np.ndarray) -> None:
    """Raise unless this is a distribution."""
    if not (np.isfinite(p).all() and (p >= -1e-9).all() and abs(p.sum() - 1) < 1e-6):
        raise BrokenError(f"not a distribution: {p}")


def experts(name: str, make: Callable[[], Any]) -> Kind:
    """Return a learner from expert advice after ten rounds."""

    def write(path: Path) -> None:
        learner = make()
        low, high = learner.loss_range
        rows = np.random.default_rng(0).uniform(max(low, 0), min(high, 1), (10, learner.n_actions))
        learner.run(rows, progress=False)
        learner.save(path)

    def use(learner: Any) -> None:
        check_shares(learner.distribution())
        low, high = (max(min(end, 1e6), -1e6) for end in learner.loss_range)
        own = learner.update(np.linspace(low, high, learner.n_actions))
        if not np.isfinite(own):
            raise BrokenError(f"the learner's loss is {own}")
        str(learner.certificate())
        learner.content()

    return Kind(name, write, type(make()).load, use)


def bandit(name: str, make: Callable[[], Any]) -> Kind:
    """Return a policy after twenty pulls, two of which wait."""
    from driftgames.potentials import NoBoundError

    def write(path: Path) -> None:
        policy = make()
        for t in range(20):
            arm, prob = policy.pull()
            if t % 10:
                policy.update(arm, 0.1 * (t % 7), prob)
        policy.save(path)

    def use(policy: Any) -> None:
        check_shares(policy.distribution())
        arm, prob = policy.pull()
        policy.update(arm, policy._units.low, prob)
        check_shares(policy.distribution())
        with contextlib.suppress(NoBoundError):
            policy.bound(policy.t, 0.5)
        policy.content()

    return Kind(name, write, type(make()).load, use)


def contextual(name: str, make: Callable[[], Any]) -> Kind:
    """Return a policy with contexts after ten pulls, one of which waits."""

    def seen(policy: Any) -> Any:
        shape = policy.context_shape
        return np.full(shape, 1.0 / shape[-1])

    def write(path: Path) -> None:
        policy = make()
        for t in range(10):
            arm, prob = policy.pull(seen(policy))
            if t != 4:
                policy.update(arm, 0.1 * (t % 7), prob, seen(policy))
        policy.save(path)

    def use(policy: Any) -> None:
        check_shares(policy.distribution(seen(policy)))
        arm, prob = policy.pull(seen(policy))
        policy.update(arm, policy._units.low, prob, seen(policy))
        check_shares(policy.distribution(seen(policy)))
        policy.content()

    return Kind(name, write, type(make()).load, use)


def portfolio(name: str, make: Callable[[], Any]) -> Kind:
    """Return a strategy after ten days."""
    relatives = np.random.default_rng(1).uniform(0.8, 1.25, (10, 3))

    def write(path: Path) -> None:
        from driftgames.portfolio import Quote

        strategy = make()
        strategy.run(relatives)
        strategy.quote = Quote(np.array([1.0, 2.0, 3.0]), "2020-01-01", ("a", "b", "c"))
        strategy.save(path)

    def read(path: Path) -> Any:
        from driftgames.cli.portfolio import _saved_kind

        return _saved_kind(path)[1].load(path)

    def use(strategy: Any) -> None:
        check_shares(strategy.predict())
        strategy.update(np.linspace(0.9, 1.1, strategy.n_assets))
        check_shares(strategy.predict())
        strategy.content()

    return Kind(name, write, read, use)


def convex(name: str, make: Callable[[], Any]) -> Kind:
    """Return a learner on a convex set after five rounds."""
    from driftgames.oco import LinearLoss, LogWealthLoss, QuadraticLoss

    def write(path: Path) -> None:
        learner = make()
        n = learner._domain.n_coordinates
        for loss in (LinearLoss(np.full(n, 0.1)), QuadraticLoss.to_target(np.full(n, 0.2), 0.1)):
            learner.update(loss)
        if type(learner._domain).__name__ == "Simplex":
            learner.update(LogWealthLoss(np.linspace(0.5, 1.0, n)))
        learner.save(path)

    def use(learner: Any) -> None:
        point = learner.predict()
        if not np.isfinite(point).all():
            raise BrokenError(f"the point is {point}")
        learner.update(LinearLoss(np.full(point.size, 0.01)))
        str(learner.certificate())
        learner.content()

    return Kind(name, write, type(make()).load, use)


def mixture() -> Kind:
    """Return a mixture after eight rounds."""
    from driftgames.hedge import ExpertMixture

    X = np.random.default_rng(2).normal(size=(8, 3))

    def write(path: Path) -> None:
        ExpertMixture("pinball").fit(X, X.mean(axis=1)).save(path)

    def use(read: Any) -> None:
        check_shares(read.weights_)
        read.predict_then_fit(np.full((1, read.n_features_in_), 0.5), [0.5])
        read.report()
        read.content()

    return Kind("mixture", write, ExpertMixture.load, use)


def confidence() -> Kind:
    """Return a confidence sequence after 30 values, in a range that has grown."""
    from driftgames.certificates import ConfidenceSequence

    def write(path: Path) -> None:
        made = ConfidenceSequence(0.1, tuned_for=50)
        made.update(np.random.default_rng(6).random(30), np.linspace(0.1, 1.0, 30))
        made.grow(-1.0, 2.0)
        made.save(path)

    def use(read: Any) -> None:
        read.update(sum(end for end in read.value_range if end is not None) / 2)
        if np.isnan([read.low, read.high, read.mean]).any():
            raise BrokenError(f"not a bound: {read.low} or {read.high}")
        str(read)
        read.content()

    return Kind("confidence", write, ConfidenceSequence.load, use)


def intervals(name: str, method: str) -> Kind:
    """Return intervals after 30 rounds."""
    from driftgames.hedge import AdaptiveIntervals, SignedIntervals

    kind = SignedIntervals if method == "signed" else AdaptiveIntervals

    def write(path: Path) -> None:
        settings: dict[str, Any] = {} if method == "signed" else {"method": method}
        made = kind(0.8, step_sizes=[0.01, 0.1], window=20, **settings)
        made.run(np.zeros(30), np.random.default_rng(6).random(30))
        made.save(path)

    def use(read: Any) -> None:
        low, high = read.predict(0.5)
        if not low <= high:
            raise BrokenError(f"not an interval: {low} to {high}")
        read.update(0.5, 0.25)
        str(read.certificate())
        read.content()

    return Kind(name, write, kind.load, use)


def online_booster(name: str, make: Callable[[], Any]) -> Kind:
    """Return an online booster after twenty examples."""

    def write(path: Path) -> None:
        booster = make()
        for h in np.random.default_rng(7).choice([-1, 1], (20, booster.n_learners)):
            booster.update(h, 1)
        booster.save(path)

    def use(booster: Any) -> None:
        weights = booster.update(np.ones(booster.n_learners), -1)
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise BrokenError(f"not weights: {weights}")
        booster.vote(np.ones(booster.n_learners))
        str(booster.certificate())
        booster.content()

    return Kind(name, write, type(make()).load, use)


def hedge_stream() -> Kind:
    """Return the state of ``driftgames hedge --state``."""
    from driftgames.cli._hedge_stream import StreamState
    from driftgames.hedge import Hedge

    def write(path: Path) -> None:
        learner = Hedge(3, names=["a", "b", "c"])
        learner.run(np.random.default_rng(3).random((7, 3)), progress=False)
        StreamState("normalhedge.dt", learner).save(path)

    def use(state: Any) -> None:
        experts("", lambda: Hedge(2)).use(state.learner)

    return Kind("hedge-stream", write, StreamState.load, use)


def mix_stream() -> Kind:
    """Return the state of ``driftgames mix --state``."""
    from driftgames.cli._mix_report import make_table
    from driftgames.cli._mix_stream import MixState, Scores
    from driftgames.hedge import ExpertMixture

    def write(path: Path) -> None:
        X = np.random.default_rng(4).normal(size=(6, 2))
        made = ExpertMixture(outside="nearest")
        state = MixState("y", ("a", "b"), made, Scores.empty(2))
        mixed = made.predict_then_fit(X, X.mean(axis=1))
        state.scores.add(made.loss_, mixed, X, X.mean(axis=1))
        state.save(path)

    def use(state: Any) -> None:
        make_table(state, None, 3)
        mixture().use(state.mixture)

    return Kind("mix-stream", write, MixState.load, use)


def model(name: str, make: Callable[[], Any]) -> Kind:
    """Return a booster that was fitted to 60 rows."""
    from driftgames.boosting.persistence import load_model, save_model

    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=60) > 0.5).astype(int)

    def use(booster: Any) -> None:
        rows = X[:3]  # the user's own table: a model of another width refuses it
        booster.predict(rows)
        booster.decision_function(rows)
        booster.certificate_  # noqa: B018 (a property that computes)
        str(getattr(booster, "chosen_", None))

    return Kind(name, lambda path: save_model(make().fit(X, y), path), load_model, use)


def regressor() -> Kind:
    """Return a regressor of two stages that was fitted to 60 rows."""
    from driftgames.boosting import NHBoostDTRegressor

    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 4))

    def write(path: Path) -> None:
        made = NHBoostDTRegressor(3, max_leaves=4, n_stages=2)
        made.fit(X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=60)).save(path)

    def use(read: Any) -> None:
        rows = X[:3]  # the user's own table: a model of another width refuses it
        read.predict(rows)
        if (np.diff(read.predict_interval(rows)) < 0).any():
            raise BrokenError("the ends of an interval are in the wrong order")
        read.predict_distribution(rows).crps([0.0, 1.0, 2.0])
        str(read.certificate_)
        read.feature_importances_  # noqa: B018 (a property that computes)

    return Kind("regressor", write, NHBoostDTRegressor.load, use)


def task() -> Kind:
    """Return a finished task of ``make reproduce``; a damaged one counts as none."""
    from driftgames.paper.store import Store, Task

    work = Task("fit", {"set": "a9a", "rounds": 2}, dict)

    def write(path: Path) -> None:
        Store(path.parent).put(work, {"numbers": [1.0, 2.0], "name": "a9a"})
        (path.parent / f"{work.key}.json").rename(path)

    def read(path: Path) -> Any:
        path.rename(path.parent / f"{work.key}.json")
        found = Store(path.parent).get(work)
        if found is None:
            raise DocumentError(f"{path}: not the result of this task")
        return found

    def use(found: Any) -> None:
        if not isinstance(found, dict):
            raise BrokenError(f"a result must be an object; got {found!r}")

    return Kind("task", write, read, use)


def all_kinds() -> dict[str, Callable[[], Kind]]:
    """Return the maker of every kind by its name; making one imports what it needs."""
    from driftgames import boosting, hedge, oco
    from driftgames import portfolio as traders
    from driftgames.bandit import POLICIES, Exp4, PotentialBandit, SquareCB
    from driftgames.online_boosting import ONLINE_BOOSTERS
    from driftgames.potentials import Exponential, NormalHedgeDT

    makers: dict[str, Callable[[], Kind]] = {
        "mixture": mixture,
        "hedge-stream": hedge_stream,
        "mix-stream": mix_stream,
        "intervals dtaci": lambda: intervals("intervals dtaci", "dtaci"),
        "intervals agaci": lambda: intervals("intervals agaci", "agaci"),
        "intervals signed": lambda: intervals("intervals signed", "signed"),
        "confidence": confidence,
        "task": task,
        "regressor": regressor,
    }

    def add(family: Callable[..., Kind], name: str, make: Callable[[], Any]) -> None:
        makers[name] = lambda: family(name, make)

    for name, factory in hedge.LEARNERS.items():
        add(experts, f"hedge {name}", lambda factory=factory: factory(3, horizon=50))
    add(
        experts,
        "hedge with a prior",
        lambda: hedge.Hedge(
            3, NormalHedgeDT(5.0), prior=[0.5, 0.3, 0.2], loss_range=(-1, 2), dtype=np.float32
        ),
    )
    add(experts, "adahedge of any size", lambda: hedge.AdaHedge(3, loss_range=None))
    add(experts, "adanormalhedge of any size", lambda: hedge.AdaNormalHedge(3, loss_range=None))
    add(experts, "boa of any size", lambda: hedge.BOA(3, loss_range=None))
    add(experts, "randomized", lambda: hedge.RandomizedHedge(3, random_state=1))
    for name, policy in POLICIES.items():
        add(
            bandit, f"bandit {name}", lambda policy=policy: policy(3, 100, np.random.default_rng(0))
        )
    add(
        bandit,
        "bandit of a potential",
        lambda: PotentialBandit(
            names=["a", "b"], potential=Exponential(0.1), loss_range=(-1, 1), random_state=0
        ),
    )
    add(contextual, "squarecb", lambda: SquareCB(3, n_features=2, random_state=0))
    add(contextual, "exp4", lambda: Exp4(3, experts=["a", "b"], random_state=0))
    add(
        portfolio,
        "portfolio within limits",
        lambda: traders.LimitedPortfolio(3, of="ons", max_share=0.6, max_turnover=0.5),
    )
    for name, strategy in traders.STRATEGIES.items():
        add(portfolio, f"portfolio {name}", lambda strategy=strategy: strategy(3))
    add(
        portfolio,
        "portfolio with costs",
        lambda: traders.UniversalPortfolio(3, n_points=64, cost=0.01),
    )
    add(
        portfolio,
        "portfolio of own points",
        lambda: traders.UniversalPortfolio(3, points=np.eye(3), prior=[0.5, 0.25, 0.25]),
    )
    for name, booster in ONLINE_BOOSTERS.items():
        add(online_booster, f"online {name}", lambda booster=booster: booster(3, 0.1))
    square = [[-1.0, 0.0], [0.0, -1.0], [1.0, 1.0]]
    add(convex, "grid", lambda: oco.ContinuousHedge(oco.Interval(), integration=oco.Grid(27)))
    add(
        convex,
        "points",
        lambda: oco.ContinuousHedge(
            oco.Simplex(3), loss_range=(-1, 5), integration=oco.Points(64, matched=True)
        ),
    )
    add(
        convex,
        "walkers",
        lambda: oco.ContinuousHedge(
            oco.Polytope(square, [0.0, 0.0, 1.0]),
            integration=oco.HitAndRun(32, n_steps=2, least_effective=1.0),
        ),
    )
    add(convex, "coin betting", lambda: oco.CoinBetting(oco.Box([0.0, 0.0], [1.0, 2.0])))
    add(convex, "coin betting on a ball", lambda: oco.CoinBetting(oco.Ball([0.0, 0.0], 2.0)))
    add(
        convex,
        "coin betting on a simplex",
        lambda: oco.CoinBetting(oco.Simplex(3), per_coordinate=True),
    )
    makers |= table_kinds(Kind)
    add(model, "model of stumps", lambda: boosting.NHBoostDTClassifier(5, max_leaves=2))
    add(model, "model that is a mean", lambda: boosting.NHBoostDTClassifier(3))
    add(model, "model of trees", lambda: boosting.NHBoostDTClassifier(4, max_depth=2))
    add(model, "model of adaboost", lambda: boosting.AdaBoostClassifier(4))
    return makers
