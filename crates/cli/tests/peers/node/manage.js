// An operator made of NDNts: asks a forwarder about itself, and changes it.
import { Forwarder } from "@ndn/fw";
import {
  ChannelStatus, CsInfo, FaceQuery, FaceStatus, GeneralStatus, invoke, list, RibEntry, StrategyChoice,
} from "@ndn/nfdmgmt";
import { Name } from "@ndn/packet";

import { connect } from "./face.js";
import { serve } from "./lines.js";

const datasets = { ChannelStatus, CsInfo, FaceStatus, GeneralStatus, RibEntry, StrategyChoice };
const fw = Forwarder.create();
const opts = { cOpts: { fw } };

async function connectTo({ face }) {
  await connect(face, fw);
  return { face };
}

/** A record as JSON: names as URIs, large numbers as numbers. */
function plain(record) {
  const convert = (_, value) => {
    if (value instanceof Name) {
      return `${value}`;
    }
    return typeof value === "bigint" ? Number(value) : value;
  };
  return JSON.parse(JSON.stringify(fields(record), convert));
}

function fields(value) {
  if (Array.isArray(value)) {
    return value.map(fields);
  }
  if (value === null || typeof value !== "object" || value instanceof Name) {
    return value;
  }
  return Object.fromEntries(Object.keys(value).map((key) => [key, fields(value[key])]));
}

/** What a dataset says; of faces only those of a scheme, if one is given. */
async function status({ dataset, scheme }) {
  const wanted = scheme ? FaceQuery({ uriScheme: scheme }) : datasets[dataset];
  return { records: (await list(wanted, opts)).map(plain) };
}

/** Gives a command; names among its parameters begin with a slash. */
async function command({ verb, parameters }) {
  const named = Object.entries(parameters).map(([key, value]) => {
    const isName = key === "name" || key === "strategy";
    return [key, isName ? new Name(value) : value];
  });
  const { statusCode, statusText } = await invoke(verb, Object.fromEntries(named), opts);
  return { statusCode, statusText };
}

await serve({ connect: connectTo, status, command });
