// A producer made of NDNts: it listens by itself, or registers with a forwarder.
import { readFile } from "node:fs/promises";

import { Forwarder } from "@ndn/fw";
import { AltUri } from "@ndn/naming-convention2";
import { enableNfdPrefixReg } from "@ndn/nfdmgmt";
import { digestSigning } from "@ndn/packet";
import { Metadata, serveMetadata } from "@ndn/rdr";
import { BufferChunkSource, serve as serveSegments } from "@ndn/segmented-object";

import { makeKey } from "./certificate.js";
import { connect, listen } from "./face.js";
import { serve } from "./lines.js";

const fw = Forwarder.create();

async function listenAt({ at, mtu }) {
  return { face: await listen(at, fw, undefined, mtu) };
}

/** Connects to a forwarder, with which every prefix that is served from then on is registered. */
async function register({ face: uri }) {
  const face = await connect(uri, fw);
  enableNfdPrefixReg(face, { signer: digestSigning });
  return { face: uri };
}

/**
 * Serves a file under a versioned name; its metadata stands under the name without version. Signs with
 * a digest, or with a new key of an algorithm, whose certificate is then written to a file.
 */
async function serveFile({ file, name: text, segmentSize, algorithm, certificate }) {
  const name = AltUri.parseName(text);
  const dataSigner = algorithm ? await makeKey(algorithm, certificate) : digestSigning;
  const content = new BufferChunkSource(await readFile(file), { chunkSize: segmentSize });
  serveSegments(name, content, { pOpts: { fw, dataSigner } });
  serveMetadata(new Metadata(name), { freshnessPeriod: 10, pOpts: { fw, dataSigner } });
  return { name: text };
}

await serve({ listen: listenAt, register, serve: serveFile });
