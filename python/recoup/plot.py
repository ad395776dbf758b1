"""Figures of runs: ``pip install recoup[plot]``.

`metric` and `record` draw with Matplotlib, `metric_chart` and `record_chart` make interactive charts of Altair.

>>> from recoup import plot                                             # doctest: +SKIP
>>> plot.metric(runs, "c1.time_s", x="link.loss", by="fetch.congestion")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoup._errors import UsageError
from recoup._runs import Runs, Table
from recoup._study import Figure

if TYPE_CHECKING:
    from altair import Chart, LayerChart
    from matplotlib.axes import Axes


def metric(runs: Runs, name: str, *, x: str, by: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw means over seeds with 95 % confidence intervals.

    Parameters
    ----------
    runs : Runs
        The runs of a sweep.
    name : str
        The metric, such as ``c1.time_s``.
    x : str
        The axis of the sweep along which they are drawn, in the order of the sweep.
    by : str, optional
        The axis of the sweep that has a line for each of its values.
    axes : matplotlib.axes.Axes, optional
        Where it is drawn; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes; ``axes.figure.savefig`` writes a file.
    """
    axes = _axes(axes)
    rows = _means(runs, name, x, by)
    places = {value: place for place, value in enumerate(dict.fromkeys(row["x"] for row in rows))}
    lines: dict[str, list[tuple[int, float, float, float]]] = {}
    for row in rows:
        mean = row["mean"]
        lines.setdefault(row["by"], []).append((places[row["x"]], mean, mean - row["low"], row["high"] - mean))
    for number, (label, points) in enumerate(lines.items()):
        # Lines stand a little apart, or intervals would hide each other.
        offset = 0.04 * (number - (len(lines) - 1) / 2)
        at, means, below, above = zip(*points, strict=True)
        axes.errorbar([place + offset for place in at], means, yerr=[below, above], label=label, capsize=3, marker="o")
    axes.set_xticks(list(places.values()), list(places))
    axes.set_xlabel(x)
    axes.set_ylabel(name)
    if by is not None:
        axes.legend(title=by)
    return axes


def figure(of: Figure, *, axes: Axes | None = None) -> Axes:
    """Draw a figure of a study.

    Parameters
    ----------
    of : recoup.Figure
        The figure: ``recoup.study("yang2016").figures()[0]``.
    axes : matplotlib.axes.Axes, optional
        Where it is drawn; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    axes = _axes(axes)
    bars = [series for series in of.series if series.style == "bars"]
    for series in of.series:
        if not series.points:
            continue
        at, heights = zip(*series.points, strict=True)
        errors = series.errors or None
        if series.style == "bars":
            axes.bar(at, heights, width=0.7 / len(bars), yerr=errors, capsize=2, label=series.name)
        elif series.style == "steps":
            axes.step(at, heights, where="post", label=series.name)
        elif series.style == "paper":
            axes.plot(at, heights, "x", color="black", label=series.name)
        elif series.style == "reference":
            axes.plot(at, heights, ":", color="gray", label=series.name)
        else:
            mark = "o" if series.style == "dots" else "o-"
            axes.errorbar(at, heights, yerr=errors, fmt=mark, capsize=2, markersize=3, label=series.name)
    for axis, set_label, set_scale in (
        (of.x, axes.set_xlabel, axes.set_xscale),
        (of.y, axes.set_ylabel, axes.set_yscale),
    ):
        set_label(f"{axis.label} [{axis.unit}]" if axis.unit else axis.label)
        if axis.logarithmic:
            set_scale("log")
    if of.x.categories:
        axes.set_xticks(range(len(of.x.categories)), of.x.categories)
    axes.set_title(of.title, fontsize="medium", wrap=True)
    axes.legend(fontsize="small")
    return axes


def metric_chart(runs: Runs, name: str, *, x: str, by: str | None = None) -> LayerChart:
    """Draw means over seeds with 95 % confidence intervals, as an interactive chart of Altair.

    Parameters
    ----------
    runs : Runs
        The runs of a sweep.
    name : str
        The metric, such as ``c1.time_s``.
    x : str
        The axis of the sweep along which they are drawn, in the order of the sweep.
    by : str, optional
        The axis of the sweep that has a line for each of its values.

    Returns
    -------
    altair.LayerChart
        The chart; ``chart.save("figure.html")`` writes a file.
    """
    alt = _altair()
    rows = _means(runs, name, x, by)
    order = list(dict.fromkeys(row["x"] for row in rows))
    offset = [] if by is None else [alt.XOffset("by:N")]
    base = alt.Chart(alt.Data(values=rows)).encode(
        alt.X("x:N", sort=order, title=x),
        *offset,
        alt.Color("by:N", title=by, legend=None if by is None else alt.Undefined),
    )
    tooltip = ["by:N", "x:N", "mean:Q", "low:Q", "high:Q", "seeds:Q"]
    points = base.mark_point(filled=True).encode(alt.Y("mean:Q", title=name), tooltip=tooltip)
    intervals = base.mark_rule().encode(alt.Y("low:Q", title=name), alt.Y2("high:Q"))
    layers: LayerChart = alt.layer(intervals, points)
    return layers


def record(table: Table, y: str, *, x: str = "time_s", by: str | None = None, axes: Axes | None = None) -> Axes:
    """Draw a column of a record over time, such as a window.

    Parameters
    ----------
    table : Table
        The record: ``runs.record("window")``.
    y : str
        The column.
    x : str
        The column along which it is drawn.
    by : str, optional
        The column that has a line for each of its values, such as ``seed``.
    axes : matplotlib.axes.Axes, optional
        Where it is drawn; a new figure without it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    axes = _axes(axes)
    lines: dict[Any, tuple[list[float], list[float]]] = {}
    for label, at, value in zip(table[by] if by else [y] * len(table), table[x], table[y], strict=True):
        line = lines.setdefault(label, ([], []))
        line[0].append(at)
        line[1].append(value)
    for label, (at, values) in lines.items():
        axes.step(at, values, where="post", label=str(label))
    axes.set_xlabel(_titled(table, x))
    axes.set_ylabel(_titled(table, y))
    if by is not None:
        axes.legend(title=by)
    return axes


