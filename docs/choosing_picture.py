"""Draw the picture of choosing.md: ``python -m docs.choosing_picture``."""

from pathlib import Path

from sklearn.datasets import load_digits

from driftgames import NHBoostDTClassifier
from driftgames.plots import save_figure

X, y = load_digits(return_X_y=True)
model = NHBoostDTClassifier().fit(X[:700], y[:700] % 2)  # odd or even, as on the page

save_figure(model.chosen_.plot(), Path(__file__).parent / "images" / "race.svg")
