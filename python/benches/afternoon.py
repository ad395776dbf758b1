"""A first afternoon: four windows and three loss rates, twenty seeds each, and a figure with confidence intervals.

python benches/afternoon.py FIGURE
"""

from __future__ import annotations

import sys

import recoup
from recoup import plot

scenario = recoup.Scenario(
    topology={"kind": "line", "nodes": 3},
    link={"rate": "10 Mbit/s", "delay": "10 ms", "queue": "32 packets"},
    applications={
        "c1": {"kind": "fetch", "node": "n1", "object": "/file", "spread": "100 ms"},
        "p1": {"kind": "serve", "node": "n3", "prefix": "/file", "size": "2 MB"},
    },
    sweep={
        "fetch.congestion": ["aimd", "cubic", "newreno", "recoup"],
        "link.loss": ["none", "bernoulli(p=0.1%)", "bernoulli(p=1%)"],
    },
)
runs = recoup.sweep(scenario, "afternoon-results", seeds="1..20")
axes = plot.metric(runs, "c1.time_s", x="link.loss", by="fetch.congestion")
axes.figure.savefig(sys.argv[1])
