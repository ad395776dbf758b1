//! Malicious producers over UDP: each test scripts the answers to Interests.
use bytes::{Bytes, BytesMut};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::lp::LpPacket;
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::name::convention::Convention;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use std::net::UdpSocket;

/// Starts a producer, which ends with the process of the test. Returns its face.
pub(crate) fn producer(mut answer: impl FnMut(&Interest) -> Vec<Data> + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let face = format!("udp://{}", socket.local_addr().expect("an address"));
    std::thread::spawn(move || {
        let mut frame = [0; 9_000];
        while let Ok((length, from)) = socket.recv_from(&mut frame) {
            let frame = Bytes::copy_from_slice(&frame[..length]);
            let packet = LpPacket::decode(frame).ok().and_then(|frame| frame.fragment);
            let Some(Ok(interest)) = packet.map(Interest::decode) else { continue };
            for data in answer(&interest) {
                let mut wire = BytesMut::new();
                LpPacket::bare(data.wire()).encode(&mut wire);
                let _ = socket.send_to(&wire, from);
            }
        }
    });
    face
}

/// The object that a metadata Interest asks about.
pub(crate) fn asked_object(interest: &Interest) -> Option<Name> {
    let keyword = Component::keyword(b"metadata");
    (interest.name.last()? == keyword).then(|| interest.name.parent())
}

/// Number of the requested segment.
pub(crate) fn asked_segment(interest: &Interest) -> Option<u64> {
    Convention::Typed.parse_segment(&interest.name.last()?)
}

/// Metadata of `object` that name `versioned`.
pub(crate) fn metadata_of(object: &Name, versioned: Name, last: Option<u64>) -> Data {
    let content = Metadata { final_block: last, ..Metadata::new(versioned) }.to_bytes();
    signed(&metadata::packet_name(object, 1), None, &content)
}

/// Data with a digest.
pub(crate) fn signed(name: &Name, last: Option<u64>, content: &[u8]) -> Data {
    let builder = DataBuilder::new(name);
    let builder = match last {
        Some(last) => builder.final_block(Component::segment(last)),
        None => builder,
    };
    builder.build(content, &DigestSigner)
}

/// Copy of the Data with a bit of its content flipped.
pub(crate) fn forged(data: &Data) -> Data {
    let mut wire = data.wire().to_vec();
    let content = data.content();
    let at = wire.windows(content.len()).position(|window| window == content).expect("content");
    wire[at] ^= 1;
    Data::decode(Bytes::from(wire)).expect("still a packet")
}

/// Segments of 8,000 bytes of `content`, as version 1.
pub(crate) struct Object {
    content: Vec<u8>,
    is_folder: bool,
}

const SEGMENT_BYTES: usize = 8_000;

impl Object {
    pub(crate) fn file(content: impl Into<Vec<u8>>) -> Self {
        Self { content: content.into(), is_folder: false }
    }

    pub(crate) fn listing(content: impl Into<Vec<u8>>) -> Self {
        Self { content: content.into(), is_folder: true }
    }

    fn last(&self) -> u64 {
        (self.content.len().saturating_sub(1) / SEGMENT_BYTES) as u64
    }

    /// The right answer to an Interest for the metadata of `name`, or for a segment.
    pub(crate) fn answer(&self, interest: &Interest) -> Option<Data> {
        if let Some(object) = asked_object(interest) {
            let path = if self.is_folder {
                object.append(Component::keyword(b"ls"))
            } else {
                object.clone()
            };
            return Some(metadata_of(
                &object,
                path.append(Component::version(1)),
                Some(self.last()),
            ));
        }
        let begin = usize::try_from(asked_segment(interest)?).ok()? * SEGMENT_BYTES;
        let end = self.content.len().min(begin + SEGMENT_BYTES);
        Some(signed(&interest.name, Some(self.last()), self.content.get(begin..end)?))
    }
}

/// The generic components that an Interest names: the path of a file or folder.
pub(crate) fn path_of(interest: &Interest) -> Vec<Vec<u8>> {
    let generic = interest.name.components().filter(|component| component.typ() == 8);
    generic.map(|component| component.value().to_vec()).collect()
}
