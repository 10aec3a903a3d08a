"""Bad values for every argument of every public callable, and of every method of what learns.

A call either works, or it raises a ValueError or TypeError of our own that is short, shows plain
numbers, and leaves the object as it was. Public names are found, not listed: a new class inherits
the test. It is a table of values times a table of calls.
"""

import copy
import datetime
import importlib
import inspect
import re
import traceback
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from driftgames.bandit import (
    POLICIES,
    ArmRace,
    BernoulliArms,
    Exp4,
    Moody,
    Oblivious,
    PullLog,
    Spiteful,
    SquareCB,
    Switching,
    TsallisINF,
)
from driftgames.boosting import BaseBooster, NHBoostDTClassifier, NHBoostDTRegressor
from driftgames.certificates import ConfidenceSequence
from driftgames.core.state import Stateful
from driftgames.games import (
    Chips,
    DriftingGame,
    GreedyAdversary,
    HedgeAsPlayer,
    LookaheadAdversary,
    PlayerAsHedge,
    PotentialPlayer,
    RandomAdversary,
    StochasticAdversary,
    play,
)
from driftgames.hedge import (
    AdaptiveIntervals,
    ExpertMixture,
    Hedge,
    RandomizedHedge,
    SeriesMixture,
    SignedIntervals,
)
from driftgames.hedge.named_learners import all_learners
from driftgames.oco import Ball, Box, CoinBetting, ContinuousHedge, LinearLoss, Polytope, Simplex
from driftgames.online_boosting import AdaBoostOL, OnlineBBM
from driftgames.plots import FeatureShape, plot_importances
from driftgames.portfolio import STRATEGIES, LimitedPortfolio
from driftgames.potentials import POTENTIALS, NormalHedgeDT
from tests.public_objects import results

PACKAGES = [
    "bandit",
    "boosting",
    "certificates",
    "certificates.bounds",
    "games",
    "hedge",
    "oco",
    "online_boosting",
    "plots",
    "portfolio",
    "potentials",
]
MEMORY = 2 << 30
"""What a call may allocate: bytes beyond those of the process before it."""


class Odd:
    def __repr__(self):
        return "<odd \x1b[31m>"


def deep_list(depth):
    """Return a list in a list in a list, deeper than Python's stack."""
    found = []
    for _ in range(depth):
        found = [found]
    return found


