//! What counts against a window: `outstanding` or `span`.
//!
//! `outstanding` counts the Interests that await an answer, as RFC 6675 counts what is in the pipe.
//! Where every Data says which segment it is, that is what the network holds, so it is the default: one
//! missing segment does not keep others from being asked for.
//!
//! `span` counts the segments from the lowest missing one to the highest asked for, as TCP counts what
//! is between `SND.UNA` and `SND.NXT`. One missing segment then stops everything a window further on,
//! until it is repaired or its timer expires. It is there because the studies that carried TCP over to
//! named data mean it: what they report of fast recovery against timers (udugama2013, Fig. 4) is seen
//! with `span` and mostly not with `outstanding`, where a hole costs little. With `span` alone, fast
//! recovery inflates its window by what arrives beyond the hole: the span does not shrink, although the
//! network holds less.
//!
//! Sources: RFC 9293 section 3.3.1; RFC 6675 section 4 (`SetPipe`); Udugama et al. (2013).
//!
//! Differences: segments that are there from an earlier run count in a span they lie in.
/// What counts against a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// Interests that await an answer.
    #[default]
    Outstanding,
    /// Segments from the lowest missing one to the highest asked for. What is asked for again does not
    /// stretch it: up to a window of such Interests may await their answers besides.
    Span,
}

impl Accounting {
    /// The words they are written with.
    pub(super) const WORDS: [(&str, Self); 2] =
        [("outstanding", Self::Outstanding), ("span", Self::Span)];
}
