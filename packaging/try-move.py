#!/usr/bin/env python3
"""Moves a producer between two access points, and prints the longest pause of a fetch.

    sudo packaging/try-move.py target/release/recoup [nothing|command|address|off] [MB]

Router, access points, air and station are network namespaces; the air is a bridge. Both access points have one address.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM = os.path.abspath(sys.argv[1])
REPORT = sys.argv[2] if len(sys.argv) > 2 else "nothing"
BYTES = int(float(sys.argv[3] if len(sys.argv) > 3 else 60) * 1e6)
PREFIX = f"move{os.getpid()}-"
PLACES = ["router", "one", "two", "air", "station"]
# Seconds after which a fetch counts as stopped.
LIMIT = 120


def ip(place, words):
    subprocess.run(["ip", "-n", PREFIX + place, *words.split()], check=True)


def wire(one, name, other, its_name):
    words = f"ip link add {name} netns {PREFIX}{one} type veth peer name {its_name} netns {PREFIX}{other}"
    subprocess.run(words.split(), check=True)


def up(place, name, address=None):
    if address:
        ip(place, f"addr add {address} dev {name}")
    ip(place, f"link set {name} up")


def build():
    for place in PLACES:
        subprocess.run(["ip", "netns", "add", PREFIX + place], check=True)
        up(place, "lo")
    ip("air", "link add sw type bridge")
    up("air", "sw")
    for number, point in enumerate(["one", "two"], 1):
        wire("router", f"r{number}", point, "core")
        up("router", f"r{number}", f"10.{number}.0.1/24")
        up(point, "core", f"10.{number}.0.2/24")
        wire(point, "radio", "air", point)
        ip(point, "link set radio address 02:00:00:00:00:aa")
        up(point, "radio", "192.0.2.1/24")
        up("air", point)
    wire("station", "wlan", "air", "st")
    up("station", "wlan", "192.0.2.9/24")
    up("air", "st")
    ip("air", "link set st master sw")
    ip("air", "link set one master sw")


def configure(folder):
    mobility = "off" if REPORT == "off" else "mldr"
    node = f'[node]\ncache = 0\nlocalhop = true\nmobility = "{mobility}"\n'
    for point in ["one", "two"]:
        with open(f"{folder}/{point}.toml", "w") as file:
            file.write(f'{node}[[listen]]\nuri = "unix://{folder}/{point}"\n')
            file.write('[[listen]]\nuri = "udp://0.0.0.0:6363"\n')
    with open(f"{folder}/router.toml", "w") as file:
        file.write(f'{node}[[listen]]\nuri = "unix://{folder}/router"\n')
        for number, cost in ((1, 1), (2, 5)):
            file.write(f'[[face]]\nname = "{number}"\nuri = "udp://10.{number}.0.2:6363"\n')
            file.write(f'[[route]]\nprefix = "/data"\nface = "{number}"\ncost = {cost}\n')
    with open(f"{folder}/data", "wb") as file:
        file.write(os.urandom(BYTES))


def run(folder):
    env = {"HOME": folder, "XDG_RUNTIME_DIR": folder, "PATH": os.environ["PATH"]}
    processes = []

    def start(place, words):
        command = ["ip", "netns", "exec", PREFIX + place, PROGRAM, *words.split()]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env, cwd=folder)
        processes.append(process)
        return process

    def size(path):
        try:
            return os.stat(path).st_blocks * 512
        except FileNotFoundError:  # a draft that has been renamed
            return 0

    def arrived():
        parts = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
        return max((size(it) for it in parts if "copy" in it), default=0)

    try:
        for place in ["one", "two", "router"]:
            start(place, f"forward --json --config {place}.toml").stdout.readline()
        serve = start("station", "serve data --name /data --json --face udp4://192.0.2.1:6363")
        serve.stdout.readline()
        fetch = start("router", f"fetch /data -o copy --json --face unix://{folder}/router")
        shown = []
        reader = threading.Thread(target=lambda: shown.append(fetch.stdout.read()))
        reader.start()
        while arrived() < BYTES / 3 and fetch.poll() is None:
            time.sleep(0.005)
        ip("air", "link set one nomaster")
        if REPORT == "command":
            words = f"{PROGRAM} ctl --face unix://{folder}/one face down 192.0.2.9"
            subprocess.run(words.split(), check=True, env=env, stdout=subprocess.DEVNULL)
        if REPORT == "address":
            ip("station", "addr del 192.0.2.9/24 dev wlan")
            ip("station", "addr add 192.0.2.10/24 dev wlan")
        ip("air", "link set two master sw")
        begun, changed, before, longest = time.time(), time.time(), arrived(), 0.0
        while fetch.poll() is None and time.time() < begun + LIMIT:
            present = arrived()
            if present != before:
                longest = max(longest, time.time() - changed)
                before, changed = present, time.time()
            time.sleep(0.004)
        if fetch.poll() is None:
            fetch.kill()
            return f"{REPORT}: unfinished after {LIMIT} s"
        reader.join()
        document = json.loads(shown[0])
        timeouts, sent = document["losses"]["timeouts"], document["interests"]["sent"]
        if not document["complete"]:
            return f"{REPORT}: {document['error']['message']}"
        after = time.time() - begun
        return f"{REPORT}: {after:.2f} s after the move, longest pause {longest:.2f} s, {timeouts} timeouts, {sent} Interests"
    finally:
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


try:
    build()
    with tempfile.TemporaryDirectory() as folder:
        configure(folder)
        print(run(folder))
finally:
    for place in PLACES:
        subprocess.run(["ip", "netns", "del", PREFIX + place], check=False)
