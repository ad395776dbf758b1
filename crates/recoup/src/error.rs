//! Why an operation failed: a kind, one line, and a remedy.
use recoup_io::config::ConfigError;
use recoup_io::driver::DriverError;
use recoup_io::entropy::EntropyError;
use recoup_io::face::FaceError;
use recoup_io::key::KeyStoreError;
use recoup_io::part::PartError;
use recoup_io::source::SourceError;
use recoup_packet::nack::NackReason;
use recoup_transport::fetch::FetchError;
use recoup_transport::spec::SpecError;
use recoup_trust::access::{NO_AUTHOR, UNREADABLE};
use serde::Serialize;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{ExitCode, Termination};

/// The kind of an error. Its number is the exit code of the command `recoup`, and never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[repr(u8)]
pub enum ErrorKind {
    /// A failure without a kind of its own.
    Other = 1,
    /// An argument is wrong.
    Usage = 2,
    /// The name does not exist: an application Nack, or a network Nack without a route.
    NotFound = 3,
    /// A local file, folder, address or key: missing, forbidden, full, in use.
    Local = 4,
    /// Content or a signature is wrong, or a producer contradicts itself.
    Verification = 5,
    /// No forwarder or peer can be reached.
    Unreachable = 6,
    /// Nothing arrived for too long, or a segment used up its retries.
    TimedOut = 7,
    /// The content does not meet a condition of the caller: it is too large, or not new enough.
    Condition = 8,
    /// The operation was cancelled.
    Cancelled = 130,
}

/// Why an operation failed.
///
/// An error prints as one line, what is wrong and what to do, also as `{:?}`: so a `main` that returns [`Result`] prints a
/// sentence. Each such program ends with exit code 1; [`conclude`] gives the code of the kind, as the command does.
///
/// ```
/// # fn show(error: recoup::Error) {
/// if error.is_timeout() {
///     eprintln!("{error}");
/// }
/// # }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    remedy: Option<String>,
    details: Vec<String>,
    is_permanent: bool,
    is_of_entry: bool,
    partial: Option<Box<Kept>>,
}

/// Unfinished downloads that are kept, and the remedy besides.
#[derive(Clone, PartialEq, Eq)]
struct Kept {
    downloads: Vec<Partial>,
    remedy: Option<String>,
}

/// An unfinished download on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    /// The file with its content, in the folder `.recoup-UID` beside the target.
    pub path: PathBuf,
    /// Bytes of content that are there.
    pub bytes: u64,
}

