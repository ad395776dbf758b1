"""Results of runs, and their tables."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from recoup import _native
from recoup._plain import whole

if TYPE_CHECKING:
    from recoup.scenario import Scenario

_SHOWN_ROWS = 10
_SHOWN_COLUMNS = 12


class Table:
    """Named columns of equal length.

    It has ``__arrow_c_stream__``: ``polars.DataFrame(table)``, ``pyarrow.table(table)``, pandas (``from_arrow``)
    and DuckDB read it.
    """

    def __init__(self, table: _native.Table) -> None:
        self._table = table

    @property
    def name(self) -> str:
        """Its name."""
        return self._table.name

    @property
    def every(self) -> int:
        """Only each so-manieth row was kept, to bound memory; 1 means that all were."""
        return self._table.every

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name for name, _ in self._table.units()]

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column that has one, such as ``s`` or ``segments``."""
        return {name: unit for name, unit in self._table.units() if unit}

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> list[Any]:
        return self._table.column(column)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the values of each column; ``None`` where a number is absent."""
        return {name: self._table.column(name) for name in self.columns}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<recoup.Table {self.name}: {len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        shown = self.columns[:_SHOWN_COLUMNS]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        columns = [self._table.column(name)[:_SHOWN_ROWS] for name in shown]
        rows = (
            "<tr>" + "".join(f"<td>{html.escape(_cell(cell))}</td>" for cell in row) + "</tr>"
            for row in zip(*columns, strict=True)
        )
        count = f"<p>{len(self)} rows, {len(self.columns)} columns</p>"
        body = "".join(rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{count}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Run:
    """One run."""

    values: Mapping[str, str]
    """Values of the axes of the sweep."""
    seed: int
    """The seed."""
    digest: str
    """Digest of all that happened: equal digests are equal runs."""
    end_s: float
    """Simulated seconds."""
    elapsed_s: float
    """Seconds that it took."""
    metrics: Mapping[str, float]
    """Metrics by name, such as ``c1.time_s``."""
    point: str
    """Digest of the scenario at this point."""


class Runs(Sequence[Run]):
    """Runs of a scenario: a row for each, with the values of its sweep, seed, digest and metrics.

    It is a sequence of `Run`, and a table for data frames by ``__arrow_c_stream__``. A slice is a list. It can be
    pickled, with its records.
    """

    def __init__(self, runs: _native.Runs, scenario: Scenario) -> None:
        self._runs = runs
        self._scenario = scenario

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _again, (self._scenario, *self._runs.parts())

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, number: int) -> Run: ...

    @overload
    def __getitem__(self, number: slice) -> list[Run]: ...

    def __getitem__(self, number: int | slice) -> Run | list[Run]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        place = whole(number)
        place = place if place >= 0 else place + len(self)
        if not 0 <= place < len(self):
            message = f"there is no run {number} of {len(self)}"
            raise IndexError(message)
        return Run(**self._runs.row(place))

    def __iter__(self) -> Iterator[Run]:
        return (self[number] for number in range(len(self)))

    @property
    def table(self) -> Table:
        """The runs as a table."""
        return Table(self._runs.table())

    @property
    def digests(self) -> list[str]:
        """The digest of each run."""
        return [run.digest for run in self]

    @property
    def records(self) -> list[str]:
        """Names of the records that the scenario asked for, such as ``window``."""
        return self._runs.records()

    def record(self, name: str) -> Table:
        """Return a record of all runs, with the values of the sweep and the seed in front."""
        return Table(self._runs.record(name))

    def summary(self, *metrics: str) -> Table:
        """Return means over seeds with 95 % confidence intervals: a row for each point of the sweep.

        Parameters
        ----------
        *metrics : str
            Names of metrics, such as ``c1.time_s``.

        Returns
        -------
        Table
            The axes, ``seeds`` (how many), and for each metric its mean, ``_low`` and ``_high``.
        """
        return Table(self._runs.summary(list(metrics)))

    def explain(
        self,
        segment: int | str,
        *,
        seed: int | None = None,
        at: Mapping[str, str] | None = None,
        application: str | None = None,
    ) -> str:
        """Explain why a segment was late. The run is made again, with that segment followed.

        Parameters
        ----------
        segment : int or str
            Number of the segment, or name of the content.
        seed : int, optional
            Seed of the run; the lowest without it.
        at : dict, optional
            Values of the sweep.
        application : str, optional
            The consumer, where several asked for it.

        Returns
        -------
        str
            The timeline and the verdict.
        """
        chosen = [f"{axis}={value}" for axis, value in (at or {}).items()]
        return self._runs.explain(str(segment), chosen, seed, application)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._runs.table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<recoup.Runs: {len(self)} runs, records: {', '.join(self.records) or 'none'}>"

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


def _again(scenario: Scenario, rows: list[str], seeds: list[int], records: list[Any]) -> Runs:
    return Runs(_native.Runs.of(scenario._native, rows, seeds, records), scenario)
