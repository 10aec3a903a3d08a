"""Every bound that the library promises, one function each, named after its theorem."""

from driftgames.certificates.bounds.paper import (
    corollary_1,
    corollary_2,
    exponential_weights,
    high_probability,
    relaxed_game_hoeffding,
    relaxed_game_value,
    theorem_1,
    theorem_2,
    theorem_5,
    theorem_5_tuned,
    theorem_6,
)

__all__ = [
    "corollary_1",
    "corollary_2",
    "exponential_weights",
    "high_probability",
    "relaxed_game_hoeffding",
    "relaxed_game_value",
    "theorem_1",
    "theorem_2",
    "theorem_5",
    "theorem_5_tuned",
    "theorem_6",
]
