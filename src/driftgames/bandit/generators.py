"""Generators: their state as JSON, and back, without pickle; and children of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftgames.core.documents import DocumentError, decode_array, encode_array
from driftgames.core.typing import Content

KNOWN = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""The bit generators of NumPy, the only ones that a file may name."""


def generator_state(rng: np.random.Generator) -> Content:
    """Return the state of a generator as JSON members.

    >>> rng = np.random.default_rng(0)
    >>> twin = generator_from(generator_state(rng))
    >>> bool(rng.random() == twin.random())
    True
    """
    state = _encode(rng.bit_generator.state)
    if state["bit_generator"] not in KNOWN:
        raise ValueError(f"only {', '.join(KNOWN)} can be saved; got {state['bit_generator']}")
    return dict(state)


def generator_from(state: Content) -> np.random.Generator:
    """Return a generator in the state that `generator_state` was given."""
    name = state.get("bit_generator")
    if name not in KNOWN:
        raise DocumentError(f"there is no bit generator {name!r}; there are {', '.join(KNOWN)}")
    bits: np.random.BitGenerator = getattr(np.random, name)()
    bits.state = _decode(state)
    return np.random.Generator(bits)


def child_of(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator of its own, seeded by the next numbers of ``rng``.

    ``rng.spawn`` would count its children outside of the state that is saved.
    """
    return np.random.default_rng(rng.integers(0, 2**63, size=4))


def _encode(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _encode(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return {"array": encode_array(value)}
    return int(value) if isinstance(value, np.integer) else value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"array"}:
            return decode_array(value["array"])
        return {key: _decode(each) for key, each in value.items()}
    return value
