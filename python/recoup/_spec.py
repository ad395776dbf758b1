"""Specs: algorithms with their parameters, written as text that every part of Recoup reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction
from typing import ClassVar

from recoup import _native
from recoup._plain import plain

#: What a parameter may be. A duration is a text such as ``"200ms"``, or a ``timedelta``.
Value = bool | int | float | str | Fraction | timedelta


class Spec:
    """An algorithm with its parameters. Its text (``str``) is the spec, such as ``jacobson(k=8)``.

    Parameters
    ----------
    **parameters
        Parameters by name, with ``_`` in place of ``-``. Those that are left out keep their defaults. A duration is a
        text such as ``"200ms"`` or a ``datetime.timedelta``; a fraction a ``fractions.Fraction`` or a text.

    Raises
    ------
    UsageError
        If the algorithm has no such parameter, or it cannot have that value.
    """

    family: ClassVar[str]
    """The family that it belongs to, such as ``congestion``."""
    spec_name: ClassVar[str]
    """Its name in specs."""

    def __init__(self, **parameters: Value) -> None:
        within = inside(parameters)
        self._text = f"{self.spec_name}({within})" if within else self.spec_name
        self._full = _native.full_spec(self.family, self._text)

    @property
    def full(self) -> str:
        """The spec with every parameter."""
        return self._full

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<recoup.{self.family} {self._text}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and (self.family, self._full) == (other.family, other._full)

    def __hash__(self) -> int:
        return hash((self.family, self._full))


def inside(parameters: Mapping[str, Value]) -> str:
    """Return parameters as they stand within the brackets of a spec."""
    return ",".join(f"{_key(key)}={_text(value)}" for key, value in parameters.items())


def _key(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: Value) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, float):
        return repr(value)
    return str(value)