def record_chart(table: Table, y: str, *, x: str = "time_s", by: str | None = None) -> Chart:
    """Draw a column of a record over time, such as a window, as an interactive chart of Altair.

    Parameters
    ----------
    table : Table
        The record: ``runs.record("window")``.
    y : str
        The column.
    x : str
        The column along which it is drawn.
    by : str, optional
        The column that has a line for each of its values, such as ``seed``.

    Returns
    -------
    altair.Chart
        The chart; ``chart.save("figure.html")`` writes a file.
    """
    alt = _altair()
    labels = table[by] if by else [y] * len(table)
    cells = zip(labels, table[x], table[y], strict=True)
    rows = [{"by": str(label), "x": at, "y": value} for label, at, value in cells]
    chart: Chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after")
        .encode(
            alt.X("x:Q", title=_titled(table, x)),
            alt.Y("y:Q", title=_titled(table, y)),
            alt.Color("by:N", title=by, legend=None if by is None else alt.Undefined),
        )
    )
    return chart


def _means(runs: Runs, name: str, x: str, by: str | None) -> list[dict[str, Any]]:
    """Return the means of a metric with their intervals, in the order of the sweep."""
    table = runs.summary(name)
    for axis in [x] if by is None else [x, by]:
        if axis not in table.columns:
            swept = ", ".join(column for column in table.columns if column != "seeds" and not column.startswith(name))
            message = f"the sweep has no axis `{axis}`"
            raise UsageError(message, f"there is: {swept or 'none'}", 2)
    labels = table[by] if by is not None else [name] * len(table)
    columns = (labels, table[x], table[name], table[f"{name}_low"], table[f"{name}_high"], table["seeds"])
    rows = []
    for label, at, mean, low, high, seeds in zip(*columns, strict=True):
        if mean is not None:
            # A single seed has no interval.
            low, high = (mean if bound is None else bound for bound in (low, high))
            rows.append({"by": label, "x": at, "mean": mean, "low": low, "high": high, "seeds": seeds})
    return rows


def _titled(table: Table, column: str) -> str:
    units = table.units
    return f"{column} [{units[column]}]" if column in units else column


def _altair() -> Any:
    try:
        import altair
    except ImportError:
        message = "charts need Altair"
        raise UsageError(message, "pip install recoup[plot]", 2) from None
    return altair


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        message = "figures need Matplotlib"
        raise UsageError(message, "pip install recoup[plot]", 2) from None
    _, made = pyplot.subplots(layout="constrained")
    return made
