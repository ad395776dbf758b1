//! A consumer of a catalogue: requests single Data packets, by a schedule or as a window permits, with the loop of a fetch.
//!
//! Each request is an Interest of its own, even for a pending content, unless it joins that one
//! ([`Pending`](crate::network::Pending)); one Data packet answers all requests for it.
//! Requests are numbered from 0; events name them by that number, as those of a fetch name segments. Without an
//! estimator of the timeout a request expires with its Interest's lifetime and is not retransmitted. An application
//! Nack (no such content) ends a request like Data, but counts as a Nack and not as received.
use super::arrival::Arrivals;
use super::popularity::{Chooser, Tables};
use crate::network::{Arrival, Pending, RequestPlan};
use open::Open;
use recoup_packet::name::{Component, Name};
use recoup_transport::congestion::{Congestion, Fixed};
use recoup_transport::fetch::{Consumer, FetchOptions, Retries, Source, Verify};
use recoup_transport::loss::{Loss, Timeout};
use recoup_transport::random::Rng;
use recoup_transport::rto::{Constant, Rto, Sampling, Target};
use recoup_transport::time::Instant;
use std::collections::VecDeque;

mod open;

/// The consumer of a plan, which begins when it is first polled; `rng` is its own stream.
///
/// # Errors
/// The problem of the plan, as the end of a sentence.
pub(super) fn make(
    plan: &RequestPlan,
    rng: &Rng,
    tables: &mut Tables,
) -> Result<Consumer<Catalogue>, String> {
    let catalogue = Catalogue::new(plan, rng, tables)?;
    Ok(Consumer::new(catalogue, options(plan), rng.substream("nonce")))
}

/// Options of the fetch loop, as planned.
fn options(plan: &RequestPlan) -> FetchOptions {
    let congestion = match &plan.arrival {
        Arrival::Window(congestion) => (**congestion).clone(),
        // The schedule alone decides.
        _ => Congestion::from(Fixed::new(f64::from(u32::MAX))).into(),
    };
    let expires = || Rto::from(Constant::new(plan.lifetime)).into();
    FetchOptions {
        retries: Retries(if plan.rto.is_some() { plan.retries } else { Some(0) }),
        rto: plan.rto.clone().unwrap_or_else(expires),
        sampling: Sampling::Every,
        congestion,
        loss: Loss::from(Timeout).into(),
        lifetime: plan.lifetime,
        rto_check: plan.rto_scan.unwrap_or_default(),
        verify: Verify::None,
        ..FetchOptions::default()
    }
}

/// Most requests in a row that join others: a small catalogue can be pending whole.
const MOST_JOINED: u32 = 10_000;

/// A catalogue, and the requests for its contents.
#[derive(Debug)]
pub(super) struct Catalogue {
    prefixes: Vec<Name>,
    chooser: Chooser,
    choices: Rng,
    /// Contents that were drawn ahead, to be announced.
    upcoming: VecDeque<u64>,
    schedule: Option<Schedule>,
    /// The plan has a timer of retransmissions.
    is_timed: bool,
    /// Timers are scanned.
    scans: bool,
    joins: bool,
    /// Requests still to be made; `None` means without limit.
    left: Option<u64>,
    open: Open,
}

/// When requests are made, if not as soon as a window permits.
#[derive(Debug)]
struct Schedule {
    arrival: Arrival,
    rng: Rng,
    /// Once it has begun.
    arrivals: Option<Arrivals>,
    /// Requests that are due.
    due: u64,
}

impl Catalogue {
    fn new(plan: &RequestPlan, rng: &Rng, tables: &mut Tables) -> Result<Self, String> {
        if plan.prefixes.is_empty() {
            return Err("a catalogue has at least one prefix".into());
        }
        if let Some(problem) = plan.arrival.problem() {
            return Err(problem);
        }
        let schedule = (!matches!(plan.arrival, Arrival::Window(_))).then(|| Schedule {
            arrival: plan.arrival.clone(),
            rng: rng.substream("arrival"),
            arrivals: None,
            due: 0,
        });
        Ok(Self {
            prefixes: plan.prefixes.clone(),
            chooser: Chooser::new(plan.popularity.clone(), plan.contents, tables)?,
            choices: rng.substream("popularity"),
            upcoming: VecDeque::new(),
            schedule,
            is_timed: plan.rto.is_some(),
            scans: plan.scans(),
            joins: plan.pending == Some(Pending::Join),
            left: plan.requests,
            open: Open::default(),
        })
    }