BAD = {
    "none": None,
    "true": True,
    "negative": -1,
    "zero": 0,
    "2**63": 2**63,
    "400 digits": 10**400,
    "nan": float("nan"),
    "infinite": float("inf"),
    "complex": 1j,
    "text": "abc",
    "empty text": "",
    "long text": "x" * 100_000,
    "bytes": b"abc",
    "empty": [],
    "nones": [None] * 3,
    "texts": ["a", "b", "c"],
    "number texts": ["0.1", "0.2", "0.3"],
    "nans": [float("nan")] * 3,
    "ragged": [[1.0], [2.0, 3.0]],
    "mapping": {"a": 1},
    "object": Odd(),
    "masked": np.ma.array([0.1, 0.2, 0.3], mask=[True, False, False]),
    "dates": np.array(["2020-01-01"] * 3, "datetime64[D]"),
    "three dimensions": np.zeros((2, 2, 2)),
    "a date": np.datetime64("2020-01-01"),
    "a day": datetime.date(2020, 1, 1),
    "a span": np.timedelta64(3, "D"),
    "a time of pandas": pd.Timestamp("2020-01-01"),
    "table of dates": np.full((2, 3), np.datetime64("2020-01-01")),
    "table of bytes": np.full((2, 3), b"1.5"),
    "table of texts": np.full((2, 3), "1.5"),
    "records": np.zeros(3, dtype=[("a", float), ("b", float)]),
    "table of records": np.zeros((2, 3), dtype=[("a", float)]),
    "frame": pd.DataFrame({"a": [0.1, 0.2], "b": ["x", None]}),
    "frame of numbers": pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.4]}),
    "deep list": deep_list(3000),
    "series": pd.Series(["a", None, "b"]),
    "missing": pd.NA,
    "numpy pair": (np.float64(2.0), np.float64(1.0)),
    "numpy float": np.float64(15.5),
    "numpy integer": np.int64(-7),
    "numpy text": np.str_("odd"),
    "numpy list": [np.int64(-1), np.str_("odd")],
}
VALID = {
    "n_actions": 3,
    "n_arms": 3,
    "n_assets": 3,
    "n_chips": 2,
    "n_coordinates": 3,
    "n_learners": 3,
    "horizon": 2,
    "dimension": 2,
    "epsilon": 0.5,
    "potential": NormalHedgeDT(),
    "phi": NormalHedgeDT(),
    "game": DriftingGame(),
    "rules": DriftingGame(),
    "chips": Chips.at_start(3),
    "player": PotentialPlayer(NormalHedgeDT()),
    "adversary": StochasticAdversary(),
    "curves": {"a": [0.1, 0.2, 0.3]},
    "names": ["a", "b", "c"],
    "rounds": [1.0, 2.0, 3.0],
    "loss": lambda s: s <= 0,
    "moves": (-1.0, 1.0),
    "n_estimators": 3,
}
VALID |= dict.fromkeys(("regret", "realised", "coverage", "seconds"), VALID["curves"])
VALID |= dict.fromkeys(("wealth", "shares", "zero_fractions"), VALID["curves"])
VALID |= dict.fromkeys(("epsilons", "sizes", "thetas"), VALID["rounds"])
FIGURES = {
    "plot_calibration": {"probabilities": [0.1, 0.9], "came_true": [0, 1]},
    "plot_confidence": {"mean": [0.5] * 3, "low": [0.1] * 3, "high": [0.9] * 3},
    "plot_coverage": {"target": 0.9, "window": 10},
    "plot_game": {"positions": np.zeros((3, 2)), "p": np.full((2, 2), 0.5)},
    "plot_importances": {"importances": [0.2, 0.3, 0.5]},
    "plot_potential": {"values": {"a": ([0.0, 1.0], [1.0, 2.0])}, "weights": {}},
    "plot_pulls": {"drawn": [0, 1, 2, 2]},
    "plot_regret_bands": {"regret": {"a": [[0.1, 0.2, 0.3]] * 2}},
    "plot_shapes": {"thresholds": [[0.5], [], [1.0]], "values": [[0, 1], [0], [1, 2]]},
    "plot_test_wealth": {"log_wealth": {"a": [0.1, 0.2, 0.3]}, "delta": 0.05},
    "plot_weights": {"distributions": np.full((3, 3), 1 / 3)},
    "Animation": {"positions": np.zeros((3, 2)), "p": np.full((2, 2), 0.5)},
    "ExplanationPage": {
        "title": "a model",
        "label": "yes",
        "features": [FeatureShape("age", [1.0], [0.1, 0.2])],
    },
    "ClassVotes": {"label": "yes", "features": [FeatureShape("age", [1.0], [0.1, 0.2])]},
    "FeatureShape": {"name": "age", "thresholds": [1.0], "values": [0.1, 0.2]},
    "Reasons": {"title": "first", "decision": "yes", "parts": [("age", 1.0, 0.5)]},
    "save_figure": {"figure": plot_importances([1.0], ["age"]), "path": "missing/a.svg"},
}
"""Valid arguments of figures, beside those of `VALID`."""

INNER = {"log_scale"}
"""Arguments that one method of ours gives to another."""

OBJECTS = {"adversary", "observers", "phi", "player", "policies", "rules", "turn"}
"""Arguments that are objects of a protocol; for another one Python names the method it lacks."""

PATHS = {"source", "path"}
"""Arguments in which a text names a file: errors of the operating system name the path."""

WORDS = ("/driftgames/", "/sklearn/utils/")
"""Whose words an error has: ours, or those of scikit-learn's checks, which estimators share."""

SKLEARN = "/sklearn/utils/"
NUMPY = re.compile(r"\bnp\.(\w+\(|True_|False_)")
FOREIGN = re.compile(
    "could not convert|invalid literal|truth value of|has no attribute|unexpected keyword|"
    "not supported between|unsupported operand|object is not|must be real number"
)
"""What Python, NumPy and pandas say where nothing was checked."""


