//! Two nodes on one link: a consumer and a producer, with frames of a small MTU.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{AppId, FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError, FetchOptions};
use recoup_transport::random::Rng;
use recoup_transport::serve::{
    Form, Identified, Library, Opened, Serve, ServeConfig, Source, SourceError, Unknown,
};
use recoup_transport::time::{Duration, Instant};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
struct Buffer(Bytes);

impl Source for Buffer {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&mut self, _: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        into.copy_from_slice(&self.0[offset as usize..offset as usize + into.len()]);
        Ok(())
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::No)
    }
}

impl Library for Buffer {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        path.is_empty().then(|| Opened {
            source: Box::new(self.clone()),
            version: Some(1),
            suffix: None,
            mtime_ns: None,
            mode: None,
        })
    }
}

const FACE: FaceId = FaceId(0);
const DELAY: Duration = Duration::from_millis(5);

fn consumer() -> Node {
    let name = "/p".parse().expect("a name");
    let config = FetchConfig::new(name, FetchOptions::default(), Rng::from_seed(1));
    let mut node = Node::deterministic(0);
    node.attach(Instant::ZERO, Box::new(Fetch::new(config)), Vec::new());
    node
}

fn producer(content: Bytes) -> Node {
    let config = ServeConfig {
        prefix: "/p".parse().expect("a name"),
        convention: Convention::Typed,
        segment_bytes: 8_000,
        freshness: Duration::from_secs(10),
        metadata_freshness: Duration::from_millis(10),
        unknown: Unknown::Nack,
        form: Form::Encoded,
        signer: Box::new(DigestSigner),
        manifest_signer: None,
        encrypter: None,
        epoch_micros: 0,
    };
    let prefix = config.prefix.clone();
    let mut node = Node::deterministic(0);
    let serve = Serve::new(config, Box::new(Buffer(content)));
    node.attach(Instant::ZERO, Box::new(serve), vec![prefix]);
    node
}

/// Runs both until the fetch ends; `lose` decides which frames are lost.
fn run(mtu: usize, content: &Bytes, mut lose: impl FnMut() -> bool) -> (Vec<u8>, usize) {
    let mut nodes = [consumer(), producer(content.clone())];
    for (place, node) in nodes.iter_mut().enumerate() {
        let attributes = FaceAttributes { upstream: place == 0, ..FaceAttributes::wire(mtu) };
        node.handle(Instant::ZERO, Input::FaceUp { face: FACE, attributes });
    }
    let mut agenda: BTreeMap<(Instant, u64), (usize, Bytes)> = BTreeMap::new();
    let (mut now, mut sequence, mut frames) = (Instant::ZERO, 0, 0);
    let mut received: BTreeMap<u64, Bytes> = BTreeMap::new();
    loop {
        for (place, node) in nodes.iter_mut().enumerate() {
            while let Some(output) = node.poll(now) {
                match output {
                    Output::Send { frame, .. } => {
                        assert!(frame.len() <= mtu, "{} bytes in one frame", frame.len());
                        frames += 1;
                        sequence += 1;
                        if !lose() {
                            agenda.insert((now + DELAY, sequence), (1 - place, frame.into_bytes()));
                        }
                    }
                    Output::App { app, report } => {
                        assert_eq!(app, AppId(0));
                        match report {
                            Report::Content { segment, content } => {
                                received.insert(segment, content);
                            }
                            Report::Done(result) => {
                                assert_eq!(result, Ok::<(), Box<FetchError>>(()));
                                return (received.values().flatten().copied().collect(), frames);
                            }
                            _ => {}
                        }
                    }
                    // Incomplete packets expire.
                    Output::Dropped { reason: DropReason::Fragment, .. } => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        let due = agenda.first_key_value().map(|((at, _), _)| *at);
        let deadlines = nodes.iter().map(Node::deadline);
        now = deadlines.chain([due]).flatten().min().expect("something happens next");
        while let Some(entry) = agenda.first_entry().filter(|entry| entry.key().0 <= now) {
            let (place, frame) = entry.remove();
            nodes[place].handle(now, Input::Frame { face: FACE, frame });
        }
    }
}

#[test]
fn a_file_crosses_a_link_in_whole_frames() {
    let content: Bytes = (0..100_000u32).map(|i| (i * 7) as u8).collect();
    let (received, frames) = run(9_000, &content, || false);
    assert_eq!(received, content);
    // 13 segments and one metadata exchange, with an Interest each.
    assert_eq!(frames, 28);
}

#[test]
fn a_file_crosses_a_link_with_small_frames() {
    let content: Bytes = (0..100_000u32).map(|i| (i * 7) as u8).collect();
    let (received, frames) = run(1_400, &content, || false);
    assert_eq!(received, content);
    // Twelve whole segments take six frames each, the last one three.
    assert_eq!(frames, 28 + 12 * 5 + 2);
}

#[test]
fn lost_fragments_are_repaired_end_to_end() {
    let content: Bytes = (0..400_000u32).map(|i| (i * 7) as u8).collect();
    let mut rng = Rng::from_seed(3);
    let (received, _) = run(1_400, &content, move || rng.below(50) == 0);
    assert_eq!(received, content);
}

/// Sends one frame without packet.
struct Lively(bool);

impl Application for Lively {
    fn handle(&mut self, _: Instant, _: AppInput) {}

    fn poll(&mut self, _: Instant) -> Option<AppOutput> {
        std::mem::take(&mut self.0).then_some(AppOutput::KeepAlive)
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

#[test]
fn keep_alive_is_a_frame_without_packet() {
    let (mut node, mut peer) = (Node::deterministic(0), Node::deterministic(0));
    for (node, upstream) in [(&mut node, true), (&mut peer, false)] {
        let attributes = FaceAttributes { upstream, ..FaceAttributes::wire(1_400) };
        node.handle(Instant::ZERO, Input::FaceUp { face: FACE, attributes });
    }
    node.attach(Instant::ZERO, Box::new(Lively(true)), Vec::new());
    let Some(Output::Send { frame, .. }) = node.poll(Instant::ZERO) else {
        panic!("no frame");
    };
    let frame = frame.into_bytes();
    assert_eq!(&frame[..], [100, 0], "an LpPacket without fields");
    assert!(node.poll(Instant::ZERO).is_none());
    peer.handle(Instant::ZERO, Input::Frame { face: FACE, frame });
    assert!(peer.poll(Instant::ZERO).is_none(), "neither a packet nor a drop");
}
