"""Policies of content stores: which Data they evict, and which Data they store.

Each is described in ``docs/scenario.md``; a wrong parameter is an error that names the right ones.
"""

from __future__ import annotations

from typing import ClassVar

from recoup._spec import Spec

__all__ = ["Fifo", "Lcd", "Lce", "Lfu", "Lru", "Mcd", "PerfectLfu", "Prob", "Random"]


class _Replacement(Spec):
    family: ClassVar[str] = "replacement"


class _Admission(Spec):
    family: ClassVar[str] = "admission"


class Lru(_Replacement):
    """Evicts the least recently used Data."""

    spec_name: ClassVar[str] = "lru"


class Fifo(_Replacement):
    """Evicts the Data that was stored first."""

    spec_name: ClassVar[str] = "fifo"


class Lfu(_Replacement):
    """Evicts the least frequently used Data, counted while it is stored."""

    spec_name: ClassVar[str] = "lfu"


class PerfectLfu(_Replacement):
    """Evicts the least frequently requested Data, counted by name whether it is stored or not."""

    spec_name: ClassVar[str] = "perfect-lfu"


class Random(_Replacement):
    """Evicts any Data with the same probability."""

    spec_name: ClassVar[str] = "random"


class Lce(_Admission):
    """Leave copy everywhere: stores all Data."""

    spec_name: ClassVar[str] = "lce"


class Prob(_Admission):
    """Stores Data with a fixed probability."""

    spec_name: ClassVar[str] = "prob"


class Lcd(_Admission):
    """Leave copy down: the first store below a hit stores the Data."""

    spec_name: ClassVar[str] = "lcd"


class Mcd(_Admission):
    """Move copy down: as `Lcd`, and the store that answered erases its copy."""

    spec_name: ClassVar[str] = "mcd"
