"""Memory of 10,000 runs in one process.

python benches/memory.py
"""

from __future__ import annotations

import resource
from pathlib import Path

import recoup


def resident_kib() -> int:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() // 1024


def main() -> None:
    """Print the resident memory after each 1,000 runs."""
    scenario = recoup.Scenario(
        topology={"kind": "line", "nodes": 2},
        link={"rate": "10 Mbit/s", "delay": "1 ms"},
        applications={
            "c1": {"kind": "fetch", "node": "n1", "object": "/f"},
            "p1": {"kind": "serve", "node": "n2", "prefix": "/f", "size": "10 kB"},
        },
    )
    for thousand in range(10):
        for seed in range(1, 1_001):
            scenario.run(thousand * 1_000 + seed, jobs=1)
        print(f"{thousand + 1},000 runs: {resident_kib()} KiB", flush=True)


if __name__ == "__main__":
    main()
