//! Capture keys of a forwarder's configuration.
use super::config::{FaceConfig, ForwardConfig};
use crate::config::{Section, text};
use crate::error::{Exit, Failure, reason};
use recoup_config::form;
use recoup_config::tree::Tree;
use recoup_io::capture::{CaptureFailure, CaptureWish};
use recoup_io::face::FaceId;
use std::path::PathBuf;

/// Default limit of a capture file; a longer one is rotated.
const FILE_BYTES: u32 = 64 << 20;
/// One that is shorter would be full at once.
const LEAST_FILE_BYTES: u32 = 64 << 10;

/// Frames to capture, and options of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CaptureKeys {
    /// The file for frames of all faces.
    all: Option<PathBuf>,
    file_bytes: Option<u32>,
    frame_bytes: Option<u32>,
}

impl CaptureKeys {
    /// Takes the keys out of `[node]`.
    pub(crate) fn read_node(&mut self, node: &mut Section<'_>) {
        self.all = node.value("capture", path);
        self.frame_bytes = node.value("capture-frame", form::few_bytes);
        self.file_bytes = node.value("capture-limit", |tree| match form::few_bytes(tree)? {
            bytes if bytes < LEAST_FILE_BYTES => Err("is less than 64 KiB".into()),
            bytes => Ok(bytes),
        });
    }
}

/// A file.
pub(super) fn path(tree: &Tree) -> Result<PathBuf, String> {
    text(tree).map(PathBuf::from)
}

/// The configured captures, once faces have numbers.
pub(super) fn wish(config: &ForwardConfig, number: impl Fn(&str) -> Option<FaceId>) -> CaptureWish {
    let CaptureKeys { all, file_bytes, frame_bytes } = config.captures.clone();
    let file = |face: &FaceConfig| Some((number(&face.name)?, face.capture.clone()?));
    CaptureWish {
        all,
        faces: config.faces.iter().filter_map(file).collect(),
        file_bytes: file_bytes.unwrap_or(FILE_BYTES).into(),
        frame_bytes,
    }
}

/// A failed capture, as an error of the command.
pub(super) fn failure(failure: &CaptureFailure) -> Failure {
    let CaptureFailure { path, error } = failure;
    let message = format!("the capture {} is given up: {}", path.display(), reason(error));
    Failure::new(Exit::Local, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ForwardConfig, Failure> {
        ForwardConfig::parse("n.toml", text)
    }

    #[test]
    fn faces_have_files_and_the_node_one() {
        let text = "[node]\ncapture = \"all.pcapng\"\ncapture-frame = \"128 B\"\n\
            [[face]]\nname = \"a\"\nuri = \"udp://192.0.2.7\"\n\
            [[face]]\nname = \"b\"\nuri = \"udp://192.0.2.8\"\ncapture = \"b.pcapng\"\n";
        let config = read(text).unwrap();
        let wish = wish(&config, |name| (name == "b").then_some(FaceId(7)));
        assert_eq!(wish.all, Some("all.pcapng".into()));
        assert_eq!(wish.faces, [(FaceId(7), "b.pcapng".into())].into());
        assert_eq!((wish.file_bytes, wish.frame_bytes), (64 << 20, Some(128)));
        // Faces and nodes do not begin anew because of it.
        let without = read(&text.replace("capture = \"b.pcapng\"\n", "")).unwrap();
        assert_eq!(config.faces[1].text(), without.faces[1].text());
        assert_eq!(config.fixed_text(), without.fixed_text());
    }

    #[test]
    fn too_small_limit_is_rejected() {
        let text = "[node]\ncapture-limit = \"1 KiB\"\n[[listen]]\nuri = \"udp://0.0.0.0\"\n";
        let wrong = read(text).unwrap_err().to_string();
        assert!(wrong.contains("node.capture-limit") && wrong.contains("64 KiB"), "{wrong}");
    }
}
