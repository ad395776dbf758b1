"""Packets of python-ndn for us to read, and ours for python-ndn to read and to write again."""

import asyncio

from Cryptodome.PublicKey import ECC, RSA
from ndn.encoding import (
    Component,
    ContentType,
    InterestParam,
    MetaInfo,
    Name,
    Signer,
    TypeNumber,
    make_data,
    make_interest,
    parse_data,
    parse_interest,
    parse_tl_num,
)
from ndn.encoding.ndnlp_v2 import (
    CachePolicy,
    LpPacket,
    LpPacketValue,
    LpTypeNumber,
    NetworkNack,
)
from ndn.security import DigestSha256Signer, HmacSha256Signer, Sha256WithEcdsaSigner
from ndn.security import Sha256WithRsaSigner
from ndn.security.validator.digest_validator import params_sha256_checker, sha256_digest_checker

import lines

NONCE = 0xB0B1B2B3
# One component of each kind that has a URI form of its own, and awkward bytes.
NAME = [
    Component.from_str("A"),
    Component.from_bytes(b"\x00\xff"),
    Component.from_bytes(b""),
    Component.from_bytes(b"a b~c"),
    Component.from_bytes(b"metadata", Component.TYPE_KEYWORD),
    Component.from_segment(255),
    Component.from_byte_offset(256),
    Component.from_version(65536),
    Component.from_timestamp(1735689600123456),
    Component.from_sequence_num(4294967296),
    Component.from_bytes(b"\x01\x02", 0xFFFF),
]


class Replayed(Signer):
    """Signs with a signature that was made before, so that re-encoding shows every other byte."""

    def __init__(self, pointers):
        self.info = pointers.signature_info
        self.value = bytes(pointers.signature_value_buf)

    def write_signature_info(self, signature_info):
        for field in ("signature_type", "key_locator"):
            setattr(signature_info, field, getattr(self.info, field))
        for field in ("signature_nonce", "signature_time", "signature_seq_num"):
            setattr(signature_info, field, getattr(self.info, field))

    def get_signature_value_size(self):
        return len(self.value)

    def write_signature_value(self, wire, contents):
        wire[:] = self.value
        return len(self.value)


async def make(_request):
    """Makes packets of every kind, with a label for whoever reads the test's failure."""
    packets = []

    def add(label, wire, name=None, **more):
        uri = Name.to_str(name) if name is not None else ""
        packets.append({"label": label, "hex": bytes(wire).hex(), "uri": uri, **more})

    add_interests(add)
    add_data(add)
    add_link_packets(add)
    return {"packets": packets}


def add_interests(add):
    bare = InterestParam(nonce=NONCE, lifetime=None)
    add("Interest, bare", make_interest("/A", bare), Name.from_str("/A"))
    every = InterestParam(
        can_be_prefix=True,
        must_be_fresh=True,
        nonce=0,
        lifetime=1,
        hop_limit=255,
        forwarding_hint=["/H/1", "/H/2"],
    )
    add("Interest, every element", make_interest(NAME, every), NAME)
    wire, name = make_interest("/P", bare, b"\xc0\x01\x00", need_final_name=True)
    add("Interest with parameters", wire, name)
    signer = DigestSha256Signer(for_interest=True)
    wire, name = make_interest("/signed", bare, b"", signer, need_final_name=True)
    add("Interest, signed", wire, name)


def add_data(add):
    digest = DigestSha256Signer()
    add("Data, empty", make_data("/D", MetaInfo(None), b"", digest), Name.from_str("/D"))
    every = MetaInfo(ContentType.NACK, 3600000, Component.from_segment(65535))
    add("Data, every element", make_data(NAME, every, b"\x5a" * 8000, digest), NAME)
    some = MetaInfo(None, 1)
    ecc, rsa = ECC.generate(curve="P-256"), RSA.generate(2048)
    ecc_der = ecc.export_key(format="DER", use_pkcs8=False)
    signers = {
        "ecdsa": (Sha256WithEcdsaSigner("/K/KEY/1", ecc_der), ecc.public_key().export_key(format="DER")),
        "rsa": (
            Sha256WithRsaSigner("/K/KEY/2", rsa.export_key("DER")),
            rsa.public_key().export_key("DER"),
        ),
    }
    for algorithm, (signer, spki) in signers.items():
        name = Name.from_str(f"/D/{algorithm}")
        wire = make_data(name, some, b"\x01\x02\x03", signer)
        add(f"Data, signed with {algorithm}", wire, name, algorithm=algorithm, spki=spki.hex())
    secret, name = bytes(range(32)), Name.from_str("/D/hmac")
    wire = make_data(name, some, b"\x09", HmacSha256Signer("/K/KEY/3", secret))
    add("Data, signed with hmac", wire, name, algorithm="hmac", secret=secret.hex())


def add_link_packets(add):
    interest = make_interest("/L", InterestParam(nonce=NONCE, lifetime=None))

    def link(label, **fields):
        packet = LpPacket()
        packet.lp_packet = LpPacketValue()
        packet.lp_packet.fragment = interest
        for field, value in fields.items():
            setattr(packet.lp_packet, field, value)
        add(label, packet.encode())

    link("LpPacket, token", pit_token=b"\x01\x02\x03\x04\x05\x06")
    link("LpPacket, mark", congestion_mark=1)
    for reason in (0, 50, 100, 150):
        nack = NetworkNack()
        nack.nack_reason = reason
        link(f"Nack {reason}", nack=nack)
    policy = CachePolicy()
    policy.cache_policy_type = 1
    link(
        "LpPacket, many fields",
        pit_token=b"\x07" * 32,
        incoming_face_id=300,
        next_hop_face_id=70000,
        cache_policy=policy,
        congestion_mark=2,
        non_discovery=True,
    )


async def recode(request):
    """Decodes a packet and encodes what was understood, without looking at the bytes again."""
    wire = bytes.fromhex(request["hex"])
    kind, _ = parse_tl_num(wire)
    again = {
        TypeNumber.INTEREST: recode_interest,
        TypeNumber.DATA: recode_data,
        LpTypeNumber.LP_PACKET: recode_link_packet,
    }[kind]
    return await again(wire)


async def recode_interest(wire):
    name, param, parameters, pointers = parse_interest(wire)
    if parameters is not None and not await params_sha256_checker(name, pointers):
        raise ValueError("the digest of the parameters is wrong")
    final = [bytes(component) for component in name]
    digest = Component.TYPE_PARAMETERS_SHA256
    plain = [component for component in final if Component.get_type(component) != digest]
    signer = Replayed(pointers) if pointers.signature_info is not None else None
    wire = make_interest(plain, param, parameters, signer)
    return {"hex": bytes(wire).hex(), "uri": Name.to_str(final)}


async def recode_data(wire):
    name, meta, content, pointers = parse_data(wire)
    if not await sha256_digest_checker(name, pointers):
        raise ValueError("the digest is wrong")
    again = make_data(name, meta, content, Replayed(pointers))
    return {"hex": bytes(again).hex(), "uri": Name.to_str(name)}


async def recode_link_packet(wire):
    packet = LpPacket.parse(wire, {})
    return {"hex": bytes(packet.encode()).hex(), "uri": ""}


if __name__ == "__main__":
    asyncio.run(lines.serve({"make": make, "recode": recode}))
