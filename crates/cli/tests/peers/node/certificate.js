// Keys of NDNts, and certificates in the form that ndn-cxx exchanges: a Data packet in Base64.
import { readFile, writeFile } from "node:fs/promises";

import {
  Certificate, createVerifier, ECDSA, Ed25519, generateSigningKey, RSA,
} from "@ndn/keychain";
import { Data } from "@ndn/packet";
import { Decoder, Encoder } from "@ndn/tlv";

const ALGORITHMS = { ecdsa: ECDSA, ed25519: Ed25519, rsa: RSA };

/** A verifier for the key in a certificate file. */
export async function readCertificate(path) {
  const bytes = Buffer.from(await readFile(path, "latin1"), "base64");
  const certificate = Certificate.fromData(Decoder.decode(bytes, Data));
  return createVerifier(certificate, { algoList: Object.values(ALGORITHMS) });
}

/** A signer with a new key, whose certificate is written to a file. */
export async function makeKey(algorithm, path) {
  const [privateKey, publicKey] = await generateSigningKey("/ndnts", ALGORITHMS[algorithm]);
  const certificate = await Certificate.selfSign({ privateKey, publicKey });
  await writeFile(path, Buffer.from(Encoder.encode(certificate.data)).toString("base64"));
  return privateKey;
}
