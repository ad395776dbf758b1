"""The command ``recoup``."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from recoup import Scenario, _native, sweep
from recoup._errors import Error


def main() -> None:
    """Run the command with the arguments of the process, and end it with the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["sim"] and any(it == "--on" or it.startswith("--on=") for it in arguments):
        arguments = _on_cluster(arguments)
    # The command has its own handlers, or none: those of the interpreter run between its instructions only.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.main(_program(), arguments))


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
    try:
        from distributed import Client
    except ImportError:
        sys.exit("recoup: --on needs Dask; pip install distributed")
    out = options.out or Path(f"{options.file.stem}-results")
    try:
        scenario = Scenario.from_file(options.file, settings=dict(it.split("=", 1) for it in options.set))
        with Client(options.on) as client:  # type: ignore[no-untyped-call]
            sweep(scenario, out, client, seeds=options.seeds, fresh=options.fresh)
    except Error as error:
        print(f"recoup: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"recoup: cannot use the scheduler {options.on}: {error}", file=sys.stderr)
        sys.exit(6)
    again = ["sim", str(options.file), "--out", str(out)]
    again += [f"--set={it}" for it in options.set]
    again += ["--seeds", options.seeds] if options.seeds else []
    return [*again, *rest]


def _program() -> Path:
    """Return a file that runs the command: it starts itself for networks of processes."""
    own = Path(sys.argv[0]).resolve()
    return own if own.suffix != ".py" else Path(sys.executable).with_name("recoup")


if __name__ == "__main__":
    main()
