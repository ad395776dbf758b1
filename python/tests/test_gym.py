import pytest
from conftest import LINE

import recoup

gymnasium = pytest.importorskip("gymnasium")

import recoup.gym  # noqa: E402

TABLES = {**LINE, "applications": {**LINE["applications"], "p1": {**LINE["applications"]["p1"], "size": "1 MB"}}}


def made(**options):
    return gymnasium.make("recoup/Window-v0", scenario=recoup.Scenario.from_dict(TABLES), **options)


def episode(env, seed, action):
    observation, info = env.reset(seed=seed)
    seen, done = [observation.tolist()], False
    while not done:
        observation, reward, done, truncated, info = env.step([action(len(seen))])
        assert not truncated
        seen.append([*observation.tolist(), reward])
    return seen, info


def test_equal_seeds_and_actions_are_equal_episodes():
    env = made()
    act = lambda step: 1.0 if step < 5 else 0.0  # noqa: E731
    first, info = episode(env, 3, act)
    assert info["metrics"]["c1.completed"] == 1
    assert len(first) > 5
    assert first[5][3] > first[0][3]
    assert episode(env, 3, act)[0] == first
    assert episode(env, 4, act)[0] != first
    env.close()


def test_delayed_action_takes_effect_later():
    env = made(action_delay=2)
    seen, _ = episode(env, 3, lambda step: 1.0 if step == 1 else 0.0)
    windows = [it[3] for it in seen[:6]]
    assert windows[:3] == [1, 1, 1]
    assert windows[3] == 2


def test_environment_keeps_the_rules_of_gymnasium():
    from gymnasium.utils.env_checker import check_env

    check_env(made().unwrapped, skip_render_check=True)


def test_episode_is_given_up_by_a_reset():
    env = made(max_steps=2)
    env.reset(seed=1)
    env.reset(seed=2)
    env.step([0.0])
    assert env.step([0.0])[3]
    env.close()
    with pytest.raises(recoup.UsageError):
        made(interval=0)


TWO = {
    **TABLES,
    "topology": {"kind": "dumbbell", "left": 2, "right": 2},
    "applications": {
        f"{kind}{number}": options
        for number in (1, 2)
        for kind, options in (
            ("f", {"kind": "fetch", "node": f"c{number}", "object": f"/file{number}"}),
            ("s", {"kind": "serve", "node": f"p{number}", "prefix": f"/file{number}", "size": f"{number} MB"}),
        )
    },
}


def parallel(**options):
    pytest.importorskip("pettingzoo")
    return recoup.gym.parallel_env(recoup.Scenario.from_dict(TWO), ["f1", "f2"], **options)


def test_several_consumers_have_agents():
    def whole(seed):
        env = parallel()
        observations, _ = env.reset(seed=seed)
        steps = [observations]
        while env.agents:
            acting = {"f1": [0.0], "f2": [1.0 if len(steps) < 4 else 0.0]}
            observations, _, ended, truncated, infos = env.step(acting)
            assert not any(truncated.values())
            steps.append(observations)
        assert all(ended.values())
        return steps, infos["f1"]["metrics"]

    steps, metrics = whole(3)
    assert metrics["f1.completed"] == metrics["f2.completed"] == 1
    assert steps[5]["f2"][3] > steps[5]["f1"][3] == 1
    again, same = whole(3)
    assert same == metrics
    assert all((a["f2"] == b["f2"]).all() for a, b in zip(steps, again, strict=True))


def test_environment_keeps_the_rules_of_pettingzoo():
    from pettingzoo.test import parallel_api_test

    parallel_api_test(parallel(max_steps=20), num_cycles=50)
