//! Counters of a fetch, made from its events: the summary of the fetch loop, and Nacks by reason.
use recoup_packet::nack::NackReason;
use recoup_transport::event::Event;
use recoup_transport::fetch::summary::Summary;
use recoup_transport::time::Instant;
use std::ops::Deref;

/// Counters and last values of one fetch.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    summary: Summary,
    /// Nacks by reason.
    pub by_reason: Nacks,
    /// The reason of the first rejected Data.
    pub rejected_why: Option<&'static str>,
    /// Slow-start threshold in segments.
    pub ssthresh: f64,
    /// Whether no face leads toward producers at the moment.
    pub disconnected: bool,
}

/// Nacks by reason.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nacks {
    /// The link is congested.
    pub congestion: u64,
    /// The nonce was seen before.
    pub duplicate: u64,
    /// No route.
    pub no_route: u64,
    /// The face that led there is gone.
    pub mobility: u64,
    /// A link lost it, or its Data.
    pub loss: u64,
    /// Other causes.
    pub other: u64,
}

impl Nacks {
    fn add(&mut self, other: &Self) {
        self.congestion += other.congestion;
        self.duplicate += other.duplicate;
        self.no_route += other.no_route;
        self.mobility += other.mobility;
        self.loss += other.loss;
        self.other += other.other;
    }

    fn count(&mut self, reason: NackReason) {
        *match reason {
            NackReason::Congestion => &mut self.congestion,
            NackReason::Duplicate => &mut self.duplicate,
            NackReason::NoRoute => &mut self.no_route,
            NackReason::Mobility => &mut self.mobility,
            NackReason::Loss => &mut self.loss,
            _ => &mut self.other,
        } += 1;
    }
}

impl Deref for Tally {
    type Target = Summary;

    fn deref(&self) -> &Summary {
        &self.summary
    }
}

impl Tally {
    /// Adds what another fetch counted.
    pub fn add(&mut self, other: &Self) {
        let Self { summary, by_reason, rejected_why, ssthresh, disconnected } = other;
        if summary.window.is_some() {
            self.ssthresh = *ssthresh;
        }
        self.summary.add(summary);
        self.by_reason.add(by_reason);
        self.rejected_why = self.rejected_why.or(*rejected_why);
        self.disconnected = *disconnected;
    }

    /// Counts one event.
    pub fn record(&mut self, now: Instant, event: &Event) {
        self.summary.on_event(now, event);
        match *event {
            Event::Window { ssthresh, .. } => self.ssthresh = ssthresh,
            Event::Nacked { reason, .. } => self.by_reason.count(reason),
            Event::Rejected { why, .. } => {
                self.rejected_why.get_or_insert(why);
            }
            Event::Disconnected => self.disconnected = true,
            Event::Connected => self.disconnected = false,
            _ => {}
        }
    }
}
