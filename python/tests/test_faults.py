"""Whatever a class does wrong arrives as an exception of Python, and the interpreter goes on."""

import sys
import threading

import pytest
from conftest import LINE

import recoup
from recoup.algorithm import (
    CacheAdmission,
    CacheReplacement,
    CongestionControl,
    ForwardingStrategy,
    LossDetector,
    RtoEstimator,
    register,
)


class OwnError(Exception):
    def __init__(self, one, two):
        super().__init__(one)

    def __str__(self):
        raise ValueError("no text")


class OwnBaseError(BaseException):
    pass


def recursion():
    return recursion()


def chained():
    try:
        raise KeyError("first")
    except KeyError as error:
        raise ValueError("second") from error


def thread():
    failed = []

    def fail():
        try:
            recursion()
        except RecursionError as error:
            failed.append(error)

    other = threading.Thread(target=fail)
    other.start()
    other.join()
    raise failed[0]


def raising(error):
    def fault():
        raise error

    return fault


#: What a method does, and what arrives.
FAULTS = {
    "raise": (raising(ZeroDivisionError("a mistake")), ZeroDivisionError),
    "own": (lambda: raising(OwnError(1, 2))(), OwnError),
    "base": (raising(OwnBaseError()), OwnBaseError),
    "exit": (lambda: sys.exit(3), SystemExit),
    "interrupt": (raising(KeyboardInterrupt()), KeyboardInterrupt),
    "generator-exit": (raising(GeneratorExit()), GeneratorExit),
    "stop": (raising(StopIteration(1)), StopIteration),
    "memory": (lambda: bytearray(1 << 62), MemoryError),
    "recursion": (recursion, RecursionError),
    "chained": (chained, ValueError),
    "thread": (thread, RecursionError),
    "assert": (raising(AssertionError()), AssertionError),
    "import": (lambda: __import__("no_such_module"), ModuleNotFoundError),
    "attribute": (lambda: object().nothing, AttributeError),
}

SETTINGS = {
    CongestionControl: "fetch.congestion",
    RtoEstimator: "fetch.rto",
    LossDetector: "fetch.loss",
    ForwardingStrategy: "node.strategy",
    CacheReplacement: "node.cache-replacement",
    CacheAdmission: "node.cache-admission",
}


class Window(CongestionControl):
    def __init__(self):
        self.window = 4.0

    def on_delivered(self, now, delivered):
        pass

    def on_loss(self, now, loss):
        return True


class Timer(RtoEstimator):
    def on_sample(self, now, sample):
        self.rto = 0.2

    def on_timeout(self, now):
        pass


class Detector(LossDetector):
    def on_arrival(self, now, arrival):
        return None


class Strategy(ForwardingStrategy):
    def after_interest(self, now, pending, ingress, is_retransmission):
        return [face for face, _ in pending.next_hops][:1]


class Replacement(CacheReplacement):
    def __init__(self):
        self.slots = []

    def on_insert(self, now, data):
        self.slots.append(data.slot)

    def on_hit(self, now, data):
        pass

    def on_remove(self, slot):
        self.slots.remove(slot)

    def victim(self):
        return self.slots[0]


class Admission(CacheAdmission):
    def admits(self, now, data):
        return True


#: The methods that a run calls.
METHODS = [
    *((Window, name) for name in ["__init__", "on_delivered", "on_loss", "pacing_rate", "least_timeout", "seed"]),
    *((Timer, name) for name in ["__init__", "on_sample", "on_timeout"]),
    *((Detector, name) for name in ["__init__", "on_arrival", "age"]),
    *((Strategy, name) for name in ["__init__", "after_interest", "before_satisfy"]),
    *((Replacement, name) for name in ["__init__", "on_insert", "on_remove", "victim", "on_miss", "displaces", "seed"]),
    *((Admission, name) for name in ["__init__", "admits", "seed"]),
]


def faulty(base, members):
    """Register a class with other members."""
    made = type(f"Faulty{base.__name__}", (base,), {**members, "__module__": __name__})
    return register(made)


def in_constructor(act):
    def constructor(self):
        act()

    return constructor


