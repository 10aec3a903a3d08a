"""Figures from plain arrays. No function here knows a learner, so every learner can use them.

Matplotlib is imported when the first figure is drawn.
"""

from driftgames.core.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
