import gc

import pytest

import recoup


@pytest.fixture(autouse=True)
def _own_leaks():
    """A file or a socket left open fails the test that opened it, and not a later one."""
    yield
    gc.collect()


@pytest.fixture
def client():
    return recoup.Client(alone=True)


LINE = {
    "title": "A line",
    "seeds": "1..3",
    "topology": {"kind": "line", "nodes": 3, "names": ["consumer", "router", "producer"]},
    "link": {"rate": "10 Mbit/s", "delay": "5 ms", "loss": "bernoulli(p=0.01)"},
    "applications": {
        "c1": {"kind": "fetch", "node": "consumer", "object": "/file", "spread": "10 ms"},
        "p1": {"kind": "serve", "node": "producer", "prefix": "/file", "size": "200 kB"},
    },
}


@pytest.fixture
def line():
    return recoup.Scenario.from_dict(LINE)
