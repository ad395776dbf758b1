// Faces of NDNts in both directions: connecting to a URI, and listening at one.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

import { L3Face, rxFromPacketIterable, StreamTransport, Transport } from "@ndn/l3face";
import { TcpTransport, UdpTransport, UnixTransport } from "@ndn/node-transport";
import { pushable } from "@ndn/util";
import { WsTransport } from "@ndn/ws-transport";

/** Connects to a forwarder, or to a producer that listens; all Interests go there. */
export async function connect(uri, fw) {
  const { scheme, host, port, path } = parse(uri);
  switch (scheme) {
    case "unix":
      return UnixTransport.createFace({ fw }, path);
    case "tcp":
      return TcpTransport.createFace({ fw }, host, port);
    case "udp":
      return UdpTransport.createFace({ fw }, { host, port });
    case "ws":
      return WsTransport.createFace({ fw }, uri);
    default:
      throw new Error(`no face for ${uri}`);
  }
}

/**
 * Listens, hands each new face of the forwarder to `accepted`, and returns the URI to connect to.
 * A datagram is at most `mtu` bytes; what is longer is fragmented.
 */
export async function listen(uri, fw, accepted = () => {}, mtu = 8800) {
  const { scheme, host, port, path } = parse(uri);
  const add = (transport, local) => {
    const face = fw.addFace(new L3Face(transport, { local, advertiseFrom: false }));
    accepted(face);
  };
  if (scheme === "udp") {
    return listenDatagrams({ host, port, mtu }, add);
  }
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.setNoDelay?.(true);
    add(new StreamTransport(socket), scheme === "unix");
  });
  server.listen(scheme === "unix" ? { path } : { host, port });
  await once(server, "listening");
  return scheme === "unix" ? uri : `tcp://${host}:${server.address().port}`;
}

async function listenDatagrams({ host, port, mtu }, add) {
  const socket = createSocket({ type: "udp4", recvBufferSize: 4 << 20, sendBufferSize: 4 << 20 });
  const remotes = new Map();
  socket.on("message", (datagram, remote) => {
    const key = `${remote.address}:${remote.port}`;
    if (!remotes.has(key)) {
      remotes.set(key, new DatagramTransport(socket, remote, mtu));
      add(remotes.get(key), false);
    }
    remotes.get(key).arrived.push(datagram);
  });
  socket.bind(port, host);
  await once(socket, "listening");
  return `udp://${host}:${socket.address().port}`;
}

/** One remote of a listening UDP socket. */
class DatagramTransport extends Transport {
  constructor(socket, remote, mtu) {
    super({ describe: `UDP(${remote.address}:${remote.port})` });
    this.socket = socket;
    this.remote = remote;
    this.maximum = mtu;
    this.arrived = pushable();
    this.rx = rxFromPacketIterable(this.arrived);
  }

  get mtu() {
    return this.maximum;
  }

  async tx(packets) {
    for await (const packet of packets) {
      this.socket.send(packet, this.remote.port, this.remote.address);
    }
  }
}

function parse(uri) {
  const { protocol, hostname, port, pathname } = new URL(uri);
  const scheme = protocol.replace(/[46]?:$/, "");
  return { scheme, host: hostname, port: Number(port), path: pathname };
}
