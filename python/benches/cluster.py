"""Sweeps on a LocalCluster of Dask: loss of a worker, and overhead against a pool of processes.

python benches/cluster.py [RUNS] [SIZE] [ROUNDS]

RUNS (1000) runs are made by either engine in turn, ROUNDS (1) times. SIZE (20 MB) of the fetched object
sets how long one takes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import distributed

import recoup


def scenario(size: str) -> recoup.Scenario:
    """A fetch over a line with losses."""
    return recoup.Scenario(
        topology={"kind": "line", "nodes": 3},
        link={"rate": "10 Mbit/s", "delay": "5 ms", "loss": "bernoulli(p=0.01)"},
        applications={
            "c1": {"kind": "fetch", "node": "n1", "object": "/f", "spread": "10 ms"},
            "p1": {"kind": "serve", "node": "n3", "prefix": "/f", "size": size},
        },
    )


def cluster() -> distributed.LocalCluster:
    """Two workers of one thread."""
    return distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)


def kill(size: str) -> None:
    """Make 400 runs, kill one of two workers after a second, and go on in the same folder by the command."""
    subject = scenario(size)
    with tempfile.TemporaryDirectory() as folder, cluster() as workers, distributed.Client(workers) as client:
        out, file = Path(folder) / "out", Path(folder) / "line.toml"
        pids = list(client.run(os.getpid).values())
        threading.Timer(1.0, os.kill, (pids[0], signal.SIGKILL)).start()
        begun = time.monotonic()
        runs = recoup.sweep(subject, out, client, seeds=range(1, 401))
        print(f"400 runs, SIGKILL of a worker after 1 s: {len(runs)} results in {time.monotonic() - begun:.1f} s")
        alone = subject.run(range(1, 401))
        print(f"digests equal to those made alone: {runs.digests == alone.digests}")
        file.write_text(subject.to_toml())
        before = (out / "journal.jsonl").stat().st_size if (out / "journal.jsonl").exists() else None
        command = [sys.executable, "-m", "recoup", "sim", str(file), "--seeds", "1..400", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        last = [line for line in (done.stdout + done.stderr).splitlines() if "runs" in line]
        print(f"recoup sim in the same folder: {last[-1] if last else done.stderr}; journal of {before} bytes")


def overhead(count: int, size: str, rounds: int) -> None:
    """Make the same runs by a pool of two processes and by Dask."""
    subject = scenario(size)
    run_s = min(subject.run(seed)[0].elapsed_s for seed in range(1, 6))
    print(f"one run: {run_s:.3f} s; {count} runs:")
    with (
        cluster() as workers,
        distributed.Client(workers) as client,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
    ):
        for name, executor in [("pool", pool), ("dask", client)] * rounds:
            with tempfile.TemporaryDirectory() as warm_up, tempfile.TemporaryDirectory() as out:
                recoup.sweep(subject, warm_up, executor, seeds=range(5_001, 5_005))
                begun = time.monotonic()
                recoup.sweep(subject, out, executor, seeds=range(1, count + 1))
                print(f"  {name}: {time.monotonic() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    sized = sys.argv[2] if len(sys.argv) > 2 else "20 MB"
    kill("1 MB")
    repeated = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    overhead(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000, sized, repeated)
