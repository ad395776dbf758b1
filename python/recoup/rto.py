"""Retransmission timers: when a segment is asked for again.

Parameters of each are listed in ``docs/algorithms.md``; a wrong one is an error that names the right ones.
"""

from __future__ import annotations

from typing import ClassVar

from recoup import _native
from recoup._spec import Spec, Value, inside

__all__ = [
    "CcnTimer",
    "Chopcop",
    "Constant",
    "Experts",
    "Icp",
    "Jacobson",
    "Nearness",
    "Nikzad2022",
    "PerProvider",
    "PerSource",
    "Predictive",
    "Reconsidered",
    "Rfc6298",
    "Tcp",
    "Timeest",
    "WeightedMedian",
    "Wma",
    "Yang2016",
]


class _Rto(Spec):
    family: ClassVar[str] = "rto"


class Constant(_Rto):
    """Always the same timeout."""

    spec_name: ClassVar[str] = "constant"


class Jacobson(_Rto):
    """Smoothed round trip and deviation (Jacobson)."""

    spec_name: ClassVar[str] = "jacobson"


class Rfc6298(_Rto):
    """As RFC 6298 has it."""

    spec_name: ClassVar[str] = "rfc6298"


class Yang2016(_Rto):
    """The timer of the study of Yang et al. (2016)."""

    spec_name: ClassVar[str] = "yang2016"


class Nikzad2022(_Rto):
    """The timer of the study of Nikzad et al. (2022)."""

    spec_name: ClassVar[str] = "nikzad2022"


class Reconsidered(_Rto):
    """The timer with a reconsidered deviation."""

    spec_name: ClassVar[str] = "reconsidered"


class PerProvider(_Rto):
    """An estimate for each node that answers."""

    spec_name: ClassVar[str] = "per-provider"


class Predictive(_Rto):
    """Predicts who will answer."""

    spec_name: ClassVar[str] = "predictive"


class WeightedMedian(_Rto):
    """A weighted median of recent round trips."""

    spec_name: ClassVar[str] = "weighted-median"


class Experts(_Rto):
    """The fixed-share experts."""

    spec_name: ClassVar[str] = "experts"


class Nearness(_Rto):
    """Estimates by how long a content took the last time."""

    spec_name: ClassVar[str] = "nearness"


class Tcp(_Rto):
    """Sets the Interest lifetime as TCP sets its timeout."""

    spec_name: ClassVar[str] = "tcp"


class Timeest(_Rto):
    """Sets the Interest lifetime by TimeEst."""

    spec_name: ClassVar[str] = "timeest"


class Icp(_Rto):
    """Sets the Interest lifetime by ICP."""

    spec_name: ClassVar[str] = "icp"


class Chopcop(_Rto):
    """Sets the Interest lifetime by CHoPCoP."""

    spec_name: ClassVar[str] = "chopcop"


class CcnTimer(_Rto):
    """Sets the Interest lifetime by CCNTimer."""

    spec_name: ClassVar[str] = "ccntimer"


class Wma(_Rto):
    """Sets the Interest lifetime by a weighted moving average."""

    spec_name: ClassVar[str] = "wma"


class PerSource(_Rto):
    """One of these timers for each source.

    Parameters
    ----------
    timer : Spec or str
        The timer.
    **parameters
        As of all algorithms.
    """

    spec_name: ClassVar[str] = "per-source"

    def __init__(self, timer: Spec | str, **parameters: Value) -> None:
        more = inside(parameters)
        self._text = f"per-source({timer},{more})" if more else f"per-source({timer})"
        self._full = _native.full_spec(self.family, self._text)
