//! Parameters that the paper leaves open: the grid of radios, and single changes.
use super::axis::{self, FAST, NOTHING, SLOW, SPEEDS, TIMERS, TWO_TIMERS, axis};
use super::scenario::{Net, experiment, some, walkers};
use crate::study::{Experiment, Scale};
use crate::sweep::changed;
use std::sync::LazyLock;

/// A changed parameter, or a point of the grid.
#[derive(Debug)]
pub(super) struct Open {
    /// The parameter.
    pub parameter: &'static str,
    /// Its value.
    pub value: String,
    /// Whether it is the assumed set-up.
    pub is_assumed: bool,
    fields: String,
}

impl Open {
    fn new(parameter: &'static str, value: &str, fields: &str) -> Self {
        let is_assumed = fields.is_empty();
        Self { parameter, value: value.to_owned(), is_assumed, fields: fields.to_owned() }
    }

    /// Its name in a figure.
    pub(super) fn short(&self) -> &str {
        if self.is_assumed { "as assumed" } else { &self.value }
    }

    /// Its name on the axis of set-ups.
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.parameter, self.value)
    }
}

/// The assumed tries of an MPDU. A scenario cannot unset a field, so each set-up sets it.
const TRIES: &str = "\"wifi.mpdu-tries\" = 4\n";

/// Tries of an MPDU in aggregates.
const RETRIES: [(&str, &str); 3] =
    [("no limit", ""), ("4 tries", TRIES), ("7 tries", "\"wifi.mpdu-tries\" = 7\n")];
const FADINGS: [(&str, &str); 3] = [
    ("no fading", "\"wifi.fading\" = \"none\"\n"),
    ("m = 1", ""),
    ("m = 3", "\"wifi.fading\" = \"nakagami(m=3)\"\n"),
];
/// Two ways to a range of 120 m.
const RANGES: [(&str, &str); 2] = [
    ("exponent 2.47", ""),
    (
        "exponent 3",
        "\"wifi.path-loss\" = \"log-distance(exponent=3)\"\n\"wifi.floor\" = \"-93.1 dBm\"\n",
    ),
];

/// Name of the grid among the open parameters.
pub(super) const GRID: &str = "the grid";

fn grid() -> Vec<Open> {
    let mut all = Vec::new();
    for (range, by_range) in RANGES {
        for (retries, by_retries) in RETRIES {
            for (fading, by_fading) in FADINGS {
                let value = format!("{range}, {retries}, {fading}");
                let open = Open::new(GRID, &value, &format!("{by_range}{by_retries}{by_fading}"));
                let is_assumed = open.fields == TRIES;
                all.push(Open { is_assumed, ..open });
            }
        }
    }
    all
}

const CUBIC: &str = "\"fetch.congestion\" = \"cubic\"";

/// Changes of the wireless network: the grid, and single parameters.
pub(super) static WIRELESS: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let single =
        |parameter, value, fields: &str| Open::new(parameter, value, &format!("{TRIES}{fields}\n"));
    let mut all = grid();
    all.extend([
        single("window", "CUBIC", CUBIC),
        single(
            "the two cells",
            "cells at the same place",
            "\"nodes.ap2.position\" = [0, 0]\n\"nodes.producer.position\" = [0, 1]",
        ),
        single("timers are looked at", "exact timers", "\"fetch.rto-check\" = 0"),
        single("error model", "NIST errors", "\"wifi.errors\" = \"nist\""),
        single("A-MSDU", "no A-MSDU", "\"wifi.amsdu\" = \"0 B\""),
    ]);
    all
});

const MOBILE_WLDR: &str = "\"links.'mobile-ap*'.recovery\" = \"wldr(strict=true)\"";

/// Changes of the mobile network.
pub(super) static MOBILE: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let handoff = |field: &str| format!("\"wifi.handoff.{field}\n");
    let scan = |value, time: &str| {
        Open::new("scan before an association", value, &handoff(&format!("scan\" = \"{time}\"")))
    };
    vec![
        Open::new("nothing", "everything as assumed", ""),
        scan("scan of 50 ms", "50 ms"),
        scan("scan of 200 ms", "200 ms"),
        Open::new(
            "the old access point learns",
            "departure noticed",
            &handoff("notice\" = \"departure\""),
        ),
        Open::new("fading", "no fading", FADINGS[0].1),
        Open::new("fading", "m = 3", FADINGS[2].1),
        Open::new("recovery of the radio", "WLDR", MOBILE_WLDR),
        Open::new("window", "CUBIC", CUBIC),
    ]
});

