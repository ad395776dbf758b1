//! Listings of folders that no disk could hold.
use crate::Outcome;
use recoup_forwarder::node::Node;
use recoup_io::driver::Driver;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::DigestSigner;
use recoup_transport::serve::{
    Form, Identified, Library, Opened, Serve, ServeConfig, Source, SourceError, Unknown,
};
use recoup_transport::time::{Duration, Instant};
use std::str::FromStr;

/// Just below the largest listing that a consumer takes.
const BYTES: u64 = (16 << 20) - (1 << 10);
/// Bytes of an entry and the zero behind it.
const ENTRY: u64 = 6;
/// The characters of names, in ascending order.
const DIGITS: &[u8; 63] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// The listing that a server gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A folder and millions of files, in each folder.
    Deep,
    /// One file, millions of times.
    Same,
    /// Files, without end.
    Endless,
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "deep" => Ok(Self::Deep),
            "same" => Ok(Self::Same),
            "endless" => Ok(Self::Endless),
            other => Err(format!("`{other}` is none of deep, same and endless")),
        }
    }
}

impl Source for Shape {
    fn len(&self) -> u64 {
        if *self == Self::Endless { u64::MAX >> 16 } else { BYTES }
    }

    fn read_at(&mut self, _: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        for (byte, at) in into.iter_mut().zip(offset..) {
            *byte = self.byte(at);
        }
        Ok(())
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::No)
    }
}

impl Shape {
    /// The byte at a place of the listing.
    fn byte(self, at: u64) -> u8 {
        let entry = match (self, at.checked_sub(ENTRY)) {
            (Self::Same, _) => 0,
            (Self::Deep, None) => return *b"aaaa/\0".get(at as usize).unwrap_or(&0),
            (Self::Deep, Some(behind)) => behind / ENTRY,
            (Self::Endless, _) => at / ENTRY,
        };
        match at % ENTRY {
            0 => b'b',
            5 => 0,
            place => {
                let digit = entry / 63_u64.pow(4 - place as u32) % 63;
                *DIGITS.get(digit as usize).unwrap_or(&b'0')
            }
        }
    }
}

/// All folders are alike, and files are not there.
#[derive(Debug)]
struct Folders(Shape);

impl Library for Folders {
    fn open(&mut self, path: &Name) -> Option<Opened> {
        let is_folder = path.components().all(|component| component.value() == b"aaaa");
        let suffix = "/32=ls".parse().ok();
        let source = Box::new(self.0);
        is_folder.then_some(Opened { source, version: Some(1), suffix, mtime_ns: None, mode: None })
    }
}

/// Serves until the process is killed.
pub(crate) fn serve(socket: &str, prefix: &str, shape: Shape) -> Outcome {
    let prefix: Name = prefix.parse()?;
    let config = ServeConfig {
        prefix: prefix.clone(),
        convention: Convention::Typed,
        segment_bytes: 8_000,
        freshness: Duration::from_secs(10),
        metadata_freshness: Duration::from_millis(10),
        unknown: Unknown::Nack,
        form: Form::Encoded,
        signer: Box::new(DigestSigner),
        manifest_signer: None,
        encrypter: None,
        epoch_micros: 1_800_000_000_000_000,
    };
    let (mut driver, mut node) = (Driver::new()?, Node::deterministic(0));
    let serve = Serve::new(config, Box::new(Folders(shape)));
    node.attach(driver.now(), Box::new(serve), vec![prefix]);
    driver.listen(&FaceUri::Unix(socket.into()))?;
    println!("ready");
    loop {
        driver.turn(&mut node, &mut |_, _, _| {})?;
    }
}
