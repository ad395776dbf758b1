"""A consumer made of python-ndn: fetches objects segment by segment, checking each digest."""

import asyncio
import hashlib
import logging
from urllib.parse import urlsplit

from ndn.app import NDNApp
from ndn.app_support import nfd_mgmt
from ndn.encoding import Component, Name, parse_tl_num
from ndn.security import DigestSha256Signer, KeychainDigest
from ndn.security.validator.digest_validator import sha256_digest_checker
from ndn.transport.stream_face import TcpFace, UnixFace
from ndn.transport.udp_face import UdpFace
from ndn.types import InterestTimeout

import lines

METADATA = Component.from_str("32=metadata")
LIFETIME_MS = 2000
TRIES = 3


def face_for(uri):
    """The face of python-ndn that a URI means."""
    parts = urlsplit(uri)
    if parts.scheme == "unix":
        return UnixFace(parts.path)
    if parts.scheme.startswith("tcp"):
        return TcpFace(parts.hostname, parts.port)
    if parts.scheme.startswith("udp"):
        return UdpFace(parts.hostname, parts.port)
    raise ValueError(f"no face for {uri}")


async def command(app, module, verb, **parameters):
    """Gives the forwarder a command, as a signed Interest of packet format v0.3; returns the answer."""
    name = nfd_mgmt.make_command_v2(module, verb, app.face, **parameters)
    signer = DigestSha256Signer(for_interest=True)
    _, _, content = await app.express_interest(
        name, app_param=b"", signer=signer, lifetime=4000, can_be_prefix=True, must_be_fresh=True
    )
    return nfd_mgmt.parse_response(content)


async def register(app, name, answer):
    """As `app.register`, whose command has its signature in its name (packet format v0.2)."""
    app.set_interest_filter(name, answer)
    return (await command(app, "rib", "register", name=name))["status_code"] == 200


async def ask(app, name, **options):
    """Sends an Interest a few times and returns the name, MetaInfo and content that came."""
    for last in (False,) * (TRIES - 1) + (True,):
        try:
            return await app.express_interest(
                name, validator=sha256_digest_checker, lifetime=LIFETIME_MS, **options
            )
        except InterestTimeout:
            if last:
                raise


async def discover(app, name):
    """The versioned name that the metadata of an object tells."""
    options = {"can_be_prefix": True, "must_be_fresh": True}
    _, _, content = await ask(app, name + [METADATA], **options)
    content = bytes(content)
    kind, kind_size = parse_tl_num(content)
    size, size_size = parse_tl_num(content, kind_size)
    if kind != 7:
        raise ValueError(f"metadata starts with TLV {kind}, not with a name")
    return Name.from_bytes(content[: kind_size + size_size + size])


async def segments(app, name):
    """The contents of the segments of a versioned object, in order."""
    number = 0
    while True:
        wanted = name + [Component.from_segment(number)]
        got, meta, content = await ask(app, wanted)
        if [bytes(c) for c in got] != [bytes(c) for c in wanted]:
            raise ValueError(f"asked for {Name.to_str(wanted)}, got {Name.to_str(got)}")
        yield bytes(content or b"")
        if meta.final_block_id is not None and bytes(meta.final_block_id) == bytes(wanted[-1]):
            return
        number += 1


async def retrieve(app, request):
    """Fetches one object as the request says, and describes what arrived."""
    name = [bytes(component) for component in Name.from_str(request["name"])]
    if request.get("discover"):
        name = [bytes(component) for component in await discover(app, name)]
    digest, size, count = hashlib.sha256(), 0, 0
    async for content in segments(app, name):
        digest.update(content)
        size += len(content)
        count += 1
    return {
        "name": Name.to_str(name),
        "bytes": size,
        "segments": count,
        "sha256": digest.hexdigest(),
    }


async def fetch(request):
    """Connects, fetches, disconnects."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    result = asyncio.get_running_loop().create_future()

    async def work():
        try:
            result.set_result(await retrieve(app, request))
        except Exception as error:
            result.set_exception(error)
        finally:
            app.shutdown()

    await app.main_loop(work())
    return await result


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(lines.serve({"fetch": fetch}))
