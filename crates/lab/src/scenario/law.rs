//! Which laws and algorithms a scenario may name, judged by those who carry them out.
use recoup_config::form::{Law, judged};
use recoup_sim::model;
use recoup_sim::model::loss::{Loss, with_trace_files};
use recoup_sim::record::RecordPlan;

use recoup_forwarder::face::Recovery;
use recoup_forwarder::mobility::Mobility;
use recoup_forwarder::strategy;
use recoup_forwarder::suppression::Suppression;
use recoup_transport::fetch::FetchOptions;
use recoup_transport::random::Rng;
use recoup_transport::rto;
use recoup_wifi::fading::FadingPlan;
use recoup_wifi::motion::plan::MotionPlan;

/// Loss models, joined by `+`.
pub(super) const LOSS: Law = Law::new(is_loss, "bernoulli(p=0.01)");
/// Random part of a delay.
pub(super) const JITTER: Law = Law::new(is_time, "exponential(mean=1ms)");
/// Which packets arrive twice.
pub(super) const DUPLICATE: Law = Law::new(is_loss, "bernoulli(p=0.001)");
/// Congestion marking.
pub(super) const MARKING: Law = Law::new(|text| judged(model::marking::parse(text)), "codel");
/// How a link is shared among flows.
pub(super) const SCHEDULER: Law =
    Law::new(|text| judged(recoup_transport::queue::Discipline::or_none(text)), "max-min");
/// What a link sends again.
pub(super) const RECOVERY: Law = Law::new(|text| judged(text.parse::<Recovery>()), "wldr");
/// Time that a node takes for a packet.
pub(super) const PROCESSING: Law = Law::new(is_time, "exponential(mean=0.3ms)");
/// Forwarding strategy.
pub(super) const STRATEGY: Law = Law::new(|text| judged(strategy::parse(text)), "best-route");
/// What becomes of retransmissions.
pub(super) const SUPPRESSION: Law =
    Law::new(|text| judged(Suppression::parse(text)), "same-face-retx");
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
/// What becomes of Interests whose face is gone.
pub(super) const MOBILITY: Law = Law::new(|text| judged(text.parse::<Mobility>()), "mldr");
/// What becomes a table.
pub(super) const RECORD: Law = Law::new(|text| judged(RecordPlan::parse(text)), "segments");
/// Retransmission timer of requests, which may have none.
pub(super) const RTO_OR_NONE: Law = Law::new(
    |text| match text.trim() {
        "none" => Ok(()),
        text => judged(rto::parse(text)),
    },
    "jacobson(min=0ms)",
);
/// The default algorithm of a key of a table of defaults. A setting of one of its parameters begins with it.
pub(super) fn default_spec(table: &str, key: &str) -> Option<String> {
    let fetch = FetchOptions::default;
    Some(match (table, key) {
        ("fetch", "rto") => fetch().rto.to_string(),
        ("fetch", "congestion") => fetch().congestion.to_string(),
        ("fetch", "loss") => fetch().loss.to_string(),
        ("request", "rto") => REQUEST_RTO.to_owned(),
        ("node", "strategy") => "best-route".to_owned(),
        ("node", "suppression") => "same-face-retx".to_owned(),
        _ => return None,
    })
}

/// Retransmission timer of requests.
pub(super) const REQUEST_RTO: &str = "jacobson";

/// Lists of losses in files are judged when they are read.
fn is_loss(text: &str) -> Result<(), String> {
    let text = with_trace_files(text, &|_| Ok(String::new()))?;
    judged(Loss::parse(&text, &Rng::from_seed(0)))
}

fn is_time(text: &str) -> Result<(), String> {
    judged(model::law::Law::parse(text))
}
