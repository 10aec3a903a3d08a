"""Weigh: training examples are chips, and a rule weighs them by their positions.

A rule that knows an example by its number of mistakes is compiled, and called between two rounds.
"""
