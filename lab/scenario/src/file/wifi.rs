//! The keys of `[wifi]`: an 802.11 medium that carries links.
use crate::compile::travel::Travels;
use crate::law;
use recoup_config::fields::Fields;
use recoup_config::form::{
    Count, FEW_BYTES, INTERVAL, Located, Many, Maybe, OneOf, Place, TEXT, TIME, Words,
};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::Table;
use recoup_core::unit;
use recoup_sim::network::{LinkId, NodeId, NodePlan, Notice, WifiPlan, WifiStation};

use recoup_transport::time::Duration;
use recoup_wifi::error::ErrorModel;
use recoup_wifi::plan::{Category, MediumPlan, RateControl, Role, Timing};
use recoup_wifi::propagation::{PathLoss, Position};
use recoup_wifi::rate::Rate;
use std::collections::BTreeSet;

/// A medium, and what it carries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WifiRule {
    medium: MediumPlan,
    /// Links, as names and patterns; without any, all that there are, unless there are access points.
    pub(crate) links: Vec<Located<String>>,
    /// Nodes that are access points, and clients of them.
    pub(crate) points: Vec<Located<String>>,
    pub(crate) clients: Vec<Located<String>>,
    /// Nodes with a broadcast face.
    pub(crate) broadcast: Vec<Located<String>>,
    /// Categories of Interests and of everything else.
    categories: (Category, Category),
    notice: Notice,
    /// Longest deferral of broadcast packets.
    defer: Duration,
    /// Metres between nodes that have no position, in a row.
    spacing: Option<f64>,
}

/// Standard that sets the defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standard {
    G,
    GShort,
    N,
}

/// A year: times that are longer are no times of a run.
const NEVER_NANOS: u64 = 31_536_000_000_000_000;

const CATEGORY: OneOf<Category> = OneOf(&[
    ("best-effort", Category::BestEffort),
    ("voice", Category::Voice),
    ("video", Category::Video),
    ("background", Category::Background),
]);

const NOTICE: OneOf<Notice> =
    OneOf(&[("association", Notice::Association), ("departure", Notice::Departure)]);

const SHARE: Words<f64> = Words::new(
    |text| {
        let share = text.parse().ok().filter(|share| (0.001..=1.0).contains(share));
        share.ok_or_else(|| format!("`{text}` is no share; write a number from 0.001 to 1"))
    },
    ToString::to_string,
    "write a number from 0.001 to 1",
);

const STANDARD: OneOf<Standard> =
    OneOf(&[("g", Standard::G), ("g-short", Standard::GShort), ("n", Standard::N)]);

const RATES: Words<Rate> = Words::new(
    |text| text.parse().map_err(|error: recoup_wifi::rate::RateError| error.to_string()),
    ToString::to_string,
    "write it like \"ofdm-54\"",
);

const CONTROL: Words<RateControl> = Words::new(
    |text| match text {
        "minstrel" => Ok(RateControl::MinstrelHt { wide: true, short_guard: true }),
        "arf" => Ok(RateControl::Arf { adaptive: false }),
        "aarf" => Ok(RateControl::Arf { adaptive: true }),
        rate => rate
            .parse()
            .map(RateControl::Constant)
            .map_err(|error: recoup_wifi::rate::RateError| format!("{error}, minstrel or arf")),
    },
    |control| match control {
        RateControl::Constant(rate) => rate.to_string(),
        RateControl::MinstrelHt { .. } => "minstrel".into(),
        RateControl::Arf { adaptive: false } => "arf".into(),
        RateControl::Arf { adaptive: true } => "aarf".into(),
    },
    "write it like \"ofdm-54\" or \"minstrel\"",
);

/// Bytes of a PSDU of 802.11n.
const AMPDU: Words<u32> = Words::new(
    |text| bytes(text, 65_535),
    |bytes| unit::print_bytes(u64::from(*bytes)),
    "write it like \"65535 B\"",
);

/// Bytes of an A-MSDU of 802.11n.
const AMSDU: Words<u32> = Words::new(
    |text| bytes(text, 7_935),
    |bytes| unit::print_bytes(u64::from(*bytes)),
    "write it like \"3839 B\"",
);

const ERRORS: Words<ErrorModel> =
    Words::new(str::parse, ToString::to_string, "write \"table\", \"nist\" or \"yans\"");

pub(crate) const METRES: Words<f64> = Words::new(
    |text| measure(text, "m", 0.0, "distance; write it like \"150 m\""),
    |metres| format!("{metres} m"),
    "write it like \"150 m\"",
);

const POWER: Words<f64> = Words::new(
    |text| measure(text, "dBm", f64::MIN, "power; write it like \"16 dBm\""),
    |dbm| format!("{dbm} dBm"),
    "write it like \"16 dBm\"",
);

const MARGIN: Words<f64> = Words::new(
    |text| measure(text, "dB", 0.0, "margin; write it like \"5 dB\""),
    |db| format!("{db} dB"),
    "write it like \"5 dB\"",
);

