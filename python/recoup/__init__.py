"""Fetch and serve named content over NDN networks, and simulate how that behaves.

>>> import recoup
>>> recoup.get("/site/greeting")                              # doctest: +SKIP
b'hello'
>>> runs = recoup.Scenario.from_file("line.toml").run()       # doctest: +SKIP

Errors are subclasses of `Error`, with a remedy and the exit code of the command ``recoup``.
"""

from __future__ import annotations

from recoup import _native, algorithm, cache, congestion, loss, rto, strategy
from recoup._client import (
    Client,
    Content,
    Entry,
    Fetch,
    FetchOptions,
    ObjectInfo,
    ObjectReader,
    Server,
    default_client,
    fetch,
    get,
    get_async,
    serve,
    serve_async,
)
from recoup._errors import (
    CancelledError,
    ConditionError,
    Error,
    LocalError,
    NotFoundError,
    TimedOutError,
    UnreachableError,
    UsageError,
    VerificationError,
)
from recoup._runs import Run, Runs, Table
from recoup._spec import Spec
from recoup._study import Claims, Figure, Study, studies, study
from recoup._sweep import sweep
from recoup.scenario import Scenario

__version__ = _native.__version__

__all__ = [
    "CancelledError",
    "Claims",
    "Client",
    "ConditionError",
    "Content",
    "Entry",
    "Error",
    "Fetch",
    "FetchOptions",
    "Figure",
    "LocalError",
    "NotFoundError",
    "ObjectInfo",
    "ObjectReader",
    "Run",
    "Runs",
    "Scenario",
    "Server",
    "Spec",
    "Study",
    "Table",
    "TimedOutError",
    "UnreachableError",
    "UsageError",
    "VerificationError",
    "__version__",
    "algorithm",
    "cache",
    "congestion",
    "default_client",
    "fetch",
    "get",
    "get_async",
    "loss",
    "rto",
    "serve",
    "serve_async",
    "strategy",
    "studies",
    "study",
    "sweep",
]

# Result folders tell builds apart by the content of the extension module.
_native.set_program(str(_native.__file__))
