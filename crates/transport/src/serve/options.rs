//! The options of a producer, each described once: name, default, text and check.
//!
//! The command line (feature `clap`), the library `recoup`, scenario files and emulated networks read and write this
//! struct. Its fields are the keys of scenario files and JSON documents.
use super::{Form, ServeConfig, Unknown};
use crate::spec::as_text;
use crate::time::Duration;
use crate::unit;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::Signer;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How content is served. The defaults are those of `recoup serve` and of the library.
///
/// ```
/// use recoup_transport::serve::{ServeOptions, Version};
/// let options = ServeOptions { version: Version::Fixed(7), ..ServeOptions::default() };
/// assert_eq!((options.segment_bytes, options.version.to_string()), (8_000, "7".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ServeOptions {
    /// Content per segment, in bytes; less where a long name leaves less space in a packet
    #[serde(rename = "segment", with = "unit::as_text::content_bytes")]
    #[cfg_attr(feature = "clap", arg(
        long = "segment-size",
        value_name = "SIZE",
        default_value_t = Self::default().segment_bytes,
        value_parser = unit::content_bytes,
        help_heading = "Content"
    ))]
    pub segment_bytes: u64,

    /// digest, or a key: its name in the key store or its file
    ///
    /// The certificates of a key in the store, and of its issuers, are served beside the content.
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "KEY",
        default_value_t = Self::default().sign,
        help_heading = "Content"
    ))]
    pub sign: String,

    /// Encrypt content for the members of a group: its name in the key store, or the file of its public key
    ///
    /// The keys that members need are served beside the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "GROUP", help_heading = "Content"))]
    pub encrypt: Option<String>,

    /// Encrypt by AES-CBC, for readers with NDNts or ndn-cxx; needs --sign KEY
    ///
    /// AES-CBC does not detect changes: readers must verify the author.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "clap", arg(long, requires = "encrypt", help_heading = "Content"))]
    pub encrypt_cbc: bool,

    /// How long a cache may call the content fresh
    #[serde(with = "unit::as_text::duration")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "TIME",
        default_value = unit::print_compact_duration(Self::default().freshness),
        value_parser = unit::milliseconds,
        help_heading = "Content"
    ))]
    pub freshness: Duration,

    /// Version in the names: mtime (the file's time), now, a number, or none
    ///
    /// One version means one content. With mtime, the number has the time and bits of the identifier of the
    /// content, so that content of equal time has another number. With the others, changed content is served
    /// after a restart only.
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "VERSION",
        default_value_t = Self::default().version,
        help_heading = "Content"
    ))]
    pub version: Version,

    /// Serve each version of a file from a snapshot, which no change of the file reaches
    ///
    /// A snapshot is a clone where the file system has them (Btrfs, XFS), elsewhere a copy in TMPDIR or
    /// /var/tmp. All copies together take at most SIZE (1GiB unless given); a file whose copy does not fit
    /// is not served.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1GiB",
        value_parser = unit::bare_bytes,
        help_heading = "Content"
    ))]
    pub snapshot: Option<u64>,

    /// Answer to an Interest for a name that is not served
    ///
    /// nack: an application Nack, so that the consumer knows soon.
    ///
    /// silent: nothing, so that the consumer times out.
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "HOW",
        default_value_t = Self::default().unknown,
        help_heading = "Content"
    ))]
    pub unknown: Unknown,

    /// How version and segment are written in names
    ///
    /// typed: typed components, /54=1/50=0 (all current software).
    ///
    /// marker: marker bytes in generic components, /%FD%01/%00%00 (older software).
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "WHICH",
        default_value_t = Self::default().convention,
        help_heading = "Content"
    ))]
    pub convention: Convention,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            segment_bytes: 8_000,
            sign: "digest".into(),
            encrypt: None,
            encrypt_cbc: false,
            freshness: Duration::from_secs(10),
            version: Version::Modified,
            snapshot: None,
            unknown: Unknown::Nack,
            convention: Convention::Typed,
        }
    }
}

impl ServeOptions {
    /// How long a cache may call metadata fresh: short, so that a new version is found soon.
    pub const METADATA_FRESHNESS: Duration = Duration::from_millis(10);

    /// The configuration of the producer loop below `prefix`, for segments with bytes. `epoch_micros` is the beginning of the run in
    /// microseconds since 1970.
    #[must_use]
    pub fn config(&self, prefix: Name, signer: Box<dyn Signer>, epoch_micros: u64) -> ServeConfig {
        ServeConfig {
            prefix,
            convention: self.convention,
            segment_bytes: usize::try_from(self.segment_bytes).unwrap_or(usize::MAX),
            freshness: self.freshness,
            metadata_freshness: Self::METADATA_FRESHNESS,
            unknown: self.unknown,
            form: Form::Encoded,
            signer,
            manifest_signer: None,
            encrypter: None,
            epoch_micros,
        }
    }
}

/// Where the version numbers of served content come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// `mtime`: the time of the last change, and bits of the identifier of the content
    /// ([`version_number`](super::version_number)).
    Modified,
    /// `now`: the time at which serving begins, in the units of `mtime`.
    Now,
    /// This number.
    Fixed(u64),
    /// `none`: names have no version.
    None,
}

impl FromStr for Version {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "mtime" => Ok(Self::Modified),
            "now" => Ok(Self::Now),
            "none" => Ok(Self::None),
            _ => match unit::whole(text) {
                Some(number) => Ok(Self::Fixed(number)),
                None => Err("write mtime, now, none or a number"),
            },
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Modified => f.pad("mtime"),
            Self::Now => f.pad("now"),
            Self::Fixed(number) => number.fmt(f),
            Self::None => f.pad("none"),
        }
    }
}

impl FromStr for Unknown {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "nack" => Ok(Self::Nack),
            "silent" => Ok(Self::Silence),
            _ => Err("write nack or silent"),
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nack => "nack",
            Self::Silence => "silent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_print_what_they_parse() {
        for text in ["mtime", "now", "none", "1795181568575000"] {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
        }
        assert!("v7".parse::<Version>().is_err() && "".parse::<Version>().is_err());
    }

    #[cfg(feature = "clap")]
    #[test]
    fn command_line_has_the_same_defaults() {
        use clap::{Args, FromArgMatches};
        let command = ServeOptions::augment_args(clap::Command::new("serve"));
        let read = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            ServeOptions::from_arg_matches(&matches).unwrap()
        };
        assert_eq!(read(&["serve"]), ServeOptions::default());
        let options = read(&["serve", "--snapshot", "--version", "7", "--unknown", "silent"]);
        assert_eq!((options.snapshot, options.version), (Some(1 << 30), Version::Fixed(7)));
        assert_eq!(options.unknown, Unknown::Silence);
    }
}
