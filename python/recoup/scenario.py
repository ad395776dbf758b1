"""Scenarios: networks, workloads and sweeps, and their runs."""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recoup import _native
from recoup._errors import UsageError
from recoup._plain import plain, whole
from recoup._progress import Meter, Progress
from recoup._runs import Runs
from recoup._spec import Spec
from recoup._toml import document, key_of
from recoup.algorithm import settled, used_in

if TYPE_CHECKING:
    import networkx

    Graph = networkx.Graph[Any]

#: Seeds: one, several, or a text such as ``"1..20"``. Numbers and arrays of NumPy are numbers and lists.
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
    ]
)
#: Keys of a link that are numbers with the units of a graph, or texts of a scenario.
_MEASURED = frozenset(["rate", "delay", "queue", "loss"])
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
        The network. Nodes and edges of a graph may have the attributes of nodes and links, such as ``delay="10 ms"``,
        or those of FNSS and Mininet: ``delay`` and ``latency`` in ms, ``capacity`` and ``bandwidth`` in Mbit/s, or in
        the units of the graph. Directed graphs and multigraphs work. A warning names attributes without a meaning.
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
            return Runs(self._native.run(chosen, jobs, callback), self)


def _again(text: str, name: str, folder: str, settings: Mapping[str, Any]) -> Scenario:
    scenario = Scenario.__new__(Scenario)
    scenario._read(text, name, folder, settings)
    return scenario


def seeds_of(seeds: Seeds) -> list[int]:
    """Return seeds as an ascending list without repetitions."""
    seeds = plain(seeds)
    if not isinstance(seeds, str):
        try:
            numbers = [whole(seeds)] if not isinstance(seeds, Iterable) else [whole(seed) for seed in seeds]
        except TypeError:
            message = f"`{seeds!r}` are no seeds"
            raise UsageError(message, 'write 7, "1..20", "1..5, 9", or a list of whole numbers', 2) from None
        return sorted(set(numbers))
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
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float | Spec):
        return str(value)
    message = f"a setting is a text or a number, and not {value!r}"
    raise UsageError(message, "change a table with Scenario.from_dict", 2)


def _add_graph(graph: Graph, tables: dict[str, Any]) -> None:
    """Put the nodes and links of a graph into the tables, with what their attributes say.

    An attribute with the text of a scenario, such as ``delay="10 ms"``, is a key of the link. Numbers, costs, texts
    of a number only, and the names of FNSS and Mininet are read as in files (``docs/scenario.md``). ``None`` is none.
    """
    names = {node: _name(node) for node in graph.nodes}
    if len(set(names.values())) < len(names):
        message = "two nodes have one name as text"
        raise UsageError(message, "rename them with networkx.relabel_nodes", 2)
    units = [(key, str(value)) for key, value in graph.graph.items() if str(key).endswith("_unit")]
    unknown: set[str] = set()
    links: dict[str, dict[str, Any]] = {}
    ends: dict[tuple[Any, Any], list[str]] = {}
    weights: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for one, other, attributes in graph.edges(data=True):
        if one == other:
            warnings.warn(f"the link from {one!r} to itself is left out", stacklevel=3)
            continue
        own, weight = _link(one, other, attributes, units, unknown)
        waiting = ends.get((other, one), []) if graph.is_directed() else []
        if waiting:
            name = waiting.pop(0)
            if weight != weights[name]:
                message = f"the costs of {one!r} and {other!r} differ by direction"
                raise UsageError(message, "give both directions one weight", 2)
            # The direction from the second end to the first.
            links[name] = {"cost": links[name].pop("cost"), "forth": links[name], "back": own}
            links[name]["back"].pop("cost")
            continue
        first = f"{names[one]}-{names[other]}"
        counts[first] += 1
        name = first if counts[first] == 1 else f"{first}#{counts[first]}"
        links[name], weights[name] = own, weight
        if graph.is_directed():
            ends.setdefault((one, other), []).append(name)
    _set_costs(links, weights)
    nodes: dict[str, Any] = {}
    for node, attributes in graph.nodes(data=True):
        known = {key: value for key, value in attributes.items() if key in _NODE_KEYS and value is not None}
        others = [str(key) for key in attributes if key not in _NODE_KEYS]
        unknown.update(f"{key} (of nodes)" for key in _native.unused_of_node(others))
        if known:
            nodes[names[node]] = known
    if unknown:
        warnings.warn(f"attributes without a meaning: {', '.join(sorted(unknown))}", stacklevel=3)
    tables["topology"] = {"nodes": list(names.values()), "links": list(links)}
    found = {name: own for name, own in links.items() if own}
    for key, own in (("links", found), ("nodes", nodes)):
        if own:
            # What is said beside the graph overrides it.
            tables[key] = {**own, **tables.get(key, {})}


def _name(node: Any) -> str:
    """Return a node as text: ``(0, 1)`` of a grid is ``0_1``."""
    return "_".join(_name(part) for part in node) if isinstance(node, tuple) else str(node)


def _link(
    one: Any,
    other: Any,
    attributes: Mapping[str, Any],
    units: list[tuple[str, str]],
    unknown: set[str],
) -> tuple[dict[str, Any], int]:
    """Return the keys of a link, and its cost times 1,000."""
    own: dict[str, Any] = {"cost": 1}
    others: list[tuple[str, str]] = []
    for key, given in attributes.items():
        value = plain(given)
        if value is None:
            continue
        if key in _LINK_KEYS and not (key in _MEASURED and _is_number(value)):
            own[key] = value
        else:
            others.append((str(key), str(value)))
    try:
        known, weight, unused = _native.link_of(others, units)
    except UsageError as error:
        message = f"edge {one!r} to {other!r}: {error}"
        raise UsageError(message, "docs/scenario.md lists the attributes and their units", 2) from None
    unknown.update(unused)
    for key, _ in known:
        if key in own:
            message = f"edge {one!r} to {other!r}: two attributes give its {key}"
            raise UsageError(message, f"keep `{key}`, or the other", 2)
    return {**dict(known), **own}, weight


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _set_costs(links: dict[str, dict[str, Any]], weights: Mapping[str, int]) -> None:
    """Set whole costs; if a weight has a fraction, all are taken times 1,000."""
    scale = 1_000 if all(weight % 1_000 == 0 for weight in weights.values()) else 1
    for name, weight in weights.items():
        cost = weight // scale
        links[name]["cost"] = cost
        if cost == 1:
            del links[name]["cost"]
