"""Draw the picture of reproducibility.md: ``python docs/picture.py``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from driftgames import AdaBoostClassifier, Hedge, NHBoostClassifier, NHBoostDTClassifier
from driftgames.datasets import load
from driftgames.plots import plot_zero_fractions, save_figure

figure = Figure(figsize=(9.0, 3.4), layout="constrained")
left, right = figure.subplots(1, 2)

X, y = load("digits49").train
boosters = {
    "AdaBoost": AdaBoostClassifier(),
    "NH-Boost": NHBoostClassifier(),
    "NH-Boost.DT": NHBoostDTClassifier(200, max_leaves=2),
}
ignored = {name: each.fit(X, y).history_["zero_fraction"] for name, each in boosters.items()}
plot_zero_fractions(np.arange(1.0, 201.0), ignored, ax=left)
left.set_title("Boosting: examples that are ignored", fontsize="medium")

losses = np.random.default_rng(0).random((2000, 100)) < np.linspace(0.4, 0.6, 100)
hedge = Hedge(n_actions=100)
hedge.run(losses.astype(float))
hedge.certificate().plot(ax=right)
right.set_title("Hedge: regret beside its guarantee", fontsize="medium")

save_figure(figure, Path(__file__).parent / "images" / "picture.svg")
