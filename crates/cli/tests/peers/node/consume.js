// A consumer made of NDNts: fetches objects with its own window, checking each digest.
import { createHash } from "node:crypto";

import { Forwarder } from "@ndn/fw";
import { AltUri } from "@ndn/naming-convention2";
import { digestSigning, Name } from "@ndn/packet";
import { retrieveMetadata } from "@ndn/rdr";
import { fetch } from "@ndn/segmented-object";

import { readCertificate } from "./certificate.js";
import { connect } from "./face.js";
import { serve } from "./lines.js";

const RETRIES = 2;

/** Fetches an object; each packet has a right digest, or is signed by the key of a certificate. */
async function retrieve({ face: uri, name: text, discover, certificate, lifetimeMs = 2000 }) {
  const verifier = certificate ? await readCertificate(certificate) : digestSigning;
  const fw = Forwarder.create();
  const face = await connect(uri, fw);
  try {
    let name = AltUri.parseName(text);
    if (discover) {
      const modifyInterest = { lifetime: lifetimeMs };
      const cOpts = { fw, verifier, retx: RETRIES, modifyInterest };
      ({ name } = await retrieveMetadata(name, cOpts));
    }
    const hash = createHash("sha256");
    let bytes = 0;
    let segments = 0;
    const object = fetch(new Name(name), { fw, verifier, retxLimit: RETRIES });
    for await (const { content } of object) {
      hash.update(content);
      bytes += content.length;
      segments += 1;
    }
    return { name: AltUri.ofName(name), bytes, segments, sha256: hash.digest("hex") };
  } finally {
    face.close();
    fw.close();
  }
}

await serve({ fetch: retrieve });
