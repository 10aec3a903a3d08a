"""Boost a table: from a data frame to a scorecard.

You fit a booster to a real table, see which size it chose, look at what it learnt, check its
guarantee, and end with a card of whole numbers that a person can add up. The table has 30
measurements of 569 tumours and comes with scikit-learn. Data frames need pandas or polars; arrays
need neither.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

table = load_breast_cancer(as_frame=True)
X, y = table.data, table.target_names[table.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(X_train.shape, X_test.shape)

# ## Fit
#
# There is nothing to tune. The booster chooses the leaves of its trees and its number of rounds by
# cross-validation with five folds, and its model is the mean of the boosters of the folds.

from driftgames import NHBoostDTClassifier

model = NHBoostDTClassifier().fit(X_train, y_train)
chosen = model.chosen_
print(f"chosen: {chosen.max_leaves} leaves, {chosen.n_estimators} rounds")
print(f"error on new examples: {1 - model.score(X_test, y_test):.3f}")
print(model.predict(X_test.head(3)))
print(model.predict_proba(X_test.head(3)).round(3))

# [How a fit works](../choosing.md) has the rule. The picture shows the held-out log-loss of each
# size; a ring marks the chosen one.

from driftgames.plots import save_figure

save_figure(chosen.plot(), "boosting_race.svg")

# The probabilities are calibrated on held-out examples, so 0.9 means nine out of ten.
# [Probabilities](../probabilities.md) shows how to check that.
#
# ## The booster of the paper
#
# With a size of your own nothing is chosen, and one booster is fitted to all examples. 200 trees of
# two leaves, stumps, are the booster of the paper: each asks one question about one column.

paper = NHBoostDTClassifier(n_estimators=200, max_leaves=2).fit(X_train, y_train)
print(f"error on new examples: {1 - paper.score(X_test, y_test):.3f}")

# ## Which examples it ignores
#
# An example that is right by a large margin weighs exactly zero. Late rounds look at the hard
# examples alone.

for t in (10, 50, 100, 200):
    print(f"round {t:3d}: {paper.history_['zero_fraction'][t - 1]:.0%} of the examples ignored")

# ## What is guaranteed
#
# Theorem 3 of the paper bounds the share of training examples with a small margin. The certificate
# prints this bound beside what the fit achieved. A bound of 1 says nothing; it falls with the
# number of rounds.

print(paper.certificate_)

# ## Why it decides
#
# A model of stumps is a sum of one step function for each column, so you can draw all of it.

save_figure(paper.plot_shapes(X_train, n_features=3), "boosting_votes.svg")

# `explain` has the votes on one example, for models of any size. They add up to the decision.

explanation = model.explain(X_test.iloc[0])
for name, share in explanation.strongest(5):
    print(f"{share:+.3f}  {name}")
print(f"{explanation.decision:+.3f}  is the whole vote: {model.predict(X_test.head(1))[0]}")

# ## A card for the wall
#
# All votes of one booster of stumps weigh the same, so the points are whole numbers. A fit of few
# rounds gives a short card.

short = NHBoostDTClassifier(n_estimators=12, max_leaves=2, calibrate=False).fit(X_train, y_train)
card = short.scorecard()
print(card.to_frame()[["feature", "value", "points"]].to_string(index=False))
print(*card.notes)
print(f"error on new examples: {1 - short.score(X_test, y_test):.3f}")

# ## Keep it
#
# The file is documented JSON and never a pickle. A loaded model predicts the same to the bit.

model.save("tumours.json")
again = NHBoostDTClassifier.load("tumours.json")
print((again.decision_function(X_test) == model.decision_function(X_test)).all())