    fn draw_ahead(&mut self, most: usize) {
        while self.upcoming.len() < most {
            self.upcoming.push_back(self.chooser.draw(&mut self.choices));
        }
    }

    /// The content of the next request, which is made now.
    fn take(&mut self) -> u64 {
        self.draw_ahead(1);
        self.left = self.left.map(|left| left - 1);
        if let Some(schedule) = &mut self.schedule {
            schedule.due -= 1;
        }
        self.upcoming.pop_front().unwrap_or_default()
    }

    /// Whether one more request is due at the time of one that is being made.
    fn has_more(&self) -> bool {
        self.left != Some(0) && self.schedule.as_ref().is_none_or(|schedule| schedule.due > 0)
    }

    fn prefix(&self, content: u64) -> &Name {
        &self.prefixes[self.class(content) as usize]
    }

    fn class(&self, content: u64) -> u64 {
        content % self.prefixes.len() as u64
    }

    fn name_of(&self, content: u64) -> Name {
        let mut digits = Digits::default();
        self.prefix(content).append(Component::generic(digits.of(content)))
    }
}

impl Source for Catalogue {
    const ORDERED: bool = false;
    const SPAN: u64 = 1 << 20;

    fn name(&mut self, number: u64) -> Name {
        self.name_of(self.open.content(number))
    }

    fn answered(&self, name: &Name) -> Option<u64> {
        self.open.first(self.content(name)?)
    }

    fn next_answered(&self, number: u64) -> Option<u64> {
        self.open.after(number)
    }

    /// The content that a name means, if it is one of the catalogue's.
    fn content(&self, name: &Name) -> Option<u64> {
        let last = name.last()?;
        let content = std::str::from_utf8(last.value()).ok()?.parse().ok()?;
        let prefix = self.prefix(content);
        (name.len() == prefix.len() + 1 && prefix.is_prefix_of(name)).then_some(content)
    }

    fn target(&self, number: u64) -> Target {
        let content = self.open.content(number);
        Target { content, class: self.class(content) }
    }

    fn is_timed(&self) -> bool {
        self.is_timed
    }

    fn follows_estimate(&self) -> bool {
        self.scans
    }

    fn upcoming(&mut self, _: u64, most: usize, _: Option<u64>) -> Vec<Name> {
        self.draw_ahead(most);
        self.upcoming.iter().take(most).map(|content| self.name_of(*content)).collect()
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let Some(schedule) = &mut self.schedule else {
            return self.left != Some(0);
        };
        let Schedule { arrival, rng, arrivals, due } = schedule;
        let arrivals = arrivals.get_or_insert_with(|| Arrivals::new(arrival, now, rng.clone()));
        while let Some(count) = arrivals.pop_due(now) {
            *due += count;
        }
        *due > 0 && self.left != Some(0)
    }

    fn on_requested(&mut self, number: u64) {
        let mut content = self.take();
        // The last one that is due is an Interest in any case, and so is one after many that joined: a catalogue may have
        // nothing else.
        let mut joined = 0;
        while self.joins
            && joined < MOST_JOINED
            && self.has_more()
            && self.open.first(content).is_some()
        {
            content = self.take();
            joined += 1;
        }
        self.open.insert(number, content);
    }

    fn on_settled(&mut self, number: u64) {
        self.open.remove(number);
    }

    fn deadline(&self) -> Option<Instant> {
        let schedule = self.schedule.as_ref().filter(|_| self.left != Some(0))?;
        schedule.arrivals.as_ref().map_or(Some(Instant::ZERO), Arrivals::deadline)
    }

    fn is_exhausted(&self) -> bool {
        let is_over = |it: &Schedule| {
            it.due == 0 && it.arrivals.as_ref().is_some_and(|it| it.deadline().is_none())
        };
        self.left == Some(0) || self.schedule.as_ref().is_some_and(is_over)
    }
}

/// Buffer for the digits of a number.
#[derive(Default)]
struct Digits([u8; 20]);

impl Digits {
    fn of(&mut self, mut number: u64) -> &[u8] {
        let mut from = self.0.len();
        loop {
            from -= 1;
            self.0[from] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return &self.0[from..];
            }
        }
    }
}

#[cfg(test)]
mod tests;
