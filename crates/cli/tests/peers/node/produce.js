// A producer made of NDNts that needs no forwarder: it listens by itself.
import { readFile } from "node:fs/promises";

import { Forwarder } from "@ndn/fw";
import { AltUri } from "@ndn/naming-convention2";
import { digestSigning } from "@ndn/packet";
import { Metadata, serveMetadata } from "@ndn/rdr";
import { BufferChunkSource, serve as serveSegments } from "@ndn/segmented-object";

import { listen } from "./face.js";
import { serve } from "./lines.js";

const fw = Forwarder.create();

async function listenAt({ at, mtu }) {
  return { face: await listen(at, fw, undefined, mtu) };
}

/** Serves a file under a versioned name; its metadata stands under the name without version. */
async function serveFile({ file, name: text, segmentSize }) {
  const name = AltUri.parseName(text);
  const content = new BufferChunkSource(await readFile(file), { chunkSize: segmentSize });
  serveSegments(name, content, { pOpts: { fw, dataSigner: digestSigning } });
  serveMetadata(new Metadata(name), { freshnessPeriod: 10, pOpts: { fw, dataSigner: digestSigning } });
  return { name: text };
}

await serve({ listen: listenAt, serve: serveFile });
