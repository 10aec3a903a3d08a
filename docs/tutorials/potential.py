r"""Write your own potential in ten lines.

A potential is a function of a chip's position. Write one, and Hedge, boosting and games run on it:

$$\Phi_t(s) = s^4 + 8 (T - t)(s^2 + T - t) \quad\text{where } s \le 0$$
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftgames.potentials import Potential


@dataclass(frozen=True)
class Quartic(Potential):
    """The fourth power of how far a chip is behind, and what the rounds that are left may add."""

    adaptive: ClassVar[bool] = True
    registry_name: ClassVar[str | None] = "quartic"

    def value(self, positions, t, *, horizon=None, log_scale=0.0):
        behind = np.minimum(np.asarray(positions, dtype=float), 0.0)
        left = 0 if horizon is None else horizon - t
        return (behind**4 + 8 * left * (behind**2 + left)) * np.exp(-log_scale)


# Two properties make it a potential: it is convex and never rises to the right, and one round of a
# fair coin does not raise it,
#
# $$\Phi_t(s - 1) + \Phi_t(s + 1) \le 2\,\Phi_{t-1}(s).$$
#
# Check that before you trust it.

s, T = np.linspace(-30, 30, 601), 50
for t in range(1, T + 1):
    after = Quartic().value(s - 1, t, horizon=T) + Quartic().value(s + 1, t, horizon=T)
    assert (after <= 2 * Quartic().value(s, t - 1, horizon=T)).all()
print("the inequality holds on the grid")

# ## Hedge with it

from driftgames import Hedge

losses = (np.random.default_rng(0).random((1000, 20)) < np.linspace(0.4, 0.6, 20)).astype(float)
for learner in (Hedge(20, Quartic()), Hedge(20)):
    print(f"{learner.title:16} regret {learner.run(losses).regret:.1f}")

# ## Boost with it

from sklearn.datasets import load_breast_cancer

from driftgames import PotentialBoostClassifier

X, y = load_breast_cancer(return_X_y=True)
booster = PotentialBoostClassifier(Quartic(), n_estimators=100, calibrate=False).fit(X, y)
print(f"training error {1 - booster.score(X, y):.3f}")

# ## Use it by its name
#
# The class registered itself. Commands find it with `--import quartic.py`, as in
# `driftgames hedge losses.csv --import quartic.py --algorithm quartic`, and files that hold it can
# be loaded once it is imported.

from driftgames.potentials import POTENTIALS

print("quartic" in POTENTIALS)
