"""Policies without contexts: one per file, with its bound, or with why nothing is promised.

`policy` adds runs, bounds and certificates to a puller. `conditions` checks what Theorem 4 asks of
a potential, by a formula or by `finite_differences`.
"""
