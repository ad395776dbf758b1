//! Data that waits for certificates.
//!
//! To the fetch loop it is not there yet: its timers run, and a retransmission may bring another copy. Once the certificates
//! are there, or cannot be had, it is judged as if it had just arrived.
use super::error::FetchError;
use super::{Arrival, Fetch, Phase};
use crate::resolve::{MAX_COPIES, Resolver, displaced};
use crate::time::{Duration, Instant};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;

/// Most packets that wait.
const MAX_WAITING: usize = 1_024;
/// How long discovery relies on an answer that waits: a forged one must not delay it for longer.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    arrival: Arrival,
    /// Name of the missing certificate.
    key: Name,
}

/// Packets that wait for certificates, and the machine that fetches these.
#[derive(Debug)]
pub(super) struct Pending {
    waiting: Vec<Waiting>,
    resolver: Resolver,
}

impl Pending {
    /// No packet of `object` waits.
    pub(super) fn of(object: &Name) -> Self {
        Self { waiting: Vec::new(), resolver: Resolver::of(object.clone()) }
    }

    /// Packets that wait.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = &Arrival> {
        self.waiting.iter().map(|it| &it.arrival)
    }

    /// Whether a packet with the name waits.
    pub(super) fn has(&self, is_name: impl Fn(&Name) -> bool) -> bool {
        self.arrivals().any(|arrival| is_name(arrival.data.name()))
    }

    /// Why nothing can be verified, if a packet waits.
    pub(super) fn objection(&self) -> Option<FetchError> {
        let name = self.arrivals().next()?.data.name().clone();
        Some(FetchError::untrusted(name, "needs a certificate that cannot be had"))
    }

    /// Keeps a packet that misses `key`, unless an equal one waits, or too many do. Of too many copies of one name, that
    /// of the least needed key gives way.
    fn keep(&mut self, arrival: Arrival, key: Name) {
        let data = &arrival.data;
        let all = self.waiting.iter().enumerate();
        let copies = all.filter(|(_, it)| it.arrival.data.name_value() == data.name_value());
        let copies: Vec<(usize, &Waiting)> = copies.collect();
        if copies.iter().any(|(_, it)| it.arrival.data.wire() == data.wire()) {
            return;
        }
        if copies.len() >= MAX_COPIES {
            let keys: Vec<&Name> = copies.iter().map(|(_, it)| &it.key).collect();
            let needed = |key: &Name| self.waiting.iter().filter(|it| it.key == *key).count();
            let place = displaced(&keys, &key, needed).map(|place| copies[place].0);
            place.map(|place| self.waiting.remove(place));
        }
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(Waiting { arrival, key });
        }
    }

    /// Whether Data of this name answers a pending Interest for a certificate.
    pub(super) fn awaits(&self, name: &Name) -> bool {
        self.resolver.awaits(name)
    }

    /// Whether a Nack was for a certificate.
    pub(super) fn on_nack(&mut self, now: Instant, name: &Name) -> bool {
        self.resolver.on_nack(now, name)
    }

    /// Discovery waits for the verdict on an answer instead of sending further Interests.
    pub(super) fn holds(&self, now: Instant) -> bool {
        self.held_until().is_some_and(|until| now < until)
    }

    /// When discovery goes on although an answer still waits.
    pub(super) fn held_until(&self) -> Option<Instant> {
        self.arrivals().next().map(|arrival| arrival.at + LONGEST_HOLD)
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        self.resolver.deadline()
    }
}

impl Fetch {
    /// Whether Data answers an Interest of the fetch itself. Names of manifests match the prefix that discovery
    /// requests.
    fn is_awaited(&self, Arrival { data, asked, .. }: &Arrival) -> bool {
        let is_requested = match &self.phase {
            Phase::Discovering(discovery) => discovery.awaits(data, *asked),
            Phase::Transferring(transfer) => transfer.awaits(&self.control, data.name()).is_some(),
            Phase::Start | Phase::Ended => false,
        };
        is_requested && !self.pending.resolver.awaits_exactly(data.name())
    }

    /// Settles what can be settled, and returns the next Interest for a certificate with its timeout.
    pub(super) fn resolve(&mut self, now: Instant) -> Option<(Interest, Duration)> {
        self.control.config.verifier.certificates()?;
        loop {
            self.sort_arrivals(now);
            let interest = if self.connected { self.next_certificate(now) } else { None };
            if interest.is_some() || !self.pending.resolver.has_news() {
                return interest;
            }
        }
    }

    /// Hands certificates to the resolver, and sets aside what cannot be judged without further ones.
    fn sort_arrivals(&mut self, now: Instant) {
        let arrivals = std::mem::take(&mut self.arrivals);
        self.arrivals = self.sorted(now, arrivals);
        if self.pending.resolver.take_news() {
            let waiting = std::mem::take(&mut self.pending.waiting);
            let waiting = waiting.into_iter().map(|it| it.arrival).collect();
            let mut ready = self.sorted(now, waiting);
            // A window and a timer cannot go back to the time at which it arrived; discovery can.
            if matches!(self.phase, Phase::Transferring(_)) {
                ready.iter_mut().for_each(|arrival| arrival.at = now);
            }
            ready.append(&mut self.arrivals);
            self.arrivals = ready;
        }
    }

    /// The arrivals that can be judged.
    fn sorted(&mut self, now: Instant, arrivals: Vec<Arrival>) -> Vec<Arrival> {
        let Some(certificates) = self.control.config.verifier.certificates() else {
            return arrivals;
        };
        let is_special = |it: &Arrival| {
            self.pending.awaits(it.data.name()) || certificates.missing(&it.data).is_some()
        };
        let mut ready = arrivals;
        let first = ready.iter().position(is_special).unwrap_or(ready.len());
        for arrival in ready.split_off(first) {
            let data = &arrival.data;
            if self.pending.awaits(data.name())
                && !self.is_awaited(&arrival)
                && self.pending.resolver.on_data(now, data, certificates)
            {
                continue;
            }
            // No certificate helps a segment of other content.
            let is_other =
                matches!(&self.phase, Phase::Transferring(it) if it.is_other_content(data));
            let missing = certificates.missing(data).filter(|_| !is_other);
            match missing.filter(|_| self.is_awaited(&arrival)) {
                None => ready.push(arrival),
                Some(name) => {
                    self.pending.resolver.want(now, &name, certificates);
                    self.pending.keep(arrival, name);
                }
            }
        }
        // Once for all of them.
        let last = ready.iter().rev().find(|arrival| self.is_awaited(arrival));
        for name in last.map_or_else(Vec::new, |arrival| certificates.ahead(&arrival.data)) {
            self.pending.resolver.want_ahead(now, &name, certificates);
        }
        ready
    }

    fn next_certificate(&mut self, now: Instant) -> Option<(Interest, Duration)> {
        let certificates = self.control.config.verifier.certificates()?;
        let rto = self.control.rto.rto();
        let interest = self.pending.resolver.poll(now, rto, certificates)?;
        Some((interest, rto))
    }
}
