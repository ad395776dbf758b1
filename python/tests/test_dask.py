import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import LINE

import recoup

distributed = pytest.importorskip("distributed")

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("default")]


@pytest.fixture
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_sweep_survives_the_loss_of_a_worker(cluster, tmp_path):
    scenario = recoup.Scenario.from_dict({**LINE, "seeds": "1..60"})
    expected = scenario.run().digests
    # The test kills a worker after the first results; its nanny starts a replacement.
    processes = list(cluster.run(os.getpid).values())
    killed = threading.Event()

    def kill(done, of):
        if not killed.is_set():
            killed.set()
            os.kill(processes[0], signal.SIGKILL)

    out = tmp_path / "results"
    runs = recoup.sweep(scenario, out, cluster, progress=kill)
    assert killed.is_set()
    assert runs.digests == expected
    file = tmp_path / "line.toml"
    file.write_text(scenario.to_toml())
    command = Path(sys.executable).with_name("recoup")
    told = subprocess.run([command, "sim", file, "--out", out, "--json"], check=True, capture_output=True, text=True)
    assert '"made":0' in told.stdout.replace(" ", "")


def test_command_runs_on_a_scheduler(cluster, tmp_path):
    scenario = recoup.Scenario.from_dict({**LINE, "seeds": "1..4"})
    file = tmp_path / "line.toml"
    file.write_text(scenario.to_toml())
    command = Path(sys.executable).with_name("recoup")
    begun = time.monotonic()
    arguments = ["sim", file, "--on", cluster.scheduler.address, "--out", tmp_path / "out", "--json"]
    told = subprocess.run([command, *arguments], check=True, capture_output=True, text=True)
    assert '"made":0' in told.stdout.replace(" ", "")
    assert '"all":4' in told.stdout.replace(" ", "")
    assert time.monotonic() - begun < 60


def test_study_runs_on_a_scheduler(cluster, tmp_path):
    study = recoup.study("yang2016")
    alone = study.check(scale="smoke", folder=tmp_path / "alone", seeds=1)
    there = study.check(scale="smoke", folder=tmp_path / "there", seeds=1, executor=cluster)
    assert there == alone
    # Without a scheduler, the command judges the runs that are there, and makes no run.
    command = Path(sys.executable).with_name("recoup")
    results = tmp_path / "on"
    arguments = ["study", "check", "yang2016", "--scale", "smoke", "--seeds", "1", "--results", results]
    reports, journals = [], []
    for more in (["--on", cluster.scheduler.address], []):
        ended = subprocess.run([command, *arguments, *more], capture_output=True, text=True, check=False, timeout=600)
        # At this scale claims stay undecided.
        assert ended.returncode == 2, ended.stderr
        reports.append(ended.stdout)
        journals.append({path: path.read_bytes() for path in results.rglob("journal.jsonl")})
    assert reports[0] == reports[1]
    assert "gating claims" in reports[0]
    assert journals[0] == journals[1] != {}
