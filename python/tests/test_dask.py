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
    # A worker is killed as soon as results come; its nanny starts another one.
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
    # The command goes on in the folder: without a scheduler it makes no run.
    command = Path(sys.executable).with_name("recoup")
    arguments = [
        "study",
        "check",
        "yang2016",
        "--scale",
        "smoke",
        "--seeds",
        "1",
        "--results",
        tmp_path / "on",
    ]
    reports = [
        subprocess.run([command, *arguments, *more], capture_output=True, text=True, check=True, timeout=120)
        for more in (["--on", cluster.scheduler.address], [])
    ]
    assert all("runs were there already" in it.stdout + it.stderr for it in reports)
    assert reports[0].stdout == reports[1].stdout
