//! The keys of `[wifi]`: an 802.11 medium that carries links.
use crate::network::{LinkId, NodeId, NodePlan, WifiPlan, WifiStation};
use crate::scenario::compile::travel::Travels;
use crate::scenario::fields::Fields;
use crate::scenario::form::{
    Count, FEW_OCTETS, INTERVAL, Located, Many, Maybe, OneOf, Place, TEXT, Words,
};
use crate::scenario::law;
use crate::scenario::problem::{Origin, Problems};
use crate::scenario::tree::Table;
use crate::wifi;
use crate::wifi::error::ErrorModel;
use crate::wifi::plan::{MediumPlan, RateControl, Role, Timing};
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
    way(&mut fields, standard, &mut medium);
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

/// What becomes of a signal on its way.
fn way(fields: &mut Fields<'_>, standard: Standard, medium: &mut MediumPlan) {
    let carrier_hz = if standard == Standard::N { 5.19e9 } else { 2.412e9 };
    let is_friis = matches!(medium.path_loss, PathLoss::Friis { .. });
    let mut loss = String::from(if is_friis { "friis" } else { "log-distance" });
    let (mut fading, mut shadowing) = (String::from("none"), String::from("none"));
    fields.field("path-loss", &mut loss, law::PATH_LOSS);
    fields.field("fading", &mut fading, law::FADING);
    fields.field("shadowing", &mut shadowing, law::SHADOWING);
    fields.field("floor", &mut medium.hearing.preamble_dbm, POWER);
    medium.hearing.carrier_dbm = medium.hearing.preamble_dbm;
    // What is wrong was said when the fields were read.
    medium.path_loss = wifi::law::path_loss(&loss, carrier_hz).unwrap_or(medium.path_loss);
    medium.fading.carrier_hz = carrier_hz;
    wifi::law::fading(&fading, &mut medium.fading).unwrap_or_default();
    wifi::law::shadowing(&shadowing, &mut medium.fading).unwrap_or_default();
}

fn counts(fields: &mut Fields<'_>, medium: &mut MediumPlan) {
    let mut tries = u64::from(medium.tries);
    if fields.field("tries", &mut tries, Count(1, 255)) {
        medium.tries = tries as u32;
    }
    let mut mpdu_tries = None;
    fields.field("mpdu-tries", &mut mpdu_tries, Maybe(Count(1, 255)));
    if let Some(aggregation) = &mut medium.aggregation {
        aggregation.mpdu_tries = mpdu_tries.map(|tries| tries as u32);
        fields.field("ampdu", &mut aggregation.ampdu_octets, FEW_OCTETS);
        fields.field("amsdu", &mut aggregation.amsdu_octets, FEW_OCTETS);
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
        travels: &mut Travels<'_>,
        problems: &mut Problems,
    ) -> WifiPlan {
        let mut stations = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            if !links.iter().any(|(_, ends)| ends.contains(&number)) {
                continue;
            }
            let in_row = self.spacing.map(|metres| (number as f64 * metres, 0.0));
            let place = node.position.or(in_row).map(|(x, y)| Position { x, y });
            match travels.motion(node, place) {
                Ok(Some(motion)) => stations.push(WifiStation {
                    node: NodeId(number as u32),
                    motion,
                    role: Role::Peer,
                }),
                Ok(None) => {
                    let name = &node.name;
                    let what = format!(
                        "`{name}` has no place; give [nodes.{name}] position, or [wifi] spacing"
                    );
                    problems.add(Origin::Unknown, "wifi.spacing", what);
                }
                Err(what) => {
                    let key = format!("nodes.{}.motion", node.name);
                    problems.add(Origin::Unknown, key, what);
                }
            }
        }
        let links = links.iter().map(|(link, _)| *link).collect();
        WifiPlan::new("wifi", self.medium, stations, links)
    }
}
