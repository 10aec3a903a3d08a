"""How: the steps of a fit, from checked examples to a fitted model."""
