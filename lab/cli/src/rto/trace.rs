//! Recorded round trips: tables of `recoup fetch -s` and of ndnget's `--log-rtt`, and logs of other programs
//! ([`log`]).
use super::log;
use crate::error::{Exit, Failure};
use recoup_lab::source;
use recoup_transport::time::{Duration, Instant};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Largest table, in bytes.
const MOST_BYTES: u64 = 1 << 28;
/// Most rows.
pub(super) const MOST_ROWS: usize = 4_000_000;
/// Longest time in a trace: a year, in seconds.
pub(super) const LONGEST_S: f64 = 31_557_600.0;

/// One segment, or one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    /// Number of the segment.
    pub segment: u64,
    /// From its last transmission to its arrival.
    pub rtt: Duration,
    /// From its first transmission to its arrival.
    pub delay: Duration,
    /// Time of the first transmission, if the trace has it.
    pub sent: Option<Instant>,
    /// Number of transmissions.
    pub transmissions: u32,
}

impl Row {
    /// Karn's rule: a retransmitted segment is no sample.
    pub(crate) fn is_sample(&self) -> bool {
        self.transmissions == 1
    }
}

/// A trace, in the order of arrivals.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    rows: Vec<Row>,
    /// Rows are segments, not samples.
    has_transmissions: bool,
}

impl Trace {
    /// Reads a trace from a file, or from standard input.
    ///
    /// # Errors
    /// If it cannot be read or parsed.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: &io::Error| Failure::file("read", path.display(), error);
        let mut bytes = Vec::new();
        let source: Box<dyn Read> = match path.as_os_str().to_str() {
            Some("-") => Box::new(io::stdin()),
            _ => Box::new(File::open(path).map_err(|error| failed(&error))?),
        };
        source.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
        if bytes.len() as u64 > MOST_BYTES {
            let what = format!("{} is longer than 256 MiB; give a part of it", path.display());
            return Err(Failure::new(Exit::Local, what));
        }
        let bytes = source::plain(bytes, MOST_BYTES as usize).map_err(|error| failed(&error))?;
        Self::parse(&bytes).map_err(|what| {
            Failure::new(Exit::Local, format!("{} is no trace: {what}", path.display()))
                .advise("give segments.tsv or rtt.tsv of `recoup fetch -s`, ndnget's --log-rtt, or a log of ping")
        })
    }

    /// Parses a log, or a table: columns separated by tabs or commas, with a line of their names.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if let Some(rows) = std::str::from_utf8(bytes).ok().and_then(log::parse) {
            return Ok(Self { rows: rows?, has_transmissions: false });
        }
        let heading = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let delimiter = if heading.contains(&b'\t') { b'\t' } else { b',' };
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes);
        let heads = reader.headers().map_err(|error| message(&error))?.clone();
        let columns = Columns::find(&heads)?;
        let mut rows = Vec::new();
        for (number, record) in (2..).zip(reader.records()) {
            let record = record.map_err(|error| message(&error))?;
            if rows.len() == MOST_ROWS {
                return Err(format!("it has more than {MOST_ROWS} rows"));
            }
            rows.push(columns.row(&record).map_err(|what| format!("line {number}: {what}"))?);
        }
        Ok(Self { rows, has_transmissions: columns.transmissions.is_some() })
    }

    /// All rows.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// How many rows are samples.
    pub(crate) fn samples(&self) -> usize {
        self.rows.iter().filter(|row| row.is_sample()).count()
    }

    /// Number of retransmitted segments, if the trace has them.
    pub(crate) fn retransmitted(&self) -> Option<usize> {
        self.has_transmissions.then(|| self.rows.len() - self.samples())
    }

    /// Whether the trace has send times.
    pub(crate) fn is_timed(&self) -> bool {
        self.rows.iter().all(|row| row.sent.is_some())
    }

    /// Least, mean and greatest sample, in milliseconds.
    pub(crate) fn spread(&self) -> Option<(f64, f64, f64)> {
        let samples = self.rows.iter().filter(|row| row.is_sample());
        let samples = || samples.clone().map(|row| row.rtt.as_secs_f64() * 1e3);
        let count = samples().count();
        let (least, most) = (samples().fold(f64::MAX, f64::min), samples().fold(0.0, f64::max));
        (count > 0).then(|| (least, samples().sum::<f64>() / count as f64, most))
    }
}

/// The library's error message, on one line.
fn message(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "it is no text in UTF-8".to_owned(),
        _ => error.to_string().trim_start_matches("CSV error: ").to_owned(),
    }
}

/// Positions of the columns.
struct Columns {
    segment: usize,
    rtt: usize,
    transmissions: Option<usize>,
    first_sent: Option<usize>,
    /// Time of the sample or of the segment's arrival.
    arrived: Option<usize>,
}

