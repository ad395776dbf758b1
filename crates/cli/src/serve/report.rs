//! Report of a server, for people and for programs.
use crate::error::Failure;
use crate::format;
use recoup_io::face::FaceUri;
use recoup_packet::name::Name;
use recoup_transport::event::Event;
use serde::Serialize;
use std::fmt;

/// The first line of `recoup serve --json`: from here on consumers can ask.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Listening {
    /// Always `listening`.
    pub event: &'static str,
    /// The first face.
    pub face: String,
    /// All faces.
    pub faces: Vec<String>,
    /// Name of the object, with its version.
    pub name: String,
    /// Commands that fetch the object; first the commands for this machine.
    pub fetch: Vec<String>,
}

impl Listening {
    /// The object can be fetched at these faces, by these commands.
    pub(crate) fn new(object: &Name, faces: &[FaceUri], fetch: Vec<String>) -> Self {
        let faces: Vec<_> = faces.iter().map(ToString::to_string).collect();
        let face = faces.first().cloned().unwrap_or_default();
        Self { event: "listening", face, faces, name: object.to_string(), fetch }
    }
}

/// The last line of `recoup serve --json`.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Served {
    /// Always `stopped`.
    pub event: &'static str,
    /// Name of the object, with its version at the beginning.
    pub name: String,
    /// Where it was reachable.
    pub faces: Vec<String>,
    /// Interests answered, rejected or ignored.
    pub interests: u64,
    /// Segments sent.
    pub segments: u64,
    /// Bytes of content sent.
    pub bytes: u64,
    /// Metadata packets sent.
    pub metadata: u64,
    /// Interests for names that are not served.
    pub unknown: u64,
    /// Signatures that were made for segments.
    pub signatures_made: u64,
    /// Signatures that were there from before.
    pub signatures_reused: u64,
    /// Versions that ended since their content changed.
    pub versions_ended: u64,
    /// Time that it took, in seconds.
    pub elapsed_s: f64,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Served {
    /// Nothing yet.
    pub(crate) fn new(object: &Name, faces: &[FaceUri]) -> Self {
        let faces = faces.iter().map(ToString::to_string).collect();
        Self { event: "stopped", name: object.to_string(), faces, ..Self::default() }
    }

    /// Counts one event.
    pub(crate) fn count(&mut self, event: &Event) {
        match *event {
            Event::Served { content_bytes, signed } => {
                self.interests += 1;
                self.segments += 1;
                self.bytes += u64::from(content_bytes);
                self.signatures_made += u64::from(signed);
                self.signatures_reused += u64::from(!signed);
            }
            Event::ServedMetadata => {
                self.interests += 1;
                self.metadata += 1;
            }
            Event::Unknown => {
                self.interests += 1;
                self.unknown += 1;
            }
            Event::SourceEnded => self.versions_ended += 1,
            _ => {}
        }
    }
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        writeln!(
            f,
            "  Interests     {} ({} for metadata, {} for unknown names)",
            self.interests, self.metadata, self.unknown
        )?;
        writeln!(
            f,
            "  Data          {} segments, {} of content",
            self.segments,
            format::bytes(self.bytes)
        )?;
        write!(
            f,
            "  signatures    {} made, {} reused",
            self.signatures_made, self.signatures_reused
        )?;
        match self.versions_ended {
            0 => Ok(()),
            ended => write!(f, "\n  versions      {ended} ended since their content changed"),
        }
    }
}
