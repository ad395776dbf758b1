//! Values of options: their spelling, and the messages about misspelled ones.
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use recoup_transport::unit;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A range of segments: `10..20` is 10 to 19, `10..=19` the same, `10..` all from 10, `..20` the first 20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentRange {
    /// First segment.
    pub begin: u64,
    /// First segment that is no longer wanted; `None`: up to the last.
    pub end: Option<u64>,
}

impl FromStr for SegmentRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        const HOW: &str =
            "write a range of segment numbers such as 10..20 (10 to 19), 10..=19 or 10..";
        let (begin, end) = text.trim().split_once("..").ok_or(HOW)?;
        let number = |text: &str| unit::whole::<u64>(text.trim()).ok_or_else(|| HOW.to_owned());
        let begin = if begin.trim().is_empty() { 0 } else { number(begin)? };
        let end = match end.trim() {
            "" => None,
            end => Some(match end.strip_prefix('=') {
                Some(last) => number(last)?.checked_add(1).ok_or(HOW)?,
                None => number(end)?,
            }),
        };
        if end.is_some_and(|end| end <= begin) {
            return Err(format!("the range {} is empty", text.trim()));
        }
        Ok(Self { begin, end })
    }
}

impl fmt::Display for SegmentRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..", self.begin)?;
        self.end.map_or(Ok(()), |end| write!(f, "{end}"))
    }
}

/// The options of a struct that were given on the command line, to be laid on top of those of a file.
#[derive(Clone, Debug)]
pub struct Given<T> {
    matches: ArgMatches,
    options: PhantomData<T>,
}

impl<T: Args> Given<T> {
    /// The long names of the options that were given, with the text of their values; of a flag, `true`.
    pub fn texts(&self) -> Vec<(String, String)> {
        let command = T::augment_args(Command::new("options"));
        let given = command.get_arguments().filter(|option| {
            let source = self.matches.value_source(option.get_id().as_str());
            source == Some(ValueSource::CommandLine)
        });
        let text = |option: &clap::Arg| {
            let mut values = self.matches.get_raw(option.get_id().as_str())?;
            let value = values.next()?.to_str()?.to_owned();
            Some((option.get_long()?.to_owned(), value))
        };
        given.filter_map(text).collect()
    }
}

impl<T: Args> FromArgMatches for Given<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self { matches: matches.clone(), options: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.matches = matches.clone();
        Ok(())
    }
}

impl<T: Args> Args for Given<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

impl RangeBounds<u64> for SegmentRange {
    fn start_bound(&self) -> Bound<&u64> {
        Bound::Included(&self.begin)
    }

    fn end_bound(&self) -> Bound<&u64> {
        self.end.as_ref().map_or(Bound::Unbounded, Bound::Excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_written() {
        let range = |begin, end| Ok(SegmentRange { begin, end });
        assert_eq!("10..20".parse(), range(10, Some(20)));
        assert_eq!("10..=19".parse(), range(10, Some(20)));
        assert_eq!("10..".parse(), range(10, None));
        assert_eq!("..5".parse(), range(0, Some(5)));
        assert_eq!("..".parse(), range(0, None));
        for wrong in ["10", "20..10", "5..5", "a..b", "0..=18446744073709551615", "-1..3"] {
            assert!(wrong.parse::<SegmentRange>().is_err(), "{wrong}");
        }
    }
}
