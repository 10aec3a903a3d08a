"""How: the steps of a fit, from checked examples to a fitted model.

`rounds` and `batch_fit` tell the steps. `folds` hold examples out, `race` and `choosing` let them
choose a size, `averaging` makes one model of the folds, and `calibration` makes probabilities.
"""
