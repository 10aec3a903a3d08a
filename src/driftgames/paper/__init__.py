"""The reproduction: the paper's experiments as functions that return plain data.

`sets.choose_sets` finds the data and `reproduce.select` the experiments. `reproduce.reproduce` does
the work that is not yet in its `store.Store` and returns a `reproduce.Report`: tables and figures,
ours beside the published numbers. The package `report` renders it.

Nothing is imported here, so that the benchmarks can use `peers` without loading our own kernels.
"""
