"""Policies that see something before each pull: features of the round, or advice of experts.

`SquareCB` learns a regression and weighs arms by inverse gaps. `Exp4` hedges over experts with
importance weights, which is the paper's recipe.
"""
