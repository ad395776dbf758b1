"""A producer made of python-ndn: registers a prefix with a forwarder and serves a file below it."""

import asyncio
import hashlib
import logging

from ndn.app import NDNApp
from ndn.encoding import Component, MetaInfo, Name
from ndn.security import KeychainDigest

import lines
from consume import face_for, register

running = []


async def serve(request):
    """Connects, registers, and goes on serving until the script ends."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    name = [bytes(component) for component in Name.from_str(request["name"])]
    with open(request["file"], "rb") as file:
        content = file.read()
    size = request["segmentSize"]
    pieces = [content[at : at + size] for at in range(0, len(content), size)] or [b""]
    last = Component.from_segment(len(pieces) - 1)

    def answer(interest_name, _param, _app_param):
        asked = [bytes(component) for component in interest_name]
        number = Component.to_number(asked[-1]) if len(asked) == len(name) + 1 else 0
        if number < len(pieces):
            meta = MetaInfo(freshness_period=10000, final_block_id=last)
            named = name + [Component.from_segment(number)]
            app.put_data(named, pieces[number], meta_info=meta)

    registered = asyncio.get_running_loop().create_future()

    async def work():
        registered.set_result(await register(app, name, answer))

    running.append(asyncio.create_task(app.main_loop(work())))
    if not await registered:
        raise RuntimeError("the forwarder did not register the prefix")
    return {"name": request["name"], "sha256": hashlib.sha256(content).hexdigest()}


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(lines.serve({"serve": serve}))
