//! Metrics: what a run amounts to, as named numbers.
//!
//! Sweeps, claims and tables address a number by its name, `<place>.<what>_<unit>`:
//!
//! | place | of |
//! |---|---|
//! | `c1` | the application of that name, unless none is wanted ([`Detail::applications`]) |
//! | `all` | all consumers together, or all nodes and links |
//! | `node.r1` | a node, on request ([`Detail::nodes`]) |
//! | `link.r1-r2.forth`, `link.r1-r2.back` | a direction of a link, on request ([`Detail::links`]) |
//!
//! so no application may be called `all`, `node` or `link`. Of a consumer:
//!
//! | name | meaning |
//! |---|---|
//! | `completed` | 1 if it ended as it should, 0 if it failed or had not ended |
//! | `time_s` | first Interest for a segment to last Data; only if it completed |
//! | `active_s` | as `time_s`, completed or not; the rates are relative to it |
//! | `segments`, `content_bytes`, `packet_bytes` | received: segments, their content, their Data packets |
//! | `goodput_bps`, `throughput_bps` | content and Data packets per active time, in bit/s |
//! | `interests`, `retransmissions`, `timeouts`, `nacks`, `marks`, `duplicates`, `withdrawn`, `spurious`, `rejected`, `left_out`, `losses_congestion`, `losses_random`, `losses_unknown`, `losses_wireless`, `losses_mobility` | counts; an application Nack is one of `nacks` |
//! | `network_interests` | Interests for the object of a fetch that left its node by a link, each link counted |
//! | `loss_events`, `loss_events_timeout`, `loss_events_nack`, `loss_events_mark` | window reductions, by the signal of the loss |
//! | `loss_event_percent` | loss events per segment received (the packet-loss rate of ndncatchunks) |
//! | `recovery_point_rises` | 1 if at each reduction something had been sent that had not been at the one before: at most one reduction per round trip |
//! | `window_mean`, `window_max` | window in segments; the mean is over time |
//! | `rtt_…` | round trips of segments without retransmission |
//! | `delay_…` | first transmission to Data |
//! | `rto_…` | timeout in force at first transmissions |
//! | `ist_…` | first transmission to Data of segments that a move delayed: the network forwarded their Interest again, or sent a notice to the consumer; with link recovery, also of segments that it delayed |
//! | `…_mean_s`, `…_sd_s`, `…_min_s`, `…_max_s`, `…_p05_s` … `…_p99_s` | of those four; quantiles within 0.1 % |
//! | `srtt_mean_s`, `rttvar_mean_s` | mean over the estimator's samples |
//! | `bad_timeouts`, `good_timeouts`, `undecided_timeouts` | first timeouts: spurious, genuine, undecided ([`crate::oracle`]; only if transmissions are followed) |
//! | `bad_timeout_share`, `relative_wait` | `ρ` and `φ` of the oracle |
//!
//! Of a producer: `served`, `served_bytes`, `unknown`. Of `all`: sums, pooled distributions and the means over
//! consumers `time_mean_s`, `goodput_mean_bps`, `throughput_mean_bps`, `window_mean`. `time_s` of `all` is from the
//! first Interest of all consumers to the last Data of all; `jain` is of goodputs. Also `b`, `b_excluded`, `w`,
//! `w_excluded`; `cs_hits`, `cs_misses`, `cs_evicted`, `cs_hit_ratio`; `packet_hops`, `interest_hops`, `data_hops`,
//! `nack_hops`, `hop_bytes`; `drops` and `drops_<reason>` of nodes, `lost` and `lost_<reason>` of channels. Of a node:
//! `interests_in`, `interests_out`, `data_…`, `nacks_…`, `cs_…`, `pit_mean`, `pit_max`, `drops…`. Of a direction of a
//! link: `packets`, `bytes`, `utilisation`, `queue_mean`, `queue_max` (packets), `lost…`. Of a direction of a link
//! over a medium, and of all of them: `residual_loss`, the share lost of the packets that were neither rejected nor
//! given up because an end was gone. Of all: `handoffs`, the times that a client joined an access point. Means over
//! time and the utilisation count from the start of the first application.
//!
//! A metric is absent if it is undefined: no sample, no consumer, not completed.
mod away;
mod channel;
mod flow;
mod node;
mod summary;