def find_fault(call, *, messages_only=False):
    """Return what is wrong with the error of a call; None if it raises none or a good one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except Exception as error:
            text = str(error)
            last = traceback.extract_tb(error.__traceback__)[-1].filename
            ours = any(w in last for w in WORDS) and "/tests/" not in last
            ours = ours and not FOREIGN.match(text)
            if (
                ours
                and SKLEARN not in last
                and (NUMPY.search(text) or len(text) > 1000 or "\x1b" in text)
            ):
                return f"not plain or not short: {text[:200]!r}"
            if messages_only:
                return None
            if not ours or not isinstance(error, ValueError | TypeError):
                return f"{type(error).__name__}: {text[:200]} ({last})"
    return None


def find_callables():
    for package in PACKAGES:
        module = importlib.import_module(f"driftgames.{package}")
        for name in module.__all__:
            public = getattr(module, name)
            if inspect.isclass(public) and issubclass(public, BaseException | tuple):
                continue
            if inspect.isclass(public) and inspect.isabstract(public):
                continue
            if hasattr(public, "dispatch"):  # of functools: it needs its first argument by place
                continue
            if inspect.isclass(public) or inspect.isfunction(public):
                yield pytest.param(public, id=f"{package}.{name}")


def values_for(name):
    """Yield the bad values that an argument of this name is tried with."""
    for kind, bad in BAD.items() if name not in OBJECTS | INNER else ():
        if not (name in PATHS and "text" in kind):
            yield kind, bad


def named_parameters(call):
    try:
        parameters = inspect.signature(call).parameters
    except ValueError:
        return {}
    return {k: each for k, each in parameters.items() if "VAR_" not in each.kind.name}


@pytest.fixture(autouse=True)
def bounded_memory():
    """Let a call that would take gigabytes fail with a MemoryError, which is a fault."""
    usage = Path("/proc/self/statm")
    if not usage.exists():  # only Linux tells
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(usage.read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """Run in an empty folder, which no call may write to: a path may be a bad value."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("public", list(find_callables()))
def test_a_public_callable_refuses_bad_values_in_its_own_words(public):
    named = named_parameters(public)
    usual = {k: VALID.get(k, 0.5) for k, each in named.items() if each.default is each.empty}
    usual |= {k: VALID[k] for k in named if k == "n_estimators"}
    usual |= FIGURES.get(public.__name__, {})
    faults = []

    def call(settings):
        made = public(**settings)
        if hasattr(public, "fit") and hasattr(public, "get_params"):
            made.fit([[0.0], [1.0]] * 3, [0, 1] * 3)
        if hasattr(public, "_repr_html_") and public.__module__.startswith("driftgames.plots"):
            made._repr_html_()
        if hasattr(made, "draw_without_rendering"):
            made.draw_without_rendering()

    if public.__module__.startswith("driftgames.plots") and "path" not in named:
        call(usual)  # an error of another argument would hide those of the bad one
    for name in named:
        for kind, bad in values_for(name):
            fault = find_fault(
                lambda settings={**usual, name: bad}: call(settings),
            )
            if fault is not None:
                faults.append(f"{name}={kind}: {fault}")
    assert not faults, "\n".join(faults)


LOSSES = np.array([[0.1, 0.5, 0.9], [0.2, 0.4, 0.8]])
FORECASTS, OUTCOMES = np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]), np.array([1.5, 2.5])
ARGUMENTS = {
    "losses": LOSSES[0],
    "L": LOSSES,
    "rng": np.random.default_rng(0),
    "horizon": 10,
    "epsilon": 0.5,
    "X": FORECASTS,
    "y": OUTCOMES,
    "forecast": 1.0,
    "forecasts": OUTCOMES,
    "outcome": 1.5,
    "outcomes": OUTCOMES,
    "points": np.full((2, 3), 1 / 3),
    "point": np.full(3, 1 / 3),
    "gradient": np.full(3, 0.1),
    "n_points": 2,
    "loss": LinearLoss([0.1, 0.2, 0.3]),
    "relatives": [1.0, 1.1, 0.9],
    "predictions": [1, -1, 1],
    "label": 1,
    "labels": [1, -1],
    "positions": LOSSES[0],
    "t": 2,
    "moves": LOSSES[0],
    "p": np.full(3, 1 / 3),
    "arm": 0,
    "prob": 0.5,
    "n": 2,
    "chips": Chips.at_start(3),
    "first_round": 1,
    "n_rounds": 2,
}


