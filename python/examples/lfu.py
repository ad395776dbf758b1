"""Least frequently used eviction as a class, with the evictions of the built-in policy `lfu`."""

from __future__ import annotations

import heapq

from recoup.algorithm import CachedData, CacheReplacement, register


class PyLfu(CacheReplacement):
    """Evicts the least used Data; among Data used as often, the one that was used longest ago."""

    def __init__(self) -> None:
        self.used = 0
        # Of each slot its count and the number of its last use; in the heap also those that it had before.
        self.keys: dict[int, tuple[int, int]] = {}
        self.heap: list[tuple[int, int, int]] = []

    def _use(self, slot: int, count: int) -> None:
        self.used += 1
        self.keys[slot] = (count, self.used)
        heapq.heappush(self.heap, (count, self.used, slot))

    def on_insert(self, now: float, data: CachedData) -> None:
        """Count the first use."""
        self._use(data.slot, 1)

    def on_hit(self, now: float, data: CachedData) -> None:
        """Count a use."""
        self._use(data.slot, self.keys[data.slot][0] + 1)

    def on_remove(self, slot: int) -> None:
        """Forget a slot."""
        del self.keys[slot]

    def victim(self) -> int:
        """Return the slot with the least key."""
        while True:
            count, used, slot = self.heap[0]
            if self.keys.get(slot) == (count, used):
                return slot
            heapq.heappop(self.heap)


register(PyLfu)
