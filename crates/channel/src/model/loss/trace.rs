//! Losses by a list: `trace(packets=3 5-7)` takes the frames with these numbers, counted from 1;
//! `trace(times=2s 3s-4s)` takes the first frame from 2 s on, and every frame from 3 s to before 4 s.
//!
//! Lists are ascending; both may be given together. `trace(file=lift.txt)` stands for a list in a file: one
//! number, range, time or span on each line, `#` begins a comment; numbers and times may not be mixed.
//! [`with_trace_files`] puts the list in its place before the model is built.
use super::LossModel;
use recoup_core::unit;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError, SpecWriter};
use recoup_transport::time::{Duration, Instant};
use std::fmt;

/// An inclusive range.
type Range = (u64, u64);

/// Losses by a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    packets: Vec<Range>,
    times: Vec<Time>,
    /// A file whose list is not in its place yet.
    file: Option<Box<str>>,
    number: u64,
    next_packet: usize,
    next_time: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Time {
    /// The first frame from this time on.
    Once(Duration),
    /// Every frame from the first to before the second.
    Span(Duration, Duration),
}

impl Trace {
    pub(super) fn from_spec(mut spec: Spec<'_>) -> Result<Self, SpecError> {
        let expected = "ascending numbers from 1 and ranges of them, such as 3 5-7";
        let packets = spec.take("packets", Vec::new(), expected, packets)?;
        let expected = "ascending times and spans of them, such as 2s 3s-4s";
        let times = spec.take("times", Vec::new(), expected, times)?;
        let file = spec.take("file", None, "the name of a file", |text| Some(Some(text.into())))?;
        spec.finish()?;
        Ok(Self { packets, times, file, ..Self::default() })
    }

    pub(super) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    fn takes_number(&mut self) -> bool {
        self.number += 1;
        let Some((from, to)) = self.packets.get(self.next_packet).copied() else {
            return false;
        };
        self.next_packet += usize::from(self.number >= to);
        (from..=to).contains(&self.number)
    }

    fn takes_time(&mut self, at: Instant) -> bool {
        let at = at.since(Instant::ZERO);
        while let Some(time) = self.times.get(self.next_time) {
            match *time {
                Time::Once(from) => {
                    self.next_time += usize::from(at >= from);
                    return at >= from;
                }
                Time::Span(_, to) if at >= to => self.next_time += 1,
                Time::Span(from, _) => return at >= from,
            }
        }
        false
    }
}

impl LossModel for Trace {
    fn takes(&mut self, _: &mut Rng, at: Instant) -> bool {
        // Both lists advance with each frame.
        self.takes_number() | self.takes_time(at)
    }
}

fn packets(text: &str) -> Option<Vec<Range>> {
    let mut ranges: Vec<Range> = Vec::new();
    for word in text.split_ascii_whitespace() {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        let (from, to) = (from.parse::<u64>().ok()?, to.parse::<u64>().ok()?);
        if from > to || ranges.last().map_or(0, |(_, to)| *to) >= from {
            return None;
        }
        ranges.push((from, to));
    }
    Some(ranges)
}

fn times(text: &str) -> Option<Vec<Time>> {
    let (mut times, mut least) = (Vec::new(), Duration::ZERO);
    for word in text.split_ascii_whitespace() {
        let (time, from, to) = match word.split_once('-') {
            None => {
                let at = unit::duration(word).ok()?;
                (Time::Once(at), at, at)
            }
            Some((from, to)) => {
                let (from, to) = (unit::duration(from).ok()?, unit::duration(to).ok()?);
                (Time::Span(from, to), from, to)
            }
        };
        if from < least || from > to {
            return None;
        }
        least = to;
        times.push(time);
    }
    Some(times)
}

/// The text of loss models with the list in place of each `trace(file=NAME)`; `read` gives what is in the
/// file of that name, or why that cannot be had.
///
/// # Errors
/// If a file cannot be read, or the first line of it that is no list or is not above the one before.
pub fn with_trace_files(
    text: &str,
    read: &dyn Fn(&str) -> Result<String, String>,
) -> Result<String, String> {
    const BEGIN: &str = "trace(file=";
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) =
            after.split_once(')').ok_or_else(|| format!("`{BEGIN}{after}` lacks its `)`"))?;
        let content = read(name).map_err(|what| format!("{name}: {what}"))?;
        done.push_str(before);
        done += &from_lines(&content).map_err(|line| {
            format!("{name}:{line}: is no number, range, time or span above the one before")
        })?;
        rest = after;
    }
    Ok(done + rest)
}