impl Columns {
    fn find(heads: &csv::StringRecord) -> Result<Self, String> {
        let place = |name: &str| heads.iter().position(|head| head.trim() == name);
        let needed = |name| place(name).ok_or_else(|| format!("it has no column `{name}`"));
        Ok(Self {
            segment: needed("segment")?,
            rtt: needed("rtt")?,
            transmissions: place("transmissions"),
            first_sent: place("first_sent"),
            arrived: place("arrived").or_else(|| place("time")),
        })
    }

    fn row(&self, record: &csv::StringRecord) -> Result<Row, String> {
        let text = |place: usize| record.get(place).unwrap_or_default().trim();
        let number = |place: usize, factor: f64| duration(text(place), factor);
        let whole = |place| text(place).parse::<u64>().map_err(|_| no_number(text(place)));
        let segment = whole(self.segment)?;
        let rtt = number(self.rtt, 1e-3)?;
        let transmissions = self.transmissions.map_or(Ok(1), whole)?;
        let arrived = self.arrived.map(|place| number(place, 1.0)).transpose()?;
        let first = self.first_sent.map(|place| number(place, 1.0)).transpose()?;
        let sent = first.or_else(|| Some(arrived?.saturating_sub(rtt)));
        let delay = match (arrived, first) {
            (Some(arrived), Some(first)) => arrived.saturating_sub(first).max(rtt),
            _ => rtt,
        };
        Ok(Row {
            segment,
            rtt,
            delay,
            sent: sent.map(|at| Instant::ZERO + at),
            transmissions: u32::try_from(transmissions).unwrap_or(u32::MAX).max(1),
        })
    }
}

fn duration(text: &str, factor: f64) -> Result<Duration, String> {
    let value = text.parse::<f64>().ok().map(|value| value * factor);
    let value = value.filter(|value| (0.0..=LONGEST_S).contains(value));
    value.map(Duration::from_secs_f64).ok_or_else(|| no_number(text))
}

fn no_number(text: &str) -> String {
    let text: String = text.chars().take(40).collect();
    format!("`{text}` is no number that a trace can have there")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(segment: u64, rtt: u64, delay: u64, sent: Option<u64>, transmissions: u32) -> Row {
        let sent = sent.map(Instant::from_millis);
        let [rtt, delay] = [rtt, delay].map(Duration::from_millis);
        Row { segment, rtt, delay, sent, transmissions }
    }

    #[test]
    fn segments_with_their_times_are_read() {
        let text = "segment\tfirst_sent\tarrived\trtt\trto\ttransmissions\n\
                    3\t0.010\t0.060\t50.0\t200.0\t1\n4\t0.5\t1\t100\t200\t2\n";
        let trace = Trace::parse(text.as_bytes()).unwrap();
        assert_eq!(trace.rows, [row(3, 50, 50, Some(10), 1), row(4, 100, 500, Some(500), 2)]);
        assert_eq!((trace.samples(), trace.retransmitted(), trace.is_timed()), (1, Some(1), true));
        assert_eq!(trace.spread(), Some((50.0, 50.0, 50.0)));
    }

    #[test]
    fn samples_are_read_with_times_and_without() {
        let ours = "segment\trtt\trttvar\tsrtt\trto\ttime\n3\t50\t25\t50\t200\t0.06\n";
        let trace = Trace::parse(ours.as_bytes()).unwrap();
        assert_eq!(trace.rows, [row(3, 50, 50, Some(10), 1)]);
        assert_eq!((trace.retransmitted(), trace.is_timed()), (None, true));
        let ndnget = "segment\trtt\trttvar\tsrtt\trto\n3\t50\t25\t50\t200\n";
        let trace = Trace::parse(ndnget.as_bytes()).unwrap();
        assert_eq!((trace.rows[0], trace.is_timed()), (row(3, 50, 50, None, 1), false));
    }

    #[test]
    fn malformed_trace_is_an_error_of_one_line() {
        for (text, piece) in [
            ("", "no column `segment`"),
            ("time\tcwndsize\n0\t1\n", "no column `segment`"),
            ("segment,delay\n1,2\n", "no column `rtt`"),
            ("segment\trtt\n1\tfast\n", "line 2: `fast`"),
            ("segment\trtt\n1\t5\n1\tnan\n", "line 3: `nan`"),
            ("segment\trtt\n1\t-5\n", "`-5`"),
            ("segment\trtt\n1\t1e300\n", "`1e300`"),
            ("segment\trtt\n-1\t5\n", "`-1`"),
            ("segment\trtt\n1\n", "2 fields"),
        ] {
            let error = Trace::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(piece) && !error.contains('\n'), "{error}");
        }
        let bytes = b"segment\trtt\n1\t\xff\xfe\n";
        assert!(Trace::parse(bytes).unwrap_err().contains("UTF-8"));
    }

    #[test]
    fn trace_without_rows_has_no_spread() {
        let trace = Trace::parse(b"segment\trtt\n").unwrap();
        assert_eq!((trace.samples(), trace.spread()), (0, None));
    }
}
