import pytest
from conftest import LINE

import recoup

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

from recoup import plot  # noqa: E402


@pytest.fixture(scope="module")
def runs():
    swept = {
        **LINE,
        "record": {"tables": ["window"]},
        "sweep": {"link.delay": ["5 ms", "10 ms"], "fetch.congestion": ["cubic", "newreno"]},
    }
    return recoup.Scenario.from_dict(swept).run()


def test_metric_has_a_line_with_intervals_for_each_value(runs, tmp_path):
    axes = plot.metric(runs, "c1.time_s", x="link.delay", by="fetch.congestion")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["cubic", "newreno"]
    assert len(axes.containers) == 2
    heights = axes.containers[0].lines[0].get_ydata()
    means = runs.summary("c1.time_s").to_dict()
    cubic = [mean for mean, kind in zip(means["c1.time_s"], means["fetch.congestion"], strict=True) if kind == "cubic"]
    assert list(heights) == pytest.approx(cubic)
    axes.figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000
    with pytest.raises(recoup.UsageError, match=r"there is: link\.delay, fetch\.congestion"):
        plot.metric(runs, "c1.time_s", x="link.rate")


def test_record_is_drawn_by_seed(runs):
    table = runs.record("window")
    column = next(name for name, unit in table.units.items() if unit == "segments")
    axes = plot.record(table, column, by="seed")
    assert len(axes.lines) == 3
    assert "[s]" in axes.get_xlabel()


def test_charts_of_altair_have_the_same_values(runs):
    pytest.importorskip("altair")
    chart = plot.metric_chart(runs, "c1.time_s", x="link.delay", by="fetch.congestion").to_dict()
    values = chart["data"]["values"]
    assert [row["mean"] for row in values] == runs.summary("c1.time_s")["c1.time_s"]
    assert {row["by"] for row in values} == {"cubic", "newreno"}
    assert all(row["low"] < row["mean"] < row["high"] for row in values)
    with pytest.raises(recoup.UsageError, match="no axis"):
        plot.metric_chart(runs, "c1.time_s", x="link.rate")
    table = runs.record("window")
    column = next(name for name, unit in table.units.items() if unit == "segments")
    chart = plot.record_chart(table, column, by="seed").to_dict()
    assert len(chart["data"]["values"]) == len(table)
