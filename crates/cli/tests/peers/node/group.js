// Name-based access control with keys, ciphers and SafeBags of NDNts: a group with one member, a producer that encrypts,
// and a member that reads. No registry has the package of NDNts that puts them together.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";

import { consume, produce } from "@ndn/endpoint";
import { Forwarder } from "@ndn/fw";
import {
  AESCBC, Certificate, createDecrypter, createEncrypter, generateEncryptionKey, generateSigningKey, RSAOAEP,
} from "@ndn/keychain";
import { AltUri, Segment3 } from "@ndn/naming-convention2";
import { SafeBag } from "@ndn/ndnsec";
import { Component, Data, Interest, Name, ValidityPeriod } from "@ndn/packet";
import { Metadata, retrieveMetadata, serveMetadata } from "@ndn/rdr";
import { fetch } from "@ndn/segmented-object";
import { Decoder, Encoder } from "@ndn/tlv";

import { makeKey, readCertificate } from "./certificate.js";
import { connect, listen } from "./face.js";
import { serve } from "./lines.js";

const [ENCRYPTED, PAYLOAD, VECTOR, PAYLOAD_KEY] = [0x82, 0x84, 0x85, 0x86];
const BY = Component.from("ENCRYPTED-BY");
const fw = Forwarder.create();
let member;

/** The fields of an element of encrypted content. */
function open(content) {
  const fields = {};
  const { type, vd } = new Decoder(content).read();
  if (type !== ENCRYPTED) {
    throw new Error(`element ${type} is not encrypted content`);
  }
  while (!vd.eof) {
    const field = vd.read();
    fields[field.type] = field;
  }
  return fields;
}

async function exported(format, key) {
  return new Uint8Array(await crypto.subtle.exportKey(format, key));
}

/** A certificate for a key, by an issuer of its own. */
async function certify(publicKey) {
  const [issuerPrivateKey] = await generateSigningKey("/issuer");
  const [validity, issuerId] = [ValidityPeriod.daysFromNow(1), Component.from("test")];
  return Certificate.issue({ validity, issuerId, issuerPrivateKey, publicKey });
}

/** Makes the key of a member; its certificate is written to a file. */
async function makeMember({ certificate }) {
  const [encrypter, decrypter] = await generateEncryptionKey("/reader", RSAOAEP);
  member = decrypter;
  const { data } = await certify(encrypter);
  await writeFile(certificate, Buffer.from(Encoder.encode(data)).toString("base64"));
  return { name: AltUri.ofName(decrypter.name) };
}

/** The content key of that name, by way of the group's key for the member. */
async function contentKey(name, cOpts) {
  const packet = await consume(new Interest(name, Interest.CanBePrefix), cOpts);
  const kek = packet.name.slice(name.length + 1);
  const kdk = kek.getPrefix(-2).append(Component.from("KDK"), kek.at(-1), BY, ...member.name.comps);
  const fields = open((await consume(new Interest(kdk), cOpts)).content);
  const bag = fields[PAYLOAD].vd.decode(SafeBag);
  const passphrase = await member.llDecrypt({ ciphertext: fields[PAYLOAD_KEY].value });
  const importPkcs8 = [await bag.decryptKey(passphrase.plaintext), bag.certificate.publicKeySpki];
  const pair = await RSAOAEP.cryptoGenerate({ importPkcs8 }, false);
  const ciphertext = open(packet.content)[PAYLOAD].value;
  const { plaintext } = await createDecrypter(RSAOAEP, pair).llDecrypt({ ciphertext });
  return createDecrypter(AESCBC, await AESCBC.cryptoGenerate({ importRaw: plaintext }, false));
}

/** Fetches an object, and decrypts each segment with the key of the member. */
async function read({ face: uri, name: text, certificate }) {
  const verifier = await readCertificate(certificate);
  const face = await connect(uri, fw);
  try {
    const cOpts = { fw, verifier, retx: 2, modifyInterest: { lifetime: 1000 } };
    const { name } = await retrieveMetadata(AltUri.parseName(text), cOpts);
    const hash = createHash("sha256");
    let key;
    for await (const { content } of fetch(new Name(name), { fw, verifier, retxLimit: 2 })) {
      const fields = open(content);
      key ??= await contentKey(fields[0x07].decoder.decode(Name), cOpts);
      const [ciphertext, iv] = [fields[PAYLOAD].value, fields[VECTOR].value];
      hash.update((await key.llDecrypt({ ciphertext, iv })).plaintext);
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
  const packets = [];
  const add = async (name, content) => {
    const data = new Data(name, Data.FreshnessPeriod(1000), content);
    await signer.sign(data);
    packets.push(data);
  };
  const group = new Name("/ndnts/NAC/reports");
  const [kek, kdk] = ["KEK", "KDK"].map((word) => group.append(Component.from(word), Component.from("1")));
  const pair = await RSAOAEP.cryptoGenerate({}, true);
  const own = createEncrypter(new Name("/ndnts/NAC/reports/KEY/1"), RSAOAEP, pair);

  const bytes = Buffer.from(await readFile(reader, "latin1"), "base64");
  const issued = Certificate.fromData(Decoder.decode(bytes, Data));
  const other = await createEncrypter(issued, { algoList: [RSAOAEP] });
  const passphrase = new TextEncoder().encode("a passphrase of the test");
  const bag = await SafeBag.create(await certify(own), await exported("pkcs8", pair.privateKey), passphrase);
  const sealed = (await other.llEncrypt({ plaintext: passphrase })).ciphertext;
  const granted = Encoder.encode([ENCRYPTED, [PAYLOAD, bag], [PAYLOAD_KEY, sealed]]);
  await add(kdk.append(BY, ...other.name.comps), granted);

  const key = await AESCBC.cryptoGenerate({}, true);
  const locator = new Name("/ndnts/CK/1");
  const { ciphertext } = await own.llEncrypt({ plaintext: await exported("raw", key.secretKey) });
  await add(locator.append(BY, ...kek.comps), Encoder.encode([ENCRYPTED, [PAYLOAD, ciphertext]]));

  const [name, content, cipher] = [AltUri.parseName(text), await readFile(file), createEncrypter(AESCBC, key)];
  for (let begin = 0; begin < content.length; begin += segmentSize) {
    const plaintext = content.subarray(begin, begin + segmentSize);
    const { ciphertext: payload, iv } = await cipher.llEncrypt({ plaintext });
    const encrypted = Encoder.encode([ENCRYPTED, [PAYLOAD, payload], [VECTOR, iv], locator]);
    const segment = new Data(name.append(Segment3, begin / segmentSize), encrypted);
    segment.finalBlockId = Segment3.create(Math.ceil(content.length / segmentSize) - 1);
    await signer.sign(segment);
    packets.push(segment);
  }
  produce("/ndnts", async (interest) => packets.find((data) => interest.name.isPrefixOf(data.name)), { fw });
  serveMetadata(new Metadata(name), { freshnessPeriod: 10, pOpts: { fw, dataSigner: signer } });
  return { face };
}

await serve({ member: makeMember, read, write });
