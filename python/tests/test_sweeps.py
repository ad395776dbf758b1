import os
import subprocess
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from conftest import LINE
from test_algorithms import failing, steady

import recoup
from recoup import _native, _sweep

SWEPT = {**LINE, "seeds": "1..4", "sweep": {"link.delay": ["5 ms", "10 ms"]}, "record": {"tables": ["window"]}}
COMMAND = Path(sys.executable).with_name("recoup")


def processes():
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.fixture
def swept():
    return recoup.Scenario.from_dict(SWEPT)


def test_executors_and_the_command_fill_one_folder(swept, tmp_path):
    expected = swept.run().digests
    out = tmp_path / "results"
    # A part by threads, the rest by processes.
    assert len(recoup.sweep(swept, out, seeds="1..2")) == 4
    seen = []
    with processes() as pool:
        runs = recoup.sweep(swept, out, pool, progress=lambda done, of: seen.append((done, of)))
    assert runs.digests == expected
    assert seen[0][0] > 4
    assert seen[-1] == (8, 8)
    assert len(list((out / "tables" / "window").iterdir())) == 8
    file = tmp_path / "swept.toml"
    file.write_text(swept.to_toml())
    told = subprocess.run([COMMAND, "sim", file, "--out", out, "--json"], check=True, capture_output=True, text=True)
    assert '"made": 0' in told.stdout.replace('"made":0', '"made": 0')
    assert "runs.parquet" in os.listdir(out)


def test_classes_travel_to_workers(tmp_path):
    tables = {**LINE, "fetch": {"congestion": steady(window=6)}}
    scenario = recoup.Scenario.from_dict(tables)
    with processes() as pool:
        runs = recoup.sweep(scenario, tmp_path / "results", pool)
    assert runs.digests == scenario.run().digests


def test_worker_that_computes_otherwise_is_refused(swept, tmp_path, monkeypatch):
    proof = _sweep.proof()
    answers = iter([("0.0.1", "0" * 16)])
    monkeypatch.setattr(_sweep, "proof", lambda: next(answers, proof))
    with ThreadPoolExecutor(1) as pool, pytest.raises(recoup.LocalError, match="same version"):
        recoup.sweep(swept, tmp_path / "results", pool)


def test_run_with_two_digests_is_an_error(swept, tmp_path):
    campaign = _native.Campaign(swept._native, tmp_path / "results", None, False)
    (parcel,) = _native.make_parcels(swept._native, [(0, 1)], campaign.format())
    campaign.keep(parcel)
    campaign.keep(parcel)
    row, units, records = parcel
    place = row.index('"digest":"') + len('"digest":"')
    other = row[:place] + "0" * 16 + row[place + 16 :]
    with pytest.raises(recoup.LocalError, match="ran in two ways"):
        campaign.keep((other, units, records))
    with pytest.raises(ValueError, match="no name of a record"):
        campaign.keep((row.replace('"seed":1', '"seed":2'), units, [("../x", b"")]))
    campaign.close()


class Forgetful(ThreadPoolExecutor):
    """An executor that loses its first answers."""

    def __init__(self, losses):
        super().__init__(1)
        self.losses = losses
        self.submitted = 0

    def submit(self, fn, /, *args):
        self.submitted += 1
        if self.submitted > self.losses:
            return super().submit(fn, *args)
        future = Future()
        future.set_exception(AttributeError("no answer"))
        return future


def test_lost_answers_are_asked_for_again(swept, tmp_path):
    with Forgetful(2) as pool:
        runs = recoup.sweep(swept, tmp_path / "results", pool)
    assert runs.digests == swept.run().digests
    with Forgetful(1_000) as pool, pytest.raises(AttributeError, match="no answer"):
        recoup.sweep(swept, tmp_path / "others", pool)
    assert pool.submitted > 3


def test_run_that_raises_is_made_once(tmp_path):
    spec = failing("on_delivered", "raise")()
    scenario = recoup.Scenario.from_dict({**LINE, "seeds": "7", "fetch": {"congestion": spec}})
    with Forgetful(0) as pool, pytest.raises(ZeroDivisionError, match="a mistake") as caught:
        recoup.sweep(scenario, tmp_path / "results", pool)
    assert pool.submitted == 1
    assert "point 0, seed 7" in caught.value.__notes__[0]


def test_error_of_a_run_ends_the_sweep_and_what_is_done_stays(swept, tmp_path):
    class EnoughError(Exception):
        pass

    def stop(done, of):
        if done >= 3:
            raise EnoughError

    with ThreadPoolExecutor(1) as pool, pytest.raises(EnoughError):
        recoup.sweep(swept, tmp_path / "results", pool, progress=stop)
    campaign = _native.Campaign(swept._native, tmp_path / "results", None, False)
    assert len(campaign.missing()) <= 5
    campaign.close()


def test_shards_are_merged(swept, tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(swept.to_toml())

    def recoup_sim(*arguments, ok=True):
        told = subprocess.run([COMMAND, "sim", file, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert (told.returncode == 0) == ok, told.stderr
        return told.stdout + told.stderr

    for number in (1, 2, 3):
        recoup_sim("--shard", f"{number}/3", "--quiet")
    shards = [f"swept-results-{number}-of-3" for number in (1, 2, 3)]
    told = recoup_sim("--merge", *shards, "--out", "whole", "--json")
    assert '"made":0' in told.replace(" ", "")
    assert recoup.sweep(swept, tmp_path / "whole").digests == swept.run().digests
    assert len(list((tmp_path / "whole" / "tables" / "window").iterdir())) == 8
    assert "write a share as 3/40" in recoup_sim("--shard", "4/3", ok=False)
    other = swept.with_settings({"link.rate": "1 Mbit/s"})
    recoup.sweep(other, tmp_path / "other", seeds=1)
    assert "another scenario" in recoup_sim("--merge", "other", ok=False)