fn bytes(text: &str, most: u32) -> Result<u32, String> {
    let bytes = u32::try_from(unit::bytes(text)?).ok().filter(|bytes| *bytes <= most);
    bytes.ok_or_else(|| format!("`{text}` is more than the {most} B that 802.11n permits"))
}

/// A number of `unit`, which only 0 does not need, from `least` on.
fn measure(text: &str, unit: &str, least: f64, what: &str) -> Result<f64, String> {
    let given = text.trim();
    let number = given.strip_suffix(unit).unwrap_or(given).trim();
    match number.parse::<f64>() {
        Ok(value) if number == given && value != 0.0 => {
            Err(format!("{given} has no unit; it is a {what}"))
        }
        Ok(value) if value.abs() < 1e6 && value >= least => Ok(value),
        _ => Err(format!("`{given}` is no {what}")),
    }
}

/// Reads `[wifi]`; with `complete`, keys that would change nothing are mistakes.
pub(crate) fn read_wifi(
    given: &Table,
    path: &str,
    origin: Origin,
    complete: bool,
    problems: &mut Problems,
) -> (WifiRule, Table) {
    let mut fields = Fields::new(given, path, origin, true, problems);
    let mut standard = Standard::G;
    fields.field("standard", &mut standard, STANDARD);
    let mut medium = preset(standard);
    if fields.field("rate", &mut medium.rate, CONTROL) {
        match medium.rate {
            RateControl::Arf { .. } if standard == Standard::N => {
                fields.problem("rate", "needs standard = \"g\": ARF knows no aggregates");
            }
            RateControl::MinstrelHt { .. } if standard != Standard::N => {
                fields.problem("rate", "needs standard = \"n\": Minstrel-HT has its rates");
            }
            _ => {}
        }
    }
    fields.field("basic-rate", &mut medium.basic_rate, RATES);
    fields.field("power", &mut medium.power_dbm, POWER);
    way(&mut fields, standard, &mut medium);
    fields.field("errors", &mut medium.receiver.errors, ERRORS);
    fields.field("capture", &mut medium.receiver.capture_db, Maybe(MARGIN));
    fields.field("rts", &mut medium.rts_bytes, Maybe(FEW_BYTES));
    counts(&mut fields, complete, &mut medium);
    fields.field("lifetime", &mut medium.lifetime, INTERVAL);
    fields.field("mtu", &mut medium.largest_bytes, Maybe(FEW_BYTES));
    let mut rule = WifiRule {
        medium,
        links: Vec::new(),
        points: Vec::new(),
        clients: Vec::new(),
        broadcast: Vec::new(),
        categories: Default::default(),
        notice: Notice::default(),
        defer: Duration::ZERO,
        spacing: None,
    };
    fields.field("interests", &mut rule.categories.0, CATEGORY);
    fields.field("data", &mut rule.categories.1, CATEGORY);
    fields.field("links", &mut rule.links, Many(Place(TEXT)));
    fields.field("points", &mut rule.points, Many(Place(TEXT)));
    fields.field("clients", &mut rule.clients, Many(Place(TEXT)));
    fields.field("broadcast", &mut rule.broadcast, Many(Place(TEXT)));
    fields.field("defer", &mut rule.defer, TIME);
    fields.field("spacing", &mut rule.spacing, Maybe(METRES));
    if rule.points.is_empty() != rule.clients.is_empty() {
        let (given, missing) =
            if rule.points.is_empty() { ("clients", "points") } else { ("points", "clients") };
        fields.problem(given, format!("needs `{missing}` beside it"));
    }
    fields.default_table("handoff", !rule.points.is_empty(), |given, path, origin, problems| {
        handoff(given, path, origin, &mut rule, problems)
    });
    if complete {
        check_use(&mut fields, &rule);
    }
    let normal = fields.finish();
    (rule, normal)
}

/// Reports keys without effect.
fn check_use(fields: &mut Fields<'_>, rule: &WifiRule) {
    if rule.points.is_empty() && rule.clients.is_empty() && fields.gives("handoff") {
        fields.problem("handoff", "needs `points` and `clients` beside it");
    }
    if rule.broadcast.is_empty() && rule.defer != Duration::ZERO {
        fields.problem("defer", "needs `broadcast` beside it");
    }
    for (key, category) in [("interests", rule.categories.0), ("data", rule.categories.1)] {
        if !rule.medium.qos && category != Category::BestEffort {
            fields.problem(key, "needs standard = \"n\": 802.11g has no other category");
        }
    }
}

