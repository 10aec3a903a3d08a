"""Errors show plain numbers: nowhere ``np.float64(15.0)``."""

import importlib
import inspect
import re
import traceback
import warnings

import numpy as np
import pytest

PACKAGES = [
    "bandit",
    "boosting",
    "certificates",
    "games",
    "hedge",
    "oco",
    "portfolio",
    "potentials",
]
BAD = (
    np.float64(15.5),
    np.float32(-3.0),
    np.int64(-7),
    np.str_("odd"),
    np.True_,
    (np.float64(2.0), np.float64(1.0)),
    [np.int64(-1), np.str_("odd")],
)
VALID = {"n_actions": 3, "n_arms": 3, "n_assets": 3, "horizon": 10, "dimension": 2, "epsilon": 0.5}
FEW = {"n_estimators": 3}  # in place of the defaults
NUMPY = re.compile(r"\bnp\.(\w+\(|True_|False_)")


def public_callables():
    for package in PACKAGES:
        module = importlib.import_module(f"driftgames.{package}")
        for name in module.__all__:
            if inspect.isclass(made := getattr(module, name)) or inspect.isfunction(made):
                yield pytest.param(made, id=f"{package}.{name}")


def messages(call, *arguments, **settings):
    """Yield what a call says: its error and its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            call(*arguments, **settings)
        except Exception as error:  # what is raised is the subject
            ours = "driftgames" in traceback.extract_tb(error.__traceback__)[-1].filename
            if ours and not re.match("could not convert|invalid literal", str(error)):  # NumPy's
                yield str(error)
    yield from (str(each.message) for each in heard)


@pytest.mark.parametrize("public", list(public_callables()))
def test_no_message_shows_a_scalar_of_numpy(public):
    try:
        parameters = inspect.signature(public).parameters
    except ValueError:  # an exception class
        return
    named = {k: each for k, each in parameters.items() if "VAR_" not in each.kind.name}
    usual = {k: VALID.get(k, 0.5) for k, each in named.items() if each.default is each.empty}
    usual |= {k: few for k, few in FEW.items() if k in named}
    for name in named:
        for bad in BAD:
            settings = {**usual, name: bad}
            call = public
            if hasattr(public, "fit") and hasattr(public, "get_params"):

                def call(**given):
                    return public(**given).fit([[0.0], [1.0]] * 3, [0, 1] * 3)

            for message in messages(call, **settings):
                assert not NUMPY.search(message), f"{name}={bad!r}: {message}"
