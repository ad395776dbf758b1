//! A timeline and its verdict, as a person and as a program read them.
use super::kept::Chosen;
use recoup_core::figure::{milliseconds, ms};
use recoup_forwarder::packet::Kind;
use recoup_sim::network::{ApplicationPlan, NodeId};
use recoup_sim::record::place::{Channel, Places};
use recoup_sim::timeline::{Cause, Loss, Moment, Remedy, Source, Step, Timeline, Verdict};
use recoup_transport::event;
use recoup_transport::time::{Duration, Instant};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The timeline of a segment.
#[derive(Debug, Serialize)]
pub struct Story {
    command: &'static str,
    /// The consumer, and its node.
    application: String,
    node: String,
    segment: u64,
    values: BTreeMap<String, String>,
    seed: u64,
    /// Time of the first Interest, from the beginning of the run.
    asked_s: f64,
    delay_ms: Option<f64>,
    median_ms: Option<f64>,
    late: bool,
    /// Transmissions of its Interest.
    transmissions: usize,
    /// Largest part of the delay, in a word.
    cause: &'static str,
    /// Time from the first spurious timeout to the answer.
    spurious_ms: Option<f64>,
    /// Node whose cache or producer answered.
    source: Option<String>,
    verdict: String,
    moments: Vec<Line>,
    /// Moments beyond the limit of the timeline.
    omitted: u64,
}

/// A line of the timeline.
#[derive(Debug, Serialize)]
struct Line {
    /// Time since the first Interest.
    at_ms: f64,
    place: String,
    what: String,
}

impl Story {
    /// The timeline of the followed segment; `None` without any Interest.
    pub fn new(chosen: &Chosen, plan: &ApplicationPlan, timeline: &Timeline) -> Option<Self> {
        let verdict = timeline.verdict()?;
        let asked = timeline.transmissions().first()?.at;
        let printer = Printer { places: timeline.places(), plan };
        let lines = timeline.moments().iter().filter_map(|moment| printer.line(asked, moment));
        Some(Self {
            command: "explain",
            application: plan.name.clone(),
            node: printer.node(plan.node).to_owned(),
            segment: timeline.segment()?,
            values: chosen.row.values.iter().cloned().collect(),
            seed: chosen.row.seed,
            asked_s: asked.as_secs_f64(),
            delay_ms: verdict.delay.map(ms),
            median_ms: verdict.median.map(ms),
            late: verdict.is_late(),
            transmissions: timeline.transmissions().len(),
            cause: word(&verdict.cause),
            spurious_ms: verdict.spurious.map(ms),
            source: verdict.source.map(|source| printer.node(node_of(source)).to_owned()),
            verdict: printer.verdict(&verdict),
            moments: lines.collect(),
            omitted: timeline.omitted(),
        })
    }
}

impl Story {
    /// Number of the segment.
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// The cause of the arrival time, in one sentence.
    pub fn verdict(&self) -> &str {
        &self.verdict
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {}, segment {}; seed {}",
            self.application, self.node, self.segment, self.seed
        )?;
        for (axis, value) in &self.values {
            write!(f, ", {axis}={value}")?;
        }
        writeln!(f, "; first Interest at {:.6} s\n", self.asked_s)?;
        let places = self.moments.iter().map(|line| line.place.chars().count());
        let width = places.max().unwrap_or(0);
        for Line { at_ms, place, what } in &self.moments {
            writeln!(f, "{at_ms:>12.3} ms  {place:width$}  {what}")?;
        }
        if self.omitted > 0 {
            writeln!(f, "                 … and {} more", self.omitted)?;
        }
        writeln!(f, "\n{}", self.verdict)
    }
}

fn word(cause: &Cause) -> &'static str {
    match cause {
        Cause::Way => "way",
        Cause::Repair { .. } => "repair",
        Cause::Queue { .. } => "queue",
        Cause::Channel { .. } => "channel",
        Cause::Missing(_) => "missing",
    }
}

