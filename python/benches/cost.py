"""Cost of a window that is a Python class: the same runs with CUBIC in Rust and in Python, side by side.

python benches/cost.py [SEEDS]
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

from cubic import Cubic

import recoup


def scenario(congestion: object) -> recoup.Scenario:
    """A line of four nodes, and an object of 10 MiB in 10,240 segments."""
    return recoup.Scenario(
        topology={"kind": "line", "nodes": 4},
        stop="300 s",
        link={"rate": "10 Mbit/s", "delay": "10 ms", "queue": "32 packets"},
        applications={
            "c1": {"kind": "fetch", "node": "n1", "object": "/file"},
            "p1": {"kind": "serve", "node": "n4", "prefix": "/file", "size": "10 MiB", "segment": "1024 B"},
        },
        fetch={"congestion": congestion},
    )


def main() -> None:
    """Print the median ratio of processor times."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    rust, python = scenario("cubic(hystart=false,restart=false,undo=false)"), scenario(Cubic())
    ratios, times = [], []
    for seed in range(1, seeds + 1):
        begun = time.process_time()
        theirs = rust.run(seed, jobs=1)
        between = time.process_time()
        ours = python.run(seed, jobs=1)
        ended = time.process_time()
        # Windows differ by rounding errors, which digests show and packets do not.
        for metric in ("c1.time_s", "c1.interests", "c1.loss_events"):
            if theirs[0].metrics[metric] != ours[0].metrics[metric]:
                sys.exit(f"seed {seed}: {metric} differs")
        times.append((between - begun, ended - between))
        ratios.append((ended - between) / (between - begun))
    in_rust, in_python = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"rust {in_rust * 1e3:.0f} ms, python {in_python * 1e3:.0f} ms a run of 10,240 segments")
    print(f"ratio: median {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main()
