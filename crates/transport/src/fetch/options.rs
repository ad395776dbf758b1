//! The options of a fetch, each described once: name, default, text and check.
//!
//! The command line (feature `clap`), the library `recoup`, scenario files and emulated networks read and write this
//! struct. Its fields are the keys of scenario files and JSON documents, in kebab case.
use super::verify::Verify;
use crate::congestion::{Congestion, Recoup, RecoupSettings};
use crate::loss::{Loss, Rack};
use crate::rto::{BackoffUntil, Jacobson, JacobsonSettings, Rto, Sampling};
use crate::spec::{Spelled, Value, as_text};
use crate::unit;
use recoup_packet::name::convention::Convention;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;
use std::time::Duration;

/// Longest retransmission timeout of a fetch that waits for its producer: one that is back receives an Interest so soon.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(4);

/// How an object is fetched. The defaults are those of `recoup fetch`, of the library and of scenarios.
///
/// ```
/// use recoup_transport::fetch::FetchOptions;
/// let options = FetchOptions { congestion: "cubic".parse()?, ..FetchOptions::default() };
/// assert_eq!(options.congestion.to_string(), "cubic");
/// # Ok::<(), recoup_transport::spec::SpecError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct FetchOptions {
    /// The newest version is discovered, unless the name ends in a version.
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long = "no-discovery",
        action = clap::ArgAction::SetFalse,
        help = "NAME is complete: append segment numbers and discover no version",
        help_heading = "Naming"
    ))]
    pub discover: bool,

    /// Retransmission timer: jacobson, reconsidered, experts, constant, …, with parameters, such as constant(rto=4s)
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "SPEC",
        default_value_t = Self::default().rto,
        help_heading = "Algorithms"
    ))]
    pub rto: Spelled<Rto>,

    /// Segments that give round-trip time samples: per-rtt, every or rfc7323
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "WHICH",
        default_value_t = Self::default().sampling,
        help_heading = "Algorithms"
    ))]
    pub sampling: Sampling,

    /// Congestion control: recoup, cubic, newreno, compound, aimd, bbr, vegas, westwood, pcon, raaqm, fixed, or a study's
    /// (yang2016, udugama2013, nikzad2022), with parameters, such as fixed(window=16)
    ///
    /// With recoup, a standing queue, a congestion mark or a loss beside a queue reduces the window, and a random loss
    /// does not: it fills lossy and long paths and keeps queues short. It paces Interests.
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "SPEC",
        default_value_t = Self::default().congestion,
        help_heading = "Algorithms"
    ))]
    pub congestion: Spelled<Congestion>,

    /// Rule that declares a segment lost before its timer expires: rack, time-threshold, out-of-order, pre-recovery, timeout
    /// (none), or simple1, simple2, simple3, smart, with parameters, such as out-of-order(frt=3)
    ///
    /// rack declares a segment lost once later ones have arrived and 9/8 of the longest recent round trip is over.
    /// Caches and several producers change the order of answers. A tail-loss probe ends a silence before the timer
    /// does.
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "SPEC",
        default_value_t = Self::default().loss,
        help_heading = "Algorithms"
    ))]
    pub loss: Spelled<Loss>,

    /// InterestLifetime; raised to the retransmission timeout if that is longer
    #[serde(with = "unit::as_text::milliseconds")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "TIME",
        default_value = unit::print_compact_duration(Self::default().lifetime),
        value_parser = unit::milliseconds,
        help_heading = "Limits"
    ))]
    pub lifetime: Duration,

    /// Most retransmissions of a segment: a number, or unlimited
    ///
    /// With 0, a loss that the network reports is repaired all the same, at most 15 times.
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "N",
        default_value_t = Self::default().retries,
        allow_negative_numbers = true,
        help_heading = "Limits"
    ))]
    pub retries: Retries,

    /// Give up if no Data arrives for this time; an idle reader of a pipe stops the clock
    #[serde(with = "unit::as_text::interval")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long = "no-progress-timeout",
        value_name = "TIME",
        default_value = unit::print_compact_duration(Self::default().no_progress),
        value_parser = unit::interval,
        help_heading = "Limits"
    ))]
    pub no_progress: Duration,

    /// Give up if the whole does not arrive within this time of its first Interest; of a folder, the first such file ends it
    #[serde(with = "unit::as_text::interval_if_any", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "TIME",
        value_parser = unit::interval,
        help_heading = "Limits"
    ))]
    pub max_time: Option<Duration>,

    /// Granularity of retransmission timers; 0 means exact
    #[serde(with = "unit::as_text::duration")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "TIME",
        default_value = unit::print_compact_duration(Self::default().rto_check),
        value_parser = unit::duration,
        help_heading = "Algorithms"
    ))]
    pub rto_check: Duration,

    /// A congestion mark reduces the window.
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long = "ignore-marks",
        action = clap::ArgAction::SetFalse,
        help = "Do not reduce the window for congestion marks",
        help_heading = "Algorithms"
    ))]
    pub react_to_marks: bool,

    /// A segment that was retransmitted as often as `retries` allows is left out; without it, the fetch ends. Not for content
    /// in order, which would wait for the segment.
    #[cfg_attr(feature = "clap", arg(skip = Self::default().leaves_holes))]
    pub leaves_holes: bool,

    /// Interests of a lost face are retransmitted when another face comes up; without this option, when their timers
    /// expire.
    #[cfg_attr(feature = "clap", arg(skip = Self::default().follows_faces))]
    pub follows_faces: bool,

    /// Ignore Data that arrives between its timeout and the retransmission
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true, help_heading = "Algorithms"))]
    pub cancel_on_timeout: bool,

    /// Require fresh Data (MustBeFresh on every Interest)
    #[cfg_attr(
        feature = "clap",
        arg(short = 'f', long = "fresh", hide_short_help = true, help_heading = "Naming")
    )]
    pub must_be_fresh: bool,

    /// Send a number with each Interest by which routers with fair link sharing distinguish this fetch from others
    #[cfg_attr(feature = "clap", arg(long, hide_short_help = true, help_heading = "Algorithms"))]
    pub flow_nonce: bool,

    /// How to verify content
    ///
    /// auto: check digests; report signatures by unknown keys as not verified.
    ///
    /// digest: accept only content with a correct digest.
    ///
    /// key=FILE: accept only content signed by this key (PEM, certificate, SafeBag, or the name of a
    /// key in the key store).
    ///
    /// trust=FILE, or trust=FILE,schema=FILE: as --trust FILE --schema FILE.
    ///
    /// none: accept everything.
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "HOW",
        default_value_t = Self::default().verify,
        help_heading = "Verification"
    ))]
    pub verify: Verify,

    /// Decrypt a group's content with this member's key
    ///
    /// An RSA key: its name in the key store, or its file. Keys of the content and of the group are fetched and verified as certificates are. Content that cannot be decrypted
    /// ends the fetch. With --verify key=FILE or --trust, content without encryption stays as it is, and AES-CBC is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "KEY", help_heading = "Verification"))]
    pub decrypt: Option<String>,

    /// Naming convention of version and segment, if neither NAME nor discovery shows it
    ///
    /// typed: typed components, /54=1/50=0 (all current software).
    ///
    /// marker: marker bytes in generic components, /%FD%01/%00%00 (older software).
    #[serde(with = "as_text")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "WHICH",
        default_value_t = Self::default().convention,
        help_heading = "Naming"
    ))]
    pub convention: Convention,

    /// Fetch only a version newer than VERSION, such as 1795181568575000 or v=7; exit code 8 if there is none
    ///
    /// An old version, however well signed, can be replayed by any cache. An answer with a version that is not newer causes
    /// a retransmission, within --retries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "clap", arg(
        hide_short_help = true,
        long,
        value_name = "VERSION",
        conflicts_with = "discover",
        value_parser = version,
        help_heading = "Naming"
    ))]
    pub newer_than: Option<u64>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        /// Printing the specs takes a quarter of a millisecond, and a command line reads each default by itself.
        static DEFAULT: LazyLock<FetchOptions> = LazyLock::new(FetchOptions::initial);
        DEFAULT.clone()
    }
}

