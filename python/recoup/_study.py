"""Studies: papers with their experiments, their claims, and a verdict on each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recoup import _native
from recoup._errors import UsageError
from recoup._sweep import simulate_study

Scale = Literal["smoke", "check", "verdict", "paper"]

_COLUMNS = ("id", "class", "gating", "place", "verdict", "paper", "ours", "why")


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a paper with verdicts: columns of texts, as `to_dict` returns them."""

    study: str
    """Key of the study."""
    rows: tuple[dict[str, str], ...]
    """A row for each claim."""

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns, from which a data frame is made: ``pandas.DataFrame(claims.to_dict())``."""
        columns: dict[str, list[Any]] = {key: [row[key] for row in self.rows] for key in _COLUMNS}
        columns["gating"] = [value == "true" for value in columns["gating"]]
        return columns

    @property
    def fails(self) -> list[str]:
        """Numbers of the gating claims that do not hold."""
        gating = (row for row in self.rows if row["gating"] == "true")
        return [row["id"] for row in gating if row["verdict"] == "fails"]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a figure."""

    label: str
    """Name of the quantity."""
    unit: str
    """Its unit; empty where there is none."""
    logarithmic: bool
    """Whether the axis is logarithmic."""
    categories: tuple[str, ...]
    """Names in place of numbers: a point at 0 stands at the first one."""


@dataclass(frozen=True, slots=True)
class Series:
    """A series of points in a figure."""

    name: str
    """Name in the legend."""
    style: str
    """``line``, ``steps``, ``dots``, ``bars``, ``paper`` (the paper's own values), or ``reference``."""
    points: tuple[tuple[float, float], ...]
    """The points."""
    errors: tuple[float, ...]
    """Half the width of the confidence interval of each point; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a study as numbers; `recoup.plot.figure` draws it."""

    id: str
    """Short name."""
    title: str
    """Title of one line."""
    caption: str
    """The observation, and the figure of the paper that it re-draws."""
    x: Axis
    """The horizontal axis."""
    y: Axis
    """The vertical axis."""
    series: tuple[Series, ...]
    """What is drawn."""


class Study:
    """A paper with its experiments and claims."""

    def __init__(self, key: str) -> None:
        found = [study for study in _native.studies() if study[0] == key]
        if not found:
            keys = ", ".join(study[0] for study in _native.studies())
            message = f"there is no study `{key}`; there are: {keys}"
            raise UsageError(message, None, 2)
        self.key, self.title, self.source = found[0]

    def __repr__(self) -> str:
        return f"<recoup.Study {self.key}: {self.title}>"

    def check(
        self,
        *,
        scale: Scale = "check",
        folder: str | os.PathLike[str] | None = None,
        seeds: int | None = None,
        executor: Any | None = None,
        jobs: int | None = None,
        fresh: bool = False,
    ) -> Claims:
        """Make the runs that are missing, and judge each claim.

        Parameters
        ----------
        scale : {"smoke", "check", "verdict", "paper"}
            How much is run. At ``smoke`` nothing is decided.
        folder : path, optional
            Folder of results, in which a later check goes on; that of the command ``recoup study`` without it.
        seeds : int, optional
            Seeds of each experiment, from 1 to this, instead of its own.
        executor : concurrent.futures.Executor or distributed.Client, optional
            Where runs are made, as in `recoup.sweep`; threads of this process without it.
        jobs : int, optional
            Runs at a time without an executor; one for each core without it.
        fresh : bool
            Remove results of earlier checks.

        Returns
        -------
        Claims
            A row for each claim with its verdict: ``holds``, ``fails``, ``reported`` or ``open``.
        """
        place = Path(folder) if folder is not None else results_of(self.key)
        if executor is not None:
            simulate_study(self.key, scale, place, executor, seeds, fresh)
            fresh = False
        rows = _native.check_study(self.key, scale, place, seeds, jobs, fresh)
        return Claims(self.key, tuple(rows))

    def figures(
        self,
        only: str | None = None,
        *,
        scale: Scale = "check",
        folder: str | os.PathLike[str] | None = None,
        seeds: int | None = None,
        jobs: int | None = None,
    ) -> list[Figure]:
        """Make the runs that are missing, and return the figures of the paper as numbers.

        Parameters
        ----------
        only : str, optional
            The `Figure.id` of one figure: only the runs for it are made.
        scale, folder, seeds, jobs
            As for `check`.

        Returns
        -------
        list of Figure
            The figures for which there are results.
        """
        place = Path(folder) if folder is not None else results_of(self.key)
        found = _native.study_figures(self.key, scale, place, seeds, jobs, only)
        return [
            Figure(
                id_,
                title,
                caption,
                _axis(x),
                _axis(y),
                tuple(Series(name, style, tuple(points), tuple(errors)) for name, style, points, errors in series),
            )
            for id_, title, caption, x, y, series in found
        ]


def _axis(of: tuple[str, str, bool, list[str]]) -> Axis:
    label, unit, logarithmic, categories = of
    return Axis(label, unit, logarithmic, tuple(categories))


def results_of(key: str) -> Path:
    """Return the folder in which the command ``recoup study`` keeps the results of a study."""
    found = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(found) if os.path.isabs(found) else Path.home() / ".cache"
    return cache / "recoup" / "studies" / key


def study(key: str) -> Study:
    """Return the study of a paper, such as ``yang2016``."""
    return Study(key)


def studies() -> list[Study]:
    """Return all studies."""
    return [Study(key) for key, _, _ in _native.studies()]
