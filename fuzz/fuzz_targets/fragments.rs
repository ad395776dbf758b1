//! Fragments that are reordered, duplicated, changed or lost: a reassembled packet equals a fragmented one, and the
//! reassembly buffer keeps its limits.
#![no_main]

use bytes::{Bytes, BytesMut};
use libfuzzer_sys::fuzz_target;
use recoup_fuzz::Script;
use recoup_packet::lp::{LpHeader, LpPacket};
use recoup_packet::tlv::{self, typ};
use recoup_transport::link::{Fragmenter, Reassembler, ReassemblyLimits};
use recoup_transport::time::{Duration, Instant};

const FRAMES: usize = 256;

fuzz_target!(|bytes: &[u8]| {
    let mut script = Script::new(bytes);
    let timeout = Duration::from_millis(500);
    let limits = ReassemblyLimits { packets: 4, bytes: 12_000, timeout, ..Default::default() };
    let (mut there, mut now) = (Reassembler::new(limits), Instant::ZERO);
    let mtu = 40 + script.number() as usize % 2_000;
    let mut here = Fragmenter::new(mtu, u64::MAX - script.number());
    let (mut packets, mut frames) = (Vec::new(), Vec::new());
    let mut changed = false;
    while !script.is_over() {
        match script.below(8) {
            0 | 1 => {
                let packet = packet(packets.len(), script.number() as usize % 9_000);
                let mark = (script.below(2) == 1).then_some(1);
                let header = LpHeader { congestion_mark: mark, ..LpHeader::default() };
                let cut = here.fragment(header, packet.clone(), |frame| {
                    assert!(frame.len() <= mtu, "{} bytes", frame.len());
                    if frames.len() < FRAMES {
                        frames.push(frame);
                    }
                });
                assert!(cut.is_ok() || packet.len() > mtu);
                packets.push(packet);
            }
            2 => now += Duration::from_millis(script.number() % 700),
            3 if !frames.is_empty() => {
                frames.swap_remove(script.number() as usize % frames.len());
            }
            4 => {
                changed = true;
                frames.push(Bytes::copy_from_slice(script.bytes()));
            }
            _ if !frames.is_empty() => {
                let at = script.number() as usize % frames.len();
                let frame =
                    if script.below(4) == 0 { frames[at].clone() } else { frames.remove(at) };
                let Ok(LpPacket { header, fragment: Some(fragment) }) = LpPacket::decode(frame)
                else {
                    continue;
                };
                let sender = if changed { u64::from(script.byte()) % 2 } else { 0 };
                if let Ok(Some((_, whole))) = there.accept_from(now, sender, header, fragment) {
                    assert!(changed || packets.contains(&whole), "a packet that was never sent");
                }
            }
            _ => {}
        }
        there.expire(now);
        assert!(there.deadline().is_none_or(|due| due > now));
        assert!(there.incomplete() <= limits.packets && there.held_bytes() <= limits.bytes);
    }
});

/// A packet that differs from all others.
fn packet(number: usize, length: usize) -> Bytes {
    let bytes: Vec<u8> = (0..length).map(|at| (at * 7 + number * 31 + at / 251) as u8).collect();
    let mut out = BytesMut::new();
    tlv::put_tlv(&mut out, typ::DATA, &bytes);
    out.freeze()
}
