"""Attributes that are computed when they are first read, without a lock.

Before Python 3.12 `functools.cached_property` holds one lock for all objects while it computes. A
process that is forked in that moment inherits the lock and waits for it for ever. Two threads that
read an attribute first may both compute it here: the values are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  # named like the one of functools
    """An attribute whose value is kept in the object.

    >>> class Circle:
    ...     @cached_property
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (3.14, 3.14)
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]  # read from the class
        value = instance.__dict__[self._name] = self._function(instance)
        return value
