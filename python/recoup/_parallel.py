"""Several learnt windows in one run, as an environment of PettingZoo. Use `recoup.gym.parallel_env`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from recoup._errors import Error
from recoup.gym import _HIGH, _LOW, Observation, _Agent, _ended, _Episode, _first, _Seen
from recoup.scenario import Scenario

Action = NDArray[numpy.float32]
Infos = dict[str, dict[str, Any]]


class WindowParallelEnv(ParallelEnv[str, Observation, Action]):  # type: ignore[misc]
    """Consumers of one network, each with an agent that changes its window."""

    metadata: dict[str, Any] = {"name": "recoup/Window-v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: Scenario | Callable[[numpy.random.Generator], Scenario],
        applications: list[str],
        interval: float,
        action_delay: int,
        weights: tuple[float, float],
        max_steps: int,
    ) -> None:
        self._scenario = scenario
        self._interval = interval
        self._action_delay = action_delay
        self._weights = weights
        self._max_steps = max_steps
        self._episode: _Episode | None = None
        self._taken = 0
        self._random = numpy.random.default_rng()
        self.possible_agents = list(applications)
        self.agents: list[str] = []
        self._agents: dict[str, _Agent] = {}
        self._observations = {it: gymnasium.spaces.Box(_LOW, _HIGH) for it in applications}
        self._actions = {it: gymnasium.spaces.Box(-1.0, 1.0, (1,), numpy.float32) for it in applications}

    def observation_space(self, agent: str) -> gymnasium.spaces.Box:
        """Return the space of an agent's observations."""
        return self._observations[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Box:
        """Return the space of an agent's actions."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], Infos]:
        """Begin an episode. The seed decides the network and everything that happens in it."""
        self.close()
        if seed is not None:
            self._random = numpy.random.default_rng(seed)
        scenario = self._scenario
        if not isinstance(scenario, Scenario):
            scenario = scenario(self._random)
        run_seed = int(self._random.integers(1, 2**31))
        self._episode = _Episode(scenario, self.possible_agents, run_seed, self._interval)
        self.agents = list(self.possible_agents)
        self._agents = {it: _Agent(self._action_delay, self._weights) for it in self.agents}
        self._taken = 0
        step = _first(self._episode)
        return self._seen(step), {it: {"seed": run_seed} for it in self.agents}

    def step(
        self, actions: dict[str, Action]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Change the windows, and run to the next step."""
        if self._episode is None:
            message = "there is no episode"
            raise Error(message, "call reset first")
        acting = {it: self._agents[it].act(action) for it, action in actions.items()}
        self._episode.actions.put(acting)
        self._taken += 1
        step = self._episode.next_step()
        agents = self.agents
        if step is None:
            run = self._episode.run
            self.close()
            metrics = dict(run.metrics) if run is not None else {}
            observations = {it: numpy.zeros(5, dtype=numpy.float32) for it in agents}
            infos: Infos = {it: {"metrics": metrics} for it in agents}
            return (
                observations,
                dict.fromkeys(agents, 0.0),
                dict.fromkeys(agents, True),
                dict.fromkeys(agents, False),
                infos,
            )
        rewards = {it: self._agents[it].reward(*step[it]) if it in step else 0.0 for it in agents}
        is_over = self._taken >= self._max_steps
        if is_over:
            self.close()
        over = dict.fromkeys(agents, is_over)
        return self._seen(step), rewards, dict.fromkeys(agents, False), over, {it: {} for it in agents}

    def _seen(self, step: _Seen) -> dict[str, Observation]:
        # A consumer that has not begun has the first window of all.
        return {it: step[it][0] if it in step else _ended(2.0) for it in self.possible_agents}

    def close(self) -> None:
        """Give the episode up."""
        self.agents = []
        if self._episode is not None:
            self._episode.close()
            self._episode = None
