//! Distributions and algorithms that a scenario may name, checked by their implementations.
use recoup_config::form::{Algorithm, Law, OrWord, judged};
use recoup_sim::model;
use recoup_sim::record::RecordPlan;

use recoup_forwarder::options::NodeOptions;
use recoup_forwarder::strategy::Strategy;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::queue::Scheduler;
use recoup_transport::rto::Rto;
use recoup_wifi::fading::FadingPlan;
use recoup_wifi::motion::plan::MotionPlan;

/// How a link is shared among flows.
pub(super) const SCHEDULER: Algorithm<Scheduler> = Algorithm::new("max-min");
/// Time that a node takes for a packet.
pub(super) const PROCESSING: Algorithm<model::law::Law> = Algorithm::new("exponential(mean=0.3ms)");
/// Forwarding strategy.
pub(super) const STRATEGY: Algorithm<Strategy> = Algorithm::new("best-route");
/// How a node moves.
pub(super) const MOTION: Law =
    Law::new(|text| judged(MotionPlan::parse(text)), "linear(speed=50km/h,heading=90)");
/// How signals fade with distance.
pub(super) const PATH_LOSS: Law =
    Law::new(|text| judged(recoup_wifi::law::path_loss(text, 1.0)), "log-distance(exponent=3)");
/// Chance on the way that comes and goes.
pub(super) const FADING: Law = Law::new(
    |text| judged(recoup_wifi::law::fading(text, &mut FadingPlan::default())),
    "nakagami(m=1)",
);
/// Chance on the way that depends on where one is.
pub(super) const SHADOWING: Law = Law::new(
    |text| judged(recoup_wifi::law::shadowing(text, &mut FadingPlan::default())),
    "log-normal(sd=4)",
);
/// Records, each of which becomes a table.
pub(super) const RECORD: Law = Law::new(|text| judged(RecordPlan::parse(text)), "segments");
/// Retransmission timer of requests, which may have none.
pub(super) const RTO_OR_NONE: OrWord<Algorithm<Rto>> =
    OrWord(Algorithm::new("jacobson(min=0ms)"), "none");
/// The default algorithm of a key of a table of defaults. A setting of one of its parameters begins with it.
pub(super) fn default_spec(table: &str, key: &str) -> Option<String> {
    let fetch = FetchOptions::default;
    Some(match (table, key) {
        ("fetch", "rto") => fetch().rto.to_string(),
        ("fetch", "congestion") => fetch().congestion.to_string(),
        ("fetch", "loss") => fetch().loss.to_string(),
        ("request", "rto") => REQUEST_RTO.to_owned(),
        ("node", "cache-replacement") => NodeOptions::default().cache_replacement.to_string(),
        ("node", "cache-admission") => NodeOptions::default().cache_admission.to_string(),
        ("node", "strategy") => NodeOptions::default().strategy.to_string(),
        ("node", "suppression") => NodeOptions::default().suppression.to_string(),
        _ => return None,
    })
}

/// Retransmission timer of requests.
pub(super) const REQUEST_RTO: &str = "jacobson";
