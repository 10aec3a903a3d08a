"""The faces that scikit-learn knows: parameters, fit and predict of every booster."""
