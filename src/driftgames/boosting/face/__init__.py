"""What every booster shows of itself before and after a fit.

Its parameters and their documentation, the checks of its settings and of its input, and the fitted
attributes that scikit-learn's users know. `fit` builds on it, and `estimators` adds the rest.
"""
