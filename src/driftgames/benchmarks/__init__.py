"""Benchmarks: each a race against the libraries that people use now, all in one run.

`driftgames.benchmarks.harness` times, compares and renders. Every other module here is a
subject with a function ``run(*, quick=False, tell=silent)`` that returns a list of tables, and
``driftgames bench SUBJECT`` prints them.
"""
