//! The experiments: the paper's two networks with its four designs, and what it leaves open.
use crate::study::{Experiment, Scale};

/// The paper's network with one consumer, in Mini-NDN's format.
pub const LINEAR_CONF: &str = include_str!("linear.conf");
/// The paper's network with two consumers.
pub const DUMBBELL_CONF: &str = include_str!("dumbbell.conf");

const FILES: &[(&str, &str)] = &[("linear.conf", LINEAR_CONF), ("dumbbell.conf", DUMBBELL_CONF)];

/// What the networks share: segments of 1024 octets in packets of 1448, caches in every forwarder, and
/// a delay of 0.3 ms on average at each hop, which the paper does not state.
const COMMON: &str = include_str!("common.toml");

/// The designs as variants of one scenario; the window of #0 depends on the network.
fn designs(fixed_window: u32) -> String {
    format!(
        r##"
[sweep.design."#0"]
"fetch.congestion" = "fixed(window={fixed_window})"
"fetch.rto" = "constant(rto=4s)"
{}"##,
        ADAPTIVE
    )
}

const ADAPTIVE: &str = r##"
[sweep.design."#1"]
"fetch.congestion" = "yang2016(conservative=off)"
"fetch.sampling" = "every"
[sweep.design."#2"]
"fetch.congestion" = "yang2016"
"fetch.sampling" = "every"
[sweep.design."#3"]
"fetch.congestion" = "yang2016"
"fetch.sampling" = "per-rtt"
"##;

const LINEAR: &str = r#"
[topology]
file = "linear.conf"
[applications.c1]
kind = "fetch"
node = "c1"
object = "/p1/file"
[applications.p1]
kind = "serve"
node = "p1"
prefix = "/p1/file"
"#;

const DUMBBELL: &str = r#"
[topology]
file = "dumbbell.conf"
[applications.c1]
kind = "fetch"
node = "c1"
object = "/p1/file"
[applications.c2]
kind = "fetch"
node = "c2"
object = "/p2/file"
[applications.p1]
kind = "serve"
node = "p1"
prefix = "/p1/file"
[applications.p2]
kind = "serve"
node = "p2"
prefix = "/p2/file"
"#;

/// What the paper leaves open: an axis, its variants, and the fields that each variant sets.
struct Open {
    experiment: &'static str,
    axis: &'static str,
    variants: &'static [(&'static str, &'static str)],
}

const OPEN: [Open; 4] = [
    Open {
        experiment: "linear-floor",
        axis: "floor",
        variants: &[
            ("0 ms", r#""fetch.rto.min" = "0 ms""#),
            ("50 ms", r#""fetch.rto.min" = "50 ms""#),
            ("70 ms", r#""fetch.rto.min" = "70 ms""#),
            ("80 ms", r#""fetch.rto.min" = "80 ms""#),
            ("100 ms", r#""fetch.rto.min" = "100 ms""#),
            ("150 ms", r#""fetch.rto.min" = "150 ms""#),
            ("200 ms", r#""fetch.rto.min" = "200 ms""#),
            ("1 s", r#""fetch.rto.min" = "1 s""#),
        ],
    },
    Open {
        experiment: "linear-jitter",
        axis: "jitter",
        variants: &[
            ("0 ms", r#""link.jitter" = "none""#),
            ("0.1 ms", r#""link.jitter" = "exponential(mean=0.1ms)""#),
            ("0.3 ms", r#""link.jitter" = "exponential(mean=0.3ms)""#),
            ("1 ms", r#""link.jitter" = "exponential(mean=1ms)""#),
        ],
    },
    Open {
        experiment: "linear-segment",
        axis: "segment",
        variants: &[
            ("512 B", "\"serve.segment\" = \"512 B\"\n\"serve.packet\" = \"936 B\""),
            ("1024 B", "\"serve.segment\" = \"1024 B\"\n\"serve.packet\" = \"1448 B\""),
            ("4096 B", "\"serve.segment\" = \"4096 B\"\n\"serve.packet\" = \"4520 B\""),
            ("8000 B", "\"serve.segment\" = \"8000 B\"\n\"serve.packet\" = \"8424 B\""),
        ],
    },
    Open {
        experiment: "linear-reading",
        axis: "reading",
        variants: &[
            ("as decided", r#""fetch.rto.initial" = "1 s""#),
            ("window 1 after a loss", r#""fetch.congestion.reset-to-init" = true"#),
            ("a timeout cancels", r#""fetch.cancel-on-timeout" = true"#),
            ("first timeout 3 s", r#""fetch.rto.initial" = "3 s""#),
            ("queue before the delay", r#""link.order" = "rate-then-delay""#),
        ],
    },
];

fn variants(open: &Open) -> String {
    let one =
        |(name, fields): &(&str, &str)| format!("[sweep.{}.\"{name}\"]\n{fields}\n", open.axis);
    open.variants.iter().map(one).collect()
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let (seeds, octets) = match scale {
        Scale::Smoke => (2, "1 MiB"),
        Scale::Check => (20, "10 MiB"),
        Scale::Paper => (20, "10 MiB"),
    };
    let text = |network: &str, sweep: String| {
        format!("{}{network}{sweep}", COMMON.replace("10 MiB", octets))
    };
    let experiment = |name, serves, scenario| Experiment {
        name,
        serves,
        scenario,
        files: FILES,
        seeds: 1..=seeds,
        curves: None,
    };
    let mut all = vec![
        Experiment {
            curves: Some((1, &["window", "rto"])),
            ..experiment("linear", &["linear", "window", "rto", "rtt"], text(LINEAR, designs(32)))
        },
        Experiment {
            curves: Some((1, &["window"])),
            ..experiment("dumbbell", &["dumbbell", "sharing"], text(DUMBBELL, designs(16)))
        },
    ];
    if scale != Scale::Paper {
        all.extend(OPEN.iter().map(|open| {
            let sweep = format!("{}{ADAPTIVE}", variants(open));
            experiment(open.experiment, &["open"], text(LINEAR, sweep))
        }));
    }
    all
}

/// The open parameters: experiment, axis, and the names of its variants.
pub(super) fn open() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    OPEN.iter().map(|open| {
        let names = open.variants.iter().map(|(name, _)| *name).collect();
        (open.experiment, open.axis, names)
    })
}
