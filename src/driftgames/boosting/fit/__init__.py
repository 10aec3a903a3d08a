"""The steps of a fit, from checked examples to a fitted model.

`fit_booster` says them in order. A `source` has the examples: in memory, in `batches`, or on a
cluster. `job` has the settings and the plan. `folds` hold examples out, `outcomes` judges the votes
on them, `choosing` and `race` choose a size by that, `mean` makes one model of the folds, and
`watch` follows the rounds.
"""
