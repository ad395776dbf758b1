//! Where a scenario comes from: a file with files beside it, or a text that is built in.
use crate::Error;
use crate::digest;
use crate::scenario::{Point, Scenario, ScenarioFile};
use recoup_config::problem::Problems;
use recoup_sim::topology::read::{Format, MAX_TEXT_BYTES};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts that a scenario names, by their names.
type Texts = &'static [(&'static str, &'static str)];

/// Name of a topology in the scenario that is made around it.
const TOPOLOGY: &str = "the topology";

/// Where the files are that a scenario names.
#[derive(Clone, Debug)]
enum Files {
    /// In a folder.
    Folder(PathBuf),
    /// Built in, too.
    Texts(Texts),
    /// In a folder, or else built in; results do not record which.
    Either(PathBuf, Vec<(&'static str, &'static str)>),
    /// A single text under any name.
    One(Arc<str>),
}

impl Files {
    /// Content of the file of that name, or the reason why it is unknown.
    fn read(&self, name: &str) -> Result<String, String> {
        let built_in = |texts: &[(&str, &str)]| {
            let found = texts.iter().find(|(own, _)| *own == name);
            found.map(|(_, text)| (*text).to_owned())
        };
        let in_folder = |folder: &Path| {
            let file = File::open(folder.join(name)).and_then(|it| limited(it, MOST_BYTES));
            file.map_err(|error| recoup::reason(&error))
        };
        match self {
            Self::Texts(texts) => built_in(texts).ok_or_else(|| "it is not built in".into()),
            Self::One(text) => Ok(text.to_string()),
            Self::Folder(folder) => in_folder(folder),
            Self::Either(folder, texts) => {
                in_folder(folder).or_else(|why| built_in(texts).ok_or(why))
            }
        }
    }
}

/// Content of a file of unknown type.
#[derive(Debug)]
pub struct Given {
    name: String,
    folder: PathBuf,
    text: String,
}

impl Given {
    /// Reads a file, or standard input if it is called `-`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (name, folder) = match path.to_str() {
            Some("-") => ("standard input".to_owned(), PathBuf::from(".")),
            _ => {
                let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
                (path.display().to_string(), folder)
            }
        };
        let text = if path.as_os_str() == "-" {
            limited(std::io::stdin().lock(), MAX_TEXT_BYTES)
        } else {
            File::open(path).and_then(|it| limited(it, MAX_TEXT_BYTES))
        };
        let text = text.map_err(|error| Error::file("read", &name, &error))?;
        Ok(Self { name, folder, text })
    }

    /// A text that names files beside it, in `folder`.
    pub fn beside(name: &str, folder: &Path, text: String) -> Self {
        Self { name: name.to_owned(), folder: folder.to_owned(), text }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The folder in which it stands.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The content of a file that it names, or the reason why it cannot be read.
    pub fn file(&self, name: &str) -> Result<String, String> {
        Files::Folder(self.folder.clone()).read(name)
    }

    /// Whether it is a topology, in a format that shows, and no scenario.
    pub fn is_topology(&self) -> bool {
        !self.name.ends_with(".toml") && Format::guess(&self.text).is_some()
    }
}

/// A scenario file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name in messages.
    pub name: String,
    files: Files,
    settings: Vec<String>,
    digest: String,
    /// Its content.
    pub file: Arc<ScenarioFile>,
}

impl Source {
    /// Reads a file, or standard input if it is called `-`.
    pub fn open(path: &Path, settings: &[String]) -> Result<Self, Error> {
        Self::scenario_in(Given::read(path)?, settings)
    }

    /// The scenario that this is.
    pub fn scenario_in(given: Given, settings: &[String]) -> Result<Self, Error> {
        let Given { name, folder, text } = given;
        Self::new(&name, Files::Folder(folder), &text, settings)
    }

    /// A scenario of this topology, in which nothing runs. Properties that the topology leaves open come from
    /// `defaults`, in scenario syntax.
    pub fn of_topology(given: Given, defaults: &str, settings: &[String]) -> Result<Self, Error> {
        let Given { name, text, .. } = given;
        let scenario = format!("[topology]\nfile = \"{TOPOLOGY}\"\n{defaults}");
        Self::new(&name, Files::One(text.into()), &scenario, settings)
    }