fn from_lines(content: &str) -> Result<String, usize> {
    let lines = content.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let mut words: Vec<&str> = Vec::new();
    let mut timed = None;
    for (number, word) in lines.enumerate().filter(|(_, word)| !word.is_empty()) {
        let is_time = word.ends_with('s');
        let one = if is_time { times(word).is_some() } else { packets(word).is_some() };
        if !one || *timed.get_or_insert(is_time) != is_time {
            return Err(number + 1);
        }
        let pair = words.last().map_or_else(|| word.to_owned(), |last| format!("{last} {word}"));
        if if is_time { times(&pair).is_none() } else { packets(&pair).is_none() } {
            return Err(number + 1);
        }
        words.push(word);
    }
    let key = if timed == Some(true) { "times" } else { "packets" };
    Ok(format!("trace({key}={})", words.join(" ")))
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = SpecWriter::new(f, "trace");
        if !self.packets.is_empty() {
            let word = |(from, to): &Range| {
                if from == to { from.to_string() } else { format!("{from}-{to}") }
            };
            let words: Vec<String> = self.packets.iter().map(word).collect();
            writer = writer.value("packets", words.join(" "));
        }
        if !self.times.is_empty() {
            let words: Vec<String> = self.times.iter().map(Time::to_string).collect();
            writer = writer.value("times", words.join(" "));
        }
        if let Some(file) = &self.file {
            writer = writer.value("file", file);
        }
        writer.finish()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Once(at) => write!(f, "{}", Exact(*at)),
            Self::Span(from, to) => write!(f, "{}-{}", Exact(*from), Exact(*to)),
        }
    }
}

/// A duration as specs write it.
struct Exact(Duration);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        match [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")]
            .into_iter()
            .find(|(factor, _)| nanos.is_multiple_of(*factor))
        {
            Some((factor, unit)) => write!(f, "{}{unit}", nanos / factor),
            None => write!(f, "{nanos}ns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<u64> {
        let mut trace = Trace::from_spec(Spec::parse(text).unwrap()).unwrap();
        let mut rng = Rng::from_seed(1);
        (1..30).filter(|n| trace.takes(&mut rng, Instant::from_millis(n * 500))).collect()
    }

    #[test]
    fn the_listed_frames_are_taken() {
        assert_eq!(taken("trace(packets=3 5-7 7000)"), [3, 5, 6, 7]);
        assert_eq!(taken("trace(times=1.2s 3s-4s)"), [3, 6, 7]);
        assert_eq!(taken("trace(packets=1,times=1.2s 1.3s)"), [1, 3, 4]);
        assert!(taken("trace").is_empty());
    }

    #[test]
    fn unsorted_list_is_an_error() {
        for text in
            ["packets=3 2", "packets=0", "packets=7-5", "times=2s 1s", "times=3", "packets=a"]
        {
            let text = format!("trace({text})");
            assert!(Trace::from_spec(Spec::parse(&text).unwrap()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_file_becomes_a_list() {
        let read = |name: &str| match name {
            "lift.txt" => Ok("# lost in the lift\n3\n\n5-7 # burst\n".to_owned()),
            "times.txt" => Ok("1.5s\n2s-3s".to_owned()),
            _ => Err("there is no such file".to_owned()),
        };
        let text = "bernoulli(p=0.1)+trace(file=lift.txt)+trace(file=times.txt)";
        let whole = "bernoulli(p=0.1)+trace(packets=3 5-7)+trace(times=1.5s 2s-3s)";
        assert_eq!(with_trace_files(text, &read).as_deref(), Ok(whole));
        assert_eq!(with_trace_files(whole, &read).as_deref(), Ok(whole));
        let error = with_trace_files("trace(file=none.txt)", &read).unwrap_err();
        assert_eq!(error, "none.txt: there is no such file");
        assert!(with_trace_files("trace(file=lift.txt", &read).is_err());
        for (content, line) in [("3\n2", 2), ("3\n4s", 2), ("\nx", 2), ("3 4 2", 1)] {
            assert_eq!(from_lines(content), Err(line), "{content}");
        }
    }
}
