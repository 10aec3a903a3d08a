"""Draw the pictures of tracking, intervals and portfolios: ``python -m docs.expert_pictures``."""

from pathlib import Path

import numpy as np

from bench.intervals import drifting
from bench.tracking import PIECES, ROUNDS, change_points
from driftgames.datasets import load_market
from driftgames.hedge import LEARNERS, AdaptiveIntervals
from driftgames.plots import plot_coverage, plot_regret_over_time, save_figure
from driftgames.plots.style import caption
from driftgames.portfolio import run

IMAGES = Path(__file__).parent / "images"

losses = change_points(ROUNDS)
pieces = np.array_split(losses, PIECES)
best = np.concatenate([piece[:, piece.sum(axis=0).argmin()] for piece in pieces])
behind = {}
for name in ("adanormalhedge", "adahedge", "adanormalhedge.tv"):
    learner = LEARNERS[name](losses.shape[1])
    behind[learner.title] = np.cumsum(learner.run(losses, progress=False).learner_losses - best)
figure = plot_regret_over_time(np.arange(1.0, ROUNDS + 1), behind)
figure.axes[0].set_ylabel("regret to the best action of each piece")
caption(figure.axes[0], "The best action changes: only a learner that tracks stays close")
save_figure(figure, IMAGES / "tracking.svg")

x, y = drifting(2000, 0)
choices = {"DtACI": {}, "step size 0.001": {"step_sizes": [0.001]}}
covered = {}
for name, settings in choices.items():
    covered[name] = AdaptiveIntervals(0.9, **settings).run(x, y).coverage_over_time(100)
figure = plot_coverage(np.arange(1.0, 2001.0), covered, 0.9, window=100)
caption(figure.axes[0], "Coverage of 90 % intervals on a stream that drifts")
save_figure(figure, IMAGES / "coverage.svg")

report = run(load_market("djia").relatives, holds="relatives")
figure = report.plot()
caption(figure.axes[0], "Wealth of nine strategies on 30 stocks of the Dow Jones, 2001 to 2003")
save_figure(figure, IMAGES / "portfolios.svg")
