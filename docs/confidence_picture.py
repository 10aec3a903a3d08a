"""Draw the picture of benchmark_tables.md: ``python -m docs.confidence_picture``."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from bench.betting import FIXED, coin
from driftgames.certificates import confidence_sequence
from driftgames.plots import save_figure
from driftgames.plots.style import with_styles

SIZES, SAMPLES = (20, 40, 80, 160, 320, 640), 100

figure = Figure(figsize=(9.0, 3.6), layout="constrained")
left, right = figure.subplots(1, 2)

rng, draw = np.random.default_rng(0), coin(0.1)
widths: dict[str, list[float]] = {name: [] for name in FIXED}
for n in SIZES:
    samples = [draw(rng, n) for _ in range(SAMPLES)]
    for name, interval in FIXED.items():
        widths[name].append(float(np.mean([np.subtract(*interval(x)[::-1]) for x in samples])))
for _, curve, style in with_styles((name, widths[name]) for name in FIXED if name != "normal"):
    left.plot(SIZES, curve, **style)
left.set(xscale="log", yscale="log", xlabel="number of coins", ylabel="mean width")
left.set_xticks(SIZES, [str(n) for n in SIZES])
left.set_yticks([0.05, 0.1, 0.2, 0.5], ["0.05", "0.1", "0.2", "0.5"])
left.minorticks_off()
left.set_title("95 % intervals for the chance 1/10 of a coin", fontsize="medium")
left.legend(frameon=False)

run = confidence_sequence(draw(rng, 640))
run.plot_wealth(0.05, 0.1, 0.2, ax=right)
right.set_title("The wealth of bets against three claims", fontsize="medium")

save_figure(figure, Path(__file__).parent / "images" / "betting.svg")
