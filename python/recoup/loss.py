"""Loss detectors: rules that declare a segment lost before its timer expires.

Parameters of each are listed in ``docs/algorithms.md``; a wrong one is an error that names the right ones.
"""

from __future__ import annotations

from typing import ClassVar

from recoup._spec import Spec

__all__ = [
    "OutOfOrder",
    "PreRecovery",
    "Rack",
    "Simple1",
    "Simple2",
    "Simple3",
    "Smart",
    "TimeThreshold",
    "Timeout",
]


class _Loss(Spec):
    family: ClassVar[str] = "loss"


class Timeout(_Loss):
    """None: only timers tell."""

    spec_name: ClassVar[str] = "timeout"


class Simple1(_Loss):
    """The first version of the study of Udugama et al. (2013)."""

    spec_name: ClassVar[str] = "simple1"


class OutOfOrder(_Loss):
    """A number of segments came out of order."""

    spec_name: ClassVar[str] = "out-of-order"


class Simple2(_Loss):
    """The second version of the study of Udugama et al. (2013)."""

    spec_name: ClassVar[str] = "simple2"


class Simple3(_Loss):
    """The third version of the study of Udugama et al. (2013)."""

    spec_name: ClassVar[str] = "simple3"


class PreRecovery(_Loss):
    """As out-of-order, after a stay in pre-recovery."""

    spec_name: ClassVar[str] = "pre-recovery"


class Smart(_Loss):
    """The fourth version of the study of Udugama et al. (2013)."""

    spec_name: ClassVar[str] = "smart"


class Rack(_Loss):
    """By age of what others have overtaken, with a tail-loss probe."""

    spec_name: ClassVar[str] = "rack"


class TimeThreshold(_Loss):
    """By age, as RFC 9002 has it."""

    spec_name: ClassVar[str] = "time-threshold"
