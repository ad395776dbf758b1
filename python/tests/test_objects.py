import pickle
import warnings
from pathlib import Path

import pytest
from conftest import LINE

import recoup
from recoup.algorithm import CongestionControl, register

networkx = pytest.importorskip("networkx")
numpy = pytest.importorskip("numpy")


def links_of(graph):
    """Return the links of a scenario with this graph: keys by name."""
    import tomllib

    tables = tomllib.loads(recoup.Scenario(topology=graph).to_toml())
    return dict(tables.get("links", {}))


def test_numpy_values_stand_for_numbers_and_lists():
    tables = {**LINE, "seeds": numpy.arange(1, 3), "fetch": {"retries": numpy.int64(9)}}
    tables["sweep"] = {"fetch.lifetime": numpy.array(["2 s", "3 s"])}
    scenario = recoup.Scenario.from_dict(tables)
    assert scenario.seeds == [1, 2]
    assert len(scenario.points) == 2
    assert "retries = 9" in scenario.to_toml()
    jacobson = recoup.rto.Jacobson(k=numpy.float64(6.5))
    assert str(jacobson) == "jacobson(k=6.5)"
    settings = {"fetch.retries": numpy.int32(4)}
    assert "retries = 4" in scenario.with_settings(settings).to_toml()
    runs = scenario.run(numpy.array([5, 7]))
    assert [run.seed for run in runs] == [5, 7, 5, 7]
    with pytest.raises(recoup.UsageError, match="no seeds"):
        scenario.run(numpy.array([1.5]))


def test_paths_stand_for_texts(tmp_path):
    (tmp_path / "net.gml").write_text(
        'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 ] ]'
    )
    scenario = recoup.Scenario(topology={"file": Path("net.gml")}, folder=tmp_path)
    assert "net.gml" in scenario.to_toml()


def test_runs_are_a_sequence():
    runs = recoup.Scenario.from_dict({**LINE, "seeds": "1..3"}).run()
    assert [run.seed for run in runs[1:]] == [2, 3]
    assert [run.seed for run in runs[::-1]] == [3, 2, 1]
    assert runs[numpy.int64(-1)].seed == 3
    assert runs.index(runs[1]) == 1
    assert runs[0] in runs
    for number in (3, -4):
        with pytest.raises(IndexError):
            runs[number]


def test_runs_can_be_pickled():
    record = {"tables": ["window"]}
    runs = recoup.Scenario.from_dict({**LINE, "record": record}).run(1)
    again = pickle.loads(pickle.dumps(runs))
    assert list(again) == list(runs)
    assert again.records == runs.records
    assert again.record("window").to_dict() == runs.record("window").to_dict()
    assert again.record("window").units == runs.record("window").units
    assert "receives it" in again.explain(0)


def test_attributes_of_graphs_have_units():
    graph = networkx.Graph(capacity_unit="Gbps")
    graph.add_edge("St. Louis", "b", latency=2.5, capacity=3, weight=1.5)
    graph.add_edge("b", "c", bw=10, delay="5 ms", max_queue_size=numpy.int64(20), reorder=True)
    links = links_of(graph)
    assert links["St. Louis-b"] == {"rate": "3 Gbit/s", "delay": "2500 us", "cost": 1500}
    assert links["b-c"]["rate"] == "10 Mbit/s"
    assert links["b-c"]["queue"] == "20 packets"
    graph.add_edge("c", "d", delay="soon", loss=0.1)
    with pytest.raises(recoup.UsageError, match="edge 'c' to 'd'"):
        recoup.Scenario(topology=graph)


def test_unknown_attributes_of_graphs_are_named():
    graph = networkx.Graph()
    graph.add_node("a", mood=1)
    graph.add_edge("a", "b", colour="red")
    with pytest.warns(UserWarning, match=r"colour, mood \(of nodes\)"):
        recoup.Scenario(topology=graph)


def test_multigraphs_and_tuples_are_networks():
    graph = networkx.MultiGraph()
    graph.add_edge("a", "b", delay=1)
    graph.add_edge("a", "b", delay=2)
    assert list(links_of(graph)) == ["a-b", "a-b#2"]
    grid = networkx.grid_2d_graph(2, 2)
    assert '"0_0"' in recoup.Scenario(topology=grid).to_toml()
    directed = networkx.DiGraph()
    directed.add_edge("a", "b", delay=1)
    directed.add_edge("b", "a", delay=2)
    link = links_of(directed)["a-b"]
    assert (link["forth"]["delay"], link["back"]["delay"]) == ("1 ms", "2 ms")
    graph.add_edge("a", "a")
    with pytest.warns(UserWarning, match="to itself is left out"):
        recoup.Scenario(topology=graph)


def test_plain_graphs_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recoup.Scenario(topology=networkx.path_graph(3))


class Silent(CongestionControl):
    version = "1"

    def __init__(self, window: float = 30.0) -> None:
        self.window = self.ssthresh = window

    def on_delivered(self, now, delivered):
        pass

    def on_loss(self, now, loss):
        self.window = max(self.window / 2, 2)


def test_loss_without_an_answer_is_an_error():
    silent = register(Silent)
    lossy = {**LINE["link"], "loss": "bernoulli(p=0.1)"}
    scenario = recoup.Scenario.from_dict({**LINE, "link": lossy, "fetch": {"congestion": silent()}})
    with pytest.raises(TypeError, match="on_loss returned"):
        scenario.run(1)
