"""Sweeps: every point of a scenario with every seed, in a result folder, on this machine or on an executor."""

from __future__ import annotations

import functools
import os
import pickle
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from recoup import _native
from recoup._errors import Error, LocalError
from recoup._progress import Meter, Progress
from recoup._runs import Runs
from recoup.algorithm import Algorithm, arrived, identified, settled, used_in
from recoup.scenario import Scenario, Seeds, seeds_of

if TYPE_CHECKING:
    from recoup._native import _Parcel

#: Seconds of work that one task of an executor is meant to have.
_TASK_S = 2.0
#: Tasks that are submitted and have not ended.
_MOST_TASKS = 200
#: Runs of one task at most, so that a lost task loses little.
_MOST_RUNS = 1_000
#: How often a task is submitted whose answer was lost.
_ATTEMPTS = 3
#: Begins the note that a worker adds to what a run has raised.
_RAISED = "raised by a run of this sweep"
#: Seconds between two looks at signals and progress.
_LOOK_S = 0.2


@runtime_checkable
class Executor(Protocol):
    """What `sweep` needs of an executor: the ``submit`` of ``concurrent.futures.Executor``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:
        """Begin a call, and return its future."""
        ...


def sweep(
    scenario: Scenario,
    folder: str | os.PathLike[str],
    executor: Any | None = None,
    *,
    seeds: Seeds | None = None,
    jobs: int | None = None,
    fresh: bool = False,
    progress: Progress = False,
) -> Runs:
    """Run every point of a scenario with every seed, and keep the results in a folder.

    Runs that are in the folder already are not made again, whichever executor or command has made them; so an
    interrupted sweep goes on with the same call, and ``recoup sim FILE --out FOLDER`` reads the same folder. Of points
    with classes of your own, one kept run each is made again: a class may read a file or the environment.

    Parameters
    ----------
    scenario : Scenario
        What is run.
    folder : path
        Folder of the results: ``runs.csv``, ``runs.parquet``, and ``tables`` with the records.
    executor : concurrent.futures.Executor or distributed.Client, optional
        Where runs are made: threads of this process without it, or any executor, such as a ``ProcessPoolExecutor``, or
        a client of Dask. Workers need this package in the same version, and no common file system.
    seeds : int, iterable of int, or str, optional
        Other seeds than those of the scenario.
    jobs : int, optional
        Runs at a time without an executor; one for each core without it.
    fresh : bool
        Remove the results that are in the folder.
    progress : bool or callable
        ``True`` shows a bar of tqdm; a function is called with the runs that are there, and all.

    Returns
    -------
    Runs
        All runs of the sweep. Records stand in the folder, as Parquet files.

    Raises
    ------
    LocalError
        If the folder has other results, a worker has another version of the package or of a class, or a run has two
        digests.
    """
    chosen = None if seeds is None else seeds_of(seeds)
    classes = identified(used_in(scenario._native.registered()))
    with settled(it for it, _ in classes):
        # With the identities that the classes have now.
        current = scenario.with_settings({}) if classes else scenario
        campaign = _native.Campaign(current._native, os.fspath(folder), chosen, fresh)
        try:
            with Meter(progress, "run", current.title) as meter:
                callback = meter.update if meter.is_wanted else None
                if executor is None:
                    campaign.run(jobs, callback)
                else:
                    source = (current._text, current._name, current._folder, current._plain_settings)
                    work = _Work((_native_of, source), classes, campaign.format())
                    _Sweep(work, campaign, submitter(executor), meter).run()
            return Runs(campaign.finish(), current)
        finally:
            campaign.close()


def simulate_study(
    key: str, scale: str, folder: str | os.PathLike[str], executor: Any, seeds: int | None, fresh: bool
) -> None:
    """Make the simulations of a study that are missing in its folder, on an executor."""
    workers = submitter(executor)
    campaigns = _native.study_campaigns(key, scale, os.fspath(folder), seeds, fresh)
    try:
        for name, _, campaign in campaigns:
            work = _Work((_native.Scenario.of_study, (key, scale, name)), [], campaign.format())
            _Sweep(work, campaign, workers, Meter(False, "run", name)).run()
            campaign.finish()
    finally:
        for _, _, campaign in campaigns:
            campaign.close()


def submitter(executor: Any) -> Executor:
    """Return the executor of an object that is one, or has one."""
    # A client of Dask makes futures of its own kind; its executor makes those of the standard library.
    if hasattr(executor, "get_executor"):
        submitter: Executor = executor.get_executor(pure=False)
        return submitter
    if isinstance(executor, Executor):
        return executor
    message = f"{type(executor).__name__} is no executor: it has no `submit`"
    raise TypeError(message)


Task = tuple[int, int]


class _Sweep:
    """The runs of one sweep on their way to an executor and back."""

    def __init__(self, work: _Work, campaign: _native.Campaign, executor: Executor, meter: Meter) -> None:
        self._campaign = campaign
        self._executor = executor
        self._meter = meter
        self._all = campaign.runs()
        self._work = work
        # Of kept runs that are made again `keep` compares the digests.
        self._again = set(campaign.repeats())
        self._missing = [*campaign.missing()[::-1], *self._again]
        self._tasks: dict[Future[Any], tuple[list[Task], int]] = {}
        self._run_s: float | None = None
        self._known: set[tuple[str, str]] = set()

    def run(self) -> None:
        done = self._all - len(self._missing) + len(self._again)
        try:
            while self._missing or self._tasks:
                self._submit()
                ended, _ = wait(list(self._tasks), timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                for future in ended:
                    done += self._take(future)
                    self._meter.update(done, self._all)
        finally:
            for future in self._tasks:
                future.cancel()

    def _submit(self) -> None:
        while self._missing and len(self._tasks) < _MOST_TASKS:
            # Until something is known of their length, runs are sent one by one, and few of them.
            if self._run_s is None and len(self._tasks) >= 2 * (os.cpu_count() or 1):
                return
            length = 1 if self._run_s is None else int(_TASK_S / max(self._run_s, 1e-6))
            length = max(1, min(length, _MOST_RUNS, -(-len(self._missing) // 16)))
            tasks = [self._missing.pop() for _ in range(min(length, len(self._missing)))]
            self._send(tasks, 1)

    def _send(self, tasks: list[Task], attempt: int) -> None:
        self._tasks[self._executor.submit(self._work, tasks)] = (tasks, attempt)

    def _take(self, future: Future[Any]) -> int:
        tasks, attempt = self._tasks.pop(future)
        try:
            worker, elapsed_s, parcels = future.result()
        except Error:
            raise
        except Exception as error:
            if attempt >= _ATTEMPTS or _is_raised_by_a_run(error):
                raise
            self._send(tasks, attempt + 1)
            return 0
        self._check(worker)
        for parcel in parcels:
            self._campaign.keep(parcel)
        run_s = elapsed_s / max(len(parcels), 1)
        self._run_s = run_s if self._run_s is None else 0.7 * self._run_s + 0.3 * run_s
        return sum(task not in self._again for task in tasks)

    def _check(self, worker: tuple[str, str]) -> None:
        if worker in self._known:
            return
        here = proof()
        if worker != here:
            message = f"a worker has recoup {worker[0]}, which does not compute as {here[0]} here does"
            raise LocalError(message, "install the same version of recoup everywhere", 4)
        self._known.add(worker)


def _is_raised_by_a_run(error: Exception) -> bool:
    """Whether a run has raised this, and so will again.

    All else comes from the executor, most often for a worker that is gone: executors name that in many ways, and Dask's
    own mistakes an answer for an exception if the worker dies after it has answered.
    """
    return any(note.startswith(_RAISED) for note in getattr(error, "__notes__", ()))


#: How a worker makes a scenario: a function and its arguments.
Recipe = tuple[Callable[..., _native.Scenario], tuple[Any, ...]]


class _Work:
    """Makes runs in a worker; it travels there by ``pickle``."""

    def __init__(self, recipe: Recipe, classes: list[tuple[type[Algorithm], str]], records: str) -> None:
        self._recipe = recipe
        self._classes = classes
        self._records = records

    def __call__(self, tasks: list[Task]) -> tuple[tuple[str, str], float, list[_Parcel]]:
        for algorithm, identity in self._classes:
            arrived(algorithm, identity)
        begun = time.monotonic()
        scenario = _scenario(pickle.dumps(self._recipe))
        try:
            parcels = _native.make_parcels(scenario, tasks, self._records)
        except Exception as error:
            point, seed = tasks[0]
            error.add_note(f"{_RAISED}, one of {len(tasks)} from point {point}, seed {seed} on")
            raise
        return proof(), time.monotonic() - begun, parcels


@functools.lru_cache(maxsize=8)
def _scenario(pickled: bytes) -> _native.Scenario:
    """Read a scenario once for all tasks of a sweep."""
    make, arguments = pickle.loads(pickled)
    scenario: _native.Scenario = make(*arguments)
    return scenario


def _native_of(*arguments: Any) -> _native.Scenario:
    from recoup.scenario import _again

    return _again(*arguments)._native


_PROBE = """
stop = "60 s"
[topology]
kind = "line"
nodes = 3
[link]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "bernoulli(p=0.02)"
[applications.c]
kind = "fetch"
node = "n1"
object = "/probe"
[applications.p]
kind = "serve"
node = "n3"
prefix = "/probe"
size = "100 kB"
"""


@functools.cache
def proof() -> tuple[str, str]:
    """Return what tells whether two processes compute alike: the version, and the digest of a known run."""
    return _native.__version__, Scenario.from_toml(_PROBE).run(7, jobs=1).digests[0]
