"""Learners that follow the best action when it changes: their regret is small on every interval.

Fixed share returns a part of the weight to the prior in every round, with a given learning rate or
with that of AdaHedge. AdaNormalHedge.TV starts sleeping copies of every action.
"""
