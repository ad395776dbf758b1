"""Results of a class are never those of another one: in the same process, and in a new one."""

import copyreg
import functools
import itertools
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import ways
from conftest import LINE

import recoup
from recoup import _identity
from recoup._identity import digest_of
from recoup.algorithm import CongestionControl, arrived, register, used_in


def process(number, folder):
    """Sweep in all ways in a process of its own: what it told of each, and the instances of two sweeps."""
    script = Path(__file__).with_name("ways.py")
    told = subprocess.run([sys.executable, script, str(number), folder], capture_output=True, text=True, check=True)
    lines = [line.split("\t", 3) for line in told.stdout.splitlines()]
    return {way: (outcome, int(first), int(again)) for way, again, first, outcome in lines}


def test_new_process_returns_no_old_result(tmp_path):
    first = process(1.0, tmp_path)
    assert first.keys() == ways.WAYS.keys()
    assert {outcome for outcome, *_ in first.values()} == {"new"}
    # The same code goes on: one run of four, and those of the check of the network.
    second = process(1.0, tmp_path)
    for way, (outcome, made, again) in second.items():
        assert outcome == "new", way
        assert made < first[way][1], way
        assert again < first[way][1], way
    changed = process(3.0, tmp_path)
    for way, (outcome, *_) in changed.items():
        assert outcome.startswith("error"), (way, outcome)
        assert f"grow-{way}" in outcome, outcome


