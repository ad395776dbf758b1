//! Recordings replay; other files are recognised.
use super::*;
use bytes::Bytes;
use recoup_forwarder::face::{FaceAttributes, FaceId, Marking, Recovery};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::management::{FaceDescription, Notice, OrderError};
use recoup_forwarder::node::{Input, Machine, Node, RouteChange};
use recoup_packet::interest::Interest;
use recoup_transport::management::{LinkType, Persistency};
use recoup_transport::queue::{Capacity, Discipline, Scheduling};
use recoup_transport::time::Instant;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn drain(machine: &mut impl Machine, now: Instant) -> Vec<Bytes> {
    std::iter::from_fn(|| machine.poll(now))
        .filter_map(|output| match output {
            Output::Send { frame, .. } => Some(frame.into_bytes()),
            _ => None,
        })
        .collect()
}

/// One notice of each kind.
fn notices() -> [Notice; 8] {
    let (face, marking) = (FaceId(300), Some(Marking::default()));
    let description = FaceDescription {
        uri: "udp4://192.0.2.7:6363".into(),
        local_uri: "udp4://192.0.2.1:6363".into(),
        persistency: Persistency::Persistent,
        local: true,
        mtu: 1_400,
        marking,
        reliable: true,
        local_fields: true,
        link_type: LinkType::MultiAccess,
    };
    [
        Notice::TimeOfDay { micros: 1_800_000_000_000_000 },
        Notice::Channels(vec!["udp4://0.0.0.0:6363".into(), "unix:///run/nfd/nfd.sock".into()]),
        Notice::FaceKnown { face, description },
        Notice::FaceMade { ticket: 5, outcome: Ok(face) },
        Notice::FaceMade { ticket: 6, outcome: Err(OrderError::TooMany) },
        Notice::FaceGone { face },
        Notice::Strategy { prefix: "/a".parse().unwrap(), text: Some("multicast".into()) },
        Notice::Strategy { prefix: "/a".parse().unwrap(), text: None },
    ]
}

/// A node that forwards an Interest, and lets another one expire.
fn recorded() -> (Vec<u8>, usize) {
    let heading = Heading { seed: 7, text: "a node".into() };
    let mut file = Vec::new();
    let mut recorder = Recorder::new(Node::deterministic(0), &heading, &mut file).unwrap();
    let mut sent = 0;
    for (number, marking) in [(1, None), (2, Some(Marking::default()))] {
        let attributes = FaceAttributes {
            marking,
            receive_budget: Some(1 << 20),
            permanent: true,
            provisional: number == 2,
            recovery: if number == 2 { "wldr(hold=1ms)".parse().unwrap() } else { Recovery::Off },
            limits: (number == 2).then_some(FaceLimits { rate: Some(9), ..FaceLimits::default() }),
            ..FaceAttributes::wire(8800)
        };
        recorder.handle(at(number), Input::FaceUp { face: FaceId(number as u32), attributes });
    }
    let prefix = "/a".parse().unwrap();
    let route = RouteChange { prefix, face: FaceId(2), cost: Some(0) };
    recorder.handle(at(3), Input::Route(route));
    let capacity = Capacity { other_sending_bits: 7, ..Capacity::symmetric(1_000_000) };
    let discipline = "drr(quantum=900)".parse().unwrap();
    let scheduling = Box::new(Scheduling { discipline, capacity });
    recorder.handle(at(3), Input::Schedule { face: FaceId(2), scheduling });
    for (number, name) in [(4, "/a/x"), (5, "/b")] {
        let mut interest = Interest::new(name.parse().unwrap());
        interest.nonce = Some(number as u32);
        let frame = interest.to_bytes();
        recorder.handle(at(number), Input::Frame { face: FaceId(1), frame });
        sent += drain(&mut recorder, at(number)).len();
    }
    recorder.handle(at(6), Input::Backlog { face: FaceId(2), bytes: 70_000 });
    let frame = Bytes::from_static(b"any");
    recorder.handle(at(6), Input::Overflowed { face: FaceId(2), frame });
    recorder.handle(at(7), Input::FaceDown { face: FaceId(2) });
    for notice in notices() {
        recorder.handle(at(7), notice.into());
    }
    drain(&mut recorder, at(9_000));
    recorder.finish().unwrap();
    drop(recorder);
    (file, sent)
}

fn again(file: &[u8]) -> Result<Replayed, RecordingError> {
    replay(&mut Reader::new(file)?, &mut Node::deterministic(0), &mut |_, _| {})
}

#[test]
fn replay_repeats_a_recording_exactly() {
    let (file, sent) = recorded();
    let mut reader = Reader::new(file.as_slice()).unwrap();
    assert_eq!(reader.heading(), &Heading { seed: 7, text: "a node".into() });
    let (mut frames, mut received) = (0, Vec::new());
    let done = replay(&mut reader, &mut Node::deterministic(0), &mut |_, step| {
        frames += usize::from(matches!(step, Step::Output(Output::Send { .. })));
        if let Step::Input(Input::Notice(notice)) = step {
            received.push((**notice).clone());
        }
    })
    .unwrap();
    assert_eq!((done.inputs, done.complete, done.last), (17, true, at(9_000)));
    assert_eq!((done.compared, frames), (done.outputs, sent));
    assert!(sent >= 2, "{sent}");
    assert_eq!(received, notices());
}

