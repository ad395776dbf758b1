//! The forwarder's log: one line for each event, as text or JSON.
use crate::config::{Section, parsed};
use crate::error::{Failure, one_line};
use crate::output;
use crate::terminal;
use clap::ValueEnum;
use recoup_io::clock::unix_time;
use recoup_io::face::{FaceChange, FaceEvent};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// Format of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Sentences.
    #[default]
    Text,
    /// An object on each line, with `time_s`, `level`, `event` and its fields.
    Json,
}

/// Severity of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// An operation failed.
    Error,
    /// A warning: a limit was reached, a neighbour is unreachable, a capture ended.
    Warn,
    /// Commands of operators, and neighbours that are reachable again.
    #[default]
    Info,
    /// Faces and routes that come and go.
    Debug,
}

/// Log keys of `[node]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogKeys {
    form: Option<Form>,
    level: Option<Level>,
}

impl LogKeys {
    /// Takes the keys out of `[node]`.
    pub(crate) fn read(node: &mut Section<'_>) -> Self {
        Self { form: node.value("log", parsed), level: node.value("log-level", parsed) }
    }

    /// The log that is wanted; the command line stands above the file.
    pub(crate) fn log(self, form: Option<Form>, level: Option<Level>) -> Log {
        Log {
            form: form.or(self.form).unwrap_or_default(),
            level: level.or(self.level).unwrap_or_default(),
        }
    }
}

/// Writes lines to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    /// Format.
    pub form: Form,
    /// Nothing that is less grave.
    pub level: Level,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// Others can connect.
    Forwarding {
        /// Addresses.
        places: Vec<String>,
        /// The status page.
        page: Option<String>,
    },
    /// A face came up, went down, or has changed.
    Face {
        /// Its number.
        face: u32,
        /// Remote address.
        uri: String,
        /// `up`, `down`, `closed`, `unreachable` or `mtu`.
        change: &'static str,
        /// All of it as a sentence.
        text: String,
        /// How grave it is.
        #[serde(skip)]
        level: Level,
    },
    /// A route was added or removed.
    Route {
        /// Prefix of the route.
        prefix: String,
        /// Next hop.
        face: u64,
        /// Origin, as numbered by NFD.
        origin: u64,
        /// Cost; `None` if the route was removed.
        cost: Option<u64>,
    },
    /// A limit was reached.
    Limit {
        /// The limit, as a drop reason.
        reason: String,
        /// Drops since the last report.
        dropped: u64,
    },
    /// Idle connections are closed for new ones; the first line of an episode.
    Crowded {
        /// The scarce resource: `faces` or `descriptors`.
        short: &'static str,
        /// Limit of descriptors.
        descriptors: usize,
    },
    /// The configuration was read again.
    Reloaded {
        /// Addresses of listeners.
        places: Vec<String>,
    },
    /// A notice.
    Notice {
        /// Text.
        text: String,
    },
    /// An operation failed.
    Failed {
        /// Error and remedy.
        text: String,
    },
    /// A capture ended with an error.
    CaptureEnded {
        /// File and error.
        text: String,
    },
    /// The trace ended with an error.
    TraceEnded {
        /// File and error.
        text: String,
    },
    /// Standard error was not read.
    LinesLeftOut {
        /// Number of dropped lines.
        lines: u64,
    },
}

/// Name of the resource if the process has no free descriptor.
pub(crate) const SHORT_OF_DESCRIPTORS: &str = "descriptors";

impl Event {
    /// The event of a failure.
    pub(crate) fn failed(failure: &Failure) -> Self {
        Self::Failed { text: failure.to_string() }
    }

    /// The event of a face.
    pub(crate) fn face(event: &FaceEvent, level: Level) -> Self {
        let change = match event.change {
            FaceChange::Up => "up",
            FaceChange::Down { retry: None, .. } => "closed",
            FaceChange::Down { .. } => "down",
            FaceChange::Unreachable(_) => "unreachable",
            FaceChange::MtuLowered(_) => "mtu",
        };
        let (face, uri) = (event.face.0, event.uri.to_string());
        let text = one_line(&event.to_string());
        Self::Face { face, uri, change, text, level }
    }