@pytest.mark.parametrize("way", ways.WAYS)
def test_same_process_returns_no_old_result(way, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROW_STEP", "")
    module = ways.module_of(way, 1.0, tmp_path)
    scenario = ways.scenario_of(way)
    assert ways.outcome(way, tmp_path, scenario) == "new"
    before = scenario.run().digests
    assert ways.outcome(way, tmp_path, scenario) == "new"
    ways.change(module, way, 3.0)
    for again in [scenario, ways.scenario_of(way)]:
        assert ways.outcome(way, tmp_path, again) != "OLD"
    recoup.sweep(ways.scenario_of(way), tmp_path / way, fresh=True)
    assert ways.outcome(way, tmp_path) == "new"
    assert ways.scenario_of(way).run().digests != before


def test_state_of_a_class_is_not_its_identity(tmp_path):
    made = []
    counts = {"made": 0}

    class Counting(CongestionControl):
        made = 0

        def __init__(self):
            global LAST
            LAST = len(made)
            made.append(self)
            counts["made"] += 1
            Counting.made += 1
            self.window = 4.0

        def on_delivered(self, now, delivered):
            pass

        def on_loss(self, now, loss):
            return False

    scenario = recoup.Scenario.from_dict({**LINE, "seeds": "1..8", "fetch": {"congestion": register(Counting)()}})
    digests = recoup.sweep(scenario, tmp_path / "results").digests
    first = len(made)
    assert scenario.run().digests == digests
    made.clear()
    assert recoup.sweep(scenario, tmp_path / "results").digests == digests
    assert 0 < len(made) < first / 2
    assert recoup.sweep(scenario, tmp_path / "results").digests == digests


def test_class_defined_anew_is_registered_again(tmp_path):
    module = ways.module_of("constant", 1.0, tmp_path)
    scenario = ways.scenario_of("constant")
    recoup.sweep(scenario, tmp_path / "results")
    text = ways.CLASS.format(base="CongestionControl", way="constant", step="STEP").replace("register(Grow)", "")
    exec(text, vars(module))
    with pytest.raises(recoup.UsageError, match="defined anew"):
        recoup.sweep(scenario, tmp_path / "results")
    register(module.Grow)
    assert ways.outcome("constant", tmp_path) != "OLD"


def test_comments_and_lines_are_not_identity(tmp_path):
    module = ways.module_of("helper", 1.0, tmp_path)
    before = ways.scenario_of("helper")._native.keys()
    module.MADE.clear()
    exec("# A comment.\n\n\ndef helper():\n    # Another one.\n    return 1.0", vars(module))
    register(module.Grow)
    assert ways.scenario_of("helper")._native.keys() == before


def test_worker_with_another_class_is_refused(tmp_path):
    ways.module_of("constant", 1.0, tmp_path)
    (grow,) = used_in(["grow-constant"])
    with pytest.raises(recoup.LocalError, match="another version of Grow"):
        arrived(grow, "0" * 16)
    # On an executor, too, a kept run is made again and compared.
    module = ways.module_of("by-text", 1.0, tmp_path)
    scenario = ways.scenario_of("by-text")
    with ThreadPoolExecutor(1) as pool:
        kept = recoup.sweep(scenario, tmp_path / "results", pool).digests
        made = len(module.MADE)
        assert recoup.sweep(scenario, tmp_path / "results", pool).digests == kept
        assert 0 < len(module.MADE) - made < made
        ways.change(module, "by-text", 3.0)
        with pytest.raises(recoup.LocalError, match="`grow-by-text` of the same version"):
            recoup.sweep(scenario, tmp_path / "results", pool)


def test_executor_uses_the_class_of_now(tmp_path):
    module = ways.module_of("redefined-class", 1.0, tmp_path)
    scenario = ways.scenario_of("redefined-class")
    with ThreadPoolExecutor(1) as pool:
        before = recoup.sweep(scenario, tmp_path / "before", pool).digests
        ways.change(module, "redefined-class", 3.0)
        after = recoup.sweep(scenario, tmp_path / "after", pool).digests
    assert after == ways.scenario_of("redefined-class").run().digests
    assert after != before


class Node:
    def __init__(self, value, following):
        self.value = value
        self.following = following


class Endless:
    """Is made of a new object each time, as objects of clients are that ask a server."""

    def __reduce_ex__(self, protocol):
        return Endless, (), {"more": Endless()}


class EndlessItems:
    def __reduce_ex__(self, protocol):
        return EndlessItems, (), None, itertools.count()


class EndlessFunctions:
    def __reduce_ex__(self, protocol):
        inner = EndlessFunctions()
        return EndlessFunctions, (), {"more": lambda: inner}


class Proxy:
    """Answers for each attribute with a new object, as `unittest.mock.call` does."""

    @property
    def __class__(self):
        raise LookupError("no object is bound")

    @property
    def __wrapped__(self):
        return Proxy()

    def __reduce_ex__(self, protocol):
        raise LookupError("no object is bound")


class Number(int):
    def __repr__(self):
        raise ValueError("no text")


def nested(depth, last):
    value = [last]
    for _ in range(depth):
        value = [value]
    return value


def linked(length, last):
    value = last
    for number in range(length):
        value = Node(number, value)
    return value


def class_with(value):
    return type("Reaching", (), {"__module__": __name__, "value": value})


def digest(value):
    return digest_of(class_with(value), ())[0]


@pytest.mark.parametrize(("deep", "depth"), [(nested, 100_000), (linked, 10_000)])
def test_depth_of_an_object_has_no_limit(deep, depth):
    assert digest(deep(depth, 1)) != digest(deep(depth, 2))


@pytest.fixture
def _little(monkeypatch):
    """Less is read, so that the tests are fast."""
    monkeypatch.setattr(_identity, "_MOST", 1 << 14)


def test_object_that_reaches_too_much_is_opaque():
    assert digest(linked(100_000, 1)) == digest(linked(100_000, 2))


@pytest.mark.usefixtures("_little")
@pytest.mark.parametrize("make", [Endless, EndlessItems, EndlessFunctions])
def test_object_without_an_end_has_a_digest(make):
    assert digest([make()]) == digest([make()])
    assert digest([make()]) != digest([])


@pytest.mark.parametrize("make", [Proxy, Number, sys._getframe, lambda: 1 << 20_000, lambda: nested(10, Proxy())])
def test_object_that_answers_with_faults_has_a_digest(make):
    assert digest(make()) == digest(make())


@pytest.mark.usefixtures("_little")
def test_values_after_an_opaque_one_count():
    def of(last):
        return digest_of(type("Two", (), {"__module__": __name__, "a": Endless(), "z": last}), ())[0]

    assert of(1) == of(1)
    assert of(1) != of(2)


def test_wrapped_function_counts():
    def cached(value):
        return functools.cache(lambda: value)

    assert digest(cached(1)) != digest(cached(2))


def test_raising_does_not_change_an_exception(monkeypatch):
    error = ZeroDivisionError("a mistake")
    before = digest(error)
    # Some packages send exceptions with their tracebacks to other processes in this way.
    monkeypatch.setitem(copyreg.dispatch_table, ZeroDivisionError, lambda it: (str, (), vars(it), it.__traceback__))
    for _ in range(300):
        with pytest.raises(ZeroDivisionError):
            raise error
    assert digest(error) == before
    assert digest(ZeroDivisionError("another one")) != before


def test_digest_of_a_set_is_that_of_all_processes():
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import test_identity as it
it._identity._MOST = 1 << 14
print(it.digest(set(map(str, range(100)))), it.digest({{*map(str, range(100)), it.Endless()}}))
"""
    told = {
        subprocess.run(
            [sys.executable, "-P", "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "12"
    }
    assert len(told) == 1
