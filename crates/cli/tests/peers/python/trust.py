"""A site made of python-ndn: a root, an admin and an author with certificates, content under a trust schema; and a consumer
that verifies content by one."""

import asyncio
import base64
import logging
import os
from datetime import UTC, datetime

from Cryptodome.PublicKey import ECC
from ndn.app import NDNApp
from ndn.app_support.light_versec import Checker, compile_lvs, lvs_validator
from ndn.app_support.light_versec.checker import DEFAULT_USER_FNS
from ndn.app_support.security_v2 import derive_cert, self_sign
from ndn.encoding import Component, MetaInfo, Name, make_data
from ndn.security import KeychainDigest
from ndn.security.signer.sha256_ecdsa_signer import Sha256WithEcdsaSigner
from ndn.security.validator.cascade_validator import MemoryKeyStorage
from ndn.types import InterestNack, InterestTimeout, ValidationFailure

import lines
from consume import face_for, register

running = []


class Key:
    """A key and its certificate, signed by another one or by itself."""

    def __init__(self, identity, issuer=None):
        pair = ECC.generate(curve="P-256")
        public = pair.public_key().export_key(format="DER")
        self.private = pair.export_key(format="DER", use_pkcs8=False)
        name = Name.from_str(identity) + [Component.from_str("KEY"), Component.from_bytes(os.urandom(8))]
        if issuer is None:
            self.name, self.certificate = self_sign(name, public, Sha256WithEcdsaSigner(name, self.private))
        else:
            now = datetime.now(UTC)
            self.name, self.certificate = derive_cert(name, "site", public, issuer.signer(), now, 86400)

    def signer(self):
        return Sha256WithEcdsaSigner(self.name, self.private)


def schema(request):
    """The model of the text, as it stands in a file for others."""
    return Checker(compile_lvs(request["schema"]), DEFAULT_USER_FNS)


async def serve(request):
    """Makes the keys, and serves a file in segments with the certificates of author and admin."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    root = Key("/site")
    admin = Key("/site/admin/eve", root)
    author = Key(f"/site/author/{request['author']}", admin)
    with open(request["anchor"], "wb") as file:
        file.write(root.certificate)
    with open(request["model"], "wb") as file:
        file.write(schema(request).save())
    with open(request["file"], "rb") as file:
        content = file.read()
    size = request["segmentSize"]
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    name = Name.from_str(request["name"])
    meta = MetaInfo(freshness_period=10000, final_block_id=Component.from_segment(len(pieces) - 1))
    packets = {Name.to_bytes(key.name): bytes(key.certificate) for key in (admin, author)}
    for number, piece in enumerate(pieces):
        named = name + [Component.from_segment(number)]
        packets[Name.to_bytes(named)] = bytes(make_data(named, meta, piece, signer=author.signer()))

    def answer(interest_name, _param, _app_param):
        packet = packets.get(Name.to_bytes(interest_name))
        if packet is not None:
            app.put_raw_packet(packet)

    registered = asyncio.get_running_loop().create_future()

    async def work():
        prefixes = [name, admin.name, author.name]
        registered.set_result(all([await register(app, prefix, answer) for prefix in prefixes]))

    running.append(asyncio.create_task(app.main_loop(work())))
    if not await registered:
        raise RuntimeError("the forwarder did not register the prefixes")
    return {"segments": len(pieces)}


async def fetch(request):
    """Fetches the segments of a versioned object, and verifies each."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    with open(request["model"], "rb") as file:
        checker = Checker.load(file.read(), DEFAULT_USER_FNS)
    with open(request["anchor"], "rb") as file:
        anchor = base64.b64decode(file.read())
    validator = lvs_validator(checker, app, anchor, MemoryKeyStorage())
    result = {}

    async def work():
        content, number = b"", 0
        try:
            while number is not None:
                name = Name.from_str(request["name"]) + [Component.from_segment(number)]
                _, meta, piece = await app.express_interest(name, validator=validator, lifetime=4000)
                content += bytes(piece)
                last = Component.to_number(meta.final_block_id)
                number = number + 1 if number < last else None
            result["answer"] = {"content": content.hex()}
        except (ValidationFailure, InterestNack, InterestTimeout) as error:
            result["answer"] = {"error": type(error).__name__}
        app.shutdown()

    await app.main_loop(work())
    return result["answer"]


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(lines.serve({"serve": serve, "fetch": fetch}))
