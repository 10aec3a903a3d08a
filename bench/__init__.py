"""Benchmarks: each a race against the libraries that people use now, all in one run.

`bench.harness` times and compares. A subject is a module with a function
``run(*, quick=False, tell=silent)`` that returns a list of tables. ``python -m bench SUBJECT``, in
the folder of the repository, prints them.
"""
