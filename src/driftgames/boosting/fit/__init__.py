"""How: the steps of a fit, from checked examples to a fitted model.

`examples` tells the steps; `memory_fit` and `batch_fit` begin them. `plan` says what is chosen and
played, `tree_fit` chooses, boosts and calibrates, and `rounds` plays. `folds` hold examples out,
`race` and `choosing` let them choose a size, `averaging` makes one model of the folds, and
`calibration` makes probabilities.
"""
