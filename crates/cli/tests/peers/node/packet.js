// Packets of NDNts for us to read, and ours for NDNts to read and to write again.
import { Certificate, ECDSA, Ed25519, generateSigningKey, HMAC, RSA } from "@ndn/keychain";
import { LpPacket } from "@ndn/lp";
import { AltUri, ByteOffset, Segment, SequenceNum, Timestamp, Version } from "@ndn/naming-convention2";
import {
  Component, Data, digestSigning, FwHint, Interest, NackHeader, Name, SignedInterestPolicy, SigType, TT,
} from "@ndn/packet";
import { Metadata, makeMetadataPacket } from "@ndn/rdr";
import { Decoder, Encoder } from "@ndn/tlv";
import { fromHex, toHex } from "@ndn/util";

import { serve } from "./lines.js";

const LP_PACKET = 0x64;
const NONCE = 0xB0B1B2B3;

/** One component of each kind that has a URI form of its own, and awkward bytes. */
const NAME = new Name("/A/%00%FF/.../a%20b~c")
  .append(new Component(0x20, "metadata"))
  .append(Segment, 255).append(ByteOffset, 256).append(Version, 65536)
  .append(Timestamp.us, 1735689600123456).append(SequenceNum, 4294967296)
  .append(new Component(0xFFFF, Uint8Array.of(1, 2)));

/** Makes packets of every kind, with a label for whoever reads the test's failure. */
async function make() {
  const packets = [];
  const add = (label, packet, more = {}) => {
    packets.push({ label, hex: hex(Encoder.encode(packet)), uri: uriOf(packet), ...more });
  };
  await addInterests(add);
  await addData(add);
  addLinkPackets(add);
  return { packets };
}

function interest(name, fields = {}) {
  return Object.assign(new Interest(name), { nonce: NONCE, ...fields });
}

async function addInterests(add) {
  add("Interest, bare", interest("/A"));
  add("Interest, every element", interest(NAME, {
    canBePrefix: true, mustBeFresh: true, lifetime: 1, hopLimit: 0,
    fwHint: new FwHint(["/H/1", "/H/2"]),
  }));
  const appParameters = Uint8Array.of(0xC0, 0x01, 0x00);
  const parametrised = interest("/P", { appParameters });
  await parametrised.updateParamsDigest();
  add("Interest with parameters", parametrised);
  const signed = interest("/signed", { appParameters });
  const policy = new SignedInterestPolicy(
    SignedInterestPolicy.Nonce(), SignedInterestPolicy.Time(), SignedInterestPolicy.SeqNum());
  await policy.makeSigner(digestSigning).sign(signed);
  add("Interest, signed", signed);
}

async function addData(add) {
  const plain = new Data("/D");
  await digestSigning.sign(plain);
  add("Data, empty", plain);
  const every = new Data(
    NAME, Data.ContentType(3), Data.FreshnessPeriod(3600000), new Uint8Array(8000).fill(0x5A));
  every.finalBlockId = Segment.create(65535);
  await digestSigning.sign(every);
  add("Data, every element", every);
  for (const [algorithm, name] of [[ECDSA, "ecdsa"], [RSA, "rsa"], [Ed25519, "ed25519"]]) {
    const [privateKey, publicKey] = await generateSigningKey(`/K/${name}`, algorithm);
    const data = new Data(`/D/${name}`, Data.FreshnessPeriod(1), Uint8Array.of(1, 2, 3));
    await privateKey.sign(data);
    const certificate = await Certificate.selfSign({ privateKey, publicKey });
    const spki = hex(certificate.publicKeySpki);
    add(`Data, signed with ${name}`, data, { algorithm: name, spki });
    add(`certificate, ${name}`, certificate.data, { algorithm: name, spki });
  }
  const importRaw = Uint8Array.from({ length: 32 }, (_, index) => index);
  const [hmac] = await generateSigningKey("/K/hmac", HMAC, { importRaw });
  const data = new Data("/D/hmac", Uint8Array.of(9));
  await hmac.sign(data);
  add("Data, signed with hmac", data, { algorithm: "hmac", secret: hex(importRaw) });
  const metadata = new Metadata(new Name("/M").append(Version, 7));
  add("metadata", await makeMetadataPacket(metadata, { signer: digestSigning }));
}

function addLinkPackets(add) {
  const payload = Encoder.encode(interest("/L"));
  const link = (label, fields) => {
    add(label, Object.assign(new LpPacket(), { payload, ...fields }));
  };
  link("LpPacket, token", { pitToken: Uint8Array.of(1, 2, 3, 4, 5, 6) });
  link("LpPacket, mark", { congestionMark: 1 });
  for (const reason of [0, 50, 100, 150]) {
    link(`Nack ${reason}`, { nack: new NackHeader(reason) });
  }
  link("LpPacket, first fragment", { fragSeqNum: 0xA0A1A2A3A4A5A600n, fragCount: 2 });
  link("LpPacket, second fragment", { fragSeqNum: 0xA0A1A2A3A4A5A601n, fragIndex: 1, fragCount: 2 });
  link("LpPacket, every field", {
    fragSeqNum: 1n, fragIndex: 2, fragCount: 300,
    pitToken: new Uint8Array(32).fill(7), nack: new NackHeader(50), congestionMark: 300,
  });
  link("LpPacket, idle", { payload: undefined });
}

/** Decodes a packet and encodes what was understood, without looking at the bytes again. */
async function recode({ hex: text }) {
  const wire = fromHex(text);
  const { type, decoder } = new Decoder(wire).read();
  let packet;
  switch (type) {
    case TT.Interest:
      packet = decoder.decode(Interest);
      if (packet.appParameters) {
        await packet.validateParamsDigest(true);
      }
      break;
    case TT.Data:
      packet = decoder.decode(Data);
      if (packet.sigInfo.type === SigType.Sha256) {
        await digestSigning.verify(packet);
      }
      packet.content = Uint8Array.from(packet.content); // forgets the bytes it came from
      break;
    case LP_PACKET:
      packet = decoder.decode(LpPacket);
      break;
    default:
      throw new Error(`what is a TLV ${type}?`);
  }
  return { hex: hex(Encoder.encode(packet)), uri: uriOf(packet) };
}

function hex(bytes) {
  return toHex(bytes).toLowerCase();
}

function uriOf(packet) {
  return packet.name ? AltUri.ofName(packet.name) : "";
}

await serve({ make, recode });