PLAYER, FOE = PotentialPlayer(NormalHedgeDT()), StochasticAdversary()
EXAMPLES = np.random.default_rng(0).normal(size=(40, 3))
CLASSES = (EXAMPLES[:, 0] > 0).astype(int)
MIXED = pd.DataFrame(EXAMPLES, columns=list("abc")).assign(c=np.where(CLASSES, "u", "v"))


def arguments_for(thing, method):
    """Return valid arguments of a method by their names."""
    if not isinstance(thing, BaseBooster | NHBoostDTRegressor):
        return ARGUMENTS
    X = MIXED if hasattr(thing, "feature_names_in_") else EXAMPLES
    some = slice(None) if method == "fit" else slice(2)
    batches = [(X, CLASSES)]
    return {"X": X[some], "y": CLASSES[some], "x": X[:1], "source": batches}


def three_dimensional_sets():
    yield Box([0.0] * 3, [1.0] * 3)
    yield Simplex(3)
    yield Ball([0.0] * 3)
    yield Polytope(np.vstack([np.eye(3), -np.eye(3)]), np.ones(6))


def find_objects():
    """Yield everything that learns, in a state after some rounds, and what has methods beside."""
    for name, make in all_learners().items():
        if name != "two-experts":
            learner = make(3, 10)
            learner.run(LOSSES, progress=False)
            yield name, learner
    yield "randomized", RandomizedHedge(3, random_state=0)
    yield "mixture", ExpertMixture().fit(FORECASTS, OUTCOMES)
    series = SeriesMixture(outside="nearest")
    series.predict_then_fit(FORECASTS, OUTCOMES)
    yield "series", series
    for name, make in POLICIES.items():
        yield name, make(3, 10, np.random.default_rng(0))
    for name, make in STRATEGIES.items():
        yield f"portfolio {name}", make(3)
    yield "coin betting", CoinBetting(Simplex(3))
    yield "continuous hedge", ContinuousHedge(Simplex(3), random_state=0)
    yield "bbm", OnlineBBM(3, 0.1)
    yield "adaboost.ol", AdaBoostOL(3)
    yield "intervals", AdaptiveIntervals()
    yield "signed intervals", SignedIntervals()
    yield "confidence sequence", ConfidenceSequence()
    yield "arm race", ArmRace([0, 1, 2])
    yield "squarecb", SquareCB(3, n_features=3, random_state=0)
    yield "exp4", Exp4(3, experts=2, random_state=0)
    yield "log of pulls", PullLog(TsallisINF(3, random_state=0))
    yield "limited portfolio", LimitedPortfolio(3, of="eg")
    for domain in three_dimensional_sets():
        yield type(domain).__name__, domain
    for name, make in POTENTIALS.items():
        yield f"potential {name}", make(10, 0.5)
    yield "drifting game", DriftingGame()
    yield "learner as player", HedgeAsPlayer(Hedge(3))
    yield "player as learner", PlayerAsHedge(PLAYER, 3)
    for environment in (BernoulliArms.with_gap(3, 0.1), Moody(3), Switching(3)):
        yield type(environment).__name__, environment
    booster = NHBoostDTClassifier(3, max_leaves=2, calibrate=False)
    yield "booster", clone(booster).fit(EXAMPLES, CLASSES)
    yield "booster of categories", booster.fit(MIXED, CLASSES)
    regressor = NHBoostDTRegressor(3, max_leaves=2, n_stages=1)
    yield "regressor", clone(regressor).fit(EXAMPLES, EXAMPLES[:, 0])
    yield "regressor of categories", regressor.fit(MIXED, EXAMPLES[:, 0])


UNCHECKED = {
    # files: errors of the operating system name the path
    "save",
    "load",
    "from_content",
    "content",
    "to_onnx",
    # constants of a potential, whose arguments come from `weights` and `bound`
    "log_scale",
    "one_less_b",
    # sums over the rounds: 2**63 of them take long
    "interval_bound",
    # compiled: arrays come from `ExpertMixture`, which has checked them
    "run_forecasts",
    "mix_rounds",
    "mix_row",
    # what a run has recorded comes from the policy itself
    "recorded_run",
    # called many times in a round by learners; rows come from the set itself
    "chords",
    "from_cube",
    "off_plane",
    "directions",
    # what a fit and the command line give to a booster
    "adopt",
    "make_watch",
    # of scikit-learn
    "set_params",
    "get_params",
    "get_metadata_routing",
    "score",
    "for_game",
}
"""Methods that are not tried, and why."""


