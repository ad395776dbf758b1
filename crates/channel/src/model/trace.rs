//! Rates and delays over time, from the files of other tools.
//!
//! | file | lines | after the last line |
//! |---|---|---|
//! | packet-delivery opportunities of mahimahi (`.up`, `.down`, `.pps`) | a time in whole milliseconds; at each, 1504 bytes may leave the link | begins again |
//! | rates | seconds and Mbit/s | the last value holds |
//! | delays | seconds and milliseconds | the last value holds |
//!
//! Columns are separated by spaces and tabs, or else by commas or semicolons, between which no cell is empty. `#` begins a
//! comment at the beginning of a line or after a space. A file has at most 10 million lines with values. The value of the
//! first line holds before its time.
//!
//! Source of the opportunities: Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, and
//! the manual page of `mm-link`. A packet that ends within an opportunity leaves the rest to the next packet, if that
//! one is queued; otherwise the rest is lost. A long packet takes several opportunities.
use recoup_transport::time::{Duration, Instant};
use std::fmt;
use std::iter::Peekable;
use std::ops::RangeInclusive;

/// A line that is not understood. Prints as `LINE: problem`, to be put behind the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}: {what}")]
pub struct TraceError {
    /// The line, from 1.
    pub line: usize,
    /// The problem, and what is expected.
    pub what: String,
}

/// A quantity over time.
pub trait Trace: Clone + fmt::Debug + Eq {
    /// The quantity.
    type Value: Copy + fmt::Debug + Default + PartialEq;

    /// Reads a file.
    ///
    /// # Errors
    /// The first line that is not understood.
    fn parse(text: &str) -> Result<Self, TraceError>;

    /// The value that stands for the whole trace where only a constant can be used.
    fn nominal(&self) -> Self::Value;
}

/// Values, each from a time on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Steps {
    /// Nanoseconds from the beginning; strictly ascending.
    times: Vec<u64>,
    values: Vec<u64>,
}

impl Steps {
    /// The number of the value at a time.
    fn place(&self, nanos: u64) -> usize {
        self.times.partition_point(|time| *time <= nanos).saturating_sub(1)
    }

    fn value(&self, nanos: u64) -> u64 {
        self.values.get(self.place(nanos)).copied().unwrap_or(0)
    }
}

/// A rate over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateTrace(Rates);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rates {
    /// Times within one period in milliseconds, ascending; the last is the length of the period.
    Opportunities(Vec<u64>),
    /// Bits per second.
    Steps(Steps),
}

/// Bytes of an opportunity.
const OPPORTUNITY_BYTES: u64 = 1504;

/// Nanoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000;

/// Bytes that the last transmission left over for the next one, if that follows without a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// The number of the last opportunity that was used, and its bytes that were not.
    opportunity: Option<(u64, u64)>,
    /// Work that a fraction of a nanosecond was not enough for, in bits times nanoseconds per second.
    work: u64,
}

impl RateTrace {
    /// When a transmission of `bytes` ends that begins at `begun`; nanoseconds that no clock reaches if it never does.
    #[must_use]
    pub fn end(&self, begun: Instant, bytes: u32, rest: &mut Rest) -> u64 {
        match &self.0 {
            Rates::Opportunities(times) => {
                end_of_bytes(times, begun.as_nanos(), bytes.into(), rest)
            }
            Rates::Steps(steps) => end_of_work(steps, begun.as_nanos(), bytes.into(), rest),
        }
    }
}

fn end_of_bytes(times: &[u64], begun: u64, bytes: u64, rest: &mut Rest) -> u64 {
    let (used, left) = rest.opportunity.unwrap_or_else(|| (before(times, begun), 0));
    let more = bytes.saturating_sub(left).div_ceil(OPPORTUNITY_BYTES);
    let last = used.saturating_add(more);
    rest.opportunity = Some((last, left + more * OPPORTUNITY_BYTES - bytes));
    if more == 0 { begun } else { time_of(times, last).max(begun) }
}

