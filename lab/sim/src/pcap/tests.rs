//! Captures, read back by a reader that is not ours.
use super::*;
use crate::network::Direction;
use crate::observe::LossReason;
use crate::record::bench::*;
use bytes::Bytes;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use recoup_forwarder::hash::NameHasher;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use std::sync::Arc;
use std::time::Duration;

/// All blocks of a capture.
fn blocks(capture: Vec<u8>) -> Vec<Block<'static>> {
    let mut reader = PcapNgReader::new(io::Cursor::new(capture)).unwrap();
    let mut blocks = Vec::new();
    while let Some(block) = reader.next_block() {
        blocks.push(block.unwrap().into_owned());
    }
    blocks
}

fn packets(capture: Vec<u8>) -> Vec<EnhancedPacketBlock<'static>> {
    let packets = blocks(capture).into_iter().filter_map(Block::into_enhanced_packet);
    packets.collect()
}

/// Captures what happens on the bottleneck.
fn captured(options: &CaptureOptions, story: impl Fn(&mut Capture<Vec<u8>>)) -> Vec<u8> {
    let mut capture = Capture::new(&network(), options, Vec::new()).unwrap();
    story(&mut capture);
    capture.finish().unwrap()
}

fn arrives(capture: &mut Capture<Vec<u8>>, nanos: u64, packet: &Packet) {
    let (link, direction) = (BOTTLENECK, Direction::Back);
    capture.on(Instant::from_nanos(nanos), &Observation::Arrived { link, direction, packet });
}

fn payload(block: &EnhancedPacketBlock<'_>) -> Bytes {
    assert_eq!(block.data[12..14], [0x86, 0x24]);
    Bytes::copy_from_slice(&block.data[ETHERNET_BYTES..])
}

#[test]
fn each_direction_of_a_link_is_an_interface() {
    let blocks = blocks(captured(&CaptureOptions::default(), |_| {}));
    let interfaces: Vec<_> =
        blocks.into_iter().filter_map(Block::into_interface_description).collect();
    assert_eq!(interfaces.len(), 6);
    assert!(interfaces.iter().all(|it| it.linktype == DataLink::ETHERNET));
    let options = &interfaces[5].options;
    assert!(options.contains(&InterfaceDescriptionOption::IfName("r-p.back".into())));
    assert!(options.contains(&InterfaceDescriptionOption::IfDescription("p to r".into())));
    assert!(options.contains(&InterfaceDescriptionOption::IfSpeed(1_000_000)));
    assert!(options.contains(&InterfaceDescriptionOption::IfTsResol(9)));
}

#[test]
fn arrival_is_read_back_exactly() {
    let data = data(321);
    let nanos = 5_000_000_123;
    let packets = packets(captured(&CaptureOptions::default(), |it| arrives(it, nanos, &data)));
    assert_eq!(packets.len(), 1);
    let packet = &packets[0];
    assert_eq!(packet.interface_id, 5);
    assert_eq!(packet.timestamp, Duration::from_nanos(nanos));
    assert_eq!(packet.original_len as usize, packet.data.len());
    assert_eq!(packet.data[..12], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3]);
    let decoded = Data::decode(payload(packet)).unwrap();
    assert_eq!((decoded.name(), decoded.content().len()), (data.name(), 321));
    assert!(packet.options.is_empty());
}

#[test]
fn link_fields_make_an_lp_packet() {
    let mut interest = Interest::new("/a/b".parse().unwrap());
    (interest.nonce, interest.hop_limit) = (Some(7), Some(9));
    let (interest, hasher) = (Arc::new(interest), NameHasher::new(1));
    let mut bare = Packet::interest(Arc::clone(&interest), &hasher);
    bare.hop.hop_limit = Some(8);
    let nack = Packet::nack(Arc::clone(&interest), NackReason::NoRoute, &hasher);
    let mut marked = data(10);
    marked.hop.congestion_mark = 1;
    let packets = packets(captured(&CaptureOptions::default(), |capture| {
        [&bare, &nack, &marked].into_iter().for_each(|packet| arrives(capture, 0, packet));
    }));
    assert_eq!(Interest::decode(payload(&packets[0])).unwrap().hop_limit, Some(8));
    let nack = LpPacket::decode(payload(&packets[1])).unwrap();
    assert_eq!(nack.header.nack, Some(NackReason::NoRoute));
    assert_eq!(Interest::decode(nack.fragment.unwrap()).unwrap(), *interest);
    let marked = LpPacket::decode(payload(&packets[2])).unwrap();
    assert_eq!(marked.header.congestion_mark, Some(1));
    assert!(Data::decode(marked.fragment.unwrap()).is_ok());
}

#[test]
fn lost_packet_names_its_reason() {
    let packets = packets(captured(&CaptureOptions::default(), |capture| {
        let (link, direction, reason) = (BOTTLENECK, Direction::Forth, LossReason::Model);
        let packet = &interest();
        capture.on(at(3), &Observation::Lost { link, direction, packet, reason });
    }));
    assert_eq!(packets[0].interface_id, 4);
    assert_eq!(packets[0].options, [EnhancedPacketOption::Comment("lost: model".into())]);
}

#[test]
fn links_are_chosen_and_frames_are_cut() {
    let links = BTreeSet::from([BOTTLENECK]);
    let options = CaptureOptions { links, frame_bytes: Some(64) };
    let packet = data(1000);
    let capture = captured(&options, |capture| {
        arrives(capture, 0, &packet);
        let (link, direction) = (LinkId(0), Direction::Forth);
        capture.on(at(1), &Observation::Arrived { link, direction, packet: &packet });
        assert_eq!(capture.packets(), 1);
    });
    let packets = packets(capture);
    assert_eq!((packets.len(), packets[0].interface_id, packets[0].data.len()), (1, 1, 64));
    assert_eq!(packets[0].original_len as usize, ETHERNET_BYTES + packet.bytes());
}

/// Takes so many bytes, then fails.
struct Narrow(usize);

impl Write for Narrow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn full_disk_is_reported_at_the_end() {
    let mut capture = Capture::new(&network(), &CaptureOptions::default(), Narrow(900)).unwrap();
    for _ in 0..100 {
        let (link, direction, packet) = (BOTTLENECK, Direction::Back, &data(10));
        capture.on(at(0), &Observation::Arrived { link, direction, packet });
    }
    assert!(capture.packets() < 100);
    assert_eq!(capture.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
}
