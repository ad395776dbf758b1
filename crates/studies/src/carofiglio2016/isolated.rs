//! Isolating runs: changes that turn E-02, E-03, E-09, E-15, E-20 and E-26.
use super::axis::{
    self, ELN, FAST, LONG_TIMERS, MLDR, MOVES, NOTHING, PARTS, SLOW, SPEEDS, TWO_TIMERS, WIRES,
    WLDR,
};
use super::open::{AUTHORS, TWO_TRIES, freed};
use super::radio::{DELAYS, FADINGS, Setup, fields};
use super::scenario::{CLIENTS, Net, experiment};
use crate::isolated::Isolated;
use crate::study::{Experiment, Scale};
use crate::sweep::{changed, set_fields};

pub(super) fn isolated() -> Vec<Isolated> {
    let still = fields(&FADINGS, "none");
    let alone = axis::speeds(&["mobile"], &SPEEDS);
    let authors = Setup { fading: "none", ..AUTHORS }.radio();
    let repairs =
        |ways: &[&'static str], wires| [axis::recoveries(ways), axis::timers(&LONG_TIMERS), wires];
    vec![
        Isolated {
            claim: "E-02",
            change: "2 changes: 2 tries of an MPDU, files of a check",
            experiment: with(
                "isolated-E-02",
                (Net::Wireless, Scale::Check),
                &repairs(&[NOTHING, ELN, WLDR], axis::wires(&WIRES)),
                &[TWO_TRIES],
            ),
            seeds: "401..500",
            places: &["timer"],
        },
        Isolated {
            claim: "E-03",
            change: "3 changes; leaves a stated number (wires of 60 Mbit/s): 2 tries of an MPDU, files of a check, wires of 20 Mbit/s",
            experiment: with(
                "isolated-E-03",
                (Net::Wireless, Scale::Check),
                &repairs(&[ELN, WLDR], narrower_wires()),
                &[TWO_TRIES],
            ),
            seeds: "401..800",
            places: &["timer"],
        },
        Isolated {
            claim: "E-09",
            change: "2 changes: 2 tries of an MPDU, files of a check",
            experiment: with(
                "isolated-E-09",
                (Net::Wireless, Scale::Check),
                &[axis::recoveries(&PARTS), axis::timers(&TWO_TIMERS)],
                &[TWO_TRIES],
            ),
            seeds: "401..600",
            places: &["part"],
        },
        Isolated {
            claim: "E-15",
            change: "no fading",
            experiment: with(
                "isolated-E-15",
                (Net::Mobile, Scale::Verdict),
                &[axis::moves(&MOVES), alone.clone()],
                &[still],
            ),
            seeds: "401..500",
            places: &["producer"],
        },
        Isolated {
            claim: "E-20",
            change: "3 changes; leaves stated numbers (wires of 1 ms, access points 50 m apart): no fading, wires of 8 ms, access points 12 m apart",
            experiment: with(
                "isolated-E-20",
                (Net::Mobile, Scale::Verdict),
                &[axis::consumer_moves(), alone],
                &[still, fields(&DELAYS, "8 ms"), &near_points()],
            ),
            seeds: "501..700",
            places: &["consumer"],
        },
        Isolated {
            claim: "E-26",
            change: "2 changes: the radio of the authors' code, no fading",
            experiment: freed(with(
                "isolated-E-26",
                (Net::Joint, Scale::Check),
                &[axis::joints(&[WLDR, MLDR]), axis::speeds(&CLIENTS, &[SLOW, FAST])],
                &[&authors],
            )),
            seeds: "21..220",
            places: &["joint"],
        },
    ]
}

/// The axis of wires with 20 Mbit/s where the rule reads 60: less than the radio carries.
fn narrower_wires() -> String {
    let [wide, narrow] = WIRES;
    let rate = |mbits: &str| format!("\"link.rate\" = \"{mbits} Mbit/s\"\n");
    axis::axis("wires", [(wide, rate(wide)), (narrow, rate("20"))])
}

/// Cells so small that a walker changes them a dozen times in a file.
fn near_points() -> String {
    const APART: u32 = 12;
    let point = |number| format!("\"nodes.ap{}.position\" = [{}, 0]\n", number + 1, number * APART);
    let way = format!("shuttle(east={}m,speed=10km/h,begin=anywhere)", 5 * APART);
    (0..6).map(point).collect::<String>() + &format!("\"nodes.mobile.motion\" = \"{way}\"\n")
}

/// An experiment on a network with other values in some fields.
fn with(
    name: &'static str,
    (net, scale): (Net, Scale),
    axes: &[String],
    fields: &[&str],
) -> Experiment {
    let experiment = experiment(name, &[], net, scale, axes);
    let scenario = changed(&experiment.scenario, |scenario| {
        fields.iter().for_each(|it| set_fields(scenario, it));
    });
    Experiment { scenario, seeds: 0, ..experiment }
}