impl FetchOptions {
    fn initial() -> Self {
        // The estimators of studies end their back-off as their sources have it.
        let backoff_until = BackoffUntil::Progress;
        let rto = Jacobson::new(JacobsonSettings { backoff_until, ..JacobsonSettings::default() });
        Self {
            discover: true,
            rto: Rto::from(rto).into(),
            sampling: Sampling::Rfc7323,
            congestion: Congestion::from(Recoup::new(RecoupSettings::default())).into(),
            loss: Loss::from(Rack::default()).into(),
            lifetime: Duration::from_secs(4),
            retries: Retries(Some(15)),
            no_progress: Duration::from_secs(60),
            max_time: None,
            rto_check: Duration::from_millis(10),
            react_to_marks: true,
            leaves_holes: false,
            follows_faces: true,
            cancel_on_timeout: false,
            must_be_fresh: false,
            flow_nonce: false,
            verify: Verify::Auto,
            decrypt: None,
            convention: Convention::Typed,
            newer_than: None,
        }
    }

    /// Waits for an absent producer for at most `within`, and for one that restarts: no number of retransmissions ends the
    /// fetch. A timer retransmits every 4 s at least, unless its text gives its longest timeout.
    ///
    /// ```
    /// use recoup_transport::fetch::FetchOptions;
    /// use std::time::Duration;
    /// let options = FetchOptions::default().waiting(Duration::from_secs(600));
    /// assert_eq!(options.no_progress, Duration::from_secs(600));
    /// assert_eq!(options.rto.to_string(), "jacobson(max=4s,backoff-until=progress)");
    /// ```
    #[must_use]
    pub fn waiting(mut self, within: Duration) -> Self {
        (self.retries, self.no_progress) = (Retries(None), within);
        if let Ok(rto) = self.rto.with(&[("max", Value::Duration(LONGEST_TIMEOUT))]) {
            self.rto = rto;
        }
        self
    }

