"""Doctests of an adapter are collected if its library is installed."""

from importlib.util import find_spec

_ADAPTERS = {"onnx": "boosting/model/onnx_export.py", "skfolio": "portfolio/skfolio.py"}

collect_ignore = [
    f"src/driftgames/{file}" for library, file in _ADAPTERS.items() if not find_spec(library)
]
