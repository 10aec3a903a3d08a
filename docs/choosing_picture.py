"""Draw the picture of choosing.md: ``python -m docs.choosing_picture``."""

from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from driftgames import NHBoostDTClassifier
from driftgames.plots import save_figure

X, y = load_digits(return_X_y=True)
model = NHBoostDTClassifier().fit(X[:700], y[:700] % 2)  # odd or even, as on the page

figure = Figure(figsize=(7.0, 3.8), layout="constrained")
axes = figure.subplots()
model.chosen_.plot(ax=axes)
axes.set_title("Digits, odd or even: which size?", fontsize="medium")
save_figure(figure, Path(__file__).parent / "images" / "race.svg")