/// The result of an operation of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Ends a program: prints the error, if there is one, and returns the exit code of its [kind](ErrorKind), or 0.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     recoup::conclude(fetch())
/// }
///
/// fn fetch() -> recoup::Result<()> {
///     let content = recoup::Client::connect()?.get("/site/greeting")?;
///     println!("{}", String::from_utf8_lossy(&content));
///     Ok(())
/// }
/// ```
pub fn conclude(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

impl Termination for Error {
    /// Prints the error.
    fn report(self) -> ExitCode {
        self.details.iter().for_each(|line| eprintln!("{line}"));
        eprintln!("{self}");
        ExitCode::from(self.kind as u8)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// An error without a remedy.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            remedy: None,
            details: Vec::new(),
            is_permanent: false,
            is_of_entry: false,
            partial: None,
        }
    }

    /// Restricts the error to one entry of a folder.
    #[must_use]
    pub fn of_entry(self) -> Self {
        Self { is_of_entry: true, ..self }
    }

    /// Adds a remedy, a phrase such as "check the name".
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds an unfinished download that is kept. Unless the error is permanent, the remedy is to go on with it.
    #[must_use]
    pub(crate) fn with_partial(mut self, partial: Partial) -> Self {
        let kept = self.partial.take().unwrap_or_else(|| {
            Box::new(Kept { downloads: Vec::new(), remedy: self.remedy.clone() })
        });
        let Kept { mut downloads, remedy } = *kept;
        downloads.push(partial);
        if !self.is_permanent {
            let text = match &downloads[..] {
                [Partial { path, bytes }] => {
                    format!("{bytes} bytes are kept in {}: resume goes on", path.display())
                }
                many => format!("what arrived of {} files is kept: resume goes on", many.len()),
            };
            let remedy = remedy.as_ref();
            self.remedy = Some(remedy.map_or(text.clone(), |remedy| format!("{remedy}; {text}")));
        }
        self.partial = Some(Box::new(Kept { downloads, remedy }));
        self
    }

    /// Adds a line for each cause, such as each mistake in a file.
    #[must_use]
    pub fn with_details(self, details: Vec<String>) -> Self {
        Self { details, ..self }
    }

    /// Marks the error as permanent: a repeated operation fails with it again.
    #[must_use]
    pub fn permanent(self) -> Self {
        Self { is_permanent: true, ..self }
    }

    /// A wrong argument.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// A failed operation on a local file: "cannot `verb` `path`: …".
    pub fn file(verb: &str, path: impl fmt::Display, error: &io::Error) -> Self {
        let this = Self::new(ErrorKind::Local, format!("cannot {verb} {path}: {}", reason(error)));
        match file_remedy(error) {
            Some(remedy) => this.with_remedy(remedy),
            None => this,
        }
    }

    /// The error of silence at a face.
    pub(crate) fn at(self, face: &str) -> Self {
        Self { message: format!("{} at {face}", self.message), ..self }
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the operation was cancelled")
    }

    pub(crate) fn stopped() -> Self {
        Self::new(ErrorKind::Other, "the client has stopped").with_remedy("make a new client")
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The problem, without the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The remedy, if there is one.
    pub fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// The remedy without that of [`partials`](Self::partials).
    pub fn own_remedy(&self) -> Option<&str> {
        match &self.partial {
            Some(kept) => kept.remedy.as_deref(),
            None => self.remedy(),
        }
    }

    /// The unfinished downloads that the operation has left on the disk. A permanent error ends a continued one again.
    pub fn partials(&self) -> &[Partial] {
        self.partial.as_ref().map_or(&[], |kept| &kept.downloads)
    }

    /// A line for each of its causes, if there are several.
    pub fn details(&self) -> &[String] {
        &self.details
    }

    /// Whether a repeated operation fails in the same way, also with content received before.
    pub fn is_permanent(&self) -> bool {
        self.is_permanent
    }

    /// The error concerns one entry of a folder: the rest of the folder can be fetched. The producer chose the entry.
    pub fn concerns_entry(&self) -> bool {
        self.is_of_entry || self.is_permanent && (self.is_not_found() || self.is_unverified())
    }

    /// The name does not exist ([`ErrorKind::NotFound`]).
    pub fn is_not_found(&self) -> bool {
        self.kind == ErrorKind::NotFound
    }

    /// Nothing arrived for too long ([`ErrorKind::TimedOut`]).
    pub fn is_timeout(&self) -> bool {
        self.kind == ErrorKind::TimedOut
    }

    /// Content or its signature is wrong ([`ErrorKind::Verification`]).
    pub fn is_unverified(&self) -> bool {
        self.kind == ErrorKind::Verification
    }

    /// No forwarder or peer can be reached ([`ErrorKind::Unreachable`]).
    pub fn is_unreachable(&self) -> bool {
        self.kind == ErrorKind::Unreachable
    }

    /// A local file, folder, address or key is the cause ([`ErrorKind::Local`]).
    pub fn is_local(&self) -> bool {
        self.kind == ErrorKind::Local
    }

    /// An argument is wrong ([`ErrorKind::Usage`]).
    pub fn is_usage(&self) -> bool {
        self.kind == ErrorKind::Usage
    }

    /// The content is too large or not new enough ([`ErrorKind::Condition`]).
    pub fn is_condition(&self) -> bool {
        self.kind == ErrorKind::Condition
    }

    /// The operation was cancelled ([`ErrorKind::Cancelled`]).
    pub fn is_cancelled(&self) -> bool {
        self.kind == ErrorKind::Cancelled
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message.replace('\n', " "))?;
        match &self.remedy {
            Some(remedy) => write!(f, "; {}", remedy.replace('\n', " ")),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind {
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Usage => io::ErrorKind::InvalidInput,
            ErrorKind::Verification => io::ErrorKind::InvalidData,
            ErrorKind::Unreachable => io::ErrorKind::NotConnected,
            ErrorKind::TimedOut => io::ErrorKind::TimedOut,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

/// The system's message, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => text.to_owned(),
    }
}

fn file_remedy(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "choose a place that you may use, or change its mode",
        io::ErrorKind::StorageFull => "free some space, and try again",
        io::ErrorKind::QuotaExceeded => "free some of your quota, and try again",
        io::ErrorKind::ReadOnlyFilesystem => "choose a place that can be written",
        io::ErrorKind::IsADirectory => "name a file",
        io::ErrorKind::NotADirectory => "name a folder",
        io::ErrorKind::FileTooLarge => "choose a file system or a limit that allows a larger file",
        _ => return None,
    })
}

