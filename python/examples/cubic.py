"""CUBIC (RFC 9438) as a Python class: the same window as ``cubic(hystart=false,restart=false,undo=false)``.

recoup sim cannot run it; a Python program does:

    from cubic import Cubic
    scenario = recoup.Scenario.from_file("line.toml", settings={"fetch.congestion": Cubic()})
"""

from __future__ import annotations

import math

from recoup.algorithm import CongestionControl, Delivered, Loss, register


class PyCubic(CongestionControl):
    """A cubic of the time since the last loss event, and slow start before it."""

    spec_name = "py-cubic"

    def __init__(self, c: float = 0.4, beta: float = 0.7) -> None:
        self.c = c
        self.beta = beta
        self.limit = math.inf
        self.window = 2.0
        self.ssthresh = math.inf
        self.w_max = 0.0
        self.cwnd_prior = 0.0
        self.start: float | None = None  # of the epoch
        self.k = 0.0
        self.origin = 0.0
        self.w_est = 0.0
        self.recovery_point = -1
        self.used_until = -1
        self.last_growth = 0.0
        self.paused = True

    def set_limit(self, max_window: float) -> None:
        """Grow no further than this."""
        self.limit = max_window
        self.window = min(self.window, max_window)

    def on_delivered(self, now: float, delivered: Delivered) -> None:
        """Grow, if the window is in use."""
        window = self.window
        in_flight = delivered.in_flight
        allowed = int(window)
        if in_flight + 1 >= allowed:
            self.used_until = delivered.highest_order
        if in_flight > allowed or delivered.order > self.used_until or window >= self.limit:
            self.paused = True
            return
        if self.paused:
            # Time in which the window was not in use does not count (section 5.8).
            if self.start is not None:
                self.start += now - self.last_growth
            self.paused = False
        self.last_growth = now
        if window < self.ssthresh:
            self.window = min(window + 1.0, self.limit)
        else:
            self.window = min(window + self._increase(now, window, delivered), self.limit)

    def _increase(self, now: float, window: float, delivered: Delivered) -> float:
        start = self.start
        if start is None:
            self.start = start = now
            self.origin = max(self.w_max, window)
            self.k = math.cbrt((self.origin - window) / self.c)
            self.w_est = window
        beta = self.beta
        ahead = self.w_est >= self.cwnd_prior
        self.w_est += (1.0 if ahead else 3.0 * (1.0 - beta) / (1.0 + beta)) / window
        t = now - start - self.k
        if self.c * t * t * t + self.origin < self.w_est:
            return max(self.w_est - window, 0.0)
        t += delivered.srtt or delivered.rtt or 0.0
        target = min(max(self.c * t * t * t + self.origin, window), 1.5 * window)
        return (target - window) / window

    def on_loss(self, now: float, loss: Loss) -> bool:
        """Reduce the window once for all that was sent before the reduction."""
        if loss.order <= self.recovery_point:
            return False
        window = self.window
        self.w_max = self.cwnd_prior = window
        self.start = None
        left = window * self.beta
        self.ssthresh = max(left, 2.0)
        self.window = max(min(max(left, 2.0), window), 1.0)
        self.recovery_point = max(loss.highest_order, loss.order)
        self.paused = True
        return True


Cubic = register(PyCubic)
