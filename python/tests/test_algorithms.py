import pickle
import sys
from pathlib import Path

import pytest
from conftest import LINE

import recoup
from recoup.algorithm import CongestionControl, LossDetector, RtoEstimator, register

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from cubic import Cubic

RUST_CUBIC = "cubic(hystart=false,restart=false,undo=false)"


class Steady(CongestionControl):
    version = "1"

    def __init__(self, window: float = 8.0) -> None:
        self.window = self.ssthresh = window
        self.recovery_point = -1

    def on_delivered(self, now, delivered):
        pass

    def on_loss(self, now, loss):
        if loss.order <= self.recovery_point:
            return False
        self.recovery_point = max(loss.order, loss.highest_order)
        return True


class Double(RtoEstimator):
    """Twice the last round trip."""

    def on_sample(self, now, sample):
        self.srtt = sample.rtt
        self.rto = max(2 * sample.rtt, 0.2)

    def on_timeout(self, now):
        self.rto *= 2


class ThirdLate(LossDetector):
    """A transmission is lost once another that was sent three later is answered."""

    def __init__(self, late: int = 3) -> None:
        self.late = late
        self.judged = -1

    def on_arrival(self, now, arrival):
        if arrival.overtaken_order is None:
            return None
        through = arrival.answered - self.late
        if through < arrival.overtaken_order or through <= self.judged:
            return None
        self.judged = through
        return through


steady = register(Steady)
double = register(Double)
third_late = register(ThirdLate)


def with_record(**fetch):
    tables = {**LINE, "fetch": fetch, "record": {"tables": ["window"]}}
    return recoup.Scenario.from_dict(tables)


def test_python_cubic_moves_as_the_rust_one():
    theirs = with_record(congestion=RUST_CUBIC).run("1..5")
    ours = with_record(congestion=Cubic()).run("1..5")
    for name in ("time_s", "seed"):
        assert ours.record("window")[name] == theirs.record("window")[name]
    column = next(it for it in ours.record("window").columns if "window" in it or "cwnd" in it)
    pairs = zip(ours.record("window")[column], theirs.record("window")[column], strict=True)
    assert max(abs(a - b) for a, b in pairs) < 1e-9
    assert ours.digests == theirs.digests


def test_fixed_window_is_the_rust_one():
    assert (
        with_record(congestion=steady(window=8)).run().digests
        == with_record(congestion="fixed(window=8)").run().digests
    )


def test_timer_and_detector_are_classes():
    runs = with_record(rto=double(), loss=third_late(late=4), congestion=Cubic()).run("1..3", jobs=2)
    assert all(run.metrics["c1.completed"] == 1 for run in runs)
    assert (
        runs.digests == with_record(rto="double", loss="third-late(late=4)", congestion="py-cubic").run("1..3").digests
    )
    assert runs.digests != with_record(rto="double", loss="timeout", congestion="py-cubic").run("1..3").digests


def test_classes_run_in_fetches(client):
    content = bytes(300_000)
    with client.serve("/data", content):
        options = {"congestion": Cubic(), "rto": double(), "loss": third_late()}
        assert client.get("/data", **options) == content
        assert b"".join(client.fetch("/data", **options)) == content


def failing(method, value):
    class Failing(Steady):
        version = f"{method}-{value}"

        def on_delivered(self, now, delivered):
            if delivered.segment == 5:
                if value == "raise":
                    raise ZeroDivisionError("a mistake")
                self.window = value

    return register(Failing)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ("raise", ZeroDivisionError, "a mistake"),
        (float("nan"), ValueError, r"Failing.window is NaN"),
        (-1.0, ValueError, r"Failing.window is -1"),
    ],
)
def test_mistakes_of_a_class_end_the_run_and_the_fetch(client, value, error, message):
    spec = failing("on_delivered", value)()
    with pytest.raises(error, match=message) as caught:
        with_record(congestion=spec).run("1..4", jobs=2)
    if value == "raise":
        assert caught.traceback[-1].name == "on_delivered"
    with client.serve("/data", bytes(200_000)), pytest.raises(error, match=message):
        client.get("/data", congestion=spec)
    with client.serve("/data", bytes(200_000)), pytest.raises(error, match=message):
        list(client.fetch("/data", congestion=spec))
    # Neither the process nor the client is harmed.
    with client.serve("/data", b"x"):
        assert client.get("/data") == b"x"


def test_version_of_a_class_is_part_of_the_identity():
    scenario = with_record(congestion="steady")
    before = scenario._native.keys()

    class Changed(Steady):
        spec_name = "steady"
        version = "2"

    changed = register(Changed)
    assert with_record(congestion="steady")._native.keys() != before
    assert "source=" in changed().full
    old = f"steady(source={'0' * 16})"
    with pytest.raises(recoup.UsageError, match="the class as it is now"):
        with_record(congestion=old)
    register(Steady)
    assert with_record(congestion="steady")._native.keys() == before


def test_specs_of_classes_are_checked():
    with pytest.raises(recoup.UsageError, match="no parameter `windw`"):
        steady(windw=3)
    with pytest.raises(recoup.UsageError, match="a number"):
        steady(window="many")

    class Cubic(Steady):
        pass

    with pytest.raises(recoup.UsageError, match="is an algorithm of Recoup"):
        register(Cubic)

    class Bare(Steady):
        def __init__(self, window):
            self.window = window

    with pytest.raises(recoup.UsageError, match="has no default"):
        register(Bare)


def test_specs_of_classes_travel_to_other_processes():
    spec = steady(window=4)
    assert str(pickle.loads(pickle.dumps(spec))) == "steady(window=4)"
