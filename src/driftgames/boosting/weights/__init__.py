"""Weigh: training examples are chips, and a rule weighs them by their positions."""
