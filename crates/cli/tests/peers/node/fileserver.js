// A client of the file-server protocol made of NDNts: lists folders, and reads files and parts of them.
import { createHash } from "node:crypto";

import { Client } from "@ndn/fileserver";
import { Forwarder } from "@ndn/fw";
import { AltUri } from "@ndn/naming-convention2";

import { connect } from "./face.js";
import { serve } from "./lines.js";

/** All entries below a folder, by path: kind, size, and digest of the content. */
async function walk(client, path, metadata, into) {
  for await (const entry of client.readdir(metadata)) {
    const at = path === "" ? entry.name : `${path}/${entry.name}`;
    const found = await client.stat(path, entry);
    if (found.isDir !== entry.isDir || found.isFile === entry.isDir) {
      throw new Error(`${at} is listed as another kind: mode ${found.mode.toString(8)}`);
    }
    if (entry.isDir) {
      into[`${at}/`] = null;
      await walk(client, at, found, into);
      continue;
    }
    const content = await client.readFile(found);
    const sha256 = createHash("sha256").update(content).digest("hex");
    into[at] = { size: found.size, bytes: content.length, sha256 };
  }
  return into;
}

/** Runs something with a client of the folder `name` at a face. */
async function atFolder({ face: uri, name }, act) {
  const fw = Forwarder.create();
  const face = await connect(uri, fw);
  try {
    return await act(new Client(AltUri.parseName(name), { fw, retx: 2, retxLimit: 2 }));
  } finally {
    face.close();
    fw.close();
  }
}

await serve({
  walk: (request) =>
    atFolder(request, async (client) => walk(client, "", await client.stat(""), {})),
  part: (request) =>
    atFolder(request, async (client) => {
      const into = new Uint8Array(request.length);
      const metadata = await client.stat(request.path);
      await client.readFileInto(metadata, into, 0, request.length, request.position);
      return { hex: Buffer.from(into).toString("hex") };
    }),
});