    /// A scenario that is built in, with the files that it names.
    pub fn built_in(
        name: &str,
        text: &str,
        files: Texts,
        settings: &[String],
    ) -> Result<Self, Error> {
        Self::new(name, Files::Texts(files), text, settings)
    }

    /// A scenario that was kept with its results. The files that it names are in a folder, or among `texts`.
    pub fn kept(
        name: &str,
        folder: PathBuf,
        texts: Vec<(&'static str, &'static str)>,
        text: &str,
    ) -> Result<Self, Error> {
        Self::new(name, Files::Either(folder, texts), text, &[])
    }

    fn new(name: &str, files: Files, text: &str, settings: &[String]) -> Result<Self, Error> {
        let file = ScenarioFile::parse(text, settings)
            .map_err(|problems| failure(name, settings, &problems))?;
        let (name, settings) = (name.to_owned(), settings.to_vec());
        let digest = digest::of_text(&format!("{settings:?}\n{text}"));
        Ok(Self { name, files, settings, digest, file: Arc::new(file) })
    }

    /// The scenario of a point of the sweep, with the files that it names.
    pub fn scenario(&self, point: &Point) -> Result<Scenario, Error> {
        self.scenario_noting(point, &|_, _| ())
    }

    /// As [`scenario`](Self::scenario); `note` receives name and content of each file.
    pub(crate) fn scenario_noting(
        &self,
        point: &Point,
        note: &dyn Fn(&str, &str),
    ) -> Result<Scenario, Error> {
        let read = |name: &str| self.read(name).inspect(|content| note(name, content));
        self.file.scenario(point, &read).map_err(|problems| self.failure(&problems))
    }

    /// The content of a file that the scenario names, or the reason why it cannot be read.
    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        self.files.read(name)
    }

    /// Digest of the file's text and the settings beside it.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }

    /// The failure that problems make.
    pub fn failure(&self, problems: &Problems) -> Error {
        if let (Files::One(_), [problem]) = (&self.files, problems.list())
            && let Some(what) = problem.what.strip_prefix(&format!("{TOPOLOGY}: "))
        {
            return Error::usage(format!("{}: {what}", self.name));
        }
        failure(&self.name, &self.settings, problems)
    }
}

/// A single problem is the failure; of several, each has its line and the failure counts them.
fn failure(name: &str, settings: &[String], problems: &Problems) -> Error {
    let lines: Vec<_> =
        problems.list().iter().map(|problem| problem.line(name, settings)).collect();
    match lines.as_slice() {
        [one] => Error::usage(one),
        several => Error::usage(format!("{name} has {} mistakes", several.len()))
            .with_remedy("the lines above give the places and the remedies")
            .with_details(lines),
    }
}

/// Most bytes of a file that a scenario names, once it is decompressed.
const MOST_BYTES: usize = 256 << 20;

/// First bytes of a file that is compressed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The whole text, decompressed, unless it is longer than `most` bytes.
fn limited(reader: impl Read, most: usize) -> std::io::Result<String> {
    let bytes = plain(whole(reader, most)?, most)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is no UTF-8 text"))
}

/// The bytes, decompressed if they are compressed by gzip.
///
/// # Errors
/// If the compressed bytes are damaged, or stand for more than `most`.
pub fn plain(bytes: Vec<u8>, most: usize) -> std::io::Result<Vec<u8>> {
    if bytes.starts_with(&GZIP) {
        return whole(flate2::read::MultiGzDecoder::new(bytes.as_slice()), most);
    }
    Ok(bytes)
}

fn whole(reader: impl Read, most: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(most as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > most {
        true => Err(std::io::Error::other("it is longer than any text of that kind")),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn compressed_files_are_read_like_others() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"0 1 2\n").unwrap();
        let bytes = gzip.finish().unwrap();
        assert_eq!(limited(bytes.as_slice(), 100).unwrap(), "0 1 2\n");
        assert_eq!(limited(&b"0 1 2\n"[..], 100).unwrap(), "0 1 2\n");
        assert!(limited(bytes.as_slice(), 5).unwrap_err().to_string().contains("longer"));
        assert!(limited(&bytes[..bytes.len() - 9], 100).is_err(), "it is cut off");
    }
}
