"""Congestion windows as environments: ``recoup/Window-v0`` of Gymnasium, and `parallel_env` of PettingZoo.

The environment of Gymnasium runs one consumer of a scenario, that of PettingZoo several, each with an agent. At each
step an agent changes its consumer's window; a step takes ``interval`` simulated seconds, and ends with the next
delivery to any of the consumers. Runs with equal seeds and actions are equal.

Observations are an array of five numbers:

==  ==========================================================================
0   smoothed round trip over the least round trip, minus 1
1   segments delivered in the step, over the window and the round trips in it
2   share of lost or marked transmissions in the step
3   base-2 logarithm of the window in segments
4   segments in flight over the window
==  ==========================================================================

The action is one number from -1 to 1: the window is multiplied by two to its power.

The reward of a step is the logarithm of the segments delivered in a second, or of one if there are fewer, minus
``delay_weight`` times observation 0, minus ``loss_weight`` times observation 2. An episode ends with the run, and is
truncated after ``max_steps``. A consumer without deliveries in a step, such as one that has ended, observes zeros but
for its window.
"""

from __future__ import annotations

import itertools
import math
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy
from numpy.typing import NDArray

from recoup._errors import Error, UsageError
from recoup._runs import Run
from recoup.algorithm import CongestionControl, Delivered, Loss, register
from recoup.scenario import Scenario

if TYPE_CHECKING:
    from recoup._parallel import WindowParallelEnv

Observation = NDArray[numpy.float32]

#: Environments in which a consumer is running, by the number that its window is made with.
_ENVIRONMENTS: dict[int, _Episode] = {}
_NUMBERS = itertools.count(1)

_MOST_WINDOW = 1e6

_LOW = numpy.array([-1, 0, 0, 0, 0], dtype=numpy.float32)
_HIGH = numpy.array([1e6, 1e6, 1, 20, 1e6], dtype=numpy.float32)


class _ClosedError(Exception):
    """The episode was given up."""


#: What each consumer observed in a step, with its rate in segments a second.
_Seen = dict[str, tuple[Observation, float]]


class _Episode:
    """One run, in a thread of its own, which waits at each step for the actions."""

    def __init__(self, scenario: Scenario, applications: list[str], seed: int, interval: float) -> None:
        self.number = next(_NUMBERS)
        self.interval = interval
        self.begun: float | None = None
        self.windows: dict[str, LearntWindow] = {}
        self.steps: queue.Queue[_Seen | None] = queue.Queue()
        self.actions: queue.Queue[dict[str, float] | None] = queue.Queue()
        self.applications = applications
        self.run: Run | None = None
        self.error: BaseException | None = None
        _ENVIRONMENTS[self.number] = self
        settings = {
            f"applications.{application}.congestion": _learnt(environment=self.number, agent=agent)
            for agent, application in enumerate(applications)
        }
        own = scenario.with_settings(settings)
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

    def delivered(self, now: float) -> None:
        """End the step if it is over: the run waits for the actions."""
        if self.begun is None:
            self.begun = now
        elapsed = now - self.begun
        if elapsed < self.interval:
            return
        self.steps.put({application: window.observe(elapsed) for application, window in self.windows.items()})
        actions = self.actions.get()
        if actions is None:
            raise _ClosedError
        for application, action in actions.items():
            if (window := self.windows.get(application)) is not None:
                window.window = min(max(window.window * 2.0**action, 1.0), _MOST_WINDOW)
        self.begun = now

    def next_step(self) -> _Seen | None:
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
    """The window of a consumer that an agent controls."""

    version = "2"

    def __init__(self, environment: int = 0, agent: int = 0) -> None:
        self.window = 2.0
        self._episode = _ENVIRONMENTS.get(environment)
        self._last: Delivered | None = None
        self._delivered = 0
        self._lost = 0
        self._name = "" if self._episode is None else self._episode.applications[agent]

    def on_delivered(self, now: float, delivered: Delivered) -> None:
        """Count, and ask the agents at the end of a step."""
        self._delivered += 1
        self._last = delivered
        if self._episode is not None:
            # Others may have been made before the run, which are not in it.
            self._episode.windows[self._name] = self
            self._episode.delivered(now)

    def observe(self, elapsed: float) -> tuple[Observation, float]:
        """Return what the agent sees of the last step, with the rate, and begin the next one."""
        rate = self._delivered / elapsed
        observation = _ended(self.window)
        if self._delivered and self._last is not None:
            least = self._last.min_rtt or elapsed
            observation[0] = (self._last.srtt or least) / least - 1
            observation[1] = rate * least / self.window
            observation[4] = self._last.in_flight / self.window
        if self._lost:
            observation[2] = self._lost / (self._lost + self._delivered)
        self._delivered = self._lost = 0
        return numpy.clip(observation, _LOW, _HIGH), rate

    def on_loss(self, now: float, loss: Loss) -> bool:
        """Count; the window is the agent's."""
        self._lost += 1
        return False


