"""Numba loops. Nothing here knows a potential's name or a learner."""