/// The keys of `[wifi.handoff]`: when clients go to another access point, and how.
fn handoff(
    given: &Table,
    path: &str,
    origin: Origin,
    rule: &mut WifiRule,
    problems: &mut Problems,
) -> Table {
    let mut fields = Fields::new(given, path, origin, true, problems);
    let plan = &mut rule.medium.infrastructure;
    for (key, nanos) in [("beacon", &mut plan.beacon_nanos), ("dwell", &mut plan.dwell_nanos)] {
        let mut time = Duration::from_nanos(*nanos);
        fields.field(key, &mut time, INTERVAL);
        *nanos = nanos_of(time);
    }
    let mut scan = Duration::from_nanos(plan.scan_nanos);
    fields.field("scan", &mut scan, TIME);
    plan.scan_nanos = nanos_of(scan);
    fields.field("hysteresis", &mut plan.hysteresis_db, MARGIN);
    fields.field("low", &mut plan.low_dbm, Maybe(POWER));
    fields.field("smoothing", &mut plan.smoothing, SHARE);
    for (key, count) in [("beacons", &mut plan.beacons), ("missed", &mut plan.missed)] {
        let mut number = u64::from(*count);
        fields.field(key, &mut number, Count(1, 1_000));
        *count = number as u32;
    }
    fields.field("notice", &mut rule.notice, NOTICE);
    fields.finish()
}

fn nanos_of(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).min(NEVER_NANOS)
}

/// Propagation of a signal.
fn way(fields: &mut Fields<'_>, standard: Standard, medium: &mut MediumPlan) {
    let carrier_hz = if standard == Standard::N { 5.19e9 } else { 2.412e9 };
    let is_friis = matches!(medium.path_loss, PathLoss::Friis { .. });
    let mut loss = String::from(if is_friis { "friis" } else { "log-distance" });
    let (mut fading, mut shadowing) = (String::from("none"), String::from("none"));
    fields.field("path-loss", &mut loss, law::PATH_LOSS);
    fields.field("fading", &mut fading, law::FADING);
    fields.field("shadowing", &mut shadowing, law::SHADOWING);
    fields.field("floor", &mut medium.receiver.preamble_dbm, POWER);
    medium.receiver.carrier_dbm = medium.receiver.preamble_dbm;
    // An invalid path loss was reported when the fields were read.
    medium.path_loss = recoup_wifi::law::path_loss(&loss, carrier_hz).unwrap_or(medium.path_loss);
    medium.fading.carrier_hz = carrier_hz;
    recoup_wifi::law::fading(&fading, &mut medium.fading).unwrap_or_default();
    recoup_wifi::law::shadowing(&shadowing, &mut medium.fading).unwrap_or_default();
}

fn counts(fields: &mut Fields<'_>, complete: bool, medium: &mut MediumPlan) {
    let mut tries = u64::from(medium.tries);
    if fields.field("tries", &mut tries, Count(1, 255)) {
        medium.tries = tries as u32;
    }
    if let Some(aggregation) = &mut medium.aggregation {
        let mut mpdu_tries = None;
        fields.field("mpdu-tries", &mut mpdu_tries, Maybe(Count(1, 255)));
        aggregation.mpdu_tries = mpdu_tries.map(|tries| tries as u32);
        fields.field("ampdu", &mut aggregation.ampdu_bytes, AMPDU);
        fields.field("amsdu", &mut aggregation.amsdu_bytes, AMSDU);
    } else {
        for key in ["mpdu-tries", "ampdu", "amsdu"] {
            if fields.keep(key).is_some() && complete {
                fields.problem(key, "needs standard = \"n\": 802.11g has no aggregates");
            }
        }
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
    /// The medium with stations at the ends of `links`, each given with its ends' numbers; some of them are
    /// access points or clients.
    pub(crate) fn plan(
        &self,
        links: &[(LinkId, [usize; 2])],
        (points, clients): (&[NodeId], &[NodeId]),
        nodes: &[NodePlan],
        travels: &mut Travels<'_>,
        problems: &mut Problems,
    ) -> WifiPlan {
        let set = |nodes: &[NodeId]| nodes.iter().copied().collect::<BTreeSet<NodeId>>();
        let (points, clients) = (set(points), set(clients));
        let ends: BTreeSet<usize> = links.iter().flat_map(|(_, ends)| *ends).collect();
        let mut stations = Vec::new();
        for number in ends {
            let Some(node) = nodes.get(number) else { continue };
            let in_row = self.spacing.map(|metres| (number as f64 * metres, 0.0));
            let id = NodeId(number as u32);
            let role = match (points.contains(&id), clients.contains(&id)) {
                (true, _) => Role::AccessPoint,
                (false, true) => Role::Client,
                (false, false) => Role::Peer,
            };
            let place = node.position.or(in_row).map(|(x, y)| Position { x, y });
            match travels.motion(node, place) {
                Ok(Some(motion)) => stations.push(WifiStation { node: id, motion, role }),
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
        let mut plan = WifiPlan::new("wifi", self.medium, stations, links);
        (plan.interests, plan.data) = self.categories;
        (plan.notice, plan.defer) = (self.notice, self.defer);
        plan
    }
}