INNER_MODELS = {"AdditiveModel", "FittedModel", "Stumps", "Trees"}
"""What a booster holds: it checks the examples before these get them, so only plots are tried."""


def methods_of(thing):
    for name, method in inspect.getmembers(type(thing), inspect.isfunction):
        if type(thing).__name__ in INNER_MODELS and not name.startswith("plot"):
            continue
        if not name.startswith(("_", "set_")) and name not in UNCHECKED:
            named = named_parameters(method)
            named.pop("self", None)
            if named:
                yield name, named


class Told:
    """A player, an adversary and an environment that say what they are told."""

    def __init__(self, value):
        self.value = value

    def distribution(self, chips):
        return self.value

    def observe(self, moves):
        pass

    def moves(self, chips, p, rng):
        return self.value


class ToldLosses(Oblivious):
    n_arms = 3

    def __init__(self, value):
        self.value = value

    def losses(self, first_round, n_rounds, rng):
        return self.value


class ToldArms(ToldLosses):
    @property
    def n_arms(self):
        return self.value


def play_game(player=PLAYER, adversary=FOE):
    play(player, adversary, n_chips=3, horizon=2, show_progress=False)


def run_policy(environment):
    TsallisINF(3, random_state=0).run(environment, 4)


PLAYED = {
    "distribution": lambda bad: play_game(player=Told(bad)),
    "moves": lambda bad: play_game(adversary=Told(bad)),
    "best": lambda bad: play_game(adversary=StochasticAdversary(best=bad)),
    "gap": lambda bad: play_game(adversary=StochasticAdversary(gap=bad)),
    "rounds to come": lambda bad: play_game(adversary=LookaheadAdversary(bad)),
    "game of chance": lambda bad: play_game(adversary=RandomAdversary(bad)),
    "game of greed": lambda bad: play_game(adversary=GreedyAdversary(NormalHedgeDT(), bad)),
    "potential of greed": lambda bad: play_game(adversary=GreedyAdversary(bad)),
    "potential": lambda bad: play_game(player=PotentialPlayer(bad)),
    "losses": lambda bad: run_policy(ToldLosses(bad)),
    "arms": lambda bad: run_policy(ToldArms(bad)),
    "means": lambda bad: run_policy(BernoulliArms(bad)),
    "arms of moody": lambda bad: run_policy(Moody(bad)),
    "gap of moody": lambda bad: run_policy(Moody(3, bad)),
    "period": lambda bad: run_policy(Switching(3, 0.1, bad)),
    "arms of spite": lambda bad: run_policy(Spiteful(bad)),
}
"""What reaches a player, an adversary or an environment by way of a game."""


@pytest.mark.parametrize("call", PLAYED.values(), ids=list(PLAYED))
def test_a_game_refuses_bad_values_in_its_own_words(call):
    faults = {kind: find_fault(lambda bad=bad: call(bad)) for kind, bad in BAD.items()}
    assert not {kind: fault for kind, fault in faults.items() if fault is not None}


def find_results():
    """Yield the results that have a method, beside those of `find_objects`."""
    for name, thing in results().items():
        if any(methods_of(thing)):
            yield f"result {name}", thing


THINGS = [pytest.param(each, id=name) for name, each in (*find_objects(), *find_results())]


@pytest.mark.parametrize("thing", THINGS)
def test_a_method_refuses_bad_values_in_its_own_words_and_changes_nothing(thing):
    faults = []
    stateful = isinstance(thing, Stateful)
    before = thing.copy() if stateful else None
    for method, named in methods_of(thing):
        valid = arguments_for(thing, method)
        usual = {k: valid.get(k, 1) for k, each in named.items() if each.default is each.empty}
        for name in named:
            for kind, bad in values_for(name):
                current = thing.copy() if stateful else copy.copy(thing)
                call = getattr(current, method)
                fault = find_fault(lambda call=call, given={**usual, name: bad}: call(**given))
                if fault is not None:
                    faults.append(f"{method}({name}={kind}): {fault}")
                    if stateful and current != before:
                        faults.append(f"{method}({name}={kind}): the object has changed")
    assert not faults, "\n".join(faults)
