// Name-based access control of NDNts: a group with its members, a producer that encrypts, and a member that reads.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";

import { produce } from "@ndn/endpoint";
import { Forwarder } from "@ndn/fw";
import { Certificate, createEncrypter, generateEncryptionKey, generateSigningKey, RSAOAEP } from "@ndn/keychain";
import { AccessManager, Consumer, Producer } from "@ndn/nac";
import { AltUri } from "@ndn/naming-convention2";
import { Component, Data, Name, ValidityPeriod } from "@ndn/packet";
import { Metadata, retrieveMetadata, serveMetadata } from "@ndn/rdr";
import { fetch } from "@ndn/segmented-object";
import { Decoder, Encoder } from "@ndn/tlv";

import { makeKey, readCertificate } from "./certificate.js";
import { connect, listen } from "./face.js";
import { serve } from "./lines.js";

const fw = Forwarder.create();
let member;

/** Packets by name, which are answered to Interests. */
class Store {
  packets = [];

  async insert(...packets) {
    this.packets.push(...packets);
  }

  async get(name) {
    return this.packets.find((data) => data.name.equals(name));
  }

  async find(interest) {
    return this.packets.find((data) => interest.name.isPrefixOf(data.name));
  }
}

/** Makes the key of a member; its certificate is written to a file. */
async function makeMember({ certificate }) {
  const [encrypter, decrypter] = await generateEncryptionKey("/reader", RSAOAEP);
  const [issuerPrivateKey] = await generateSigningKey("/issuer");
  const issued = await Certificate.issue({
    validity: ValidityPeriod.daysFromNow(1),
    issuerId: Component.from("test"),
    issuerPrivateKey,
    publicKey: encrypter,
  });
  member = decrypter;
  await writeFile(certificate, Buffer.from(Encoder.encode(issued.data)).toString("base64"));
  return { name: AltUri.ofName(decrypter.name) };
}

/** Fetches an object, and decrypts each segment with the key of the member. */
async function read({ face: uri, name: text, certificate }) {
  const verifier = await readCertificate(certificate);
  const face = await connect(uri, fw);
  try {
    const cOpts = { fw, verifier, retx: 2 };
    const { name } = await retrieveMetadata(AltUri.parseName(text), cOpts);
    const consumer = Consumer.create({ cOpts, verifier, memberDecrypter: member });
    const hash = createHash("sha256");
    for await (const data of fetch(new Name(name), { fw, verifier, retxLimit: 2 })) {
      await consumer.decrypt(data);
      hash.update(data.content);
    }
    return { sha256: hash.digest("hex") };
  } finally {
    face.close();
  }
}

/** Serves a file, encrypted for a group with the member that a certificate names, and all keys. */
async function write({ at, file, name: text, segmentSize, reader, certificate }) {
  const face = await listen(at, fw);
  const signer = await makeKey("ecdsa", certificate);
  const store = new Store();
  const [ownKdkEncrypter, ownKdkDecrypter] = await generateEncryptionKey("/manager", RSAOAEP);
  const keys = { signer, ownKdkEncrypter, ownKdkDecrypter };
  const manager = AccessManager.create({ dataStore: store, prefix: new Name("/ndnts"), keys });
  const group = await manager.createKek(new Name("/reports"));
  const bytes = Buffer.from(await readFile(reader, "latin1"), "base64");
  const issued = Certificate.fromData(Decoder.decode(bytes, Data));
  await group.grant(await createEncrypter(issued, { algoList: [RSAOAEP] }));
  const producer = Producer.create({ dataStore: store, ckPrefix: new Name("/ndnts"), signer });
  const encrypter = await producer.createEncrypter(group.kek);

  const [name, content] = [AltUri.parseName(text), await readFile(file)];
  const last = Math.ceil(content.length / segmentSize) - 1;
  for (let segment = 0; segment <= last; segment += 1) {
    const data = new Data(name.append(Component.from(`50=${String.fromCodePoint(segment)}`)));
    data.finalBlockId = Component.from(`50=${String.fromCodePoint(last)}`);
    data.content = content.subarray(segment * segmentSize, (segment + 1) * segmentSize);
    await encrypter.encrypt(data);
    await signer.sign(data);
    await store.insert(data);
  }
  const answer = async (interest) => store.find(interest);
  produce("/ndnts", answer, { fw });
  serveMetadata(new Metadata(name), { freshnessPeriod: 10, pOpts: { fw, dataSigner: signer } });
  return { face };
}

await serve({ member: makeMember, read, write });