    /// Whether Data answers a segment whose timer has expired and whose retransmission has not been sent.
    #[must_use]
    pub fn accepts_late_data(&self) -> bool {
        !self.cancel_on_timeout
    }

    /// How content is verified and decrypted: what another run must have in common to continue an unfinished download.
    #[must_use]
    pub fn policy(&self) -> String {
        let decrypt = self.decrypt.iter().map(|key| format!(", decrypted with {key}"));
        decrypt.fold(self.verify.to_string(), |policy, decrypt| policy + &decrypt)
    }
}

/// How often one segment is retransmitted at most; `None` means without limit. In documents a number, or `unlimited`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries(pub Option<u32>);

impl FromStr for Retries {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "unlimited" => Ok(Self(None)),
            _ => match unit::whole(text) {
                Some(times) => Ok(Self(Some(times))),
                None => Err("write a number such as 15, or unlimited".into()),
            },
        }
    }
}

impl fmt::Display for Retries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(times) => times.fmt(f),
            None => f.pad("unlimited"),
        }
    }
}

impl Serialize for Retries {
    fn serialize<S: Serializer>(&self, format: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(times) => format.serialize_u32(times),
            None => format.serialize_str("unlimited"),
        }
    }
}

impl<'de> Deserialize<'de> for Retries {
    fn deserialize<D: Deserializer<'de>>(format: D) -> Result<Self, D::Error> {
        struct Read;

        impl Visitor<'_> for Read {
            type Value = Retries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number such as 15, or unlimited")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Retries, E> {
                text.parse().map_err(|error| E::custom(format_args!("`{text}`: {error}")))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Retries, E> {
                self.visit_str(&number.to_string())
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Retries, E> {
                self.visit_str(&number.to_string())
            }
        }
        format.deserialize_any(Read)
    }
}

/// Parses the number of a version, as it stands behind `v=` in a name or alone.
#[cfg(feature = "clap")]
fn version(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let number = text.strip_prefix("v=").unwrap_or(text);
    let wrong = || "write the number of a version such as 1795181568575000 or v=7".into();
    unit::whole(number).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_print_as_short_specs() {
        let options = FetchOptions::default();
        let printed = [options.congestion.text(), options.loss.text(), options.rto.text()];
        assert_eq!(printed, ["recoup", "rack", "jacobson(backoff-until=progress)"]);
    }

    #[test]
    fn waiting_caps_timers_without_a_limit() {
        let max = |spec: &str| {
            let options = FetchOptions { rto: spec.parse().unwrap(), ..FetchOptions::default() };
            options.waiting(Duration::from_secs(60)).rto.full().contains("max=4s")
        };
        for spec in ["rfc6298", "jacobson(k=8)", "reconsidered(min=adaptive)"] {
            assert!(max(spec), "{spec}");
        }
        for spec in ["jacobson(max=30s)", "rfc6298(min=5s)", "constant(rto=9s)"] {
            assert!(!max(spec), "{spec}");
        }
    }

    #[test]
    fn parameters_of_a_program_join_the_text() {
        let given = |spec: &str, parameters: &[(&'static str, Value<'_>)]| {
            spec.parse::<Spelled<Rto>>().unwrap().with(parameters)
        };
        let (min, max) = (Duration::from_millis(50), Duration::from_secs(90));
        let both = [("min", Value::Duration(max)), ("max", Value::Duration(max))];
        assert_eq!(given("jacobson(k=8)", &both).unwrap().text(), "jacobson(k=8,min=90s,max=90s)");
        let min = [("min", Value::Duration(min))];
        assert_eq!(given("reconsidered", &min), "reconsidered(min=50ms)".parse());
        for (spec, error) in [
            ("jacobson(min=1s)", "`min` is given twice to `jacobson`"),
            ("constant", "`constant` has no parameter `min`"),
        ] {
            assert!(given(spec, &min).unwrap_err().to_string().starts_with(error), "{spec}");
        }
        assert!(given("jacobson", &[("min", Value::Boolean(true))]).is_err());
    }

    #[test]
    fn retries_are_a_number_or_unlimited() {
        assert_eq!("3".parse(), Ok(Retries(Some(3))));
        assert_eq!("unlimited".parse(), Ok(Retries(None)));
        assert!("-1".parse::<Retries>().is_err() && "".parse::<Retries>().is_err());
        assert_eq!(Retries(None).to_string(), "unlimited");
    }

    #[cfg(feature = "clap")]
    #[test]
    fn command_line_has_the_same_defaults() {
        use clap::{Args, FromArgMatches};
        let command = FetchOptions::augment_args(clap::Command::new("fetch"));
        let read = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            FetchOptions::from_arg_matches(&matches).unwrap()
        };
        assert_eq!(read(&["fetch"]), FetchOptions::default());
        let options = read(&["fetch", "--ignore-marks", "--no-discovery"]);
        assert!(!options.react_to_marks && !options.discover);
    }
}