/// The number of opportunities until a time, the time included.
fn before(times: &[u64], nanos: u64) -> u64 {
    let (count, period) = (times.len() as u64, times.last().copied().unwrap_or(1));
    let millis = nanos / MILLISECOND;
    let within = times.partition_point(|time| *time <= millis % period) as u64;
    (millis / period).saturating_mul(count).saturating_add(within)
}

/// Time of an opportunity, counted from 1, in nanoseconds.
fn time_of(times: &[u64], number: u64) -> u64 {
    let (count, period) = (times.len() as u64, times.last().copied().unwrap_or(1));
    let place = number.saturating_sub(1);
    let within = times.get((place % count.max(1)) as usize).copied().unwrap_or(0);
    (place / count.max(1)).saturating_mul(period).saturating_add(within).saturating_mul(MILLISECOND)
}

fn end_of_work(steps: &Steps, begun: u64, bytes: u64, rest: &mut Rest) -> u64 {
    const SECOND: u128 = 1_000_000_000;
    let mut work = u128::from(bytes) * 8 * SECOND + u128::from(rest.work);
    rest.work = 0;
    let (mut now, mut place) = (begun, steps.place(begun));
    loop {
        let rate = u128::from(steps.values.get(place).copied().unwrap_or(0));
        let next = steps.times.get(place + 1).copied();
        let possible = next.map_or(u128::MAX, |next| u128::from(next - now.min(next)) * rate);
        if rate > 0 && work <= possible {
            rest.work = (work % rate) as u64;
            return now.saturating_add(u64::try_from(work / rate).unwrap_or(u64::MAX));
        }
        let Some(next) = next else { return u64::MAX };
        work -= possible;
        (now, place) = (next, place + 1);
    }
}

impl Trace for RateTrace {
    type Value = u64;

    fn parse(text: &str) -> Result<Self, TraceError> {
        let mut rows = rows(text, 2, "milliseconds, or seconds and Mbit/s")?;
        let is_single = matches!(rows.peek(), Some(Ok(row)) if row.cells.len() == 1);
        match is_single {
            true => opportunities(rows).map(Rates::Opportunities).map(Self),
            false => {
                let heads = ["mbit/s", "mbps", "mbit_s", "rate_mbps", "rate"];
                let steps = steps(rows, &heads, 1e6, "Mbit/s", 0.0..=1e9)?;
                Ok(Self(Rates::Steps(steps)))
            }
        }
    }

    /// The mean over the period, or over the time between the first and the last line.
    fn nominal(&self) -> u64 {
        match &self.0 {
            Rates::Opportunities(times) => {
                let bits = times.len() as u128 * u128::from(OPPORTUNITY_BYTES) * 8 * 1000;
                (bits / u128::from(times.last().copied().unwrap_or(1))).max(1) as u64
            }
            Rates::Steps(Steps { times, values }) => {
                let spans = times.windows(2).map(|pair| u128::from(pair[1] - pair[0]));
                let total: u128 = spans.clone().sum();
                let work: u128 =
                    spans.zip(values).map(|(span, rate)| span * u128::from(*rate)).sum();
                let first = values.first().copied().unwrap_or(0);
                // A rate of 0 would mean that there is no limit.
                work.checked_div(total).map_or(first, |mean| mean as u64).max(1)
            }
        }
    }
}

/// A delay over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace(Steps);

impl DelayTrace {
    /// The delay of what begins at a time, in nanoseconds.
    #[must_use]
    pub fn nanos_at(&self, begun: Instant) -> u64 {
        self.0.value(begun.as_nanos())
    }
}

impl Trace for DelayTrace {
    type Value = Duration;

    fn parse(text: &str) -> Result<Self, TraceError> {
        let heads = ["ms", "delay_ms", "delay", "rtt_ms", "milliseconds"];
        let rows = rows(text, 2, "seconds and milliseconds")?;
        steps(rows, &heads, 1e6, "milliseconds", 0.0..=1e7).map(Self)
    }