#[test]
fn inputs_of_one_poll_may_exceed_a_block() {
    let (mut file, frame) = (Vec::new(), Bytes::from_static(&[0; 8_000]));
    let mut recorder =
        Recorder::new(Node::deterministic(0), &Heading::default(), &mut file).unwrap();
    let attributes = FaceAttributes::wire(8800);
    recorder.handle(at(1), Input::FaceUp { face: FaceId(1), attributes });
    for _ in 0..2 * MAX_BLOCK / frame.len() {
        recorder.handle(at(2), Input::Frame { face: FaceId(1), frame: frame.clone() });
    }
    drain(&mut recorder, at(2));
    recorder.finish().unwrap();
    drop(recorder);
    assert!(file.len() > 2 * MAX_BLOCK - frame.len());
    assert!(again(&file).unwrap().complete);
}

#[test]
fn schedule_is_replayed_unchanged() {
    let (file, _) = recorded();
    let mut schedules = Vec::new();
    replay(
        &mut Reader::new(file.as_slice()).unwrap(),
        &mut Node::deterministic(0),
        &mut |_, step| {
            if let Step::Input(Input::Schedule { face, scheduling }) = step {
                schedules.push((*face, **scheduling));
            }
        },
    )
    .unwrap();
    let [(face, Scheduling { discipline, capacity })] = schedules.as_slice() else {
        panic!("{schedules:?}")
    };
    assert_eq!(*face, FaceId(2));
    assert_eq!(
        discipline.to_string(),
        "drr(quantum=900)".parse::<Discipline>().unwrap().to_string()
    );
    let sent = Capacity { other_sending_bits: 7, ..Capacity::symmetric(1_000_000) };
    assert_eq!(*capacity, sent);
}

#[test]
fn another_machine_is_found_out() {
    let (file, _) = recorded();
    let mut other = Node::deterministic(0);
    other.set_strategy(&"/a".parse().unwrap(), &"multicast".parse().unwrap());
    other.handle(
        Instant::ZERO,
        Input::Route(RouteChange { prefix: "/b".parse().unwrap(), face: FaceId(2), cost: Some(0) }),
    );
    let error = replay(&mut Reader::new(file.as_slice()).unwrap(), &mut other, &mut |_, _| {});
    assert!(matches!(error, Err(RecordingError::Diverged { .. })), "{error:?}");
}

#[test]
fn truncated_recording_is_replayed_to_its_end() {
    let (file, _) = recorded();
    let done = again(&file[..file.len() - 1]).unwrap();
    assert!(!done.complete);
    assert!(matches!(again(b"#!/bin/sh and more than eight"), Err(RecordingError::Foreign)));
    assert!(matches!(again(&file[..7]), Err(RecordingError::Foreign)));
    let mut newer = file.clone();
    newer[8] = 9;
    assert!(matches!(again(&newer), Err(RecordingError::Version(9))));
}

#[test]
fn every_flipped_bit_behind_the_seed_is_found() {
    let (file, _) = recorded();
    for place in 17..file.len() {
        for bit in 0..8 {
            let mut flipped = file.clone();
            flipped[place] ^= 1 << bit;
            // A block whose length grew looks cut off.
            let result = again(&flipped);
            assert!(result.as_ref().is_ok_and(|done| !done.complete) || result.is_err(), "{place}");
        }
    }
}

/// A recording of one block, whose checksum is right.
fn of_block(block: &[u8]) -> Vec<u8> {
    let mut file = [MAGIC.as_slice(), &[VERSION], &[0; 16]].concat();
    file.extend((block.len() as u32).to_le_bytes());
    file.extend(crc32fast::hash(block).to_le_bytes());
    file.extend(block);
    file
}

#[test]
fn record_longer_than_its_block_is_an_error() {
    // An input, after 0 ns: a notice of 2^63 channels; a frame of as many bytes; a frame that is complete.
    let many = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    for head in [&[0, 0, 9, 3][..], &[0, 0, 2, 1]] {
        let result = again(&of_block(&[head, &many].concat()));
        assert!(matches!(result, Err(RecordingError::Damaged { block: 1 })), "{result:?}");
    }
    assert_eq!(again(&of_block(&[0, 0, 2, 1, 1, 0])).unwrap().inputs, 1);
}

/// A disk with this many free bytes.
struct Disk {
    file: Vec<u8>,
    room: usize,
}

impl std::io::Write for &mut Disk {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let fit = bytes.len().min(self.room - self.file.len());
        if fit == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        self.file.extend(&bytes[..fit]);
        Ok(fit)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_recording_without_room_is_given_up() {
    let mut disk = Disk { file: Vec::new(), room: 100_000 };
    let mut recorder =
        Recorder::new(Node::deterministic(0), &Heading::default(), &mut disk).unwrap();
    let attributes = FaceAttributes { permanent: true, ..FaceAttributes::wire(8800) };
    for face in [1, 2].map(FaceId) {
        recorder.handle(at(1), Input::FaceUp { face, attributes });
    }
    let route = RouteChange { prefix: "/".parse().unwrap(), face: FaceId(2), cost: Some(0) };
    recorder.handle(at(1), Input::Route(route));
    let (mut sent, mut given_up) = (0, Vec::new());
    for number in 0..5_000_u32 {
        let mut interest = Interest::new(format!("/a/{number}").parse().unwrap());
        interest.nonce = Some(number);
        let frame = interest.to_bytes();
        recorder.handle(at(2), Input::Frame { face: FaceId(1), frame });
        sent += drain(&mut recorder, at(2)).len();
        given_up.extend(recorder.give_up());
    }
    let kinds: Vec<_> = given_up.iter().map(std::io::Error::kind).collect();
    assert_eq!((sent, kinds), (5_000, vec![std::io::ErrorKind::StorageFull]));
    assert!(recorder.finish().is_ok(), "that it was given up is known");
    drop(recorder);
    let done = again(&disk.file).unwrap();
    assert!(!done.complete && done.inputs > 500, "{done:?}");
}