/// Changes of the sweep over timers.
pub(super) static TIMED: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let radio = format!("{}{}", RETRIES[2].1, FADINGS[2].1);
    vec![
        Open::new("nothing", "everything as assumed", ""),
        Open::new("timers are looked at", "exact timers", "\"fetch.rto-check\" = 0\n"),
        Open::new("window", "CUBIC", CUBIC),
        Open::new("the radio", "7 tries, m = 3", &radio),
        Open::new("delay of wires", "wires of 8 ms", "\"link.delay\" = \"8 ms\"\n"),
        Open::new(
            "delay of wires, timers",
            "wires of 8 ms, exact timers",
            "\"link.delay\" = \"8 ms\"\n\"fetch.rto-check\" = 0\n",
        ),
    ]
});

/// Changes of the runs that measure the satisfaction time.
pub(super) static DELAYED: LazyLock<Vec<Open>> = LazyLock::new(|| {
    vec![
        Open::new("nothing", "everything as assumed", ""),
        Open::new("fading", "no fading", FADINGS[0].1),
        Open::new("fading", "m = 3", FADINGS[2].1),
        Open::new("recovery of the radio", "WLDR", MOBILE_WLDR),
        Open::new("window", "CUBIC", CUBIC),
    ]
});

/// Changes of the runs with a moving consumer.
pub(super) static CONSUMER: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let parameter = "where the consumer moves";
    vec![
        Open::new(parameter, "everything as assumed", ""),
        Open::new(parameter, "no fading", FADINGS[0].1),
        Open::new(parameter, "WLDR recovers the radio", MOBILE_WLDR),
    ]
});

/// Changes of the joint network.
pub(super) static TOGETHER: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let [lossless, mild] = [0, 2].map(|it| format!("{}{}", RETRIES[2].1, FADINGS[it].1));
    vec![
        Open::new("nothing", "everything as assumed", ""),
        Open::new(
            "scan before an association",
            "scan of 200 ms",
            "\"wifi.handoff.scan\" = \"200 ms\"",
        ),
        Open::new("fading", "no fading", FADINGS[0].1),
        Open::new("fading", "m = 3", FADINGS[2].1),
        Open::new("the radio", "7 tries, no fading", &lossless),
        Open::new("the radio", "7 tries, m = 3", &mild),
        Open::new("window", "CUBIC", CUBIC),
    ]
});

/// The axis of set-ups. Small runs only show that everything works: a few values do.
fn setups(all: &[Open], scale: Scale) -> String {
    let every = if scale == Scale::Smoke { 8 } else { 1 };
    let values = all.iter().step_by(every).map(|it| (it.label(), it.fields.clone()));
    let values: Vec<_> = values.collect();
    axis("setup", values.iter().map(|(label, fields)| (label.as_str(), fields.clone())))
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let wireless =
        [axis::recoveries(&axis::WAYS), axis::timers(&TWO_TIMERS), setups(&WIRELESS, scale)];
    let mobile = [
        axis::moves(&axis::MOVES),
        axis::speeds(&["mobile"], &["10", "50"]),
        setups(&MOBILE, scale),
    ];
    let consumer = [
        axis::consumer_moves(),
        axis::speeds(&["mobile"], &["10", "50"]),
        setups(&CONSUMER, scale),
    ];
    let joint = [
        axis::joints(&axis::JOINT),
        axis::speeds(&["'m{1..10}'"], &[SLOW, FAST]),
        setups(&TOGETHER, scale),
    ];
    let timed = [
        axis::recoveries(&[NOTHING]),
        axis::timers(&some(&TIMERS, scale)),
        axis::wires(&["300"]),
        setups(&TIMED, scale),
    ];
    let delayed = [
        axis::moves(&[axis::ELN, axis::MLDR]),
        axis::repetitions(&["0"]),
        axis::speeds(&["mobile"], &some(&SPEEDS, scale)),
        setups(&DELAYED, scale),
    ];
    let wireless = experiment(
        "open-wireless",
        &["residual", "open-wireless"],
        Net::WirelessShort,
        scale,
        &wireless,
    );
    vec![
        Experiment {
            scenario: changed(&wireless.scenario, |it| it.unset(&["wifi", "mpdu-tries"])),
            ..wireless
        },
        experiment("open-timer", &["open-timer"], Net::Wireless, scale, &timed),
        experiment("open-mobile", &["open-mobile"], Net::Mobile, scale, &mobile),
        Experiment {
            seeds: walkers(scale),
            ..experiment("open-satisfaction", &["open-satisfaction"], Net::Mobile, scale, &delayed)
        },
        experiment("open-consumer", &["open-consumer"], Net::Mobile, scale, &consumer),
        experiment("open-joint", &["open-joint"], Net::Joint, scale, &joint),
    ]
}
