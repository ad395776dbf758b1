//! The axes of the sweeps: what the paper varies.
use crate::sweep::axis;

/// An axis of a sweep, by its name in `axes.toml`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis(pub &'static str);

impl Axis {
    /// Its values in their order, each with the fields that it sets.
    pub(super) fn values(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let sections = include_str!("axes.toml").split("[sweep.").skip(1);
        sections.filter_map(move |section| {
            let (value, fields) =
                section.strip_prefix(self.0)?.strip_prefix(".\"")?.split_once("\"]\n")?;
            Some((value, fields.trim_end()))
        })
    }

    /// The axis as it stands in a scenario.
    pub(super) fn text(self) -> String {
        self.text_of(|_| true)
    }

    fn text_of(self, chosen: impl Fn(&str) -> bool) -> String {
        let chosen = self.values().filter(|(value, _)| chosen(value));
        axis(self.0, chosen.map(|(value, fields)| (value, fields.to_owned())))
    }

    /// This axis with some of its values.
    pub(super) fn only(self, chosen: &[&str]) -> String {
        self.text_of(|value| chosen.contains(&value))
    }

    /// This axis without one of its values.
    pub(super) fn without(self, left_out: &str) -> String {
        self.text_of(|value| value != left_out)
    }

    /// Its values, in their order.
    pub(super) fn names(self) -> Vec<&'static str> {
        self.values().map(|(value, _)| value).collect()
    }
}

/// The three windows.
pub(super) const FLAVOURS: [&str; 3] = ["NewReno", "Compound", "Cubic"];

pub(super) const FLAVOUR: Axis = Axis("flavour");

pub(super) const VERSION: Axis = Axis("version");

/// The loss rates of section 4.1.
pub(super) const LOSSES: [&str; 3] = ["0.1 %", "0.2 %", "0.5 %"];

/// Single losses on the link from Router 2 to Router 1, with at least 168 Data packets between two of them: more than
/// any window between such losses, and less than the mean distance at the highest rate.
pub(super) const LOSS: Axis = Axis("loss");

/// Modes and knobs of Compound: whose rule, how often it acts, which losses empty `dwnd`.
pub(super) const COMPOUND: Axis = Axis("compound");

/// Content of Router 1's cache when the client starts.
pub(super) const CACHED: Axis = Axis("cached");

/// Background traffic: that share of every link, in both directions, as equally spaced frames.
pub(super) const LOAD: Axis = Axis("load");

/// The loads of Table 3 and two between them.
pub(super) const LOADS: [&str; 4] = ["0 %", "40 %", "60 %", "80 %"];

/// Fair sharing of a link among flows, each scheduler alone as in the paper.
pub(super) const FAIRNESS: Axis = Axis("fairness");
