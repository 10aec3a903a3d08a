"""Draw the picture of the README, the idea: ``python docs/idea_picture.py``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from driftgames import Hedge, NormalHedgeDT
from driftgames.plots import save_figure

ROUNDS, CHIPS = 40, 12
INK, BLUE, ORANGE = "#1b1b1b", "#0072b2", "#d55e00"

losses = np.random.default_rng(11).random((ROUNDS, CHIPS)) < np.linspace(0.47, 0.53, CHIPS)
learner = Hedge(CHIPS)
run = learner.run(losses.astype(float), progress=False)
positions = losses.sum(axis=0) - run.learner_losses.sum()
weights = learner.distribution()
potential, t = NormalHedgeDT(), ROUNDS + 1

figure = Figure(figsize=(6.0, 3.6), layout="constrained")
axes = figure.subplots()

s = np.linspace(positions.min() - 1.5, positions.max() + 1.5, 400)
height = potential.value(s, t)
scale = 1.0 / height.max()
axes.axhline(0, color=INK, linewidth=0.8)
axes.plot(s, 0.12 + scale * (height - height.min()), color=BLUE)
axes.bar(positions, -weights / weights.max() * 0.75, width=0.28, bottom=-0.1, color=ORANGE)
zero = weights == 0
axes.scatter(positions[~zero], 0 * positions[~zero], s=90, color=INK, zorder=3)
axes.scatter(positions[zero], 0 * positions[zero], s=90, color="white", edgecolor=INK, zorder=3)
axes.text(s[0] + 2.2, 0.85, "a potential says how bad\nit is to stand here", color=BLUE)
axes.text(s[-1], 0.24, "losses push chips to the right", color=INK, ha="right")
decision = "weights are differences of the\npotential: they are the decision"
axes.text(s[-1], -0.48, decision, color=ORANGE, ha="right")
axes.text(s[-1], -0.78, "hollow chips weigh exactly 0", color=INK, ha="right")
axes.set(xticks=[], yticks=[], ylim=(-0.95, 1.2))
axes.spines[:].set_visible(False)

save_figure(figure, Path(__file__).parent / "images" / "idea.svg")
