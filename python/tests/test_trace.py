"""Traces of simulations, read with Perfetto's own messages."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

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


def test_perfetto_reads_a_trace(tmp_path):
    command = Path(sys.executable).with_name("recoup")
    (tmp_path / "line.toml").write_text(SCENARIO)
    arguments = ["sim", "line.toml", "--quiet", "--trace", "line.pftrace"]
    subprocess.run([command, *arguments], cwd=tmp_path, check=True, timeout=60)
    trace = Trace()
    trace.ParseFromString((tmp_path / "line.pftrace").read_bytes())
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert all(packet.track_event.track_uuid in tracks for packet in events)
    kinds = Counter(packet.track_event.type for packet in events)
    assert kinds[TrackEvent.TYPE_SLICE_BEGIN] == kinds[TrackEvent.TYPE_SLICE_END] > 600
    segments = {
        packet.track_event.name
        for packet in events
        if packet.track_event.name.startswith("segment ") and packet.track_event.flow_ids
    }
    assert segments == {f"segment {number}" for number in range(100)}
    lost = [packet for packet in events if packet.track_event.name.startswith("lost: Data")]
    assert lost
    assert all(packet.track_event.type == TrackEvent.TYPE_INSTANT for packet in lost)
    windows = [
        packet.track_event.double_counter_value
        for packet in events
        if tracks[packet.track_event.track_uuid].name == "window"
    ]
    assert windows
    assert all(window >= 1 for window in windows)
    annotated = next(packet.track_event for packet in events if packet.track_event.name == "Data seg=7")
    notes = {note.name: note.string_value or note.uint_value for note in annotated.debug_annotations}
    assert str(notes["name"]).endswith("/seg=7")
