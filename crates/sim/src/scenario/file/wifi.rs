//! The keys of `[wifi]`: an 802.11 medium that carries links.
use crate::network::{LinkId, NodePlan, WifiPlan, WifiStation};
use crate::scenario::fields::Fields;
use crate::scenario::form::{
    Count, FEW_OCTETS, INTERVAL, Located, Many, Maybe, OneOf, Place, TEXT, Words,
};
use crate::scenario::problem::{Origin, Problems};
use crate::scenario::tree::Table;
use crate::wifi::error::ErrorModel;
use crate::wifi::motion::Motion;
use crate::wifi::plan::{Aggregation, MediumPlan, RateControl, Timing};
use crate::wifi::propagation::{PathLoss, Position};
use crate::wifi::rate::Rate;

/// A medium, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::scenario) struct WifiRule {
    medium: MediumPlan,
    /// Links, as names and patterns.
    pub(in crate::scenario) links: Vec<Located<String>>,
    /// Metres between nodes that have no position, in a row.
    spacing: Option<f64>,
}

/// What decides the defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standard {
    G,
    GShort,
    N,
}

const STANDARD: OneOf<Standard> =
    OneOf(&[("g", Standard::G), ("g-short", Standard::GShort), ("n", Standard::N)]);

const FRIIS: OneOf<bool> = OneOf(&[("friis", true), ("log-distance", false)]);

const RATES: Words<Rate> = Words::new(
    |text| text.parse().map_err(|error: crate::wifi::rate::RateError| error.to_string()),
    ToString::to_string,
    "write it like \"ofdm-54\"",
);

const CONTROL: Words<RateControl> = Words::new(
    |text| match text {
        "minstrel" => Ok(RateControl::MinstrelHt { wide: true, short_guard: true }),
        rate => rate
            .parse()
            .map(RateControl::Constant)
            .map_err(|error: crate::wifi::rate::RateError| format!("{error}, or minstrel")),
    },
    |control| match control {
        RateControl::Constant(rate) => rate.to_string(),
        RateControl::MinstrelHt { .. } => "minstrel".into(),
    },
    "write it like \"ofdm-54\" or \"minstrel\"",
);

const ERRORS: Words<ErrorModel> =
    Words::new(str::parse, ToString::to_string, "write \"table\", \"nist\" or \"yans\"");

const METRES: Words<f64> = Words::new(
    |text| measure(text, "m").filter(|metres| *metres >= 0.0).ok_or("is no distance".into()),
    |metres| format!("{metres} m"),
    "write it like \"150 m\"",
);

const POWER: Words<f64> = Words::new(
    |text| measure(text, "dBm").ok_or("is no power".into()),
    |dbm| format!("{dbm} dBm"),
    "write it like \"16 dBm\"",
);

const MARGIN: Words<f64> = Words::new(
    |text| measure(text, "dB").filter(|db| *db >= 0.0).ok_or("is no margin".into()),
    |db| format!("{db} dB"),
    "write it like \"5 dB\"",
);

/// A number of `unit`, which may be left out.
fn measure(text: &str, unit: &str) -> Option<f64> {
    let number = text.trim().strip_suffix(unit).unwrap_or(text).trim();
    number.parse().ok().filter(|number: &f64| number.abs() < 1e6)
}

/// Reads `[wifi]`.
pub(in crate::scenario) fn read_wifi(
    given: &Table,
    path: &str,
    origin: Origin,
    problems: &mut Problems,
) -> (WifiRule, Table) {
    let mut fields = Fields::new(given, path, origin, true, problems);
    let mut standard = Standard::G;
    fields.field("standard", &mut standard, STANDARD);
    let mut medium = preset(standard);
    fields.field("rate", &mut medium.rate, CONTROL);
    fields.field("basic-rate", &mut medium.basic_rate, RATES);
    fields.field("power", &mut medium.power_dbm, POWER);
    let mut is_friis = matches!(medium.path_loss, PathLoss::Friis { .. });
    fields.field("path-loss", &mut is_friis, FRIIS);
    let frequency = if standard == Standard::N { 5.19e9 } else { 2.412e9 };
    medium.path_loss =
        if is_friis { PathLoss::Friis { frequency } } else { PathLoss::LOG_DISTANCE };
    fields.field("errors", &mut medium.hearing.errors, ERRORS);
    fields.field("capture", &mut medium.hearing.capture_db, Maybe(MARGIN));
    fields.field("rts", &mut medium.rts_octets, Maybe(FEW_OCTETS));
    counts(&mut fields, &mut medium);
    fields.field("lifetime", &mut medium.lifetime, INTERVAL);
    fields.field("mtu", &mut medium.largest_octets, Maybe(FEW_OCTETS));
    let mut links = vec![Located { value: "*".to_owned(), origin: Origin::Unknown }];
    fields.field("links", &mut links, Many(Place(TEXT)));
    let mut spacing = None;
    fields.field("spacing", &mut spacing, Maybe(METRES));
    let normal = fields.finish();
    (WifiRule { medium, links, spacing }, normal)
}

fn counts(fields: &mut Fields<'_>, medium: &mut MediumPlan) {
    let mut tries = u64::from(medium.tries);
    if fields.field("tries", &mut tries, Count(1, 255)) {
        medium.tries = tries as u32;
    }
    let mut mpdu_tries = None;
    if fields.field("mpdu-tries", &mut mpdu_tries, Maybe(Count(1, 255)))
        && let Some(aggregation) = &mut medium.aggregation
    {
        *aggregation =
            Aggregation { mpdu_tries: mpdu_tries.map(|tries| tries as u32), ..*aggregation };
    }
    let mut frames = medium.queue_frames as u64;
    if fields.field("frames", &mut frames, Count(1, 1_000_000)) {
        medium.queue_frames = frames as usize;
    }
}

fn preset(standard: Standard) -> MediumPlan {
    match standard {
        Standard::G => MediumPlan::g(Rate::Ofdm(7)),
        Standard::GShort => MediumPlan { timing: Timing::G_SHORT, ..MediumPlan::g(Rate::Ofdm(7)) },
        Standard::N => MediumPlan::n(RateControl::MinstrelHt { wide: true, short_guard: true }),
    }
}

impl WifiRule {
    /// The medium with stations at the ends of `links`, each given with its ends' numbers.
    pub(in crate::scenario) fn plan(
        &self,
        links: &[(LinkId, [usize; 2])],
        nodes: &[NodePlan],
        problems: &mut Problems,
    ) -> WifiPlan {
        let mut stations = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            if !links.iter().any(|(_, ends)| ends.contains(&number)) {
                continue;
            }
            let in_row = self.spacing.map(|metres| (number as f64 * metres, 0.0));
            let Some((x, y)) = node.position.or(in_row) else {
                let what = format!(
                    "`{}` has no place; give [nodes.{}] position, or [wifi] spacing",
                    node.name, node.name
                );
                problems.add(Origin::Unknown, "wifi.spacing", what);
                continue;
            };
            let node = crate::network::NodeId(number as u32);
            stations.push(WifiStation { node, motion: Motion::still(Position { x, y }) });
        }
        let links = links.iter().map(|(link, _)| *link).collect();
        WifiPlan { name: "wifi".into(), medium: self.medium, stations, links }
    }
}
