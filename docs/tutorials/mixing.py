"""Mix forecasts that you already have.

Four forecasts of a series are given, and none is best all the time. A mixture weighs them anew
after every outcome. It has no learning rate, and it needs no range of the outcomes.
"""

import numpy as np

rng = np.random.default_rng(0)
days = np.arange(1000)
season = 60 + 10 * np.sin(days / 58)
week = 6 * np.sin(days * 2 * np.pi / 7)
load = season + week + rng.normal(0, 2, days.size)
forecasts = {
    "yesterday": np.roll(load, 1),
    "last week": np.roll(load, 7),
    "season": season,
    "always 60": np.full(days.size, 60.0),
}
X = np.column_stack(list(forecasts.values()))[7:]
y = load[7:]

# ## Play the past
#
# `predict_then_fit` makes each prediction before it sees the outcome, as it would be in real life.

from driftgames import ExpertMixture

mixture = ExpertMixture()
predictions = mixture.predict_then_fit(X, y)


def rmse(of):
    return np.sqrt(np.mean((of - y) ** 2))


for name, column in zip(forecasts, X.T, strict=True):
    print(f"{name:15} {rmse(column):5.2f}")
print(f"{'plain mean':15} {rmse(X.mean(axis=1)):5.2f}")
print(f"{'mixture':15} {rmse(predictions):5.2f}")

# ## What is guaranteed
#
# The mixture competes with the best fixed combination of the forecasts, found in hindsight. The
# certificate has the regret to it beside the bound.

print(mixture.combination_certificate(X, y))

# ## Where the weight goes
#
# Play the rounds one after another and keep the weights after each. Most of the weight goes to last
# week; yesterday and the season keep a part of it.

from driftgames.plots import plot_weights, save_figure

replay, weights = ExpertMixture(), []
for row, outcome in zip(X, y, strict=True):
    replay.partial_fit([row], [outcome])
    weights.append(replay.weights_)
rounds = np.arange(1, y.size + 1)
figure = plot_weights(rounds, np.array(weights), list(forecasts))
save_figure(figure, "mixing_weights.svg")

print(dict(zip(forecasts, (mixture.weights_.round(2) + 0.0).tolist(), strict=True)))

# ## Tomorrow, and after a restart
#
# `predict` gives the forecast of a new row, and `partial_fit` learns from its outcome. The file
# keeps the state, and a loaded mixture goes on where the saved one was.

tomorrow = X[-1:]
print(mixture.predict(tomorrow).round(2))
mixture.save("mixture.json")
again = ExpertMixture.load("mixture.json")
print(again.partial_fit(tomorrow, [61.0]).predict(tomorrow).round(2))

# `driftgames mix forecasts.csv --target load` does the same from the command line.
# [Mixing forecasts](../mixing.md) says more, [tracking](../experts.md#when-the-best-action-changes)
# treats experts that take turns, and [intervals](../mixing.md#prediction-intervals) puts a range
# around any forecast.
