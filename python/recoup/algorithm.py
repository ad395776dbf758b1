"""Algorithms of your own: subclasses of these run in simulations and in fetches, under their names in specs.

>>> class Half(recoup.algorithm.CongestionControl):
...     def __init__(self, beta: float = 0.5) -> None:
...         self.beta = beta
...         self.window = 2.0
...
...     def on_delivered(self, now, delivered):
...         self.window += 1 / self.window
...
...     def on_loss(self, now, loss):
...         self.window = max(self.window * self.beta, 2.0)
...         return True
>>> half = recoup.algorithm.register(Half)
>>> str(half(beta=0.7))
'half(beta=0.7)'

A class is called once for each event, in the order of events, and its times are seconds since the beginning of the run.
It must neither read a clock nor draw random numbers of its own: runs with equal seeds would differ. An exception ends
the run with its traceback. What a class computes with and the parameters of the instance are part of the identity of a
scenario: results of another version of a class are not mixed with its own. To what a class computes with belong its
code and all that this code reaches: bases, functions and values of modules, closures, defaults. Installed packages are
known by their names.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from recoup import _native
from recoup._errors import LocalError, UsageError
from recoup._identity import Held, digest_of
from recoup._native import Arrival, CachedData, Delivered, Loss, Pending, Sample, Upstream
from recoup._spec import Spec, Value

__all__ = [
    "Algorithm",
    "Arrival",
    "CacheAdmission",
    "CacheReplacement",
    "CachedData",
    "CongestionControl",
    "Delivered",
    "ForwardingStrategy",
    "Loss",
    "LossDetector",
    "Pending",
    "RtoEstimator",
    "Sample",
    "Upstream",
    "register",
    "registered",
]


class Algorithm(ABC):
    """What all algorithms have in common.

    The constructor's parameters are the parameters of the spec. Each is a keyword with a default, whose type (``bool``,
    ``int``, ``float`` or ``str``) is that of the parameter.
    """

    family: ClassVar[str]
    """The family that the class belongs to."""
    spec_name: ClassVar[str | None] = None
    """The name in specs; the name of the class in lower case with hyphens without it."""
    version: ClassVar[str | None] = None
    """What tells versions of the class apart; a digest of what it computes with, without it."""
    _optional: ClassVar[tuple[str, ...]] = ()


class CongestionControl(Algorithm):
    """A congestion window: how many segments may be in flight.

    After each event the attributes are read: ``window`` in segments, at least 0, which counts as 1 below that; and
    ``ssthresh``, where slow start ends, in segments.
    """

    family: ClassVar[str] = "congestion"
    _optional = (
        "on_repaired",
        "on_spurious",
        "on_recovered",
        "pacing_rate",
        "least_timeout",
        "seed",
        "set_limit",
    )

    window: float = 1.0
    ssthresh: float = math.inf

    @abstractmethod
    def on_delivered(self, now: float, delivered: Delivered) -> None:
        """A segment arrived for the first time."""

    @abstractmethod
    def on_loss(self, now: float, loss: Loss) -> bool:
        """Judge a lost transmission, or a marked answer.

        Returns
        -------
        bool
            Whether this begins a new loss event, for which the window was reduced.
        """

    def on_repaired(self, now: float, loss: Loss) -> bool:
        """A link on the way lost a transmission and repaired it. Return whether the window was reduced."""
        return False

    def on_spurious(self, now: float, order: int) -> bool:
        """A transmission that was reported lost was answered after all. Return whether the window was restored."""
        return False

    def on_recovered(self, now: float) -> None:
        """Everything has arrived that had been asked for when a loss was judged."""

    def pacing_rate(self, remaining: int | None) -> float | None:
        """Return how many Interests a second leave at most; ``None`` is as fast as the window allows."""
        return None

    def least_timeout(self) -> float | None:
        """Return the shortest timeout that the window allows, in seconds."""
        return None

    def set_limit(self, max_window: float) -> None:
        """Receive the widest window that is used from now on, in segments. A wider one counts as that."""

    def seed(self, seed: int) -> None:
        """Receive a seed for random numbers, before anything else."""


class RtoEstimator(Algorithm):
    """A retransmission timer: when a segment is asked for again.

    After each event the attributes are read: ``rto``, and ``srtt`` and ``rttvar`` for reports, in seconds.
    """

    family: ClassVar[str] = "rto"
    _optional = ("on_progress",)

    rto: float = 1.0
    srtt: float | None = None
    rttvar: float | None = None

    @abstractmethod
    def on_sample(self, now: float, sample: Sample) -> None:
        """A round trip was measured. Never called for a segment that was transmitted twice (Karn)."""

    @abstractmethod
    def on_timeout(self, now: float) -> None:
        """A loss event was accepted: time to back off."""

    def on_progress(self, now: float, elapsed: float) -> None:
        """A segment that had been asked for again was answered, ``elapsed`` seconds after its last loss."""


class LossDetector(Algorithm):
    """A loss detector: a rule that declares segments lost before their timers expire."""

    family: ClassVar[str] = "loss"
    _optional = ("on_timeout", "on_recovered", "on_spurious", "age", "probe_after")

    repair: str = "selective"
    """What is asked for again: ``selective`` is all that is lost, ``first-hole`` the lowest missing segment."""

    @abstractmethod
    def on_arrival(self, now: float, arrival: Arrival) -> int | None:
        """A segment arrived.

        Returns
        -------
        int or None
            Send order: transmissions of this order or a lower one that were not answered are lost. ``None``: none is.
        """

    def on_timeout(self, now: float) -> None:
        """A timer expired: what was suspected is settled."""

    def on_recovered(self, now: float) -> None:
        """Fast recovery is over, or there was nothing to repair."""

    def on_spurious(self, now: float) -> None:
        """Something judged lost was answered after all."""

    def age(self) -> float | None:
        """Return the age at which an overtaken transmission is lost even if nothing arrives, in seconds."""
        return None

    def probe_after(self) -> float | None:
        """Return the silence after which the oldest transmission is asked for again, in seconds."""
        return None


class ForwardingStrategy(Algorithm):
    """A forwarding strategy: which next hops an Interest is sent to.

    A node has one instance for each prefix with the strategy. Faces are numbers. The node decides on suppression before
    the call, and rejects an Interest that is sent to no next hop.
    """

    family: ClassVar[str] = "strategy"
    _optional = ("after_nack", "before_satisfy", "on_expiry")

    @abstractmethod
    def after_interest(self, now: float, pending: Pending, ingress: int, is_retransmission: bool) -> list[int]:
        """Select next hops for an Interest that no stored Data answers.

        Parameters
        ----------
        now : float
            The time, in seconds.
        pending : Pending
            The entry of the Interest. ``pending.next_hops`` are the eligible ones as ``(face, cost)``, cheapest first.
        ingress : int
            The face by which the Interest arrived.
        is_retransmission : bool
            Whether the entry was forwarded before.

        Returns
        -------
        list of int
            Faces of ``pending.next_hops``.
        """

    def after_nack(self, now: float, pending: Pending, upstream: int, reason: int) -> list[int]:
        """Select other next hops after a Nack of ``upstream``, whose reason is the number of NDNLPv2.

        With an empty list, the Nack is forwarded downstream as soon as all upstreams have sent one.
        """
        return []

    def before_satisfy(self, now: float, pending: Pending, upstream: int) -> None:
        """Receive that Data arrived from ``upstream``."""

    def on_expiry(self, now: float, pending: Pending) -> None:
        """Receive that the entry expired without Data."""


class CacheReplacement(Algorithm):
    """A replacement policy: which Data a full content store evicts."""

    family: ClassVar[str] = "replacement"
    _optional = ("on_replace", "on_miss", "displaces", "seed")

    @abstractmethod
    def on_insert(self, now: float, data: CachedData) -> None:
        """Data was stored in the slot ``data.slot``, which was free."""

    @abstractmethod
    def on_hit(self, now: float, data: CachedData) -> None:
        """Stored Data answered an Interest."""

    @abstractmethod
    def on_remove(self, slot: int) -> None:
        """A slot was freed, by eviction or erasure."""

    @abstractmethod
    def victim(self) -> int:
        """Return the slot to evict next. At least one slot is in use."""

    def on_replace(self, now: float, data: CachedData) -> None:
        """Newer Data of the same name replaced the Data of a slot. Without this method, it counts as a hit."""

    def on_miss(self, now: float, hash: int) -> None:
        """No Data answered an Interest, whose name has this hash."""

    def displaces(self, now: float, hash: int) -> bool:
        """Return whether new Data, whose name has this hash, may displace the victim of a full store."""
        return True

    def seed(self, seed: int) -> None:
        """Receive a seed for random numbers, before anything else."""


class CacheAdmission(Algorithm):
    """An admission policy: which Data a content store stores."""

    family: ClassVar[str] = "admission"
    _optional = ("seed",)

    copy_down: str = "off"
    """``leave``: nodes downstream store no copy of what is stored here. ``move``: a hit also erases the copy."""

    @abstractmethod
    def admits(self, now: float, data: CachedData) -> bool:
        """Return whether the Data is stored."""

    def seed(self, seed: int) -> None:
        """Receive a seed for random numbers, before anything else."""


_BASES: dict[str, type[Algorithm]] = {
    "congestion": CongestionControl,
    "rto": RtoEstimator,
    "loss": LossDetector,
    "strategy": ForwardingStrategy,
    "replacement": CacheReplacement,
    "admission": CacheAdmission,
}

#: Registered classes with their identities, by family and name.
_CLASSES: dict[tuple[str, str], tuple[type[Algorithm], str]] = {}
#: Objects that runs change, such as counters, with their state before the first run.
_STATE: dict[type[Algorithm], Held] = {}


def register(algorithm: type[Algorithm]) -> Callable[..., Spec]:
    """Make a class known to all readers of specs in this process.

    Parameters
    ----------
    algorithm : type
        A subclass of `CongestionControl`, `RtoEstimator`, `LossDetector`, `ForwardingStrategy`, `CacheReplacement` or
        `CacheAdmission`. It replaces one of the same name.

    Returns
    -------
    callable
        Makes a `Spec` from parameters: ``register(Half)(beta=0.7)``.

    Raises
    ------
    UsageError
        If a parameter has no default, or the name is taken.
    """
    return _register(algorithm, _identity(algorithm))


def _register(algorithm: type[Algorithm], identity: str) -> Callable[..., Spec]:
    """Register a class whose identity is known: a class from another process may have no source here."""
    name = _name(algorithm)
    if name in _native.spec_names(algorithm.family):
        message = f"`{name}` is an algorithm of Recoup"
        raise UsageError(message, "give the class another spec_name", 2)
    if re.fullmatch(r"[a-zA-Z][a-zA-Z0-9-]*", name) is None:
        message = f"`{name}` is no name of an algorithm"
        raise UsageError(message, "give the class a spec_name of letters, digits and hyphens", 2)
    base = _BASES[algorithm.family]
    own = [it for it in algorithm._optional if getattr(algorithm, it) is not getattr(base, it)]
    _native.register(
        algorithm.family,
        name,
        algorithm.__qualname__,
        algorithm,
        identity,
        _parameters(algorithm),
        own,
    )
    _CLASSES[algorithm.family, name] = algorithm, identity
    return _constructor(algorithm.family, name)


def used_in(names: Iterable[str]) -> list[type[Algorithm]]:
    """Return the registered classes with these names."""
    return [it for it, _ in _CLASSES.values() if _name(it) in names]


def identified(classes: Iterable[type[Algorithm]]) -> list[tuple[type[Algorithm], str]]:
    """Return classes with their identities as they are now, under which they are registered from now on.

    Raises
    ------
    UsageError
        If another class has taken the place of one in its module, and was not registered.
    """
    found = [(it, _identity(it)) for it in classes]
    for algorithm, identity in found:
        if _is_replaced(algorithm):
            message = f"{algorithm.__qualname__} was defined anew after it was registered"
            raise UsageError(message, "register the new class, too", 2)
        if (algorithm, identity) != _CLASSES.get((algorithm.family, _name(algorithm))):
            _register(algorithm, identity)
    return found


def arrived(algorithm: type[Algorithm], identity: str) -> None:
    """Register a class that has come from another process, if it is the same class here.

    Raises
    ------
    LocalError
        If it computes with something else here: its module is older, or a value depends on the machine.
    """
    if _CLASSES.get((algorithm.family, _name(algorithm))) == (algorithm, identity):
        return
    if _identity(algorithm) != identity:
        message = f"a worker has another version of {algorithm.__qualname__}, or of what that reaches"
        raise LocalError(
            message, "restart the workers, or give the class a `version` if its values may differ there", 4
        )
    _register(algorithm, identity)


@contextlib.contextmanager
def settled(classes: Iterable[type[Algorithm]]) -> Iterator[None]:
    """Tell apart what runs within this context change of their classes, such as counters, and changes of the user."""
    before = [(it, digest_of(it, _ROOTS)[1]) for it in classes if it.version is None]
    try:
        yield
    finally:
        for algorithm, held in before:
            _, now = digest_of(algorithm, _ROOTS)
            changed = {key: it for key, it in held.items() if now.get(key, it)[1] != it[1]}
            _STATE[algorithm] = {**changed, **_STATE.get(algorithm, {})}


def _is_replaced(algorithm: type[Algorithm]) -> bool:
    now = getattr(sys.modules.get(algorithm.__module__), algorithm.__qualname__, algorithm)
    is_algorithm = isinstance(now, type) and issubclass(now, Algorithm) and hasattr(now, "family")
    return is_algorithm and now is not algorithm and (now.family, _name(now)) == (algorithm.family, _name(algorithm))


def registered() -> list[type[Algorithm]]:
    """Return the registered classes."""
    return [it for it, _ in _CLASSES.values()]


def _constructor(in_family: str, name: str) -> Callable[..., Spec]:
    class Registered(Spec):
        family: ClassVar[str] = in_family
        spec_name: ClassVar[str] = name

        def __init__(self, **parameters: Value) -> None:
            super().__init__(**parameters)

        def __reduce__(self) -> tuple[Callable[..., Spec], tuple[type[Algorithm], str, str]]:
            return _restored, (*_CLASSES[in_family, name], str(self))

    Registered.__name__ = Registered.__qualname__ = name
    return Registered


def _restored(algorithm: type[Algorithm], identity: str, text: str) -> Spec:
    """Register a class where a spec of it has come from another process."""
    arrived(algorithm, identity)
    made = _constructor(algorithm.family, _name(algorithm))()
    made._text = text
    made._full = _native.full_spec(algorithm.family, text)
    return made


def _name(algorithm: type[Algorithm]) -> str:
    return algorithm.spec_name or _hyphenated(algorithm.__name__)


def _hyphenated(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _identity(algorithm: type[Algorithm]) -> str:
    if algorithm.version is not None:
        return hashlib.sha256(algorithm.version.encode()).hexdigest()[:16]
    return digest_of(algorithm, _ROOTS, _STATE.get(algorithm))[0]


_ROOTS: tuple[type[Algorithm], ...] = (Algorithm, *_BASES.values())


def _parameters(algorithm: type[Algorithm]) -> list[tuple[str, bool | int | float | str]]:
    found = []
    if algorithm.__init__ is object.__init__:
        return []
    for parameter in list(inspect.signature(algorithm.__init__).parameters.values())[1:]:
        if not isinstance(parameter.default, bool | int | float | str):
            message = f"parameter `{parameter.name}` of {algorithm.__qualname__} has no default"
            raise UsageError(message, "give it a default: a truth value, a number or a text", 2)
        found.append((parameter.name, parameter.default))
    return found
