import numpy as np
import pytest

from driftgames.bandit import Exp3IX, PotentialBandit, ThompsonSampling, TsallisINF
from driftgames.potentials import Potential


class TwoRates(Potential):
    """A mixture of two exponentials: it meets Theorem 4 without being EXP3."""

    adaptive = False

    def __init__(self, slow=0.2, fast=0.5):
        self.rates = np.array([slow, fast])

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        rounds_left = 0 if horizon is None else horizon - t
        s = np.asarray(positions, dtype=float)[..., np.newaxis]
        return np.exp(-self.rates * s - log_scale).sum(axis=-1) * np.cosh(0.5) ** rounds_left

    def __repr__(self):
        return f"TwoRates{tuple(self.rates.tolist())}"


def _mixed(n_arms=None, **units):
    return PotentialBandit(n_arms, horizon=6, potential=TwoRates(), **units)


MAKERS = {
    "exp3": lambda n=None, **units: PotentialBandit(n, horizon=1000, **units),
    "exp3-anytime": lambda n=None, **units: PotentialBandit(n, **units),
    "exp3-ix": lambda n=None, **units: Exp3IX(n, horizon=1000, **units),
    "exp3-ix-anytime": lambda n=None, **units: Exp3IX(n, **units),
    "tsallis-inf": lambda n=None, **units: TsallisINF(n, **units),
    "tsallis-inf-rv": lambda n=None, **units: TsallisINF(n, reduced_variance=True, **units),
    "tsallis-inf-forget": lambda n=None, **units: TsallisINF(n, forget=50, **units),
    "thompson": lambda n=None, **units: ThompsonSampling(n, resolution=16, **units),
    "thompson-static": lambda n=None, **units: ThompsonSampling(n, forget=None, **units),
    "algorithm 4": _mixed,
}


@pytest.fixture(params=MAKERS, scope="session")
def make(request):
    """Every policy in turn, the recipe with a potential of one's own among them."""
    return MAKERS[request.param]


@pytest.fixture(params=[name for name in MAKERS if "thompson" not in name], scope="session")
def promising(request):
    """Every policy that has a bound."""
    return MAKERS[request.param]


@pytest.fixture(params=[name for name in MAKERS if "forget" not in name], scope="session")
def remembering(request):
    """Every policy whose estimates forget nothing."""
    return MAKERS[request.param]


@pytest.fixture(scope="session")
def two_rates():
    return TwoRates
