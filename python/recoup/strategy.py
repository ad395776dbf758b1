"""Forwarding strategies: which next hops an Interest is sent to.

Each is described in ``docs/scenario.md``; a wrong parameter is an error that names the right ones.
"""

from __future__ import annotations

from typing import ClassVar

from recoup._spec import Spec

__all__ = ["BestFace", "BestRoute", "Broadcast", "Discover", "Multicast", "Multipath"]


class _Strategy(Spec):
    family: ClassVar[str] = "strategy"


class BestRoute(_Strategy):
    """The cheapest next hop; another one for a retransmission."""

    spec_name: ClassVar[str] = "best-route"


class Multicast(_Strategy):
    """All next hops; each has its own retransmission interval."""

    spec_name: ClassVar[str] = "multicast"


class Broadcast(_Strategy):
    """All next hops but the ingress, as in CCNx."""

    spec_name: ClassVar[str] = "broadcast"


class BestFace(_Strategy):
    """The next hop with the best measured round-trip time."""

    spec_name: ClassVar[str] = "best-face"


class Discover(_Strategy):
    """All next hops, then the one that answered."""

    spec_name: ClassVar[str] = "discover"


class Multipath(_Strategy):
    """All next hops in turn, equally or by their costs."""

    spec_name: ClassVar[str] = "multipath"
