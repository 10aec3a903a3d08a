"""What comes out: weak hypotheses, their votes, and an immutable model that predicts with them.

A `FittedModel` has hypotheses, vote weights, classes, a calibration and an encoder of categories.
Predictions, explanations, files and exports are made of it. It knows bins, and no fit.
"""
