"""Progress of transfers and of simulations, by ``tqdm`` or by a function of the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recoup._errors import UsageError

#: What ``progress`` may be: nothing, a bar of tqdm, or a function that is called with what is done and all of it.
Progress = bool | Callable[[int, int | None], object]


class Meter:
    """Shows how far something is; a context manager."""

    def __init__(self, progress: Progress, unit: str, title: str) -> None:
        self._report: Callable[[int, int | None], object] | None = None
        self._bar: Any = None
        if progress is True:
            self._bar = _bar(unit, title)
        elif callable(progress):
            self._report = progress

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def is_wanted(self) -> bool:
        """Whether anything is shown."""
        return self._bar is not None or self._report is not None

    def update(self, done: int, total: int | None) -> None:
        """Show that so much of all is done."""
        if self._report is not None:
            self._report(done, total)
        if self._bar is not None:
            if total is not None:
                self._bar.total = total
            self._bar.update(done - self._bar.n)

    def update_transfer(self, octets: int, segments: int, total_segments: int | None) -> None:
        """Show a transfer; its length is known by its number of segments."""
        total = None
        if total_segments and segments:
            total = octets if segments >= total_segments else octets * total_segments // segments
        self.update(octets, total)


def _bar(unit: str, title: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        message = "progress=True needs tqdm"
        raise UsageError(message, "pip install tqdm, or give a function", 2) from None
    scaled = unit == "B"
    return tqdm(unit=unit, unit_scale=scaled, unit_divisor=1000, desc=title)
