"""Boost a table: from a data frame to a scorecard.

You fit NH-Boost.DT to a real table, look at what it learnt, check its guarantee, and end with a
card of whole numbers that a person can add up. The table has 30 measurements of 569 tumours and
comes with scikit-learn. Data frames need pandas or polars; arrays need neither.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

table = load_breast_cancer(as_frame=True)
X, y = table.data, table.target_names[table.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
print(X_train.shape, X_test.shape)

# ## Fit
#
# There is no learning rate to tune. 200 rounds vote, each with one question about one column.

from driftgames import NHBoostDTClassifier

model = NHBoostDTClassifier(n_estimators=200).fit(X_train, y_train)
print(f"error on new examples: {1 - model.score(X_test, y_test):.3f}")
print(model.predict(X_test.head(3)))
print(model.predict_proba(X_test.head(3)).round(3))

# The probabilities are calibrated on examples that were held out, so 0.9 means nine out of ten.
# [Probabilities](../probabilities.md) shows how to check that.
#
# ## Which examples it ignores
#
# An example that is right by a large margin weighs exactly zero. Late rounds look at the hard
# examples alone.

for t in (10, 50, 100, 200):
    print(f"round {t:3d}: {model.history_['zero_fraction'][t - 1]:.0%} of the examples ignored")

# ## What is guaranteed
#
# Theorem 3 of the paper bounds the share of training examples with a small margin. The certificate
# prints this bound beside what the fit achieved. A bound of 1 says nothing; it falls with the
# number of rounds.

print(model.certificate_)

# ## Why it decides
#
# A model of stumps is a sum of one step function for each column, so you can draw all of it.

from driftgames.plots import save_figure

save_figure(model.plot_shapes(X_train, n_features=3), "boosting_votes.svg")

# `explain` has the votes on one example. They add up to the decision.

explanation = model.explain(X_test.iloc[0])
for name, share in explanation.strongest(5):
    print(f"{share:+.3f}  {name}")
print(f"{explanation.decision:+.3f}  is the whole vote: {model.predict(X_test.head(1))[0]}")

# ## A card for the wall
#
# All votes of NH-Boost.DT weigh the same, so the points are whole numbers. A fit of few rounds
# gives a short card.

short = NHBoostDTClassifier(n_estimators=12, calibrate=False).fit(X_train, y_train)
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