    /// The delay at the beginning.
    fn nominal(&self) -> Duration {
        Duration::from_nanos(self.0.value(0))
    }
}

// --- reading ------------------------------------------------------------------------------------

/// A line of a trace.
#[derive(Debug)]
pub struct Row<'a> {
    /// Its number, the first is 1.
    pub line: usize,
    /// Its cells, without comments.
    pub cells: Vec<&'a str>,
}

impl Row<'_> {
    /// Whether no cell is empty or has a space in it.
    fn is_whole(&self) -> bool {
        !self.cells.iter().any(|cell| cell.is_empty() || cell.contains(char::is_whitespace))
    }

    /// The error that the line is wrong, for that reason.
    pub fn wrong(&self, what: impl Into<String>) -> TraceError {
        TraceError { line: self.line, what: what.into() }
    }
}

/// Most lines with values.
const MOST_ROWS: usize = 10_000_000;

/// Rows, or the first line that is none.
pub type Rows<'a> = Peekable<Box<dyn Iterator<Item = Result<Row<'a>, TraceError>> + 'a>>;

/// Lines with their cells, without comments; the first decides how many cells there are. At least one.
///
/// # Errors
/// If there is none, or the first has more than `most` cells; `expected` describes these.
pub fn rows<'a>(text: &'a str, most: usize, expected: &'a str) -> Result<Rows<'a>, TraceError> {
    rows_up_to(MOST_ROWS, text, most, expected)
}

fn rows_up_to<'a>(
    limit: usize,
    text: &'a str,
    most: usize,
    expected: &'a str,
) -> Result<Rows<'a>, TraceError> {
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let lines = lines.map(|(line, text)| (line, without_comment(text).trim()));
    let mut columns = None;
    let rows = lines.filter(|(_, text)| !text.is_empty()).zip(1..).map(move |(it, number)| {
        let (line, text) = it;
        let row = Row { line, cells: cells(text) };
        let count = row.cells.len();
        if count != *columns.get_or_insert(count) || count > most || !row.is_whole() {
            return Err(row.wrong(format!("`{text}` is not {expected}")));
        }
        match number > limit {
            true => Err(row.wrong(format!("there are more than {limit} lines: divide the file"))),
            false => Ok(row),
        }
    });
    let rows: Box<dyn Iterator<Item = _>> = Box::new(rows);
    let mut rows = rows.peekable();
    match rows.peek().is_none() {
        true => Err(TraceError { line: 1, what: format!("there are no lines with {expected}") }),
        false => Ok(rows),
    }
}

/// A line up to a `#` that begins it or follows a space.
fn without_comment(text: &str) -> &str {
    let is_comment = |(place, _): &(usize, &str)| {
        text[..*place].chars().next_back().is_none_or(char::is_whitespace)
    };
    text.match_indices('#').find(is_comment).map_or(text, |(place, _)| &text[..place])
}

/// Cells between commas or semicolons, or else between spaces.
fn cells(text: &str) -> Vec<&str> {
    match text.contains([',', ';']) {
        true => text.split([',', ';']).map(str::trim).collect(),
        false => text.split_whitespace().collect(),
    }
}

fn opportunities(rows: Rows<'_>) -> Result<Vec<u64>, TraceError> {
    let mut times: Vec<u64> = Vec::new();
    let mut last_row = None;
    for row in rows {
        let row = row?;
        let text = row.cells.first().copied().unwrap_or_default();
        let time = text.parse::<u64>().ok().filter(|time| *time <= u64::from(u32::MAX));
        let time = time.ok_or_else(|| {
            row.wrong(format!("`{text}` is no time in whole milliseconds since the beginning"))
        })?;
        if times.last().is_some_and(|last| *last > time) {
            return Err(row.wrong(format!("{time} ms comes before the line above")));
        }
        times.push(time);
        last_row = Some(row);
    }
    match (times.last(), last_row) {
        (Some(0), Some(row)) => Err(row.wrong("the last time is 0: the trace has no length")),
        _ => Ok(times),
    }
}

