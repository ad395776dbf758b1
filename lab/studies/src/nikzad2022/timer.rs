//! The timers that are compared, and the exponents of popularity that they meet.
use crate::sweep::Axis;

/// Exponents of the Zipf–Mandelbrot law, least to greatest.
pub(super) const S: [&str; 5] = ["1", "1.25", "1.5", "1.75", "2"];
/// The least and the greatest of them.
pub(super) const ENDS: [&str; 2] = ["1", "2"];
/// Shortest timeouts of Figure 2, in ms.
pub(super) const FLOORS: [u32; 6] = [0, 50, 100, 150, 200, 500];
/// Factors of the deviation in Figures 7 to 10.
pub(super) const FACTORS: [u32; 6] = [2, 4, 6, 8, 10, 12];

/// Gains of an estimate, slowest first: the paper's classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gains {
    VerySlow,
    Slow,
    Steady,
    Fast,
    VeryFast,
}

impl Gains {
    pub(super) const ALL: [Self; 5] =
        [Self::VerySlow, Self::Slow, Self::Steady, Self::Fast, Self::VeryFast];

    /// The paper's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::VerySlow => "Very Slow",
            Self::Slow => "Slow",
            Self::Steady => "Steady",
            Self::Fast => "Fast",
            Self::VeryFast => "Very Fast",
        }
    }

    pub(super) fn word(self) -> String {
        self.name().to_lowercase().replace(' ', "-")
    }
}

/// A timer of Jacobson's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Jacobson {
    pub gains: Gains,
    pub k: u32,
    /// Shortest timeout, ms.
    pub floor: u32,
}

/// The paper's Basic.
pub(super) const BASIC: Jacobson = Jacobson { gains: Gains::Steady, k: 4, floor: 0 };
/// The paper's proposal.
pub(super) const RECONSIDERED: Jacobson = Jacobson { gains: Gains::VerySlow, k: 6, floor: 100 };

/// Steady gains and k = 4 with a floor in ms.
pub(super) const fn floored(floor: u32) -> Jacobson {
    Jacobson { floor, ..BASIC }
}

impl Jacobson {
    /// Its name in sweeps and figures.
    pub(super) fn label(self) -> String {
        format!("{}, k = {}, {} ms", self.gains.name(), self.k, self.floor)
    }

    /// The experiment of the paper that runs it, each timer in one only.
    pub(super) fn experiment(self) -> &'static str {
        match self {
            Self { gains: Gains::Steady, k: 4, .. } => "floor",
            Self { k: 4, .. } => "gains",
            _ => "factor",
        }
    }

    /// Its text in scenarios.
    pub(super) fn spec(self) -> String {
        let Self { gains, k, floor } = self;
        format!("nikzad2022(gains={},k={k},min={floor}ms)", gains.word())
    }

    fn variant(self) -> String {
        variant(&self.label(), &format!("\"applications.c.rto\" = \"{}\"\n", self.spec()))
    }
}

/// A timer that is not of Jacobson's kind, or not the paper's: its name in `axes.toml`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other(pub &'static str);

impl Other {
    /// The fields that make it.
    pub(super) fn fields(self) -> String {
        named("timer").fields(self.0)
    }
}

/// The axis of that name.
pub(super) const fn named(name: &'static str) -> Axis {
    Axis::new(include_str!("axes.toml"), name)
}

pub(super) const PER_PROVIDER: Other = Other("PerProvider");
pub(super) const PREDICTIVE: Other = Other("Predictive");

/// The timers of Figure 11 beside those of Jacobson's kind.
pub(super) const COMPARED: [Other; 3] = [PER_PROVIDER, Other("PerProvider, freshness"), PREDICTIVE];

/// The estimator of our own that is put to the test.
pub(super) const OURS: Other = Other("nearness");

/// Estimators that the paper does not have.
pub(super) const BEYOND: [Other; 5] = [
    OURS,
    Other("weighted-median"),
    Other("experts"),
    Other("reconsidered, adaptive"),
    Other("RFC 6298"),
];

/// One constant for all consumers: chosen with the results in hand, the best that a timeout can be that learns nothing.
pub(super) const STATIC: [Other; 4] = [
    Other("constant, 100 ms"),
    Other("constant, 150 ms"),
    Other("constant, 225 ms"),
    Other("constant, 340 ms"),
];

/// A value of the axis `timer`.
fn variant(name: &str, fields: &str) -> String {
    format!("[sweep.timer.\"{name}\"]\n{fields}")
}

/// The axis `timer` with these.
pub(super) fn axis(jacobson: &[Jacobson], others: &[Other]) -> String {
    let first = jacobson.iter().map(|timer| timer.variant());
    first.chain(others.iter().map(|timer| variant(timer.0, &timer.fields()))).collect()
}

/// The axis `s` with these exponents.
pub(super) fn exponents(values: &[&str]) -> String {
    let one = |s: &&str| format!("[sweep.s.\"{s}\"]\n\"applications.c.popularity.s\" = {s}\n");
    values.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_is_named_after_its_parts() {
        assert_eq!(RECONSIDERED.label(), "Very Slow, k = 6, 100 ms");
        assert!(RECONSIDERED.variant().ends_with("nikzad2022(gains=very-slow,k=6,min=100ms)\"\n"));
        let places = [BASIC, Jacobson { gains: Gains::Fast, ..BASIC }, RECONSIDERED];
        assert_eq!(places.map(Jacobson::experiment), ["floor", "gains", "factor"]);
    }
}
