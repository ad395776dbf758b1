//! The producer of the demo, with a client of its own.
use crate::error::{Exit, Failure};
use recoup::{Client, Server};
use recoup_io::face::FaceUri;
use recoup_packet::name::{Component, Name};
use std::net::SocketAddr;

/// The name under which the content is served.
pub(crate) fn name() -> Name {
    Name::root().append(Component::generic(b"demo"))
}

/// A producer that is in operation until it is dropped.
#[derive(Debug)]
pub(crate) struct Producer {
    address: SocketAddr,
    _server: Server,
}

impl Producer {
    /// Serves `content` on a UDP port of the loopback interface.
    pub(crate) fn start(content: &[u8], segment_bytes: u64) -> Result<Self, Failure> {
        let client = Client::builder().alone().connect()?;
        let server = client.serve(name()).version(1).segment_size(segment_bytes as usize);
        let server = server.listen("udp://127.0.0.1:0")?.bytes(content.to_vec())?;
        let address = match server.endpoint().faces() {
            [FaceUri::Udp(at)] => at.address().map(|ip| SocketAddr::from((ip, at.port))),
            _ => None,
        };
        let address = address.ok_or_else(|| Failure::new(Exit::Other, "no port"))?;
        Ok(Self { address, _server: server })
    }

    /// Its address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
