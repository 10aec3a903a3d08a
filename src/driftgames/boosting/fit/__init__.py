"""The steps of a fit, from checked examples to a fitted model.

`fit_booster` says them in order. A `source` has the examples: in `memory`, in `batches`, or on a
cluster. `job` has what is asked for and the plan. `folds` hold examples out, `race` and `choosing`
let them choose a size, `mean` makes one model of the folds, and `watch` follows the rounds.
"""