pub use summary::{Metric, Summary};

use crate::network::{ApplicationId, Network};
use crate::observe::{Observation, Observer};
use crate::oracle::{Oracle, score};
use crate::record::place::Places;
use crate::statistic::{jain, mean};
use away::Away;
use channel::Channels;
use flow::Flow;
use node::Nodes;
use recoup_transport::application::Report;
use recoup_transport::fetch::FetchStats;
use recoup_transport::time::Instant;

/// The places beside the whole that have metrics of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Each application.
    pub applications: bool,
    /// Each node.
    pub nodes: bool,
    /// Each direction of each link.
    pub links: bool,
}

impl Default for Detail {
    fn default() -> Self {
        Self { applications: true, nodes: false, links: false }
    }
}

/// Makes a [`Summary`] of a run. Its memory does not grow with the length of the run.
#[derive(Clone, Debug)]
pub struct Metrics {
    places: Places,
    detail: Detail,
    flows: Vec<Flow>,
    away: Away,
    nodes: Nodes,
    channels: Channels,
    oracle: Option<Oracle>,
}

impl Metrics {
    /// Metrics of a simulation of `network`.
    pub fn new(network: &Network, detail: Detail) -> Self {
        let places = Places::new(network);
        Self {
            detail,
            flows: vec![Flow::default(); places.applications()],
            away: Away::new(network),
            nodes: Nodes::new(&places, detail.nodes),
            channels: Channels::new(&places, detail.links),
            oracle: network.follow_transmissions.then(|| Oracle::new(network)),
            places,
        }
    }

    /// Counters of the transfers of all consumers together, so far.
    pub fn transfers(&self) -> FetchStats {
        let mut counts = FetchStats::default();
        self.consumers().for_each(|flow| counts.add(flow.counts()));
        counts
    }

    /// The metrics of the run, which is over at `now`.
    pub fn finish(&mut self, now: Instant) -> Summary {
        let mut summary = Summary::default();
        self.flows.iter_mut().for_each(|flow| flow.finish(now));
        if let Some(oracle) = &mut self.oracle {
            oracle.finish();
        }
        for (number, flow) in self.flows.iter().enumerate().filter(|_| self.detail.applications) {
            self.report_application(ApplicationId(number as u32), flow, &mut summary);
        }
        self.report_all(&mut summary);
        self.nodes.report(now, &self.places, &mut summary);
        self.channels.report(now, &self.places, &mut summary);
        summary
    }

    fn report_application(&self, id: ApplicationId, flow: &Flow, summary: &mut Summary) {
        let place = self.places.application(id);
        if self.places.is_consumer(id) {
            flow.report(place, summary);
            if let Some(reason) = flow.shortfall() {
                summary.push(place, reason, "", 1.0);
            }
            if let Some(score) = self.followed().and_then(|oracle| oracle.score(id)) {
                report_score(place, score, summary);
            }
        } else {
            flow.report_producer(place, summary);
        }
    }

    fn ask_oracle(&mut self, now: Instant, observation: &Observation<'_>) {
        if let Some(oracle) = &mut self.oracle {
            oracle.on(now, observation);
            while oracle.poll().is_some() {}
        }
    }

    fn on_report(&mut self, now: Instant, application: ApplicationId, report: &Report) {
        let Some(flow) = self.flows.get_mut(application.0 as usize) else {
            return;
        };
        match report {
            Report::Event(event) => flow.on_event(now, event),
            Report::Done(outcome) => flow.on_done(outcome),
            _ => {}
        }
    }

    /// The oracle, if it had anything to go by.
    fn followed(&self) -> Option<&Oracle> {
        self.oracle.as_ref().filter(|oracle| oracle.followed())
    }

    fn consumers(&self) -> impl Iterator<Item = &Flow> {
        let is_consumer = |number: usize| self.places.is_consumer(ApplicationId(number as u32));
        let flows = self.flows.iter().enumerate();
        flows.filter(move |(number, _)| is_consumer(*number)).map(|(_, flow)| flow)
    }

