"""Studies: papers with their experiments, their claims, and a verdict on each."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from recoup import _native
from recoup._errors import UsageError

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
        jobs : int, optional
            Runs at a time; one for each core without it.
        fresh : bool
            Remove results of earlier checks.

        Returns
        -------
        Claims
            A row for each claim with its verdict: ``holds``, ``fails``, ``reported`` or ``open``.
        """
        place = Path(folder) if folder is not None else _cache() / "recoup" / "studies" / self.key
        rows = _native.check_study(self.key, scale, place, seeds, jobs, fresh)
        return Claims(self.key, tuple(rows))


def _cache() -> Path:
    found = os.environ.get("XDG_CACHE_HOME", "")
    return Path(found) if os.path.isabs(found) else Path.home() / ".cache"


def study(key: str) -> Study:
    """Return the study of a paper, such as ``yang2016``."""
    return Study(key)


def studies() -> list[Study]:
    """Return all studies."""
    return [Study(key) for key, _, _ in _native.studies()]
