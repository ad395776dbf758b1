"""Scenarios: networks, workloads and sweeps, and their runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recoup import _native
from recoup._errors import UsageError
from recoup._progress import Meter, Progress
from recoup._runs import Runs
from recoup._spec import Spec
from recoup._toml import document, key_of
from recoup.algorithm import settled, used_in

if TYPE_CHECKING:
    import networkx

    Graph = networkx.Graph[Any]

#: Seeds: one, several, or a text such as ``"1..20"``.
Seeds = int | str | Iterable[int]

#: Attributes of edges that are keys of a link.
_LINK_KEYS = frozenset(
    [
        "rate",
        "delay",
        "jitter",
        "reorder",
        "queue",
        "overhead",
        "interest",
        "loss",
        "duplicate",
        "order",
        "marking",
        "recovery",
        "scheduler",
        "cost",
    ]
)
#: Attributes of nodes that are keys of a node.
_NODE_KEYS = frozenset(
    ["cache", "cache-replacement", "cache-admission", "strategy", "suppression", "mobility", "processing", "position"]
)


class Scenario:
    """A network, what its applications do, what is recorded, and what is varied.

    Keyword arguments are the tables of a scenario file (``docs/scenario.md``), with ``_`` in place of ``-`` in keys.
    Values are numbers, texts, algorithms such as ``recoup.rto.Jacobson(k=8)``, lists and dictionaries.

    Parameters
    ----------
    topology : dict or networkx.Graph
        The network. Nodes and edges of a graph may have the attributes of nodes and links, such as ``delay="10 ms"``.
    settings : dict, optional
        Values that replace others, by dotted path: ``{"link.delay": "20 ms"}``.
    folder : path
        Where files are that the scenario names.
    **tables
        The other tables: ``title``, ``seeds``, ``stop``, ``link``, ``links``, ``node``, ``nodes``, ``fetch``,
        ``applications``, ``events``, ``record``, ``sweep``, ….

    Raises
    ------
    UsageError
        With a line for each mistake.

    Examples
    --------
    >>> scenario = recoup.Scenario(
    ...     topology={"kind": "line", "nodes": 3},
    ...     link={"rate": "10 Mbit/s", "delay": "10 ms", "loss": "bernoulli(p=0.01)"},
    ...     applications={
    ...         "c1": {"kind": "fetch", "node": "n1", "object": "/file"},
    ...         "p1": {"kind": "serve", "node": "n3", "prefix": "/file", "size": "1 MB"},
    ...     },
    ...     fetch={"congestion": recoup.congestion.Cubic()},
    ... )
    >>> runs = scenario.run(seeds="1..5")
    """

    def __init__(
        self,
        *,
        topology: Mapping[str, Any] | Graph,
        settings: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] = ".",
        **tables: Any,
    ) -> None:
        everything: dict[str, Any] = {key_of(key): value for key, value in tables.items()}
        if isinstance(topology, Mapping):
            everything["topology"] = topology
        else:
            _add_graph(topology, everything)
        self._read(document(everything), "the scenario", folder, settings)

    def _read(
        self,
        text: str,
        name: str,
        folder: str | os.PathLike[str],
        settings: Mapping[str, Any] | None,
    ) -> None:
        self._text = text
        self._name = name
        self._folder = os.fspath(folder)
        self._settings = dict(settings or {})
        lines = [f"{path}={_setting(value)}" for path, value in self._settings.items()]
        self._native = _native.Scenario(text, name, self._folder, lines)

    @classmethod
    def from_toml(
        cls,
        text: str,
        *,
        settings: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] = ".",
    ) -> Scenario:
        """Read a scenario from the text of a scenario file."""
        scenario = cls.__new__(cls)
        scenario._read(text, "the scenario", folder, settings)
        return scenario

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, settings: Mapping[str, Any] | None = None) -> Scenario:
        """Read a scenario file. Files that it names stand beside it."""
        file = Path(path)
        scenario = cls.__new__(cls)
        scenario._read(file.read_text(encoding="utf-8"), str(file), file.parent, settings)
        return scenario

    @classmethod
    def from_dict(
        cls,
        tables: Mapping[str, Any],
        *,
        settings: Mapping[str, Any] | None = None,
        folder: str | os.PathLike[str] = ".",
    ) -> Scenario:
        """Read a scenario from a dictionary with the tables of a scenario file."""
        return cls.from_toml(document(tables), settings=settings, folder=folder)

    def __reduce__(self) -> tuple[Callable[..., Scenario], tuple[object, ...]]:
        return _again, (self._text, self._name, self._folder, self._settings)

    def __repr__(self) -> str:
        title = self.title or self._name
        return f"<recoup.Scenario {title!r}, {len(self.points)} points, {len(self.seeds)} seeds>"

    @property
    def _plain_settings(self) -> dict[str, str]:
        """The settings as texts, which need no class where they are read."""
        return {path: _setting(value) for path, value in self._settings.items()}

    @property
    def title(self) -> str:
        """What it is about."""
        return self._native.title

    @property
    def seeds(self) -> list[int]:
        """The seeds that it asks for."""
        return self._native.seeds()

    @property
    def points(self) -> list[dict[str, str]]:
        """The points of its sweep: for each the value of each axis."""
        return [dict(point) for point in self._native.points()]

    def to_toml(self) -> str:
        """Return the scenario as the text of a scenario file, in normal form with every default."""
        return self._native.toml()

    def with_settings(self, settings: Mapping[str, Any]) -> Scenario:
        """Return the same scenario with other values, by dotted path: ``{"link.delay": "20 ms"}``."""
        return _again(self._text, self._name, self._folder, {**self._settings, **settings})

    def run(
        self,
        seeds: Seeds | None = None,
        *,
        jobs: int | None = None,
        progress: Progress = False,
    ) -> Runs:
        """Run every point of the sweep with every seed, and keep the results in memory.

        The interpreter lock is released while runs are made; ``Ctrl-C`` ends them.

        Parameters
        ----------
        seeds : int, iterable of int, or str, optional
            Other seeds than those of the scenario; a text is such as ``"1..20"``.
        jobs : int, optional
            Runs at a time; one for each core without it.
        progress : bool or callable
            ``True`` shows a bar of tqdm; a function is called with the runs that have ended, and all.

        Returns
        -------
        Runs
            A row for each run, ordered by point and seed.
        """
        chosen = None if seeds is None else seeds_of(seeds)
        classes = used_in(self._native.registered())
        with Meter(progress, "run", self.title) as meter, settled(classes):
            callback = meter.update if meter.is_wanted else None
            return Runs(self._native.run(chosen, jobs, callback))


def _again(text: str, name: str, folder: str, settings: Mapping[str, Any]) -> Scenario:
    scenario = Scenario.__new__(Scenario)
    scenario._read(text, name, folder, settings)
    return scenario


def seeds_of(seeds: Seeds) -> list[int]:
    """Return seeds as an ascending list without repetitions."""
    if isinstance(seeds, int):
        return [seeds]
    if not isinstance(seeds, str):
        return sorted(set(seeds))
    chosen: set[int] = set()
    for part in seeds.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:\.\.\s*(\d+)\s*)?", part)
        if match is None:
            message = f"`{seeds}` are no seeds"
            raise UsageError(message, 'write 7, "1..20", "1..5, 9", or a list of numbers', 2)
        first = int(match[1])
        chosen.update(range(first, int(match[2] or first) + 1))
    return sorted(chosen)


def _setting(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | Spec):
        return str(value)
    message = f"a setting is a text or a number, and not {value!r}"
    raise UsageError(message, "change a table with Scenario.from_dict", 2)


def _add_graph(graph: Graph, tables: dict[str, Any]) -> None:
    """Put the nodes and links of a graph into the tables, with what their attributes say."""
    if graph.is_directed() or graph.is_multigraph():
        message = "a topology is an undirected graph with one link between two nodes"
        raise UsageError(message, "networkx.Graph(graph) makes one of it", 2)
    links: dict[str, Any] = {}
    names: list[str] = []
    for one, other, attributes in graph.edges(data=True):
        name = f"{one}-{other}"
        names.append(name)
        if own := {key: value for key, value in attributes.items() if key in _LINK_KEYS}:
            links[name] = own
    nodes: dict[str, Any] = {}
    for node, attributes in graph.nodes(data=True):
        if own := {key: value for key, value in attributes.items() if key in _NODE_KEYS}:
            nodes[str(node)] = own
    tables["topology"] = {"nodes": [str(node) for node in graph.nodes], "links": names}
    for key, found in (("links", links), ("nodes", nodes)):
        if found:
            # What is said beside the graph overrides it.
            tables[key] = {**found, **tables.get(key, {})}