    /// Severity.
    fn level(&self) -> Level {
        match self {
            Self::Failed { .. } => Level::Error,
            Self::Limit { .. }
            | Self::Crowded { .. }
            | Self::CaptureEnded { .. }
            | Self::TraceEnded { .. }
            | Self::LinesLeftOut { .. }
            | Self::Notice { .. } => Level::Warn,
            Self::Forwarding { .. } | Self::Reloaded { .. } => Level::Info,
            Self::Face { level, .. } => *level,
            Self::Route { .. } => Level::Debug,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forwarding { places, page } => {
                let place = if places.is_empty() { "nowhere".into() } else { places.join(", ") };
                write!(f, "forwarding; listening at {place}")?;
                page.as_ref().map_or(Ok(()), |page| write!(f, "; status at {page}"))
            }
            Self::Face { text, .. } | Self::Notice { text } => f.write_str(text),
            Self::Route { prefix, face, cost: Some(cost), .. } => {
                write!(f, "{prefix} is reached by face {face} at cost {cost}")
            }
            Self::Route { prefix, face, .. } => {
                write!(f, "{prefix} is no longer reached by face {face}")
            }
            Self::Limit { reason, dropped } => {
                write!(f, "recoup: a limit was hit: {dropped} packets or frames dropped ({reason})")
            }
            Self::Crowded { short: SHORT_OF_DESCRIPTORS, descriptors } => write!(
                f,
                "recoup: {descriptors} descriptors may be open, and few are free: idle connections are closed for others; \
                 raise the limit (ulimit -n, LimitNOFILE=)"
            ),
            Self::Crowded { .. } => write!(
                f,
                "recoup: as many faces are open as may be: idle connections are closed for others; see [limits]"
            ),
            Self::Reloaded { places } => {
                write!(f, "configuration read again; listening at {}", places.join(", "))
            }
            Self::Failed { text } | Self::CaptureEnded { text } | Self::TraceEnded { text } => {
                write!(f, "recoup: {text}")
            }
            Self::LinesLeftOut { lines } => write!(f, "recoup: {}", output::left_out(*lines)),
        }
    }
}

impl Log {
    /// Whether events of this level are logged.
    pub(crate) fn is_enabled(&self, level: Level) -> bool {
        level <= self.level
    }

    /// Logs an event if its level is enabled.
    pub(crate) fn write(&self, event: &Event) {
        if self.is_enabled(event.level()) {
            let gap = match self.form {
                Form::Text => |lines| Form::Text.line(&Event::LinesLeftOut { lines }, now()),
                Form::Json => |lines| Form::Json.line(&Event::LinesLeftOut { lines }, now()),
            };
            output::eprint_with(&self.form.line(event, now()), gap);
        }
    }
}

/// The time of day in seconds.
fn now() -> f64 {
    unix_time().as_secs_f64()
}

impl Form {
    fn line(self, event: &Event, time_s: f64) -> String {
        match self {
            // Names from the network must not end a line or reach the terminal unescaped.
            Form::Text => one_line(&event.to_string()),
            Form::Json => {
                let mut line = Map::new();
                // Microseconds are precise enough and exact in this range.
                line.insert("time_s".into(), ((time_s * 1e6).round() / 1e6).into());
                line.insert(
                    "level".into(),
                    serde_json::to_value(event.level()).unwrap_or_default(),
                );
                if let Ok(Value::Object(rest)) = serde_json::to_value(event) {
                    line.extend(rest);
                }
                terminal::escaped_json(&Value::Object(line).to_string())
            }
        }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ValueEnum::from_str(text, false).map_err(|_| format!("`{text}` is neither text nor json"))
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ValueEnum::from_str(text, false)
            .map_err(|_| format!("`{text}` is none of error, warn, info and debug"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn route(prefix: &str) -> Event {
        Event::Route { prefix: prefix.into(), face: 260, origin: 0, cost: Some(10) }
    }

    #[test]
    fn a_line_is_a_sentence_or_an_object() {
        assert_eq!(Form::Text.line(&route("/a"), 1.5), "/a is reached by face 260 at cost 10");
        let line: Value = serde_json::from_str(&Form::Json.line(&route("/a"), 1.25)).unwrap();
        let wanted = json!({"time_s": 1.25, "level": "debug", "event": "route", "prefix": "/a", "face": 260, "origin": 0, "cost": 10});
        assert_eq!(line, wanted);
    }

    #[test]
    fn names_cannot_break_a_log_line() {
        for form in [Form::Text, Form::Json] {
            let line = form.line(&route("/a\n\u{1b}[2J"), 0.0);
            assert!(!line.contains(char::is_control), "{line:?}");
        }
    }

    #[test]
    fn options_override_the_file_and_the_defaults() {
        let keys = LogKeys { form: Some(Form::Json), level: Some(Level::Warn) };
        assert_eq!(
            keys.log(None, Some(Level::Debug)),
            Log { form: Form::Json, level: Level::Debug }
        );
        let usual = LogKeys::default().log(None, None);
        assert_eq!(usual, Log { form: Form::Text, level: Level::Info });
        assert!(usual.is_enabled(Level::Warn) && !usual.is_enabled(Level::Debug));
    }

    #[test]
    fn limits_are_logged_with_their_drops() {
        let line = Form::Text.line(&Event::Limit { reason: "pit-full".into(), dropped: 7 }, 0.0);
        assert!(line.contains("7 packets") && line.contains("(pit-full)"), "{line}");
    }
}
