"""ndn-python-repo as it is published: stores a file that a client of its own offers, and serves it from then on."""

import asyncio
import ctypes
import json
import logging
import os
import signal
import subprocess
import sys

from ndn.app import NDNApp
from ndn.encoding import Name
from ndn.security import KeychainDigest
from ndn_python_repo.clients import PutfileClient

import lines
from consume import face_for

PR_SET_PDEATHSIG = 1


def end_with_parent():
    """The repository ends when this script does, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def configuration(folder):
    """The sample configuration, with everything inside of a folder and a port that the system chooses."""
    return {
        "repo_config": {"repo_name": "repo", "register_root": True},
        "db_config": {"db_type": "sqlite3", "sqlite3": {"path": f"{folder}/repo.db"}},
        "tcp_bulk_insert": {"addr": "127.0.0.1", "port": "0", "register_prefix": True, "prefixes": ["/test"]},
        "logging_config": {"level": "ERROR"},
    }


async def start(request):
    """Starts the repository as its users do, with a key chain of its own."""
    home = request["folder"]
    # Its client looks for keys there, too; where there is no ~/.ndn yet, in the working directory.
    os.chdir(home)
    os.environ |= {"HOME": home, "NDN_CLIENT_TRANSPORT": request["face"].replace("tcp4", "tcp")}
    tools = os.path.dirname(sys.executable)
    for words in (["init-pib"], ["new-item", "/operator"]):
        subprocess.run([f"{tools}/pyndnsec", *words], check=True, capture_output=True)
    config = f"{home}/repo.conf"
    with open(config, "w") as file:
        json.dump(configuration(home), file)
    command = [f"{tools}/ndn-python-repo", "-c", config]
    silence = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(command, preexec_fn=end_with_parent, **silence)
    return {}


async def put(request):
    """Has the repository fetch a file from its client, who is gone afterwards."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    result = {}

    async def work():
        try:
            client = PutfileClient(app=app, prefix=Name.from_str("/client"), repo_name=Name.from_str("/repo"))
            name = Name.from_str(request["name"])
            packets = await client.insert_file(request["file"], name, 4000, 0, 1)
            result["answer"] = {"packets": packets}
        except Exception as error:  # every failure is an answer that the test can show
            result["answer"] = {"error": f"{type(error).__name__}: {error}"}
        app.shutdown()

    await app.main_loop(work())
    return result["answer"]


if __name__ == "__main__":
    logging.basicConfig(level=logging.CRITICAL)
    asyncio.run(lines.serve({"start": start, "put": put}))
