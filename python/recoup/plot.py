"""Figures of runs, by Matplotlib: ``pip install recoup[plot]``.

>>> from recoup import plot                                             # doctest: +SKIP
>>> plot.metric(runs, "c1.time_s", x="link.loss", by="fetch.congestion")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recoup._errors import UsageError
from recoup._runs import Runs, Table

if TYPE_CHECKING:
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
    table = runs.summary(name)
    for axis in [x] if by is None else [x, by]:
        if axis not in table.columns:
            swept = ", ".join(column for column in table.columns if column != "seeds" and not column.startswith(name))
            message = f"the sweep has no axis `{axis}`"
            raise UsageError(message, f"there is: {swept or 'none'}", 2)
    places = {value: place for place, value in enumerate(dict.fromkeys(table[x]))}
    lines: dict[str, list[tuple[int, float, float, float]]] = {}
    rows = zip(
        table[by] if by is not None else [name] * len(table),
        table[x],
        table[name],
        table[f"{name}_low"],
        table[f"{name}_high"],
        strict=True,
    )
    for label, value, mean, low, high in rows:
        if mean is not None:
            # A single seed has no interval.
            low, high = (mean if bound is None else bound for bound in (low, high))
            lines.setdefault(label, []).append((places[value], mean, mean - low, high - mean))
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
    units = table.units
    axes.set_xlabel(f"{x} [{units[x]}]" if x in units else x)
    axes.set_ylabel(f"{y} [{units[y]}]" if y in units else y)
    if by is not None:
        axes.legend(title=by)
    return axes


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