/// Longest time from the beginning, in seconds: a greater one is the time of a clock.
const LONGEST: f64 = 1e8;

fn steps(
    mut rows: Rows<'_>,
    heads: &[&str],
    factor: f64,
    unit: &str,
    range: RangeInclusive<f64>,
) -> Result<Steps, TraceError> {
    let head = |row: &Row<'_>| {
        let is_any = |cell: &str, known: &[&str]| known.contains(&cell.to_lowercase().as_str());
        let [time, value] = row.cells.as_slice() else { return false };
        is_any(time, &["s", "seconds", "time", "time_s", "t"]) && is_any(value, heads)
    };
    rows.next_if(|row| row.as_ref().is_ok_and(head));
    let mut steps = Steps { times: Vec::new(), values: Vec::new() };
    for row in rows {
        let row = row?;
        let [time, value] = row.cells.as_slice() else {
            return Err(row.wrong(format!("has one column; write seconds and {unit}")));
        };
        let number = |text: &str| text.parse::<f64>().ok();
        let seconds = number(time).filter(|it| (0.0..=LONGEST).contains(it)).ok_or_else(|| {
            row.wrong(format!("`{time}` is no time in seconds since the beginning"))
        })?;
        let read = number(value).filter(|it| range.contains(it));
        let read = read.ok_or_else(|| row.wrong(format!("`{value}` is no number of {unit}")))?;
        let nanos = (seconds * 1e9).round() as u64;
        if steps.times.last().is_some_and(|last| *last >= nanos) {
            return Err(row.wrong(format!("{time} s is not after the line above")));
        }
        steps.times.push(nanos);
        steps.values.push((read * factor).round() as u64);
    }
    match steps.times.is_empty() {
        true => {
            Err(TraceError { line: 1, what: format!("there is no line with seconds and {unit}") })
        }
        false => Ok(steps),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn ends(text: &str, frames: &[(u64, u32)]) -> Vec<u64> {
        let (trace, mut rest) = (RateTrace::parse(text).unwrap(), Rest::default());
        let mut free = 0;
        let each = |(at, bytes): &(u64, u32)| {
            let begun = free.max(at * MS);
            if begun > free {
                rest = Rest::default();
            }
            free = trace.end(Instant::from_nanos(begun), *bytes, &mut rest);
            free / MS
        };
        frames.iter().map(each).collect()
    }

    #[test]
    fn an_opportunity_carries_1504_bytes() {
        let text = "2\n5\n5\n9\n";
        // Two short packets share one; a long one takes two; then the trace begins again.
        assert_eq!(ends(text, &[(0, 752), (0, 752), (0, 1505), (0, 1503)]), [2, 2, 5, 5]);
        assert_eq!(ends(text, &[(0, 1504), (6, 1504), (6, 1504)]), [2, 9, 11]);
        // What a packet leaves is lost after a pause.
        assert_eq!(ends(text, &[(0, 100), (3, 100), (5, 1404)]), [2, 5, 5]);
    }

    #[test]
    fn opportunities_before_a_packet_are_over() {
        assert_eq!(ends("0\n4\n", &[(0, 1), (5, 1)]), [4, 8]);
        assert_eq!(ends("0\n4\n", &[(4, 1)]), [8]);
        assert_eq!(RateTrace::parse("0\n4\n").unwrap().nominal(), 2 * 1504 * 8 * 250);
    }

    #[test]
    fn a_frame_spans_changes_of_the_rate() {
        let text = "seconds,Mbit/s\n0,8\n0.010,0\n0.020,4 # slower\n";
        // 10 ms at 8 Mbit/s carry 10,000 bytes.
        assert_eq!(ends(text, &[(0, 5_000), (0, 6_000), (0, 500)]), [5, 22, 23]);
        assert_eq!(ends("0 8\n1 0\n", &[(2_000, 1)]), [u64::MAX / MS]);
        assert_eq!(RateTrace::parse(text).unwrap().nominal(), 4_000_000);
    }

    #[test]
    fn a_busy_trace_never_drifts() {
        let frames: Vec<_> = (0..7_000).map(|_| (0, 125)).collect();
        assert_eq!(ends("0 7\n", &frames).last(), Some(&1_000));
    }

    #[test]
    fn delay_holds_until_the_next_line() {
        let trace = DelayTrace::parse("1\t20\n2\t35.5\n").unwrap();
        let at = |millis| trace.nanos_at(Instant::from_millis(millis)) / 1000;
        assert_eq!([at(0), at(1_999), at(2_000), at(9_000)], [20_000, 20_000, 35_500, 35_500]);
        assert_eq!(trace.nominal(), Duration::from_millis(20));
    }

    #[test]
    fn wrong_lines_are_named() {
        let rate = |text| RateTrace::parse(text).unwrap_err().to_string();
        assert_eq!(
            rate("1\n2\nx\n"),
            "3: `x` is no time in whole milliseconds since the beginning"
        );
        assert_eq!(rate("5\n\n4\n"), "3: 4 ms comes before the line above");
        assert_eq!(rate("0\n"), "1: the last time is 0: the trace has no length");
        assert_eq!(rate("1 2\n3\n"), "2: `3` is not milliseconds, or seconds and Mbit/s");
        assert_eq!(rate("1 2 3\n"), "1: `1 2 3` is not milliseconds, or seconds and Mbit/s");
        assert_eq!(
            rate("# none\n"),
            "1: there are no lines with milliseconds, or seconds and Mbit/s"
        );
        assert_eq!(
            rate("time kbit/s\n1 2\n"),
            "1: `time` is no time in seconds since the beginning"
        );
        assert_eq!(rate("0 5\n0 6\n"), "2: 0 s is not after the line above");
        assert_eq!(rate("0 -5\n"), "1: `-5` is no number of Mbit/s");
        assert!(rate("1700000000 5\n").contains("no time in seconds since the beginning"));
        let delay = |text| DelayTrace::parse(text).unwrap_err().to_string();
        assert_eq!(delay("5\n"), "1: has one column; write seconds and milliseconds");
        assert_eq!(delay("0 inf\n"), "1: `inf` is no number of milliseconds");
    }

    #[test]
    fn damaged_rows_are_errors_with_their_line() {
        let wrong = |text: &str| RateTrace::parse(text).unwrap_err().to_string();
        for text in ["0,8\n1,,9\n", "0,8\n1,\n", "0,8\n,9\n", "0,8\n1 2,9\n", "0,8\n1,9#x\n"] {
            assert!(wrong(text).starts_with("2: "), "{text}");
        }
        RateTrace::parse("# rates\n0, 8\n1 ; 9\t# end\n").unwrap();
    }

    #[test]
    fn rows_have_a_limit() {
        let text = "1\n# two\n2\n\n3\n";
        let last = |limit| rows_up_to(limit, text, 1, "numbers").unwrap().last().unwrap();
        assert_eq!(last(3).unwrap().line, 5);
        let error = last(2).unwrap_err().to_string();
        assert_eq!(error, "5: there are more than 2 lines: divide the file");
    }

    proptest! {
        #[test]
        fn no_text_makes_a_trace_panic(text in "[0-9 .\n,e#-]{0,60}", begun: u64, bytes: u32) {
            let _ = DelayTrace::parse(&text);
            if let Ok(trace) = RateTrace::parse(&text) {
                let mut rest = Rest::default();
                let begun = begun % (1 << 60);
                let first = trace.end(Instant::from_nanos(begun), bytes, &mut rest);
                prop_assert!(first >= begun && trace.nominal() > 0);
                prop_assert!(trace.end(Instant::from_nanos(first), 1, &mut rest) >= first);
            }
        }
    }
}
