"""Pages of runs in a browser, where one is installed."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = """
[topology]
kind = "line"
nodes = 3
names = ["consumer", "router", "producer"]

[link]
rate = "10 Mbit/s"
delay = "5 ms"
loss = "bernoulli(p=0.02)"

[applications.c1]
kind = "fetch"
node = "consumer"
object = "/file"

[applications.p1]
kind = "serve"
node = "producer"
prefix = "/file"
size = "100 kB"
segment = "1 kB"
"""

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_browser_shows_a_run(tmp_path):
    command = Path(sys.executable).with_name("recoup")
    (tmp_path / "line.toml").write_text(SCENARIO)
    arguments = ["sim", "line.toml", "--quiet", "--page", "line.html"]
    subprocess.run([command, *arguments], cwd=tmp_path, check=True, timeout=60)
    page = (tmp_path / "line.html").as_uri()
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    shown = subprocess.run(
        [BROWSER, *options, "--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom", page],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CONSOLE" not in shown.stderr, shown.stderr
    assert '<span id="count">100 of 100</span>' in shown.stdout
    assert re.search(r'<output id="now"[^>]*>0\.0+ s<', shown.stdout)
    assert re.search(r'<p [^>]*id="notice"[^>]*hidden=""', shown.stdout)
    assert shown.stdout.count('<div class="panel">') == 4
    delays = [float(delay) for delay in re.findall(r'<span class="took">([\d.]+) ms<', shown.stdout)]
    assert len(delays) == 100
    assert delays == sorted(delays, reverse=True)
    assert delays[-1] > 20
