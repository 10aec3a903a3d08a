"""Regression: thresholds of an outcome are labels, and votes for them make a distribution.

`thresholds` says where they lie, `sigmoids` makes probabilities of votes, `distribution` is what
users see, and `regressor` fits one booster after another.
"""