fn node_of(source: Source) -> NodeId {
    match source {
        Source::Cache(node) | Source::Producer(node) => node,
    }
}

fn time(duration: Duration) -> String {
    format!("{} ms", milliseconds(ms(duration)))
}

fn kind_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Interest => "Interest",
        Kind::Data => "Data",
        Kind::Nack => "Nack",
        Kind::Idle => "frame",
    }
}

/// Puts moments and verdicts into words.
struct Printer<'a> {
    places: &'a Places,
    plan: &'a ApplicationPlan,
}

impl Printer<'_> {
    fn node(&self, node: NodeId) -> &str {
        self.places.node(node)
    }

    fn sender(&self, channel: Channel) -> &str {
        self.places.sender(channel).map_or("?", |node| self.node(node))
    }

    fn receiver(&self, channel: Channel) -> &str {
        self.places.receiver(channel).map_or("?", |node| self.node(node))
    }

    /// A line; `None` if another line implies it: a packet sent at once arrives, or is lost.
    fn line(&self, asked: Instant, moment: &Moment) -> Option<Line> {
        let consumer = self.plan.name.as_str();
        let at_node = |node: NodeId, what: &str| (self.node(node).to_owned(), what.to_owned());
        let here = |what: String| (consumer.to_owned(), what);
        let (place, what) = match moment.step {
            Step::Left { waited, again, .. } if waited.is_zero() && !again => return None,
            Step::Left { .. } | Step::Came { .. } | Step::Lost { .. } => {
                self.on_channel(&moment.step)
            }
            Step::Dropped { node, kind, reason } => {
                let kind = kind.map_or("a packet of it", kind_of);
                (self.node(node).to_owned(), format!("{kind} is dropped: {reason}"))
            }
            Step::Cached { node } => at_node(node, "the cache answers"),
            Step::Joined { node } => at_node(node, "the Interest is aggregated with a pending one"),
            Step::SentOn { node } => {
                at_node(node, "the Interest is forwarded although one is pending")
            }
            Step::Suppressed { node } => at_node(node, "the retransmitted Interest is suppressed"),
            Step::Expired { node } => at_node(node, "the pending Interest expires"),
            Step::Redirected { node } => {
                at_node(node, "its face is gone; the Interest takes another face")
            }
            Step::Superseded { node } => at_node(node, "duplicate Data: another copy has answered"),
            Step::Asked { transmissions: 1, rto } => {
                here(format!("sends an Interest; RTO {}", time(rto)))
            }
            Step::Asked { transmissions, rto } => {
                here(format!("sends Interest number {transmissions}; RTO {}", time(rto)))
            }
            Step::TimedOut => here("the retransmission timer expires".into()),
            Step::TakenForLost => here("declares it lost by reordering".into()),
            Step::Nacked { reason } => here(format!("receives a Nack: {reason}")),
            Step::Explained { cause } => {
                here(format!("receives a notice of the loss: {}", why(cause)))
            }
            Step::FalseAlarm { signal } => {
                here(format!("finds the loss spurious, declared by {}", signal.word()))
            }
            Step::Received { delay, .. } => here(format!("receives it, after {}", time(delay))),
            Step::LeftOut => here("gives up".into()),
        };
        Some(Line { at_ms: ms(moment.at.since(asked)), place, what })
    }

    fn on_channel(&self, step: &Step) -> (String, String) {
        let others = |own: bool| if own { "" } else { "another's " };
        match *step {
            Step::Left { channel, kind, waited, again, own } => {
                let (kind, to) = (kind_of(kind), self.receiver(channel));
                let how = if again {
                    "again: link recovery".into()
                } else {
                    format!("after {} here", time(waited))
                };
                (
                    self.sender(channel).into(),
                    format!("{}{kind} is sent to {to} {how}", others(own)),
                )
            }
            Step::Came { channel, kind, travelled, excess, own } => {
                let (kind, from) = (kind_of(kind), self.sender(channel));
                let way =
                    travelled.map_or_else(String::new, |it| format!(", {} in flight", time(it)));
                let more = excess.filter(|it| !it.is_zero());
                let more = more.map_or_else(String::new, |it| {
                    format!(", {} of it unexplained by rate and delay", time(it))
                });
                (
                    self.receiver(channel).into(),
                    format!("{}{kind} arrives from {from}{way}{more}", others(own)),
                )
            }
            Step::Lost { channel, kind, reason, own } => {
                let (kind, link) = (kind_of(kind), self.places.link(channel.link));
                let (to, reason) = (self.receiver(channel), reason.name());
                (
                    self.sender(channel).into(),
                    format!("{}{kind} to {to} is lost on {link}: {reason}", others(own)),
                )
            }
            _ => Default::default(),
        }
    }

    /// The verdict, as a sentence.
    fn verdict(&self, verdict: &Verdict) -> String {
        let mut text = match (verdict.delay, verdict.median) {
            (None, _) => "Did not arrive".to_owned(),
            (Some(delay), Some(median)) if verdict.is_late() => {
                let times = delay.as_secs_f64() / median.as_secs_f64().max(1e-9);
                format!("Late: {}, {times:.1} times the median of {}", time(delay), time(median))
            }
            (Some(delay), median) => {
                format!(
                    "Not late: {}, the median is {}",
                    time(delay),
                    time(median.unwrap_or_default())
                )
            }
        };
        text += &self.cause(&verdict.cause);
        if let Some(early) = verdict.spurious {
            text += &format!("; spurious timeout: the answer arrived {} after it", time(early));
        }
        match verdict.source {
            Some(Source::Cache(node)) => {
                text += &format!("; came from the cache of {}", self.node(node))
            }
            Some(Source::Producer(node)) => {
                text += &format!("; came from the producer at {}", self.node(node));
            }
            None => {}
        }
        text + "."
    }

    fn cause(&self, cause: &Cause) -> String {
        match *cause {
            Cause::Way => "; no part of its path stands out".to_owned(),
            Cause::Repair { loss, remedy, after, in_vain } => {
                let lost = loss.map_or_else(|| "; not answered".into(), |loss| self.loss(loss));
                let how = match remedy {
                    Remedy::Timer(rto) => format!("repaired by a timer of {}", time(rto)),
                    Remedy::Order => "repaired by reordering-based loss detection".into(),
                    Remedy::Network => "retransmitted after a Nack or notice".into(),
                };
                let often =
                    if in_vain > 1 { format!(" ({in_vain} unanswered)") } else { String::new() };
                format!("{lost} and {how}{often}, {} after the first Interest", time(after))
            }
            Cause::Queue { channel, kind, time: waited } => format!(
                "; {} was queued {} in {} for the link {} to {}",
                kind_of(kind),
                time(waited),
                self.sender(channel),
                self.places.link(channel.link),
                self.receiver(channel)
            ),
            Cause::Channel { channel, kind, time: more } => format!(
                "; {} was {} on {} from {} to {} beyond what rate and delay explain",
                kind_of(kind),
                time(more),
                self.places.link(channel.link),
                self.sender(channel),
                self.receiver(channel)
            ),
            Cause::Missing(loss) => loss.map_or_else(String::new, |loss| self.loss(loss)),
        }
    }

    fn loss(&self, loss: Loss) -> String {
        match loss {
            Loss::Channel(channel, kind, reason) => format!(
                "; {} from {} to {} was lost on {} ({})",
                kind_of(kind),
                self.sender(channel),
                self.receiver(channel),
                self.places.link(channel.link),
                reason.name()
            ),
            Loss::Node(node, kind, reason) => {
                let kind = kind.map_or("a packet", kind_of);
                format!("; {kind} was dropped by {} ({reason})", self.node(node))
            }
        }
    }
}

fn why(cause: event::Cause) -> &'static str {
    match cause {
        event::Cause::Congestion => "a queue was full",
        event::Cause::Random => "a link lost it, and no node reported it",
        event::Cause::Wireless => "a link lost it",
        event::Cause::Mobility => "a node moved",
    }
}