_learnt = register(LearntWindow)


def _ended(window: float) -> Observation:
    return numpy.array([0, 0, 0, math.log2(window), 0], dtype=numpy.float32)


class _Agent:
    """The actions of one agent on their way to its window, and its rewards."""

    def __init__(self, action_delay: int, weights: tuple[float, float]) -> None:
        self._pending = deque([0.0] * action_delay)
        self._weights = weights

    def act(self, action: Any) -> float:
        """Return the action that takes effect now."""
        self._pending.append(float(numpy.clip(numpy.asarray(action, dtype=numpy.float64).reshape(-1)[0], -1, 1)))
        return self._pending.popleft()

    def reward(self, observation: Observation, rate: float) -> float:
        delay_weight, loss_weight = self._weights
        reward = math.log(max(rate, 1.0)) - delay_weight * observation[0] - loss_weight * observation[2]
        return float(reward)


def _check(interval: float, action_delay: int) -> None:
    if not interval > 0 or action_delay < 0:
        message = f"an interval of {interval} s and an action delay of {action_delay} steps make no environment"
        raise UsageError(message, "give an interval longer than 0, and a delay of at least 0", 2)


def _first(episode: _Episode) -> _Seen:
    step = episode.next_step()
    if step is None:
        message = f"{', '.join(episode.applications)} ended before the first step"
        raise Error(message, "make the objects longer, or the interval shorter")
    return step


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
        _check(interval, action_delay)
        self._scenario = scenario
        self._application = application
        self._interval = interval
        self._action_delay = action_delay
        self._weights = (delay_weight, loss_weight)
        self._max_steps = max_steps
        self._episode: _Episode | None = None
        self._agent = _Agent(action_delay, self._weights)
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
        self._episode = _Episode(scenario, [self._application], run_seed, self._interval)
        self._agent = _Agent(self._action_delay, self._weights)
        self._taken = 0
        return _first(self._episode)[self._application][0], {"seed": run_seed}

    def step(self, action: NDArray[numpy.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Change the window, and run to the next step."""
        if self._episode is None:
            message = "there is no episode"
            raise Error(message, "call reset first")
        self._episode.actions.put({self._application: self._agent.act(action)})
        self._taken += 1
        step = self._episode.next_step()
        if step is None:
            run = self._episode.run
            self.close()
            metrics = dict(run.metrics) if run is not None else {}
            return numpy.zeros(5, dtype=numpy.float32), 0.0, True, False, {"metrics": metrics}
        observation, rate = step[self._application]
        return observation, self._agent.reward(observation, rate), False, self._taken >= self._max_steps, {}

    def close(self) -> None:
        """Give the episode up."""
        if self._episode is not None:
            self._episode.close()
            self._episode = None


def parallel_env(
    scenario: Scenario | Callable[[numpy.random.Generator], Scenario],
    applications: list[str],
    *,
    interval: float = 0.1,
    action_delay: int = 0,
    delay_weight: float = 0.5,
    loss_weight: float = 5.0,
    max_steps: int = 1_000,
) -> WindowParallelEnv:
    """Make an environment of PettingZoo in which each of several consumers has an agent.

    Parameters
    ----------
    scenario : Scenario or callable
        The network, as for `WindowEnv`.
    applications : list of str
        The consumers. Agents have their names.
    interval, action_delay, delay_weight, loss_weight, max_steps
        As for `WindowEnv`.

    Returns
    -------
    pettingzoo.ParallelEnv
        The environment. All agents live until the run ends.
    """
    try:
        from recoup._parallel import WindowParallelEnv
    except ImportError:
        message = "several agents need PettingZoo"
        raise UsageError(message, "pip install recoup[gym]", 2) from None
    _check(interval, action_delay)
    weights = (delay_weight, loss_weight)
    return WindowParallelEnv(scenario, applications, interval, action_delay, weights, max_steps)


gymnasium.register(id="recoup/Window-v0", entry_point="recoup.gym:WindowEnv")
