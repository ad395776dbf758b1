//! Parameters that the paper leaves open: the grid of radios, and single changes.
use super::axis::{self, FAST, NOTHING, SLOW, SPEEDS, TWO_TIMERS, axis};
use super::radio::{CELLS, CHOSEN, ERRORS, FADINGS, Setup, TRIES, WINDOWS};
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
    /// A change of some fields of the chosen set-up.
    fn new(parameter: &'static str, value: &str, fields: &str) -> Self {
        Self::of(parameter, value, CHOSEN, fields)
    }

    /// A different set-up, and a change of some fields.
    fn of(parameter: &'static str, value: &str, setup: Setup, fields: &str) -> Self {
        let is_assumed = setup == CHOSEN && fields.is_empty();
        let fields = overridden(&(setup.radio() + fields));
        Self { parameter, value: value.to_owned(), is_assumed, fields }
    }

    /// Its name in a figure.
    pub(super) fn short(&self) -> &str {
        if self.is_assumed { "as chosen" } else { &self.value }
    }

    /// Its name on the axis of set-ups.
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.parameter, self.value)
    }
}

/// Lines of fields in which each path stands once, with its last value.
fn overridden(fields: &str) -> String {
    let path = |line: &str| line.split(" = ").next().map(str::to_owned);
    let lines: Vec<_> = fields.lines().collect();
    let is_last = |(place, line): &(usize, &&str)| {
        lines[place + 1..].iter().all(|later| path(later) != path(line))
    };
    lines.iter().enumerate().filter(is_last).map(|(_, line)| format!("{line}\n")).collect()
}

/// Name of the grid among the open parameters.
pub(super) const GRID: &str = "the grid";

fn grid() -> Vec<Open> {
    let mut all = Vec::new();
    for fading in FADINGS.names() {
        for tries in TRIES.names() {
            let setup = Setup { fading, tries, ..CHOSEN };
            all.push(Open::of(GRID, &format!("{fading}, tries {tries}"), setup, ""));
        }
    }
    all
}

/// The set-up of the authors' published code.
pub(super) const AUTHORS: Setup = Setup {
    radio: "authors'",
    fading: "m = 1, MPDU",
    tries: "no limit",
    errors: "NIST",
    window: "0.5, 0.02",
    ..CHOSEN
};

fn authors(fading: &'static str) -> Open {
    Open::of("radio", &format!("authors' radio, {fading}"), Setup { fading, ..AUTHORS }, "")
}

const CUBIC: &str = "\"fetch.congestion\" = \"cubic\"\n";
/// Tries that leave more to recover.
pub(super) const TWO_TRIES: &str = "\"wifi.mpdu-tries\" = 2\n";
const EXACT: &str = "\"fetch.rto-check\" = 0\n";
/// The set-up of moves until 26 November 2026: fades that hold, four tries, short queues, and the default hand-off of a
/// scenario.
const EARLIER: &str = "\"wifi.mpdu-tries\" = 4\n\"link.queue\" = \"100 packets\"\n\"wifi.handoff.smoothing\" = 0.3
\"wifi.handoff.hysteresis\" = \"5 dB\"\n\"wifi.handoff.beacons\" = 3\n\"wifi.handoff.dwell\" = \"2 s\"
\"wifi.handoff.scan\" = \"0 s\"\n\"node.cache\" = \"1000 packets\"\n";

fn earlier() -> Open {
    let setup = Setup { window: "0.5, 0.02", ..CHOSEN };
    Open::of("all of it", "as until 26 November", setup, EARLIER)
}

/// Set-ups that differ in the window.
fn windows() -> impl Iterator<Item = Open> {
    let others = WINDOWS.names().into_iter().filter(|name| *name != CHOSEN.window);
    let raaqm = |window| {
        let setup = Setup { window, ..CHOSEN };
        Open::of("window", &format!("RAAQM {window}"), setup, "")
    };
    others.map(raaqm).chain([Open::new("window", "CUBIC", CUBIC)])
}

/// Set-ups that differ in the radio.
fn radios() -> [Open; 3] {
    let still = Setup { fading: "none", ..CHOSEN };
    [Open::of("fading", "no fading", still, ""), authors("m = 1, MPDU"), authors("none")]
}

fn chosen() -> Open {
    Open::new("nothing", "everything as chosen", "")
}

/// Changes of the wireless network: the grid, and single parameters.
pub(super) static WIRELESS: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let mut all = grid();
    all.extend([authors("m = 1, MPDU"), authors("none")]);
    all.extend(windows());
    let other = CELLS.values().find(|(name, _)| *name != CHOSEN.cells);
    all.extend(other.map(|(name, fields)| Open::new("the two cells", name, fields)));
    let other = ERRORS.values().find(|(name, _)| *name != CHOSEN.errors);
    all.extend(other.map(|(name, fields)| Open::new("errors", name, fields)));
    all.extend([
        Open::new("timers are looked at", "exact timers", EXACT),
        Open::new("tries of an MPDU", "2 tries", TWO_TRIES),
        Open::new("A-MSDU", "no A-MSDU", "\"wifi.amsdu\" = \"0 B\"\n"),
    ]);
    all
});

const MOBILE_WLDR: &str = "\"links.'mobile-ap*'.recovery\" = \"wldr(strict=true)\"\n";

