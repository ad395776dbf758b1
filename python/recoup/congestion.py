"""Congestion windows: how many segments may be in flight.

Parameters of each are listed in ``docs/algorithms.md``; a wrong one is an error that names the right ones.
"""

from __future__ import annotations

from typing import ClassVar

from recoup._spec import Spec

__all__ = [
    "Aimd",
    "Bbr",
    "Compound",
    "Cubic",
    "Fixed",
    "NewReno",
    "Nikzad2022",
    "Pcon",
    "Raaqm",
    "Recoup",
    "Udugama2013",
    "Vegas",
    "Westwood",
    "Yang2016",
]


class _Congestion(Spec):
    family: ClassVar[str] = "congestion"


class Fixed(_Congestion):
    """A window that never changes."""

    spec_name: ClassVar[str] = "fixed"


class Aimd(_Congestion):
    """Additive increase, multiplicative decrease."""

    spec_name: ClassVar[str] = "aimd"


class Yang2016(_Congestion):
    """The window of the study of Yang et al. (2016)."""

    spec_name: ClassVar[str] = "yang2016"


class NewReno(_Congestion):
    """NewReno (RFC 5681, RFC 6582)."""

    spec_name: ClassVar[str] = "newreno"


class Udugama2013(_Congestion):
    """The window of the study of Udugama et al. (2013)."""

    spec_name: ClassVar[str] = "udugama2013"


class Cubic(_Congestion):
    """CUBIC (RFC 9438)."""

    spec_name: ClassVar[str] = "cubic"


class Compound(_Congestion):
    """Compound TCP."""

    spec_name: ClassVar[str] = "compound"


class Nikzad2022(_Congestion):
    """The window of the study of Nikzad et al. (2022)."""

    spec_name: ClassVar[str] = "nikzad2022"


class Recoup(_Congestion):
    """The default: reacts to queues and marks, not to random losses."""

    spec_name: ClassVar[str] = "recoup"


class Raaqm(_Congestion):
    """Remote adaptive active queue management."""

    spec_name: ClassVar[str] = "raaqm"


class Bbr(_Congestion):
    """BBR, version 3, as far as a consumer can."""

    spec_name: ClassVar[str] = "bbr"


class Vegas(_Congestion):
    """TCP Vegas: keeps a few segments in the queue of the bottleneck."""

    spec_name: ClassVar[str] = "vegas"


class Westwood(_Congestion):
    """TCP Westwood+: after a loss the window is what the path delivered without a queue."""

    spec_name: ClassVar[str] = "westwood"


class Pcon(_Congestion):
    """The consumer of PCON: a BIC window that marks reduce as losses do."""

    spec_name: ClassVar[str] = "pcon"
