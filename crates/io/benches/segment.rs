//! Cost of a segment of 1,300 bytes to a consumer and to its producer, from socket to file and from file to socket.
//!
//! `cargo bench -p recoup-io --bench segment -- [SEGMENTS]`
//!
//! Both ends take turns in one thread, connected over UDP, with the default options of a fetch but a window of 128: batches
//! of another window would depend on the clock. The consumer compares no digests, because an emulated processor has no
//! instructions for SHA-256. The first transfer fills the producer's list of signatures and is not counted. `cargo xtask
//! bench instructions` counts the instructions of `measured_fetch` and of `measured_serve`; `units` are segments.
use recoup_forwarder::face::AppId;
use recoup_forwarder::node::Node;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::table::DeadNonceOptions;
use recoup_io::driver::Driver;
use recoup_io::face::FaceUri;
use recoup_io::library::FileLibrary;
use recoup_io::part::{Identity, Options, PartFile};
use recoup_packet::name::Name;
use recoup_packet::signature::{DigestSigner, SignatureInfo, SignatureType, Verdict, Verifier};
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchOptions};
use recoup_transport::random::Rng;
use recoup_transport::serve::{Serve, ServeOptions, Unresolved, Version};
use recoup_transport::time::Duration;
use std::error::Error;
use std::hint::black_box;
use std::path::Path;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SEGMENT_BYTES: u64 = 1_300;

/// Judges as a verifier of digests does, without the digest.
struct NoDigest;

impl Verifier for NoDigest {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        let is_digest = info.typ == SignatureType::DigestSha256 && value.len() == 32;
        match is_digest && !black_box(signed_portion).is_empty() {
            true => Verdict::Verified,
            false => Verdict::Bad("has no digest"),
        }
    }
}

/// A node with one application, on sockets.
struct End {
    driver: Driver,
    node: Node,
}

impl End {
    fn new(seed: u64, dead_nonces: DeadNonceOptions) -> Outcome<Self> {
        let config = NodeConfig { dead_nonces, ..NodeConfig::new(Rng::from_seed(seed)) };
        let mut driver = Driver::new()?;
        // A turn takes what is there.
        driver.set_longest_wait(Some(Duration::ZERO));
        Ok(Self { driver, node: Node::new(config) })
    }

    fn turn(&mut self, on_app: &mut dyn FnMut(AppId, Report)) -> Outcome<usize> {
        let Self { driver, node } = self;
        Ok(driver.turn(node, &mut |_, app, report| on_app(app, report))?.frames)
    }
}

/// A download: its file, and whether it has ended.
struct Download {
    file: PartFile,
    fetched: u64,
    has_ended: bool,
}

impl Download {
    fn take(&mut self, report: Report) -> Outcome {
        match report {
            Report::Content { segment, content } => {
                self.fetched += 1;
                self.file.write(segment, content)?;
            }
            Report::Event(Event::EndKnown { last }) => {
                self.file.set_final(last)?;
            }
            Report::Done(result) => {
                result?;
                self.has_ended = true;
            }
            _ => {}
        }
        Ok(())
    }
}

/// A turn of the consumer that counts.
#[inline(never)]
fn measured_fetch(end: &mut End, download: &mut Download) -> Outcome {
    fetch_turn(end, download)
}

fn fetch_turn(end: &mut End, download: &mut Download) -> Outcome {
    let mut taken = Ok(());
    end.turn(&mut |_, report| {
        if taken.is_ok() {
            taken = download.take(report);
        }
    })?;
    taken?;
    Ok(download.file.flush()?)
}

/// A turn of the producer that counts.
#[inline(never)]
fn measured_serve(end: &mut End) -> Outcome {
    serve_turn(end)
}

fn serve_turn(end: &mut End) -> Outcome {
    end.turn(&mut |_, _| {}).map(drop)
}

/// Fetches the object into a file with these turns; returns its segments.
fn transfer(
    producer: &mut End,
    (object, uri): (&Name, &FaceUri),
    target: &Path,
    fetch: fn(&mut End, &mut Download) -> Outcome,
    serve: fn(&mut End) -> Outcome,
) -> Outcome<u64> {
    let none = DeadNonceOptions { limit: 0, ..DeadNonceOptions::default() };
    let mut consumer = End::new(2, none)?;
    consumer.driver.connect(uri)?;
    let congestion = "fixed(window=128)".parse()?;
    let options = FetchOptions { discover: false, congestion, ..FetchOptions::default() };
    let config = FetchConfig::new(object.clone(), options, Rng::from_seed(3));
    let config = FetchConfig { verifier: Box::new(NoDigest), ..config };
    consumer.node.attach(consumer.driver.now(), Box::new(Fetch::new(config)), Vec::new());
    let identity = Identity::new(object.to_string(), "digest");
    let options = Options { overwrite: true, ..Options::default() };
    let file = PartFile::open(target, identity, options)?;
    let mut download = Download { file, fetched: 0, has_ended: false };
    while !download.has_ended {
        fetch(&mut consumer, &mut download)?;
        serve(producer)?;
    }
    download.file.finish()?;
    Ok(download.fetched)
}

fn main() -> Outcome {
    let given = std::env::args().skip(1).find_map(|text| text.parse().ok());
    let segments: u64 = given.unwrap_or(2_000);
    let folder = tempfile::tempdir()?;
    let [original, copy] = ["original", "copy"].map(|name| folder.path().join(name));
    let content: Vec<u8> =
        (0..segments * SEGMENT_BYTES).map(|byte| ((byte * 7) >> 3) as u8).collect();
    std::fs::write(&original, &content)?;

    let mut producer = End::new(1, DeadNonceOptions::default())?;
    let listener = producer.driver.listen(&"udp4://127.0.0.1:0".parse()?)?;
    let options = ServeOptions { segment_bytes: SEGMENT_BYTES, ..ServeOptions::default() };
    let prefix: Name = "/bench/some/file".parse()?;
    let library = FileLibrary::new(&original, Version::Fixed(1_700_000_000), None)?;
    let config = options.config(prefix.clone(), Box::new(DigestSigner), 0);
    let mut serve = Serve::new(config, Box::new(library));
    let object = loop {
        match serve.resolve(&Name::root()) {
            Ok(object) => break object,
            Err(Unresolved::Later(wait)) => std::thread::sleep(wait),
            Err(Unresolved::Unknown) => return Err("there is nothing to serve".into()),
        }
    };
    producer.node.attach(producer.driver.now(), Box::new(serve), vec![prefix]);

    let place = (&object, &listener.uri);
    transfer(&mut producer, place, &copy, fetch_turn, serve_turn)?;
    let fetched = transfer(&mut producer, place, &copy, measured_fetch, measured_serve)?;
    assert_eq!((fetched, std::fs::read(&copy)?), (segments, content), "what was served arrives");
    println!("units {fetched}");
    Ok(())
}