/// Changes of the mobile network.
pub(super) static MOBILE: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let handoff = |field: &str| format!("\"wifi.handoff.{field}\n");
    let mut all = vec![chosen()];
    all.extend(radios());
    all.extend([
        Open::new("hand-off", "scan of 200 ms", &handoff("scan\" = \"200 ms\"")),
        Open::new(
            "the old access point learns",
            "departure noticed",
            &handoff("notice\" = \"departure\""),
        ),
        Open::new("recovery of the radio", "WLDR", MOBILE_WLDR),
        Open::new("window", "CUBIC", CUBIC),
        earlier(),
    ]);
    all
});

/// Changes of the sweep over timers.
pub(super) static TIMED: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let exact = Open::new("timers are looked at", "exact timers", EXACT);
    vec![chosen(), exact, Open::new("window", "CUBIC", CUBIC)]
});

/// Changes of the runs that measure the satisfaction time.
pub(super) static DELAYED: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let still = Setup { fading: "none", ..CHOSEN };
    vec![chosen(), Open::of("fading", "no fading", still, ""), earlier()]
});

/// Changes of the runs with a moving consumer.
pub(super) static CONSUMER: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let mut all = vec![chosen()];
    all.extend(radios());
    all.extend([Open::new("recovery of the radio", "WLDR", MOBILE_WLDR), earlier()]);
    all
});

/// Changes of the joint network.
pub(super) static TOGETHER: LazyLock<Vec<Open>> = LazyLock::new(|| {
    let mut all = vec![chosen()];
    all.extend(radios());
    all.extend([Open::new("window", "CUBIC", CUBIC), earlier()]);
    all
});

/// The recoveries and timers that different set-ups are run with.
pub(super) const OPEN_WAYS: [&str; 3] = [NOTHING, axis::ELN, axis::WLDR];
pub(super) const OPEN_JOINT: [&str; 3] = [NOTHING, axis::WLDR, axis::MLDR];
pub(super) const OPEN_TIMERS: [&str; 5] = ["40", "60", "100", "200", "1000"];

/// The axis of set-ups. Small runs only show that everything works: a few values do.
fn setups(all: &[Open], scale: Scale) -> String {
    let every = if scale == Scale::Smoke { 8 } else { 1 };
    let values = all.iter().step_by(every).map(|it| (it.label(), it.fields.clone()));
    let values: Vec<_> = values.collect();
    axis("setup", values.iter().map(|(label, fields)| (label.as_str(), fields.clone())))
}

pub(super) fn experiments(scale: Scale) -> Vec<Experiment> {
    let wireless =
        [axis::RECOVERY.only(&OPEN_WAYS), axis::timers(&TWO_TIMERS), setups(&WIRELESS, scale)];
    let mobile = [
        axis::MOBILITY.only(&axis::MOVES),
        axis::speeds(&["mobile"], &["10", "50"]),
        setups(&MOBILE, scale),
    ];
    let consumer = [
        axis::consumer_moves(),
        axis::speeds(&["mobile"], &["10", "50"]),
        setups(&CONSUMER, scale),
    ];
    let joint = [
        axis::NETWORK.only(&OPEN_JOINT),
        axis::speeds(&["'m{1..10}'"], &[SLOW, FAST]),
        setups(&TOGETHER, scale),
    ];
    let timed = [
        axis::RECOVERY.only(&[NOTHING]),
        axis::timers(&some(&OPEN_TIMERS, scale)),
        axis::wires(&["300"]),
        setups(&TIMED, scale),
    ];
    let delayed = [
        axis::MOBILITY.only(&[axis::ELN, axis::MLDR]),
        axis::REPEATED.only(&["0"]),
        axis::speeds(&["mobile"], &some(&SPEEDS, scale)),
        setups(&DELAYED, scale),
    ];
    let wireless = experiment("open-wireless", Net::WirelessShort, scale, &wireless);
    let all = vec![
        wireless,
        experiment("open-timer", Net::Wireless, scale, &timed),
        experiment("open-mobile", Net::Mobile, scale, &mobile),
        Experiment {
            seeds: walkers(scale),
            ..experiment("open-satisfaction", Net::Mobile, scale, &delayed)
        },
        experiment("open-consumer", Net::Mobile, scale, &consumer),
        experiment("open-joint", Net::Joint, scale, &joint),
    ];
    // Each set-up has the tries of an MPDU, and a scenario cannot unset a field.
    all.into_iter().map(freed).collect()
}

/// An experiment whose scenario sets no limit on the tries of an MPDU.
pub(super) fn freed(experiment: Experiment) -> Experiment {
    let scenario = changed(&experiment.scenario, |it| it.unset(&["wifi", "mpdu-tries"]));
    Experiment { scenario, ..experiment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_value_of_a_path_counts() {
        let fields = "\"a.b\" = 1\n\"a.c\" = 2\n\"a.b\" = 3\n";
        assert_eq!(overridden(fields), "\"a.c\" = 2\n\"a.b\" = 3\n");
    }

    #[test]
    fn each_list_has_one_chosen_set_up() {
        for list in [&WIRELESS, &MOBILE, &TIMED, &DELAYED, &CONSUMER, &TOGETHER] {
            let chosen = list.iter().filter(|it| it.is_assumed).count();
            assert_eq!(chosen, 1, "{list:?}");
        }
    }
}
