"""Named content for programs that speak HTTP: pandas, WebDAV clients, and a browser that seeks in a video."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pandas = pytest.importorskip("pandas")

COMMAND = Path(sys.executable).with_name("recoup")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

SECONDS = 40
PLAYER = """<!DOCTYPE html><title>player</title><video muted preload="metadata" src="{url}"></video><script>
const video = document.querySelector("video");
const send = (found) => fetch("/found", {{ method: "POST", body: JSON.stringify(found) }});
const held = (all) => Array.from({{ length: all.length }}, (_, i) => [all.start(i), all.end(i)]);
video.onerror = () => send({{ error: video.error.message }});
video.onloadedmetadata = () => {{ video.currentTime = 35; }};
video.onseeked = () => send({{
  at: video.currentTime, duration: video.duration, width: video.videoWidth, spans: held(video.buffered)
}});
</script>"""


@contextmanager
def running(*words):
    """A command that prints where it listens as its first line."""
    process = subprocess.Popen([COMMAND, *words, "--json"], stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
        process.stdout.close()


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "site"
    (folder / "inside").mkdir(parents=True)
    return folder


@contextmanager
def gateway(folder, *link):
    """The address of a gateway to a served folder, over a link with these options if there are any."""
    with running("serve", str(folder), "--name", "/site", "--listen", "udp://127.0.0.1:0") as server:
        face = server["face"].replace("udp4", "udp")
        between = ["link", "--between", "udp://127.0.0.1:0", face, *link]
        with running(*between) as line:
            face = line["face"]
            with running("gateway", "--listen", "127.0.0.1:0", "--face", face) as found:
                yield found["url"] + "/ndn/site/"


def test_pandas_reads_a_table(site):
    table = pandas.DataFrame({"a": range(50_000), "b": [number * 0.5 for number in range(50_000)]})
    table.to_parquet(site / "table.parquet")
    table.to_csv(site / "inside" / "table.csv", index=False)
    with gateway(site) as url:
        assert pandas.read_parquet(url + "table.parquet", columns=["b"]).equals(table[["b"]])
        assert pandas.read_csv(url + "inside/table.csv").equals(table)
        with urllib.request.urlopen(_json(url)) as listing:
            entries = pandas.read_json(listing)
        assert sorted(entries["name"]) == ["inside", "table.parquet"]


def _json(url):
    return urllib.request.Request(url, headers={"Accept": "application/json"})


def test_webdav_client_reads_a_folder(site):
    client = pytest.importorskip("webdav4.client")
    content = os.urandom(200_000)
    (site / "data").write_bytes(content)
    (site / "inside" / "note.txt").write_text("a note\n")
    with gateway(site) as url, ExitStack() as ends:
        files = client.Client(url)
        ends.callback(files.http.close)
        found = {entry["name"]: entry["type"] for entry in files.ls("/", detail=True)}
        assert found == {"data": "file", "inside": "directory"}
        assert files.content_length("data") == len(content)
        with files.open("data", "rb") as file:
            file.seek(123_456)
            assert file.read(1_000) == content[123_456:124_456]
        with files.open("inside/note.txt") as file:
            assert file.read() == "a note\n"
        with pytest.raises(client.ClientError):
            files.remove("data")
        assert files.exists("data")


@pytest.mark.heavy
@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_browser_seeks_in_a_video(site, tmp_path):
    _film(site / "film.webm")
    size = (site / "film.webm").stat().st_size
    # All of it takes a quarter of a minute.
    with gateway(site, "--back-rate", f"{size * 8 / 15:.0f} bit/s", "--back-delay", "5 ms") as url:
        begun = time.monotonic()
        found = _browse(PLAYER.format(url="/film.webm"), url + "film.webm", tmp_path)
        took = time.monotonic() - begun
    assert "error" not in found, found
    assert (found["width"], found["at"]) == (320, 35)
    assert abs(found["duration"] - SECONDS) < 0.2
    # The middle was not needed, and did not come.
    assert took < 12, found
    assert not any(start < 20 < end for start, end in found["spans"]), found


def _film(path):
    """A film of noise, which no codec makes small."""
    av = pytest.importorskip("av")
    with av.open(path, "w") as container:
        stream = container.add_stream("libvpx", rate=10)
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = 320, 180, "yuv420p", 10
        stream.bit_rate = 1_500_000
        stream.codec_context.options = {"deadline": "realtime", "cpu-used": "8"}
        for _ in range(SECONDS * 10):
            frame = av.VideoFrame(320, 180, "gray")
            plane = frame.planes[0]
            plane.update(os.urandom(plane.buffer_size))
            container.mux(stream.encode(frame.reformat(format="yuv420p")))
        container.mux(stream.encode(None))


def _browse(page, film, folder):
    """Opens a page, and returns the JSON that it sends to /found.

    The server of the page passes the film on: pages of other origins include nothing from a gateway.
    """
    found = queue.Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path == "/film.webm":
                self._pass_on(film)
            else:
                self._answer(page.encode() if self.path == "/" else b"")

        def _pass_on(self, url):
            asked = {"Range": self.headers["Range"]} if "Range" in self.headers else {}
            with urllib.request.urlopen(urllib.request.Request(url, headers=asked)) as found, suppress(ConnectionError):
                self.send_response(found.status)
                for field in ("Content-Type", "Content-Length", "Content-Range", "Accept-Ranges"):
                    if field in found.headers:
                        self.send_header(field, found.headers[field])
                self.end_headers()
                while piece := found.read1(1 << 16):
                    self.wfile.write(piece)

        def do_POST(self):
            found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._answer(b"")

        def _answer(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    address = f"http://127.0.0.1:{server.server_port}/"
    browser = subprocess.Popen([BROWSER, *options, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return found.get(timeout=60)
    finally:
        browser.kill()
        browser.wait()
        server.shutdown()
        server.server_close()
