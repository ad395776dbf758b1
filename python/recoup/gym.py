"""A congestion window as an environment of Gymnasium: ``recoup/Window-v0``.

The environment runs one consumer of a scenario. At each step the agent changes the consumer's window; a step takes
``interval`` simulated seconds. Runs with equal seeds and actions are equal.

Observations are an array of five numbers:

==  ==========================================================================
0   smoothed round trip over the least round trip, minus 1
1   segments delivered in the step, over the window and the round trips in it
2   share of lost or marked transmissions in the step
3   base-2 logarithm of the window in segments
4   segments in flight over the window
==  ==========================================================================

The action is one number from -1 to 1: the window is multiplied by two to its power.

The reward of a step is the logarithm of the segments delivered in a second, minus ``delay_weight`` times observation 0,
minus ``loss_weight`` times observation 2. An episode ends with the transfer, and is truncated after ``max_steps``.
"""

from __future__ import annotations

import itertools
import math
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy
from numpy.typing import NDArray

from recoup._errors import Error, UsageError
from recoup._runs import Run
from recoup.algorithm import CongestionControl, Delivered, Loss, register
from recoup.scenario import Scenario

Observation = NDArray[numpy.float32]

#: Environments in which a consumer is running, by the number that its window is made with.
_ENVIRONMENTS: dict[int, _Episode] = {}
_NUMBERS = itertools.count(1)

_MOST_WINDOW = 1e6

_LOW = numpy.array([-1, 0, 0, 0, 0], dtype=numpy.float32)
_HIGH = numpy.array([1e6, 1e6, 1, 20, 1e6], dtype=numpy.float32)


class _ClosedError(Exception):
    """The episode was given up."""


class _Episode:
    """One run, in a thread of its own, which waits at each step for an action."""

    def __init__(self, scenario: Scenario, application: str, seed: int, interval: float) -> None:
        self.number = next(_NUMBERS)
        self.interval = interval
        self.steps: queue.Queue[tuple[Observation, float] | None] = queue.Queue()
        self.actions: queue.Queue[float | None] = queue.Queue()
        self.run: Run | None = None
        self.error: BaseException | None = None
        _ENVIRONMENTS[self.number] = self
        spec = _learnt(environment=self.number)
        own = scenario.with_settings({f"applications.{application}.congestion": spec})
        self._thread = threading.Thread(target=self._make, args=(own, seed), daemon=True)
        self._thread.start()

    def _make(self, scenario: Scenario, seed: int) -> None:
        try:
            self.run = scenario.run(seed, jobs=1)[0]
        except _ClosedError:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.steps.put(None)

    def next_step(self) -> tuple[Observation, float] | None:
        """Wait for the next step; ``None`` at the end of the run."""
        step = self.steps.get()
        if self.error is not None:
            raise self.error
        return step

    def close(self) -> None:
        self.actions.put(None)
        self._thread.join()
        _ENVIRONMENTS.pop(self.number, None)


class LearntWindow(CongestionControl):
    """The window of the consumer that an agent controls."""

    version = "1"

    def __init__(self, environment: int = 0) -> None:
        self.window = 2.0
        self._episode = _ENVIRONMENTS.get(environment)
        self._begun: float | None = None
        self._delivered = 0
        self._lost = 0

    def on_delivered(self, now: float, delivered: Delivered) -> None:
        """Count, and ask the agent at the end of a step."""
        self._delivered += 1
        if self._begun is None:
            self._begun = now
        episode = self._episode
        if episode is None or now - self._begun < episode.interval:
            return
        self._ask(episode, now - self._begun, delivered)
        self._begun, self._delivered, self._lost = now, 0, 0

    def _ask(self, episode: _Episode, elapsed: float, delivered: Delivered) -> None:
        least = delivered.min_rtt or elapsed
        srtt = delivered.srtt or least
        rate = self._delivered / elapsed
        observation = numpy.array(
            [
                srtt / least - 1,
                rate * least / self.window,
                self._lost / (self._lost + self._delivered),
                math.log2(self.window),
                delivered.in_flight / self.window,
            ],
            dtype=numpy.float32,
        )
        episode.steps.put((numpy.clip(observation, _LOW, _HIGH), rate))
        action = episode.actions.get()
        if action is None:
            raise _ClosedError
        self.window = min(max(self.window * 2.0**action, 1.0), _MOST_WINDOW)

    def on_loss(self, now: float, loss: Loss) -> bool:
        """Count; the window is the agent's."""
        self._lost += 1
        return False


_learnt = register(LearntWindow)


class WindowEnv(gymnasium.Env[Observation, NDArray[numpy.float32]]):
    """One consumer whose window an agent controls.

    Parameters
    ----------
    scenario : Scenario or callable
        The network, with one point in its sweep; or a function that makes one from a ``numpy.random.Generator`` for
        each episode.
    application : str
        The consumer.
    interval : float
        Simulated time between two actions, in seconds.
    action_delay : int
        Steps after which an action takes effect, as if the agent needed that long.
    delay_weight, loss_weight : float
        Weights of delay and loss in the reward.
    max_steps : int
        Steps after which an episode is truncated.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | Callable[[numpy.random.Generator], Scenario],
        application: str = "c1",
        *,
        interval: float = 0.1,
        action_delay: int = 0,
        delay_weight: float = 0.5,
        loss_weight: float = 5.0,
        max_steps: int = 1_000,
    ) -> None:
        if not interval > 0 or action_delay < 0:
            message = f"an interval of {interval} s and an action delay of {action_delay} steps make no environment"
            raise UsageError(message, "give an interval longer than 0, and a delay of at least 0", 2)
        self._scenario = scenario
        self._application = application
        self._interval = interval
        self._action_delay = action_delay
        self._weights = (delay_weight, loss_weight)
        self._max_steps = max_steps
        self._episode: _Episode | None = None
        self._pending: deque[float] = deque()
        self._taken = 0
        self.observation_space = gymnasium.spaces.Box(_LOW, _HIGH)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), numpy.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode. The seed decides the network and everything that happens in it."""
        super().reset(seed=seed)
        self.close()
        scenario = self._scenario
        if not isinstance(scenario, Scenario):
            scenario = scenario(self.np_random)
        run_seed = int(self.np_random.integers(1, 2**31))
        self._episode = _Episode(scenario, self._application, run_seed, self._interval)
        self._pending = deque([0.0] * self._action_delay)
        self._taken = 0
        step = self._episode.next_step()
        if step is None:
            message = f"{self._application} ended before its first step"
            raise Error(message, "make its object longer, or the interval shorter")
        return step[0], {"seed": run_seed}

    def step(self, action: NDArray[numpy.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Change the window, and run to the next step."""
        if self._episode is None:
            message = "there is no episode"
            raise Error(message, "call reset first")
        self._pending.append(float(numpy.clip(numpy.asarray(action, dtype=numpy.float64).reshape(-1)[0], -1, 1)))
        self._episode.actions.put(self._pending.popleft())
        self._taken += 1
        step = self._episode.next_step()
        if step is None:
            run = self._episode.run
            self.close()
            metrics = dict(run.metrics) if run is not None else {}
            return numpy.zeros(5, dtype=numpy.float32), 0.0, True, False, {"metrics": metrics}
        observation, rate = step
        delay_weight, loss_weight = self._weights
        reward = math.log(max(rate, 1e-3)) - delay_weight * observation[0] - loss_weight * observation[2]
        return observation, float(reward), False, self._taken >= self._max_steps, {}

    def close(self) -> None:
        """Give the episode up."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None


gymnasium.register(id="recoup/Window-v0", entry_point="recoup.gym:WindowEnv")
