"""Traces of processes, read with Perfetto's own messages."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def read(path):
    """Tracks and events of a trace; each event has its track."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert all(packet.track_event.track_uuid in tracks for packet in events)
    return tracks, events


def test_traces_of_sockets_are_read(tmp_path):
    command = Path(sys.executable).with_name("recoup")
    (tmp_path / "data").write_bytes(bytes(range(256)) * 400)
    (tmp_path / "node.toml").write_text(f'[[listen]]\nuri = "unix://{tmp_path}/socket"\n')

    def start(*words):
        process = subprocess.Popen([command, *words], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        return process, json.loads(process.stdout.readline())["face"]

    forwarder, face = start("forward", "--config", "node.toml", "--json", "--trace", "node.pftrace")
    server, _ = start("serve", "data", "--name", "/data", "--face", face, "--json")
    fetch = ["fetch", "/data", "--quiet", "--output", "copy", "--trace", "fetch.pftrace", "--face", face]
    subprocess.run([command, *fetch], cwd=tmp_path, check=True, timeout=60)
    for process in (server, forwarder):
        process.terminate()
        process.communicate(timeout=60)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "data").read_bytes()

    _, events = read(tmp_path / "fetch.pftrace")
    begun = [packet.track_event for packet in events if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN]
    segments = {event.name for event in begun}
    assert {"segment 0", "segment 12"} <= segments
    kinds = Counter(packet.track_event.type for packet in events)
    assert kinds[TrackEvent.TYPE_SLICE_BEGIN] == kinds[TrackEvent.TYPE_SLICE_END] == len(segments)

    tracks, events = read(tmp_path / "node.pftrace")
    places = Counter()
    flows = {}
    for packet in events:
        event = packet.track_event
        if event.type == TrackEvent.TYPE_SLICE_BEGIN and event.name == "Interest seg=7":
            places[tracks[event.track_uuid].name] += 1
            flows[tuple(event.flow_ids)] = event.name
    # It comes by one face and leaves by the other, on a busy machine more than once; one arrow joins all.
    assert places["asked here"] >= 1
    assert places["asked there"] >= 1
    assert len(flows) == 1
