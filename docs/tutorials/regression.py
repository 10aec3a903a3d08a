"""Predict a number, and how sure you are.

How much does a chick weigh after three weeks? At hatching all weigh the same; later the diet and
the chick itself make a difference. You fit a regressor to 578 weights of 50 chicks, get an interval
that is narrow at first and wide later, check how much it covers, and read probabilities off a
distribution. The weights come with river (`pip install driftgames[river] pandas`).
"""

import pandas as pd
from river.datasets import ChickWeights

table = pd.DataFrame([{**x, "weight": weight} for x, weight in ChickWeights()])
table["diet"] = ("diet " + table["diet"].astype(str)).astype("category")
print(table.groupby("time")["weight"].describe()[["count", "mean", "std"]].iloc[[0, 4, 8, 11]])

# The columns are the day, and the diet as a category. A chick was weighed up to twelve times, and
# its weights are alike. So whole chicks are held out, every fifth; else a new row would not be new.

X, y = table[["time", "diet"]], table["weight"]
is_new = table["chick"] % 5 == 0
X_train, y_train, X_new, y_new = X[~is_new], y[~is_new], X[is_new], y[is_new]

# ## Fit
#
# There is nothing to tune. The regressor learns, for each of some twenty weights, whether a chick
# is heavier than that; these answers make a distribution of the weight.

from driftgames import NHBoostDTRegressor

model = NHBoostDTRegressor().fit(X_train, y_train)
print(f"R2 on new chicks: {model.score(X_new, y_new):.2f}")
errors = (y_new - model.predict(X_new)).abs()
print(f"mean absolute error: {errors.mean():.0f} g")

# One number for all days says little: on the first day an error of 20 g would be absurd, and in the
# third week it would be small.
#
# ## An interval that is wide where it should be

days = pd.DataFrame({"time": [0, 6, 12, 18, 21], "diet": "diet 1"}).astype(
    {"diet": X["diet"].dtype}
)
low, high = model.predict_interval(days, coverage=0.8).T
for day, mean, a, b in zip(days["time"], model.predict(days), low, high, strict=True):
    print(f"day {day:2d}: {mean:4.0f} g, four of five chicks from {a:3.0f} to {b:3.0f}")

# The picture has the intervals of two diets, and the new chicks as dots.

from driftgames.plots import save_figure
from driftgames.plots.style import new_axes

figure, axes = new_axes()
for diet, colour in (("diet 1", "#0072b2"), ("diet 3", "#d55e00")):
    days = pd.DataFrame({"time": sorted(X["time"].unique()), "diet": diet})
    days = days.astype({"diet": X["diet"].dtype})
    low, high = model.predict_interval(days, coverage=0.8).T
    axes.fill_between(days["time"], low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(days["time"], model.predict(days), color=colour, label=diet)
    shown = is_new & (table["diet"] == diet)
    axes.plot(table["time"][shown], y[shown], ".", color=colour, markersize=4)
axes.set(xlabel="day", ylabel="weight, g")
axes.legend(frameon=False)
save_figure(figure, "chicks_intervals.svg")

# ## How much they cover
#
# The ends are quantiles at levels that held-out rows chose. On new chicks:

low, high = model.predict_interval(X_new, coverage=0.8).T
seen = pd.DataFrame({"covered": (low <= y_new) & (y_new <= high), "width": high - low})
print(f"covered {seen['covered'].mean():.0%}, asked for 80 %")
weeks = pd.cut(X_new["time"], [-1, 7, 14, 21], labels=["week 1", "week 2", "week 3"])
print(seen.groupby(weeks, observed=True).mean().round(2))

# This is measured, and no promise. There are ten new chicks, so the share can be off by a lot; and
# the rows that were held out inside the fit were of chicks that it knew.
#
# `validation_fraction=0.2` holds rows out of everything, and then the share is promised: for new
# rows that are drawn as those of the fit were. That is a day of one of the same chicks. It is no
# promise about new chicks, whose rows come together. [Regression and
# intervals](../regression.md#a-promise-about-new-rows) says more.

promised = NHBoostDTRegressor(validation_fraction=0.2).fit(X_train, y_train)
print(promised.certificate_.new_examples)
#
# ## A distribution
#
# `predict_distribution` has all that the model says of a row. A chick on diet 3, on the last day:

last = model.predict_distribution(days.tail(1))
print(f"median {last.median()[0]:.0f} g, standard deviation {last.std()[0]:.0f} g")
print(f"heavier than 200 g with probability {1 - last.cdf(200)[0]:.2f}")
print(f"one chick in ten is lighter than {last.ppf(0.1)[0]:.0f} g")
save_figure(last.plot(), "chicks_density.svg")

# The score of a distribution is its CRPS, an absolute error that counts how sure it was. Without
# the diet it is larger, without the day much larger.

for columns in (["time", "diet"], ["time"], ["diet"]):
    smaller = NHBoostDTRegressor(100, max_leaves=8).fit(X_train[columns], y_train)
    crps = smaller.predict_distribution(X_new[columns]).crps(y_new).mean()
    print(f"{' and '.join(columns)}: {crps:.1f} g")

# ## What is guaranteed
#
# The certificate has what was measured or promised by held-out rows, and Theorem 3 over pairs of a
# row and a threshold. [Thresholds are chips](lesson_thresholds.md) explains the pairs.

print(model.certificate_)

# ## Keep it

model.save("chicks.json")
again = NHBoostDTRegressor.load("chicks.json")
print((again.predict(X_new) == model.predict(X_new)).all())
