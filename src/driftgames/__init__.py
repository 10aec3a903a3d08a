"""Online learning and boosting from drifting games.

Losses push chips along a line, a potential weighs each chip by where it stands, and the
weights are the decision. Experts, bandit arms, points of a convex set and training examples
are all chips. [LS14] is Luo and Schapire, "A Drifting-Games Analysis for Online Learning and
Applications to Boosting", 2014.

Names are imported from their modules when first used, so that ``import driftgames`` is quick.
"""

from __future__ import annotations

from driftgames.core.lazy import lazy_names

_find, _, __all__ = lazy_names(__name__)


def __getattr__(name: str) -> object:
    return _installed_version() if name == "__version__" else _find(name)


def _installed_version() -> str:
    """Return the version that was installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("driftgames")
    except PackageNotFoundError:  # a source tree that was not installed
        return "0+unknown"


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
