"""Generators: from a ``random_state``, in a state that is put back, and children of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from driftgames.core.checks import check_integer
from driftgames.core.description import UNREADABLE, explain
from driftgames.core.documents import DocumentError
from driftgames.core.text import shown
from driftgames.core.typing import Content

KNOWN = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""The bit generators of NumPy, the only ones that a file may name."""

_SALT = int.from_bytes(b"driftgames")

RandomState = int | np.random.Generator | None
"""A seed; a generator; or None, which stands for a seed from the system."""


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return the generator itself, or a new one from the seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_of(random_state))


def own_generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator itself, or a learner's own one from the seed.

    Its numbers are others than those of ``default_rng(seed)``, from which a simulation may draw
    the losses.

    >>> own_generator(0).random() == np.random.default_rng(0).random()
    False
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(own_sequence(seed_of(random_state)))


def own_sequence(seed: int) -> np.random.SeedSequence:
    """Return the seed of a learner's own stream, as `own_generator` describes."""
    return np.random.SeedSequence([seed, _SALT])


def check_generator(name: str, rng: object) -> np.random.Generator:
    """Return a generator of NumPy, or say that it is none.

    >>> check_generator("rng", 3)
    Traceback (most recent call last):
    ...
    ValueError: rng must be a np.random.Generator; got 3
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"{name} must be a np.random.Generator; got {shown(rng)}")
    return rng


def seed_of(random_state: RandomState) -> int:
    """Return the seed, which a generator draws.

    >>> seed_of(7)
    7
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None:
        return int(cast(int, np.random.SeedSequence().entropy))
    return check_integer("random_state", random_state, least=0, limited=False)


def generator_in(state: Content) -> np.random.Generator:
    """Return a new generator in the state of a bit generator of NumPy.

    >>> rng = np.random.default_rng(0)
    >>> twin = generator_in(rng.bit_generator.state)
    >>> bool(rng.random() == twin.random())
    True
    """
    name = state.get("bit_generator")
    if name not in KNOWN:
        raise DocumentError(
            f"there is no bit generator {shown(name)}; there are {', '.join(KNOWN)}"
        )
    bits: np.random.BitGenerator = getattr(np.random, name)()
    try:
        _check_state(name, state)
        bits.state = state
    except UNREADABLE as error:
        raise DocumentError(
            f"generator: no {name} can be in this state: {explain(error)}"
        ) from error
    return np.random.Generator(bits)


def _check_state(name: str, state: Content) -> None:
    """Refuse numbers that NumPy takes over unchecked and that no generator can have."""
    rules = {
        "MT19937": lambda: (
            0 <= state["state"]["pos"] <= 624
        ),  # beyond it, draws read foreign memory
        "Philox": lambda: 0 <= state["buffer_pos"] <= 4,
        "PCG64": lambda: state["state"]["inc"] % 2 == 1,
        "PCG64DXSM": lambda: state["state"]["inc"] % 2 == 1,
    }
    if name in rules and not rules[name]():
        raise ValueError("a number of it is out of range")


def put_back(rng: np.random.Generator, state: Content) -> np.random.Generator:
    """Return ``rng`` in this state, or a new generator if the kinds differ."""
    own = rng.bit_generator
    if state["bit_generator"] != own.state["bit_generator"]:
        return generator_in(state)
    if state["bit_generator"] in KNOWN:
        generator_in(state)  # an invalid state must not change rng
    own.state = state  # in place: the owner of rng may draw from it too
    return rng


def child_of(rng: np.random.Generator) -> np.random.Generator:
    """Return a new generator, seeded by the next numbers of ``rng``.

    ``rng.spawn`` counts its children outside of the state that is saved.
    """
    return np.random.default_rng(rng.integers(0, 2**63, size=4))
