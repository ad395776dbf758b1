"""Forwarding strategies and cache policies that are Python classes."""

import subprocess
import sys
from pathlib import Path

import pytest

import recoup
from recoup.algorithm import CacheAdmission, CacheReplacement, ForwardingStrategy, register

EXAMPLES = Path(__file__).parent.parent / "examples"
COMMAND = str(Path(sys.executable).with_name("recoup"))
sys.path.insert(0, str(EXAMPLES))

import lfu  # noqa: E402, F401

#: Two paths of equal cost; requests with Zipf popularity, and a router with a small content store.
NETWORK = """
seeds = "1..3"

[topology]
links = ["c-r", "r-a", "r-b", "a-p", "b-p"]

[link]
rate = "10 Mbit/s"
delay = "2 ms"
loss = "bernoulli(p=0.02)"

[routing]
paths = "downhill"

[nodes.r]
cache = "20 packets"

[applications.c1]
kind = "request"
node = "c"
prefix = "/site"
contents = 200
popularity = "zipf(s=0.9)"
arrival = "poisson(rate=200)"
requests = 400

[applications.p1]
kind = "produce"
node = "p"
prefix = "/site"
"""


def network(**node):
    settings = {f"nodes.r.{key.replace('_', '-')}": value for key, value in node.items()}
    return recoup.Scenario.from_toml(NETWORK, settings=settings)


class Cheapest(ForwardingStrategy):
    """The cheapest next hop; for retransmissions one that is not pending, or else the one used longest ago."""

    def after_interest(self, now, pending, ingress, is_retransmission):
        hops = [face for face, _ in pending.next_hops]
        if not is_retransmission or not hops:
            return hops[:1]
        sent = {it.face: it for it in pending.upstreams}
        unused = [face for face in hops if face not in sent or not sent[face].is_pending]
        return unused[:1] or [min(hops, key=lambda face: sent[face].sent)]


class Everywhere(CacheAdmission):
    def admits(self, now, data):
        return True


class Coin(CacheAdmission):
    """Stores Data with a probability."""

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def seed(self, seed):
        import random

        self.random = random.Random(seed)

    def admits(self, now, data):
        assert data.slot is None
        assert data.name.startswith("/site")
        assert data.size > 0
        return self.random.random() < self.p


class Watching(Cheapest):
    """Counts what it learns of."""

    seen: list[str] = []  # noqa: RUF012
    version = "1"

    def before_satisfy(self, now, pending, upstream):
        assert upstream in [it.face for it in pending.upstreams]
        self.seen.append("data")

    def on_expiry(self, now, pending):
        self.seen.append("expiry")


cheapest = register(Cheapest)
everywhere = register(Everywhere)
coin = register(Coin)
watching = register(Watching)


def test_strategy_forwards_as_the_rust_one():
    ours = network(strategy=cheapest()).run()
    assert ours.digests == network(strategy="best-route").run().digests
    assert ours.digests == network(strategy=recoup.strategy.BestRoute()).run().digests
    assert ours.digests != network(strategy="multicast").run().digests


def test_replacement_evicts_as_the_rust_one():
    ours = network(cache_replacement="py-lfu").run()
    assert ours.digests == network(cache_replacement=recoup.cache.Lfu()).run().digests
    assert ours.digests != network(cache_replacement="fifo").run().digests


def test_admission_admits_as_the_rust_one():
    assert network(cache_admission=everywhere()).run().digests == network().run().digests
    assert network(cache_admission=coin(p=0)).run().digests == network(cache_admission="prob(p=0)").run().digests
    half = network(cache_admission=coin())
    assert half.run().digests == half.run(jobs=2).digests != network().run().digests


def test_strategy_learns_of_data_and_expiry():
    Watching.seen.clear()
    network(strategy=watching()).run("1")
    assert "data" in Watching.seen


def test_version_of_a_node_class_is_part_of_the_identity():
    before = network(strategy="watching")._native.keys()
    plain = network()._native.keys()

    class Changed(Watching):
        spec_name = "watching"
        version = "2"

    register(Changed)
    assert network(strategy="watching")._native.keys() != before
    assert network()._native.keys() == plain
    register(Watching)


class Nowhere(ForwardingStrategy):
    version = "1"

    def after_interest(self, now, pending, ingress, is_retransmission):
        return [77]


class NoSuchSlot(CacheReplacement):
    version = "1"

    def on_insert(self, now, data):
        pass

    on_hit = on_insert

    def on_remove(self, slot):
        pass

    def victim(self):
        return 4_000_000


class Broken(CacheAdmission):
    version = "1"

    def admits(self, now, data):
        raise ZeroDivisionError("a mistake")


@pytest.mark.parametrize(
    ("option", "algorithm", "error", "message"),
    [
        ("strategy", Nowhere, ValueError, r"Nowhere.after_interest\(\) returned face 77; eligible next hops are: "),
        ("cache_replacement", NoSuchSlot, ValueError, r"NoSuchSlot.victim\(\) is 4000000; no Data is stored there"),
        ("cache_admission", Broken, ZeroDivisionError, "a mistake"),
    ],
)
def test_mistakes_of_a_class_end_the_run(option, algorithm, error, message):
    spec = register(algorithm)()
    with pytest.raises(error, match=message):
        network(**{option: spec}).run("1")


def test_command_imports_classes(tmp_path):
    file = tmp_path / "net.toml"
    file.write_text(NETWORK)
    command = [COMMAND, "--import", str(EXAMPLES / "lfu.py"), "sim", str(file)]
    command += ["--quiet", "--out", str(tmp_path / "out"), "--set", "nodes.r.cache-replacement=py-lfu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    runs = network(cache_replacement="lfu").run()
    table = (tmp_path / "out" / "runs.csv").read_text()
    assert all(digest in table for digest in runs.digests)


def test_exception_of_a_class_ends_the_command(tmp_path):
    (tmp_path / "broken.py").write_text(
        "from recoup.algorithm import CacheAdmission, register\n"
        "class Bad(CacheAdmission):\n"
        "    def admits(self, now, data):\n"
        "        raise ZeroDivisionError('a mistake')\n"
        "register(Bad)\n"
    )
    file = tmp_path / "net.toml"
    file.write_text(NETWORK)
    command = [COMMAND, "--import", str(tmp_path / "broken.py"), "sim", str(file)]
    command += ["--out", str(tmp_path / "out"), "--set", "nodes.r.cache-admission=bad"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "ZeroDivisionError: a mistake" in done.stderr
    assert "in admits" in done.stderr


def test_graph_nodes_have_policies():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(["a", "b"])
    graph.nodes["a"].update({"cache": "5 packets", "cache-replacement": recoup.cache.Random()})
    serve = {"kind": "serve", "node": "b", "prefix": "/file", "size": "1 kB"}
    scenario = recoup.Scenario(topology=graph, applications={"p1": serve})
    assert "random" in scenario.to_toml()
