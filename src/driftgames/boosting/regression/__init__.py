"""Regression: thresholds of an outcome are labels, and votes for them make a distribution.

`outcome_thresholds` says where they lie, and `stages` fits one booster after another. `regressor`
is the estimator, `distribution` what it predicts, and `regressor_document` its files. Steps of a
fit, the loops for pairs of rows and thresholds, and the sigmoids are those of `fit`, `engine` and
`model`.
"""
