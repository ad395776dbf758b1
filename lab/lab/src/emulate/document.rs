//! Tasks of a network's applications, as the JSON documents with which their processes start: `recoup process FILE`.
use super::plan::{ConsumerPart, ProducerPart};
use recoup_packet::name::Name;
use recoup_sim::network::FetchPlan;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::serve::ServeOptions;
use recoup_transport::spec::as_text;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Task of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// A fetch, as by `recoup fetch`.
    Fetch(Box<FetchTask>),
    /// A server, as by `recoup serve`.
    Serve(ServeTask),
}

/// One object is fetched into a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FetchTask {
    /// The object.
    #[serde(with = "as_text")]
    pub name: Name,
    /// The file.
    pub output: PathBuf,
    /// The forwarder's face.
    pub face: String,
    /// First segment.
    pub first: u64,
    /// Last segment; `None` means the object's last.
    pub last: Option<u64>,
    /// How it is fetched.
    pub options: FetchOptions,
}

/// A file is served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServeTask {
    /// Its name, without a version.
    #[serde(with = "as_text")]
    pub name: Name,
    /// The file.
    pub path: PathBuf,
    /// The forwarder's face.
    pub face: String,
    /// How it is served.
    pub options: ServeOptions,
}

impl Task {
    /// The fetch of a network, into the file `output`, through the forwarder at `face`.
    ///
    /// # Errors
    /// A process does not support one of its options.
    pub fn fetch(part: &ConsumerPart, output: PathBuf, face: String) -> Result<Self, String> {
        let FetchPlan { object, first, last, options } = part.plan.clone();
        let unsupported =
            [("leaves-holes", options.leaves_holes), ("follows-faces", !options.follows_faces)];
        match unsupported.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => {
                Err(format!("{}: `recoup fetch` does not support `{key}`", part.name))
            }
            None => Ok(Self::Fetch(Box::new(FetchTask {
                name: object,
                output,
                face,
                first,
                last,
                options,
            }))),
        }
    }

    /// The served object of a network, from the file at `path`, through the forwarder at `face`.
    #[must_use]
    pub fn serve(part: &ProducerPart, path: PathBuf, face: String) -> Self {
        let (name, options) = (part.plan.prefix.clone(), part.plan.options.clone());
        Self::Serve(ServeTask { name, path, face, options })
    }
}
