//! Report of a server, for people and for programs.
use crate::error::Failure;
use crate::format;
use recoup::{ServeSummary, Server};
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
    /// The object can be fetched from the server by these commands.
    pub(crate) fn new(server: &Server, fetch: Vec<String>) -> Self {
        let faces = server.faces().to_vec();
        let face = faces.first().cloned().unwrap_or_default();
        Self { event: "listening", face, faces, name: server.name().to_string(), fetch }
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
    /// The counters.
    #[serde(flatten)]
    pub summary: ServeSummary,
    /// Time that it took, in seconds.
    pub elapsed_s: f64,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}

impl Served {
    /// The counters of the server so far.
    pub(crate) fn new(server: &Server) -> Self {
        let (name, faces) = (server.name().to_string(), server.faces().to_vec());
        Self { event: "stopped", name, faces, summary: server.summary(), ..Self::default() }
    }
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let summary = &self.summary;
        writeln!(f, "{}", self.name)?;
        writeln!(
            f,
            "  Interests     {} ({} for metadata, {} for unknown names)",
            summary.interests, summary.metadata, summary.unknown
        )?;
        writeln!(
            f,
            "  Data          {} segments, {} of content",
            summary.segments,
            format::bytes(summary.bytes)
        )?;
        write!(
            f,
            "  signatures    {} made, {} reused",
            summary.signatures_made, summary.signatures_reused
        )?;
        match summary.versions_ended {
            0 => Ok(()),
            ended => write!(f, "\n  versions      {ended} ended since their content changed"),
        }
    }
}
