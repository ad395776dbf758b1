//! The axes of the sweeps: what the paper varies.
use crate::sweep::axis;

/// An axis of a sweep: its name, and each value with the fields that it sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub name: &'static str,
    pub values: &'static [(&'static str, &'static str)],
}

impl Axis {
    /// The axis as it stands in a scenario.
    pub(super) fn text(&self) -> String {
        self.text_of(|_| true)
    }

    fn text_of(&self, chosen: impl Fn(&str) -> bool) -> String {
        let chosen = self.values.iter().filter(|(value, _)| chosen(value));
        axis(self.name, chosen.map(|(value, fields)| (*value, (*fields).to_owned())))
    }

    /// This axis with some of its values.
    pub(super) fn only(&self, chosen: &[&str]) -> String {
        self.text_of(|value| chosen.contains(&value))
    }

    /// This axis without one of its values.
    pub(super) fn without(&self, left_out: &str) -> String {
        self.text_of(|value| value != left_out)
    }

    /// Its values, in their order.
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.values.iter().map(|(value, _)| *value).collect()
    }
}

/// The three windows.
pub(super) const FLAVOURS: [&str; 3] = ["NewReno", "Compound", "Cubic"];

pub(super) const FLAVOUR: Axis = Axis {
    name: "flavour",
    values: &[
        ("NewReno", r#""fetch.congestion.flavour" = "newreno""#),
        ("Compound", r#""fetch.congestion.flavour" = "compound""#),
        ("Cubic", r#""fetch.congestion.flavour" = "cubic""#),
    ],
};

pub(super) const VERSION: Axis = Axis {
    name: "version",
    values: &[
        ("Simple1", r#""fetch.loss" = "simple1""#),
        ("Simple2", r#""fetch.loss" = "simple2""#),
        ("Simple3", r#""fetch.loss" = "simple3""#),
        ("Smart", r#""fetch.loss" = "smart""#),
    ],
};

/// The loss rates of section 4.1.
pub(super) const LOSSES: [&str; 3] = ["0.1 %", "0.2 %", "0.5 %"];

/// Single losses on the link from Router 2 to Router 1, with at least 168 Data packets between two of them: more than
/// any window between such losses, and less than the mean distance at the highest rate.
pub(super) const LOSS: Axis = Axis {
    name: "loss",
    values: &[
        ("0.1 %", r#""links.r1-r2.back.loss" = "sparse(p=0.001,gap=168)""#),
        ("0.2 %", r#""links.r1-r2.back.loss" = "sparse(p=0.002,gap=168)""#),
        ("0.5 %", r#""links.r1-r2.back.loss" = "sparse(p=0.005,gap=168)""#),
    ],
};

/// Fields of Compound in one of its modes.
macro_rules! compound {
    ($mode:literal, $update:literal, $zero:literal) => {
        concat!(
            "\"fetch.congestion.flavour\" = \"compound\"\n",
            "\"fetch.congestion.mode\" = \"",
            $mode,
            "\"\n\"fetch.congestion.update\" = \"",
            $update,
            "\"\n\"fetch.congestion.zero-on-loss\" = \"",
            $zero,
            "\"\n"
        )
    };
}

/// Modes and knobs of Compound: whose rule, how often it acts, which losses empty `dwnd`.
pub(super) const COMPOUND: Axis = Axis {
    name: "compound",
    values: &[
        ("udugama, per RTT, zero on RTO", compound!("udugama", "per-rtt", "rto")),
        ("udugama, per RTT, zero on any", compound!("udugama", "per-rtt", "any")),
        ("udugama, per Data, zero on RTO", compound!("udugama", "per-data", "rto")),
        ("udugama, per Data, zero on any", compound!("udugama", "per-data", "any")),
        ("standard, per RTT, zero on RTO", compound!("standard", "per-rtt", "rto")),
        ("standard, per RTT, zero on any", compound!("standard", "per-rtt", "any")),
        ("standard, per Data, zero on RTO", compound!("standard", "per-data", "rto")),
        ("standard, per Data, zero on any", compound!("standard", "per-data", "any")),
    ],
};

/// Content of Router 1's cache when the client starts.
pub(super) const CACHED: Axis = Axis {
    name: "cached",
    values: &[("nothing", ""), ("latter half", WARM_LATTER_HALF), ("everything", WARM_EVERYTHING)],
};

const WARM_LATTER_HALF: &str = r#""nodes.r1.cache" = "20000 packets"
"applications.warm" = { kind = "fetch", node = "r1", congestion = "fixed(window=40)", loss = "timeout", first = 10000 }
"#;
const WARM_EVERYTHING: &str = r#""nodes.r1.cache" = "20000 packets"
"applications.warm" = { kind = "fetch", node = "r1", congestion = "fixed(window=40)", loss = "timeout", first = 0 }
"#;

/// Background traffic: that share of every link, in both directions, as equally spaced frames.
pub(super) const LOAD: Axis = Axis {
    name: "load",
    values: &[("0 %", ""), ("40 %", LOAD_40), ("60 %", LOAD_60), ("80 %", LOAD_80)],
};

/// The loads of Table 3 and two between them.
pub(super) const LOADS: [&str; 4] = ["0 %", "40 %", "60 %", "80 %"];

const LOAD_40: &str = r#""applications.load" = { kind = "background", link = "*", arrival = "constant(load=0.4)", spread = "10 ms" }"#;
const LOAD_60: &str = r#""applications.load" = { kind = "background", link = "*", arrival = "constant(load=0.6)", spread = "10 ms" }"#;
const LOAD_80: &str = r#""applications.load" = { kind = "background", link = "*", arrival = "constant(load=0.8)", spread = "10 ms" }"#;

/// Fair sharing of a link among flows, each scheduler alone as in the paper.
pub(super) const FAIRNESS: Axis = Axis {
    name: "fairness",
    values: &[
        ("off", ""),
        ("max-min", r#""node.scheduler" = "max-min(share=flow)""#),
        ("drr", r#""node.scheduler" = "drr(share=flow)""#),
    ],
};
