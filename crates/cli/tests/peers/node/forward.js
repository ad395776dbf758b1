// A small forwarder made of NDNts, which speaks as much of NFD's management protocol as a
// producer needs: rib/register, with the signature checked.
import { produce } from "@ndn/endpoint";
import { Forwarder } from "@ndn/fw";
import { AltUri } from "@ndn/naming-convention2";
import { ControlParameters, ControlResponse } from "@ndn/nfdmgmt";
import { Data, digestSigning, Interest, Name, SigType } from "@ndn/packet";
import { Decoder, Encoder } from "@ndn/tlv";

import { listen } from "./face.js";
import { say, serve } from "./lines.js";

const REGISTER = new Name("/localhost/nfd/rib/register");
const fw = Forwarder.create();

/** The face by which the latest command came: only that face may be meant by it. */
let commander;
fw.addEventListener("pktrx", ({ face, packet: { l3 } }) => {
  if (l3 instanceof Interest && REGISTER.isPrefixOf(l3.name)) {
    commander = face;
  }
});

/** ControlParameters stand in the name, after the verb. */
function parametersOf(interest) {
  return Decoder.decode(interest.name.at(REGISTER.length).value, ControlParameters);
}

async function checkSignature(interest) {
  await interest.validateParamsDigest(true);
  const { sigInfo } = interest;
  if (sigInfo?.time === undefined && sigInfo?.nonce === undefined) {
    throw new Error("a command without time and nonce could be replayed");
  }
  if (sigInfo.type === SigType.Sha256) {
    await digestSigning.verify(interest);
  }
  return sigInfo.type;
}

produce(REGISTER, async (interest) => {
  let response;
  try {
    const signatureType = await checkSignature(interest);
    const parameters = parametersOf(interest);
    commander.addRoute(parameters.name);
    parameters.faceId ??= 300;
    parameters.origin ??= 0;
    parameters.cost ??= 0;
    parameters.flags ??= 1;
    response = new ControlResponse(200, "Success", parameters);
    say({ event: "registered", name: AltUri.ofName(parameters.name), signatureType });
  } catch (error) {
    response = new ControlResponse(403, `${error}`);
    say({ event: "refused", reason: `${error}` });
  }
  return new Data(interest.name, Data.FreshnessPeriod(1000), Encoder.encode(response));
}, { fw, dataSigner: digestSigning });

async function listenAt({ at, mtu }) {
  return { face: await listen(at, fw, undefined, mtu) };
}

await serve({ listen: listenAt });
