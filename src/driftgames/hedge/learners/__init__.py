"""Learners whose regret is to one action: one algorithm per file, its formula and bound first.

`hedge` is the paper's algorithm for any potential. The others have weights of their own and play
in the loops of `rounds`.
"""
