//! Segments that count against a window: `outstanding` or `span`.
//!
//! `outstanding` counts the Interests that await an answer, as RFC 6675 counts the pipe. Every Data carries its
//! segment number, so this is what the network holds. It is the default: one missing segment does not block others.
//!
//! `span` counts the segments from the lowest missing one to the highest requested one, as TCP counts from `SND.UNA`
//! to `SND.NXT`. One missing segment blocks all segments beyond a window until it is repaired or its timer expires.
//! Studies that carried TCP over to named data use it: their results on fast recovery against timers (udugama2013,
//! Fig. 4) appear with `span` and mostly not with `outstanding`, where a hole costs little. With `span` alone, fast
//! recovery inflates its window by what arrives beyond the hole: the span does not shrink, although the network holds
//! less.
//!
//! Sources: RFC 9293 section 3.3.1; RFC 6675 section 4 (`SetPipe`); Udugama et al. (2013).
//!
//! Differences: segments of an earlier run count in a span that contains them.
use crate::spec::Description;

/// Segments that count against a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// Interests that await an answer.
    #[default]
    Outstanding,
    /// Segments from the lowest missing one to the highest requested one. Retransmissions do not widen it: up to a
    /// window of them may be in flight besides.
    Span,
}

impl Accounting {
    const WORDS: [(&str, Self); 2] = [("outstanding", Self::Outstanding), ("span", Self::Span)];

    /// Describes `accounting`.
    pub(super) fn describe(&mut self, each: &mut Description<'_>) {
        each.word("accounting", self, &Self::WORDS, "outstanding or span");
    }
}