def scenario_with(base, spec):
    fetch = {"loss": "timeout"} if issubclass(base, RtoEstimator) else {}
    tables = {
        **LINE,
        "node": {"cache": "5 packets"},
        "fetch": fetch,
        "link": {"rate": "10 Mbit/s", "delay": "5 ms", "loss": "bernoulli(p=0.05)"},
    }
    family = next(it for it in base.__mro__ if it in SETTINGS)
    return recoup.Scenario.from_dict(tables, settings={SETTINGS[family]: spec})


def lives():
    assert recoup.Scenario.from_dict(LINE).run(1)[0].metrics["c1.completed"] == 1


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("base", "method"), METHODS)
def test_fault_of_a_method_arrives_as_itself(base, method, fault, tmp_path):
    act, error = FAULTS[fault]

    def member(self, *arguments):
        act()

    member = in_constructor(act) if method == "__init__" else member
    with pytest.raises(error) as caught:
        scenario_with(base, faulty(base, {method: member})()).run(1)
    assert caught.type is error
    if fault in {"raise", "exit"}:
        # In several threads, and in a sweep with its folder.
        with pytest.raises(error):
            scenario_with(base, faulty(base, {method: member})()).run("1..4", jobs=2)
        with pytest.raises(error):
            recoup.sweep(scenario_with(base, faulty(base, {method: member})()), tmp_path / "results")
    lives()


#: Values that are no answer of a method, or no attribute.
WRONG = [
    "many",
    None,
    object(),
    float("nan"),
    -1.0,
    -1,
    1 << 70,
    [],
    [1 << 40],
    [999],
    {},
    b"x",
    1e308,
    float("inf"),
    0,
    True,
]
ANSWERS = [
    *((Window, name) for name in ["on_loss", "pacing_rate", "least_timeout", "on_delivered"]),
    *((Detector, name) for name in ["on_arrival", "age", "probe_after"]),
    *((Strategy, name) for name in ["after_interest", "after_nack"]),
    *((Replacement, name) for name in ["victim", "displaces"]),
    (Admission, "admits"),
]
ATTRIBUTES = [
    (Window, "window"),
    (Window, "ssthresh"),
    (Timer, "rto"),
    (Timer, "srtt"),
    (Detector, "repair"),
    (Admission, "copy_down"),
]


def is_tried(base, members):
    """Run with wrong members for a bounded simulated time: an error of Python, or whatever the value means."""
    scenario = scenario_with(base, faulty(base, members)()).with_settings({"stop": "20 s"})
    try:
        scenario.run(1)
    except (TypeError, ValueError, OverflowError, recoup.Error) as error:
        return str(error)
    return None


@pytest.mark.parametrize(("base", "method"), ANSWERS)
def test_wrong_answer_is_an_error_or_a_value(base, method):
    for value in WRONG:
        is_tried(base, {method: lambda self, *_, value=value: value})
    lives()


@pytest.mark.parametrize(("base", "name"), ATTRIBUTES)
def test_wrong_attribute_is_an_error_or_a_value(base, name):
    for value in WRONG:
        is_tried(base, {name: property(lambda self, value=value: value, lambda self, _: None)})
    missing = property(lambda self: self.nothing, lambda self, _: None)
    with pytest.raises(AttributeError):
        scenario_with(base, faulty(base, {name: missing})()).run(1)
    lives()


@pytest.mark.parametrize("family", SETTINGS)
def test_missing_method_arrives_as_itself(family):
    nothing = type("Nothing", (family,), {"__module__": __name__})
    with pytest.raises(TypeError, match="abstract"):
        scenario_with(nothing, register(nothing)()).run(1)
    lives()


def test_fault_of_a_fetch_arrives_as_itself(client):
    for act, error in FAULTS.values():
        for members in [
            {"__init__": in_constructor(act)},
            {"on_delivered": lambda self, now, delivered, act=act: act()},
        ]:
            spec = faulty(Window, members)()
            with client.serve("/data", bytes(200_000)), pytest.raises(error):
                client.get("/data", congestion=spec)
    with client.serve("/data", b"x"):
        assert client.get("/data") == b"x"


def test_fault_of_an_explanation_arrives_as_itself():
    is_armed = []

    def on_delivered(self, now, delivered):
        if is_armed:
            raise ZeroDivisionError

    runs = scenario_with(Window, faulty(Window, {"on_delivered": on_delivered})()).run(1)
    is_armed.append(True)
    with pytest.raises(ZeroDivisionError):
        runs.explain(1)
    lives()
