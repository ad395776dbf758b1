import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import LINE

import recoup
from recoup import _native


def test_runs_are_a_table_with_records(line):
    runs = recoup.Scenario.from_dict({**LINE, "record": {"tables": ["window", "segments"]}}).run()
    assert [run.seed for run in runs] == [1, 2, 3]
    assert all(run.metrics["c1.completed"] == 1 for run in runs)
    assert runs.records == ["segments", "window"]
    window = runs.record("window")
    assert window.columns[0] == "seed"
    assert len(window) == len(window["seed"]) > 10
    assert set(window["seed"]) == {1, 2, 3}
    assert "s" in window.units.values()
    assert runs.digests == line.run().digests
    assert "<table>" in runs._repr_html_()
    with pytest.raises(KeyError, match="there is: segments, window"):
        runs.record("queue")


def test_python_and_command_run_alike(line, tmp_path):
    file = tmp_path / "line.toml"
    file.write_text(line.to_toml())
    command = Path(sys.executable).with_name("recoup")
    out = tmp_path / "results"
    subprocess.run([command, "sim", file, "--out", out, "--format", "csv", "--quiet"], check=True)
    head, *rows = (out / "runs.csv").read_text().splitlines()
    place = head.split(",").index("digest")
    assert [row.split(",")[place] for row in rows] == line.run().digests
    again = f"import recoup; print(*recoup.Scenario.from_file({str(file)!r}).run().digests)"
    other = subprocess.run([sys.executable, "-c", again], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert other.stdout.split() == line.run().digests


def test_builder_and_toml_are_the_same_scenario(line):
    built = recoup.Scenario(
        title="A line",
        seeds="1..3",
        topology=LINE["topology"],
        link=LINE["link"],
        applications=LINE["applications"],
        fetch={"rto": recoup.rto.Jacobson(k=8)},
    )
    assert 'rto = "jacobson(k=8)"' in built.to_toml()
    assert built.run(1).digests != line.run(1).digests
    same = line.with_settings({"fetch.rto": recoup.rto.Jacobson(k=8)})
    assert same.run(1).digests == built.run(1).digests
    assert pickle.loads(pickle.dumps(same)).run(1).digests == built.run(1).digests
    assert recoup.Scenario.from_toml(built.to_toml()).run(1).digests == built.run(1).digests


def test_sweep_has_a_row_for_each_point_and_seed():
    scenario = recoup.Scenario.from_dict(
        {
            **LINE,
            "sweep": {
                "fetch.congestion": [recoup.congestion.Cubic(), recoup.congestion.NewReno()],
                "link.delay": ["5 ms", "20 ms"],
            },
        }
    )
    assert len(scenario.points) == 4
    runs = scenario.run(range(1, 4), jobs=2)
    assert len(runs) == 12
    assert runs[0].values == {"fetch.congestion": "cubic", "link.delay": "5 ms"}
    summary = runs.summary("c1.time_s")
    assert summary["seeds"] == [3] * 4
    columns = summary.to_dict()
    lows = zip(columns["c1.time_s_low"], columns["c1.time_s"], columns["c1.time_s_high"], strict=True)
    assert all(low < mean < high for low, mean, high in lows)


def test_graph_is_a_topology():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("consumer", "router", delay="2 ms", weight=3)
    graph.add_edge("router", "producer", delay="7 ms")
    graph.nodes["router"]["cache"] = "100 packets"
    tables = {**LINE, "topology": graph, "link": {"rate": "10 Mbit/s"}}
    scenario = recoup.Scenario(**tables)
    text = scenario.to_toml()
    assert "2 ms" in text
    assert "7 ms" in text
    assert "100 packets" in text
    assert scenario.run(1)[0].metrics["c1.completed"] == 1


def _link(**attributes):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("consumer", "router", **attributes)
    graph.add_edge("router", "producer")
    return recoup.Scenario(**{**LINE, "topology": graph, "link": {}}).to_toml()


def test_texts_of_numbers_are_numbers():
    assert _link(rate="10", delay="5", cost="3") == _link(rate=10, delay=5, cost=3)
    assert _link(delay=None, cost=None) == _link()


def test_wrong_attributes_are_named():
    for attributes, message in [
        ({"cost": "much"}, "cost: expected a cost"),
        ({"weight": "much"}, "weight: expected a cost"),
        ({"delay": "5 ms", "latency": 7}, "two attributes give its delay"),
        ({"delay": 5, "latency": 7}, "another attribute"),
    ]:
        with pytest.raises(recoup.UsageError, match=message):
            _link(**attributes)


def test_only_unknown_attributes_of_nodes_warn():
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(["consumer", "router", "producer"])
    graph.nodes["router"].update(asn=7, pos=(1, 2), mood="good", cache=None)
    with pytest.warns(UserWarning, match=r"without a meaning: mood \(of nodes\)$"):
        recoup.Scenario(**{**LINE, "topology": graph})


def test_data_frames_read_tables(line):
    runs = line.run()
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(runs)
    assert frame["seed"].to_list() == [1, 2, 3]
    assert frame["digest"].to_list() == runs.digests
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(runs)
    assert table.column("c1.time_s").to_pylist() == [run.metrics["c1.time_s"] for run in runs]
    assert table.schema.field("end_s").metadata == {b"unit": b"s"}


def test_mistakes_are_listed_with_their_remedies():
    with pytest.raises(recoup.UsageError) as caught:
        recoup.Scenario.from_dict({**LINE, "link": {"rat": "1 Mbit/s"}, "stop": "1 hour"})
    assert "did you mean `rate`" in str(caught.value)
    assert "stop" in str(caught.value)
    with pytest.raises(recoup.UsageError, match="no parameter `kk`"):
        recoup.rto.Jacobson(kk=8)
    with pytest.raises(recoup.UsageError, match="no seeds"):
        recoup.Scenario.from_dict(LINE).run("1-3")


def test_every_algorithm_has_a_constructor():
    for family, module in [
        ("rto", recoup.rto),
        ("congestion", recoup.congestion),
        ("loss", recoup.loss),
    ]:
        classes = [getattr(module, name) for name in module.__all__]
        assert sorted(it.spec_name for it in classes) == sorted(_native.spec_names(family))
        for it in classes:
            made = it("ccntimer") if it.spec_name == "per-source" else it()
            assert made == made
            assert made.full


def test_segment_is_explained(line):
    story = line.run().explain(3, seed=2)
    assert "segment 3" in story
    with pytest.raises(recoup.UsageError, match="never requested"):
        line.run(1).explain(99_999)


def test_callback_that_raises_ends_the_runs(line):
    def fail(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        line.run("1..50", progress=fail)


def test_figures_of_a_study_are_numbers(tmp_path):
    figures = recoup.study("yang2016").figures(scale="smoke", folder=tmp_path, seeds=1)
    assert len(figures) > 1
    figure = figures[0]
    (only,) = recoup.study("yang2016").figures(figure.id, scale="smoke", folder=tmp_path, seeds=1)
    assert only == figure
    assert any(series.points for series in figure.series)
    assert figure.title
    assert figure.y.label


def test_study_is_judged(tmp_path):
    study = recoup.study("yang2016")
    claims = study.check(scale="smoke", folder=tmp_path, seeds=1)
    columns = claims.to_dict()
    assert len(claims) == len(columns["id"]) > 5
    assert set(columns["verdict"]) == {"reported"}
    with pytest.raises(recoup.UsageError, match="there are: udugama2013"):
        recoup.study("nobody")
