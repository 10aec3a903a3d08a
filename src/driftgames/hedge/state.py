"""State that is a few arrays: saved, loaded, copied, compared and put back as one."""

from __future__ import annotations

import copy
import os
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from driftgames.core.documents import (
    DocumentError,
    decode_array,
    encode_array,
    read_document,
    write_document,
)
from driftgames.core.typing import Content

VERSION = 1
"""Of the file format, which docs/state_format.md describes."""

Arrays = dict[str, npt.NDArray[Any]]


class Resumable(ABC):
    """Something whose future follows from its arguments and a few arrays."""

    _state: ClassVar[tuple[str, ...]]
    """The attributes that hold the arrays."""

    @abstractmethod
    def _saved_arguments(self) -> Content:
        """Return the arguments that it was made with, as JSON."""

    @classmethod
    @abstractmethod
    def _arguments(cls, saved: Content, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments to make it with: those saved, and given what cannot be saved.

        Whatever else is given is refused.
        """

    @abstractmethod
    def _check_state(self, saved: Arrays) -> None:
        """Say why finite arrays of the right shape are no state that a game can reach."""

    @abstractmethod
    def _identity(self) -> tuple[object, ...]:
        """Return what two of them must share to be equal, the arrays aside."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a JSON document, atomically; docs/state_format.md describes the file."""
        write_document(path, self._kind(), VERSION, self._content())

    @classmethod
    def load(cls, path: str | os.PathLike[str], **arguments: Any) -> Self:
        """Return what was saved at ``path``; it goes on to the same bits.

        ``arguments`` are for what a file cannot hold, such as a potential of your own.
        """
        content = read_document(path, cls._kind(), VERSION)
        try:
            return cls._restore(content, arguments)
        except DocumentError as error:
            raise DocumentError(f"{path}: {error}") from error

    @classmethod
    def _restore(cls, content: Content, given: dict[str, Any]) -> Self:
        """Return what `_content` described."""
        try:
            restored = cls(**cls._arguments(content["arguments"], given))
            restored._take({f"_{k}": decode_array(array) for k, array in content["state"].items()})
        except DocumentError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DocumentError(f"not a whole {cls.__name__}: {error}") from error
        return restored

    @classmethod
    def _kind(cls) -> str:
        return f"driftgames.{cls.__name__}"

    def _content(self) -> Content:
        state = {name[1:]: encode_array(array) for name, array in self._arrays().items()}
        return {"arguments": self._saved_arguments(), "state": state}

    def _take(self, saved: Arrays) -> None:
        """Put saved arrays in place of the own, unless they do not fit."""
        own = self._arrays()
        if set(saved) != set(own):
            wanted, got = (", ".join(sorted(name[1:] for name in names)) for names in (own, saved))
            raise ValueError(f"the state must be {wanted}; got {got}")
        for name, array in saved.items():
            if array.shape != own[name].shape or array.dtype != own[name].dtype:
                raise ValueError(
                    f"{name[1:]} must be {own[name].dtype}{list(own[name].shape)}; "
                    f"got {array.dtype}{list(array.shape)}"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name[1:]} must be finite")
        self._check_state(saved)
        self._put_back(saved)

    def _arrays(self) -> Arrays:
        return {name: getattr(self, name) for name in self._state}

    def _snapshot(self) -> Arrays:
        return {name: array.copy() for name, array in self._arrays().items()}

    def _put_back(self, arrays: Arrays) -> None:
        for name, array in arrays.items():
            setattr(self, name, array)

    def copy(self) -> Self:
        """Return one of its own in the same state."""
        return copy.deepcopy(self)

    __copy__ = copy

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resumable) or type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity() and all(
            np.array_equal(array, other._arrays()[name]) for name, array in self._arrays().items()
        )

    __hash__ = None  # type: ignore[assignment]
