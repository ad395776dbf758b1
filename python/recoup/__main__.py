"""The command ``recoup``.

``recoup --import FILE COMMAND …`` imports a module or a file first, whose classes all specs of the command know then.
"""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recoup import Scenario, _native, study, sweep
from recoup._errors import Error
from recoup._study import results_of
from recoup._sweep import simulate_study
from recoup.algorithm import identified, registered


def main() -> None:
    """Run the command with the arguments of the process, and end it with the exit code."""
    arguments = _imported(sys.argv[1:])
    if any(it == "--on" or it.startswith("--on=") for it in arguments):
        if arguments[:1] == ["sim"]:
            arguments = _on_cluster(arguments)
        elif arguments[:2] == ["study", "check"]:
            arguments = _study_on_cluster(arguments)
    # The command has its own handlers, or none: those of the interpreter run between its instructions only.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.main(_program(), arguments))


def _imported(arguments: list[str]) -> list[str]:
    """Import the modules and files of leading options ``--import``, and return the arguments after them."""
    while arguments[:1] == ["--import"] or (arguments[:1] and arguments[0].startswith("--import=")):
        _, _, wanted = arguments[0].partition("=")
        wanted, arguments = (wanted, arguments[1:]) if wanted else ("".join(arguments[1:2]), arguments[2:])
        try:
            if wanted.endswith(".py"):
                path = Path(wanted).resolve()
                sys.path.insert(0, str(path.parent))
                wanted = path.stem
            importlib.import_module(wanted)
        except (ImportError, ValueError) as error:
            print(f"recoup: cannot import `{wanted}`: {error}; give a module or a file after --import", file=sys.stderr)
            sys.exit(2)
    # A module may define what its classes reach after it has registered them.
    identified(registered())
    return arguments


def _on_cluster(arguments: list[str]) -> list[str]:
    """Make the runs of ``recoup sim`` on a cluster of Dask, and return the arguments that report them."""
    parser = argparse.ArgumentParser(
        prog="recoup sim --on",
        description="Make the runs of a scenario on the workers of a Dask scheduler, such as tcp://scheduler:8786.",
        epilog="Other options are those of `recoup sim`.",
    )
    parser.add_argument("command")
    parser.add_argument("file", type=Path)
    parser.add_argument("--on", required=True, metavar="ADDRESS")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE")
    parser.add_argument("--seeds")
    parser.add_argument("-o", "--out", type=Path)
    parser.add_argument("--fresh", action="store_true")
    options, rest = parser.parse_known_args(arguments)
    out = options.out or Path(f"{options.file.stem}-results")

    def run(client: Any) -> None:
        scenario = Scenario.from_file(options.file, settings=dict(it.split("=", 1) for it in options.set))
        sweep(scenario, out, client, seeds=options.seeds, fresh=options.fresh)

    _with_client(options.on, run)
    again = ["sim", str(options.file), "--out", str(out)]
    again += [f"--set={it}" for it in options.set]
    again += ["--seeds", options.seeds] if options.seeds else []
    return [*again, *rest]


def _study_on_cluster(arguments: list[str]) -> list[str]:
    """Make the simulations of ``recoup study check`` on a cluster of Dask, and return the arguments that judge them."""
    parser = argparse.ArgumentParser(
        prog="recoup study check --on",
        description="Make the runs of a study on the workers of a Dask scheduler, such as tcp://scheduler:8786.",
        epilog="Other options are those of `recoup study check`.",
    )
    parser.add_argument("command")
    parser.add_argument("action")
    parser.add_argument("key")
    parser.add_argument("--on", required=True, metavar="ADDRESS")
    parser.add_argument("--scale", default="check")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--fresh", action="store_true")
    options, rest = parser.parse_known_args(arguments)

    def run(client: Any) -> None:
        found = study(options.key)
        folder = options.results or results_of(found.key)
        simulate_study(found.key, options.scale, folder, client, options.seeds, options.fresh)

    _with_client(options.on, run)
    again = ["study", "check", options.key, "--scale", options.scale]
    again += ["--seeds", str(options.seeds)] if options.seeds else []
    again += ["--results", str(options.results)] if options.results else []
    return [*again, *rest]


def _with_client(address: str, run: Callable[[Any], None]) -> None:
    """Call a function with a client of Dask, and end the process if that fails."""
    try:
        from distributed import Client
    except ImportError:
        sys.exit("recoup: --on needs Dask; pip install distributed")
    try:
        with Client(address) as client:  # type: ignore[no-untyped-call]
            run(client)
    except Error as error:
        print(f"recoup: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"recoup: cannot use the scheduler {address}: {error}", file=sys.stderr)
        sys.exit(6)


def _program() -> Path:
    """Return a file that runs the command: it starts itself for networks of processes."""
    own = Path(sys.argv[0]).resolve()
    return own if own.suffix != ".py" else Path(sys.executable).with_name("recoup")


if __name__ == "__main__":
    main()