    fn report_all(&self, summary: &mut Summary) {
        let whole = Flow::merged(self.consumers());
        let consumers = self.consumers().count();
        summary.push("all", "consumers", "", consumers as f64);
        whole.report("all", summary);
        let completed = self.consumers().filter(|flow| flow.is_completed()).count();
        summary.set("all", "completed", completed as f64);
        self.report_means(summary);
        let shares: Vec<f64> =
            self.consumers().map(|flow| flow.goodput_bps().unwrap_or(0.0)).collect();
        summary.option("all", "jain", "", jain(&shares));
        self.report_oracle(summary);
    }

    fn report_means(&self, summary: &mut Summary) {
        let over = |value: fn(&Flow) -> Option<f64>| {
            mean(&self.consumers().filter_map(value).collect::<Vec<f64>>())
        };
        summary.option("all", "time_mean_s", "s", over(Flow::time_s));
        summary.option("all", "goodput_mean_bps", "bit/s", over(Flow::goodput_bps));
        summary.option("all", "throughput_mean_bps", "bit/s", over(Flow::throughput_bps));
        summary.option("all", "window_mean", "segments", over(Flow::window_mean));
    }

    fn report_oracle(&self, summary: &mut Summary) {
        let Some(oracle) = self.followed() else {
            return;
        };
        let scores = || {
            (0..self.flows.len() as u32)
                .map(ApplicationId)
                .filter(|id| self.places.is_consumer(*id))
                .filter_map(|id| oracle.score(id))
        };
        let total = |count: fn(&score::Score) -> u64| scores().map(count).sum::<u64>() as f64;
        summary.push("all", "bad_timeouts", "", total(|it| it.bad));
        summary.push("all", "good_timeouts", "", total(|it| it.good));
        summary.push("all", "undecided_timeouts", "", total(|it| it.undecided));
        for (name, over) in [("b", score::b(scores())), ("w", score::w(scores()))] {
            summary.option("all", name, "", over.mean);
            summary.push("all", &format!("{name}_excluded"), "", over.excluded as f64);
        }
    }
}

fn report_score(place: &str, score: &score::Score, summary: &mut Summary) {
    summary.push(place, "bad_timeouts", "", score.bad as f64);
    summary.push(place, "good_timeouts", "", score.good as f64);
    summary.push(place, "undecided_timeouts", "", score.undecided as f64);
    summary.option(place, "bad_timeout_share", "", score.bad_share());
    summary.option(place, "relative_wait", "", score.relative_wait());
}

impl Observer for Metrics {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        // Events of nodes are the most frequent observations, and as a rule they are only counted.
        if let Observation::Node { node, event } = observation
            && self.oracle.is_none()
            && !self.detail.links
            && self.nodes.count(*node, *event)
        {
            return;
        }
        self.on_other(now, observation);
    }
}

impl Metrics {
    #[inline(never)]
    fn on_other(&mut self, now: Instant, observation: &Observation<'_>) {
        // Each kind of observation goes only to those whom it is news to: there are millions of them.
        match *observation {
            Observation::Application { application, report } => {
                self.on_report(now, application, report);
                self.ask_oracle(now, observation);
            }
            Observation::Node { .. } => {
                self.nodes.on(now, &self.places, observation);
                if self.detail.links {
                    self.channels.on(now, &self.places, observation);
                }
                self.ask_oracle(now, observation);
            }
            Observation::Sent { link, direction, packet } => {
                for number in self.away.whose(link, direction, packet) {
                    self.flows[number].on_left();
                }
                self.nodes.on(now, &self.places, observation);
                self.channels.on(now, &self.places, observation);
            }
            Observation::Arrived { .. } => self.nodes.on(now, &self.places, observation),
            _ => {
                self.nodes.on(now, &self.places, observation);
                self.channels.on(now, &self.places, observation);
                self.ask_oracle(now, observation);
            }
        }
    }
}

#[cfg(test)]
mod tests;
