//! Requests from a log: a time in seconds, a content, and perhaps a length, which producers may use.
//!
//! Columns and comments are those of [traces](crate::model::trace). Times count from the first line, so
//! that a log of any clock can be used. If all contents are whole numbers from 1, they keep their numbers; otherwise
//! contents have numbers from 1 in the order in which they come first. A content keeps its first length.
use crate::model::trace::{Row, Trace, TraceError, rows};
use recoup_transport::time::Duration;
use std::collections::BTreeMap;

/// Requests in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLog {
    /// Times after the first request, each with the number of requests at it.
    batches: Vec<(Duration, u64)>,
    /// The content of each request, from 1.
    contents: Vec<u64>,
    /// Lengths by contents, in bytes.
    sizes: Vec<(u64, u64)>,
    /// Line of the first request without a length.
    without: Option<usize>,
    /// Line of the longest content, and its length.
    longest: (usize, u64),
}

impl RequestLog {
    /// Length of a content in bytes, if the log has it.
    pub(super) fn size(&self, content: u64) -> Option<u64> {
        let place = self.sizes.binary_search_by_key(&content, |(number, _)| *number).ok()?;
        self.sizes.get(place).map(|(_, bytes)| *bytes)
    }

    /// Checks that each request has a length, and one of at most `most` bytes unless longer ones are `cut`.
    pub(super) fn check_sizes(&self, most: u64, cut: bool) -> Result<(), String> {
        if let Some(line) = self.without {
            return Err(format!("{line}: has no length; each line needs one"));
        }
        match self.longest {
            (line, bytes) if bytes > most && !cut => Err(format!(
                "{line}: {bytes} B do not fit into a packet of {most} B; cut them with most={most}B"
            )),
            _ => Ok(()),
        }
    }

    /// Times after the first request, each with the number of requests at it.
    #[must_use]
    pub fn batches(&self) -> &[(Duration, u64)] {
        &self.batches
    }

    /// The content of each request, from 1.
    #[must_use]
    pub fn contents(&self) -> &[u64] {
        &self.contents
    }
}

/// Greatest number of a content.
const MOST: u64 = 1 << 40;

/// Latest time of any clock, in seconds.
const LATEST: f64 = 1e11;

impl Trace for RequestLog {
    /// The greatest number of a content.
    type Value = u64;

    fn parse(text: &str) -> Result<Self, TraceError> {
        let mut rows = rows(text, 3, "a time in seconds, a content and perhaps a length in bytes")?;
        let is_head = |row: &Row<'_>| {
            ["time", "time_s", "timestamp", "seconds"]
                .contains(&row.cells[0].to_lowercase().as_str())
        };
        rows.next_if(|row| row.as_ref().is_ok_and(is_head));
        let (mut names, mut lengths) = (Vec::new(), Vec::new());
        let mut log = Self {
            batches: Vec::new(),
            contents: Vec::new(),
            sizes: Vec::new(),
            without: None,
            longest: (0, 0),
        };
        let (mut first, mut last) = (None, 0.0);
        for row in rows {
            let row = row?;
            let [time, name, length @ ..] = row.cells.as_slice() else {
                return Err(row.wrong("has one column; write a time in seconds and a content"));
            };
            let seconds = time.parse::<f64>().ok().filter(|it| (0.0..=LATEST).contains(it));
            let seconds =
                seconds.ok_or_else(|| row.wrong(format!("`{time}` is no time in seconds")))?;
            let length = length.first().map(|text| {
                let bytes = text.parse::<u64>();
                bytes.map_err(|_| row.wrong(format!("`{text}` is no length in bytes")))
            });
            let length = length.transpose()?;
            if length.is_none() {
                log.without.get_or_insert(row.line);
            }
            if let Some(bytes) = length.filter(|bytes| *bytes > log.longest.1) {
                log.longest = (row.line, bytes);
            }
            lengths.push(length);
            if seconds < last {
                return Err(row.wrong(format!("{time} s comes before the line above")));
            }
            last = seconds;
            names.push(*name);
            let after = seconds - *first.get_or_insert(seconds);
            let after = Duration::from_nanos((after * 1e9).round() as u64);
            match log.batches.last_mut() {
                Some((at, count)) if *at == after => *count += 1,
                _ => log.batches.push((after, 1)),
            }
        }
        log.contents = numbers(&names);
        let sizes = log.contents.iter().zip(lengths);
        log.sizes = sizes.filter_map(|(content, bytes)| Some((*content, bytes?))).collect();
        // A stable order keeps the first length of a content.
        log.sizes.sort_by_key(|(content, _)| *content);
        log.sizes.dedup_by_key(|(content, _)| *content);
        match log.batches.is_empty() {
            true => Err(TraceError { line: 1, what: "there are no requests".into() }),
            false => Ok(log),
        }
    }

    fn nominal(&self) -> u64 {
        self.contents.iter().copied().max().unwrap_or(0)
    }
}

fn numbers(names: &[&str]) -> Vec<u64> {
    let number = |name: &str| name.parse::<u64>().ok().filter(|it| (1..=MOST).contains(it));
    if let Some(numbers) = names.iter().map(|name| number(name)).collect() {
        return numbers;
    }
    let mut known = BTreeMap::new();
    names
        .iter()
        .map(|name| {
            let next = known.len() as u64 + 1;
            *known.entry(*name).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_keep_times_and_contents() {
        let text =
            "time,content,size\n1700000000.5,/a,100\n1700000000.5,/b,7\n1700000002.5,/a,100\n";
        let log = RequestLog::parse(text).unwrap();
        assert_eq!(log.contents(), [1, 2, 1]);
        let seconds = |seconds| Duration::from_secs(seconds);
        assert_eq!(log.batches(), [(seconds(0), 2), (seconds(2), 1)]);
        let numbered = RequestLog::parse("0 7\n1 3\n").unwrap();
        assert_eq!((numbered.contents(), numbered.nominal()), (&[7, 3][..], 7));
    }

    #[test]
    fn damaged_request_is_an_error_with_its_line() {
        let wrong = |text: &str| RequestLog::parse(text).unwrap_err().to_string();
        assert_eq!(wrong("1 a\n\n0.5 b\n"), "3: 0.5 s comes before the line above");
        assert_eq!(wrong("x a\n"), "1: `x` is no time in seconds");
        assert_eq!(wrong("1 a big\n"), "1: `big` is no length in bytes");
        assert_eq!(wrong("1\n"), "1: has one column; write a time in seconds and a content");
        assert!(wrong("1 a 2 b\n").starts_with("1: `1 a 2 b` is not a time"));
        assert_eq!(
            wrong("1,,7\n"),
            "1: `1,,7` is not a time in seconds, a content and perhaps a length in bytes"
        );
        assert!(wrong("1,a,7\n2,,7\n").starts_with("2: "));
        assert_eq!(RequestLog::parse("1 /a#b # one\n1 /a#c\n").unwrap().contents(), [1, 2]);
        assert!(wrong("# nothing\n").starts_with("1: "));
    }
}
