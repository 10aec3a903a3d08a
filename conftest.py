"""Doctests of an adapter are collected if its library is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("skfolio") else ["src/driftgames/portfolio/skfolio.py"]