impl From<&FaceError> for Error {
    fn from(error: &FaceError) -> Self {
        let kind = match error {
            FaceError::Uri(_) => ErrorKind::Usage,
            FaceError::Listen { .. } => ErrorKind::Local,
            FaceError::TooMany { .. } => ErrorKind::Other,
            _ => ErrorKind::Unreachable,
        };
        let text = error.to_string();
        match text.split_once('\n') {
            Some((message, remedy)) => Self::new(kind, message.trim()).with_remedy(remedy.trim()),
            None => Self::new(kind, text.trim()),
        }
    }
}

impl From<&DriverError> for Error {
    fn from(error: &DriverError) -> Self {
        Self::new(ErrorKind::Other, error.to_string())
    }
}

impl From<SpecError> for Error {
    fn from(error: SpecError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<EntropyError> for Error {
    fn from(error: EntropyError) -> Self {
        Self::new(ErrorKind::Other, error.to_string())
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::new(ErrorKind::Local, error.to_string())
    }
}

impl From<SourceError> for Error {
    fn from(error: SourceError) -> Self {
        Self::from(&error)
    }
}

impl From<&SourceError> for Error {
    fn from(error: &SourceError) -> Self {
        match error {
            SourceError::Io { action, path, source } => Self::file(action, path.display(), source),
            other => Self::new(ErrorKind::Local, other.to_string()),
        }
    }
}

impl From<&KeyStoreError> for Error {
    fn from(error: &KeyStoreError) -> Self {
        let this = Self::new(ErrorKind::Local, error.to_string());
        match error {
            KeyStoreError::PasswordNeeded => {
                let variable = crate::trust::PASSPHRASE;
                this.with_remedy(format!(
                    "put its passphrase into the environment variable {variable}"
                ))
            }
            _ => this,
        }
    }
}

impl From<&PartError> for Error {
    fn from(error: &PartError) -> Self {
        let text = error.to_string();
        match error {
            PartError::Reserved { .. } => Self::usage(text).permanent(),
            PartError::SegmentSize { .. }
            | PartError::EmptySegment { .. }
            | PartError::OutOfRange { .. } => Self::new(ErrorKind::Verification, text)
                .with_remedy(
                    "such content can be fetched into a pipe or memory, but not into a file",
                )
                .permanent(),
            PartError::EndMoved { .. } => contradiction(text),
            PartError::Io { source, .. } if source.kind() == io::ErrorKind::FileTooLarge => {
                Self::new(ErrorKind::Local, text).permanent()
            }
            PartError::TooFar { .. } => Self::new(ErrorKind::Local, text).permanent(),
            _ => Self::new(ErrorKind::Local, text),
        }
    }
}

impl From<&FetchError> for Error {
    fn from(error: &FetchError) -> Self {
        let text = error.to_string();
        match error {
            FetchError::Unreadable { .. } => Self::new(ErrorKind::Other, text)
                .with_remedy("ask its operator; `recoup serve` prints the reason")
                .of_entry(),
            FetchError::NotFound(_) => Self::new(ErrorKind::NotFound, text)
                .with_remedy("check the name and its version with its producer")
                .permanent(),
            FetchError::Ended(_) => Self::new(ErrorKind::NotFound, text)
                .with_remedy("fetch the name anew: its producer may have a newer version")
                .permanent(),
            FetchError::Stale { .. } => Self::new(ErrorKind::Condition, text)
                .with_remedy("try again later; a cache or an attacker may replay old versions"),
            FetchError::Nacked { reason: NackReason::NoRoute, .. } => {
                Self::new(ErrorKind::NotFound, text).with_remedy(
                    "no producer of that name is registered: start it, or check the name",
                )
            }
            FetchError::Nacked { .. } => Self::new(ErrorKind::TimedOut, text).with_remedy(
                "the network is congested or loops: try again later, or allow more retries",
            ),
            FetchError::NoAnswer { .. } | FetchError::NoProgress(_) => {
                Self::new(ErrorKind::TimedOut, text)
                    .with_remedy("check the name, and that its producer runs and can be reached")
            }
            FetchError::TooSlow(_) => Self::new(ErrorKind::TimedOut, text)
                .with_remedy("permit more time (--max-time)"),
            FetchError::NoFirstAnswer { .. } => Self::new(ErrorKind::TimedOut, text).with_remedy(
                "check the address and the name, and that the producer runs; to wait longer for it: --wait=TIME, \
                 in a program connect_timeout and no_progress",
            ),
            FetchError::Untrusted { why: UNREADABLE, .. } => {
                Self::new(ErrorKind::Verification, text)
                    .with_remedy("name a key of a member, or have the group's owner add this one: recoup group add")
            }
            FetchError::Untrusted { why: NO_AUTHOR, .. } => {
                Self::new(ErrorKind::Verification, text)
                    .with_remedy("verify with the author's key or its trust anchor: --verify key=FILE or --trust FILE")
            }
            FetchError::Untrusted { why, signers, .. } => Self::new(ErrorKind::Verification, text)
                .with_remedy(remedy_of_rejection(why, signers.found.is_some())),
            FetchError::OtherContent(_) => Self::new(ErrorKind::Verification, text).with_remedy(
                "try again when caches have forgotten it; give each content a version of its own (serve --version mtime)",
            ),
            FetchError::RangeBeyondEnd { .. } => {
                Self::usage(text).with_remedy("choose another range").permanent()
            }
            FetchError::EndMovedBack { .. } | FetchError::OtherObject { .. } => contradiction(text),
        }
    }
}

/// The remedy if all packets were rejected for this reason; the last one names its signer, or none.
fn remedy_of_rejection(why: &str, names_signer: bool) -> &'static str {
    if names_signer {
        "if you trust that signer, verify with its key or trust anchor; if not, packets are forged: try again"
    } else if why.contains("digest") {
        "verify an unsigned object with digest (--verify digest); if it is signed, packets are forged: try again"
    } else {
        "check the certificates of its signer with its producer"
    }
}

fn contradiction(text: String) -> Error {
    Error::new(ErrorKind::Verification, text)
        .with_remedy("the producer contradicts itself: report it to its operator")
        .permanent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_is_one_line_with_its_remedy() {
        let error = Error::new(ErrorKind::Local, "no\nspace").with_remedy("free some");
        assert_eq!(error.to_string(), "no space; free some");
        assert_eq!((error.message(), error.remedy()), ("no\nspace", Some("free some")));
        assert_eq!(format!("{error:?}"), "no space; free some", "what main prints");
    }

    #[test]
    fn program_ends_with_the_code_of_the_kind() {
        let code = |result| format!("{:?}", conclude(result));
        let expected = |code: u8| format!("{:?}", ExitCode::from(code));
        assert_eq!(code(Ok(())), expected(0));
        assert_eq!(code(Err(Error::new(ErrorKind::NotFound, "no such name"))), expected(3));
        assert_eq!(code(Err(Error::cancelled())), expected(130));
    }

    #[test]
    fn system_is_quoted_without_its_number() {
        let error = Error::file("write", "x", &io::Error::from_raw_os_error(28));
        assert!(error.to_string().starts_with("cannot write x: no space left on device; free"));
    }
}
