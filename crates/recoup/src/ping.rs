//! Round-trip times: one Interest after another, each with its own time to be answered.
use crate::arrivals::Arrivals;
use crate::client::Client;
use crate::engine::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::name::ToName;
use crate::session::Session;
use crate::wait::{Pending, Promise, block_on};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::event::Event;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The schedule of the Interests.
#[derive(Clone, Debug)]
pub struct PingOptions {
    /// Time between two Interests.
    pub interval: Duration,
    /// Interest lifetime: how long an answer is waited for.
    pub timeout: Duration,
    /// Number of Interests; `None`: without end.
    pub count: Option<u64>,
    /// Number of the first; `None`: a random one.
    pub first: Option<u64>,
}

impl Default for PingOptions {
    /// An Interest a second, without end, each with a lifetime of 4 s.
    fn default() -> Self {
        let (interval, timeout) = (Duration::from_secs(1), Duration::from_secs(4));
        Self { interval, timeout, count: None, first: None }
    }
}

/// An application that sends the Interests, and reports `Event::Sent`, `Event::Received`, `Event::TimedOut` or `Event::Nacked`
/// with the number in place of a segment.
#[derive(Debug)]
struct Pinger {
    /// The numbers follow this name.
    prefix: Name,
    options: PingOptions,
    first: u64,
    rng: Rng,
    sent: u64,
    connected: bool,
    next_at: Instant,
    /// Interests without an answer: when they were sent.
    open: BTreeMap<u64, Instant>,
    outputs: VecDeque<AppOutput>,
    done: bool,
}

impl Pinger {
    /// A machine that begins with the first face.
    fn new(prefix: Name, options: PingOptions, mut rng: Rng) -> Self {
        Self {
            prefix,
            first: options.first.unwrap_or_else(|| rng.below(1 << 53)),
            options,
            rng,
            sent: 0,
            connected: false,
            next_at: Instant::ZERO,
            open: BTreeMap::new(),
            outputs: VecDeque::new(),
            done: false,
        }
    }

    fn number(&self, name: &Name) -> Option<u64> {
        if !self.prefix.is_prefix_of(name) {
            return None;
        }
        let component = name.get(self.prefix.len())?;
        std::str::from_utf8(component.value()).ok()?.parse().ok()
    }

    fn may_send(&self) -> bool {
        self.connected && self.options.count.is_none_or(|count| self.sent < count)
    }

    fn send(&mut self, now: Instant) {
        let number = self.first.wrapping_add(self.sent);
        self.sent += 1;
        // From now, not from when it was due: a pause of the machine is not made up for in a burst.
        self.next_at = now + self.options.interval;
        self.open.insert(number, now);
        let name = self.prefix.append(Component::generic(number.to_string().as_bytes()));
        let rto = self.options.timeout;
        let mut interest = Interest::new(name);
        interest.must_be_fresh = true;
        interest.nonce = Some(self.rng.next_u32());
        interest.lifetime = Some(rto);
        self.outputs.push_back(AppOutput::Interest(Arc::new(interest)));
        let sent = Event::Sent { segment: number, transmissions: 1, rto: rto.into() };
        self.outputs.push_back(AppOutput::Report(Report::Event(sent)));
    }

    fn expire(&mut self, now: Instant) {
        let timeout = self.options.timeout;
        let late = |asked: &Instant| now.since(*asked) >= timeout;
        let expired: Vec<_> =
            self.open.iter().filter(|(_, asked)| late(asked)).map(|(number, _)| *number).collect();
        for segment in expired {
            self.open.remove(&segment);
            self.outputs.push_back(AppOutput::Report(Report::Event(Event::TimedOut { segment })));
        }
    }
}

impl Application for Pinger {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => self.connected = true,
            AppInput::FaceDown => self.connected = false,
            AppInput::Data { data, .. } => {
                let Some(segment) = self.number(data.name()) else {
                    return;
                };
                let Some(asked) = self.open.remove(&segment) else {
                    return;
                };
                let rtt = now.since(asked).into();
                let event = Event::Received {
                    segment,
                    content_bytes: data.content().len() as u32,
                    wire_bytes: data.encoded_len() as u32,
                    rtt,
                    delay: rtt,
                    transmissions: 1,
                };
                self.outputs.push_back(AppOutput::Report(Report::Event(event)));
            }
            AppInput::Nack { interest, reason } => {
                let segment = self.number(&interest.name);
                if segment.is_some_and(|number| self.open.remove(&number).is_some()) {
                    self.outputs.push_back(AppOutput::Report(Report::Event(Event::Nacked {
                        segment,
                        reason,
                    })));
                }
            }
            AppInput::Interest { .. }
            | AppInput::Consumed { .. }
            | AppInput::Held { .. }
            | AppInput::Shared { .. }
            | AppInput::TimeOfDay(_) => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        self.expire(now);
        if self.outputs.is_empty() && self.may_send() && now >= self.next_at {
            self.send(now);
        }
        let all_sent = self.options.count.is_some_and(|count| self.sent >= count);
        if self.outputs.is_empty() && all_sent && self.open.is_empty() && !self.done {
            self.done = true;
            self.outputs.push_back(AppOutput::Report(Report::Done(Ok(()))));
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let next = self.may_send().then_some(self.next_at);
        let expiry = self.open.values().min().map(|asked| *asked + self.options.timeout);
        next.into_iter().chain(expiry).min()
    }
}

/// The name that ndnping and ndnpingserver use below `name`.
pub fn ping_name(name: &Name) -> Name {
    name.append(Component::generic(b"ping"))
}

impl Client {
    /// The round-trip time to a `recoup ping --serve` or ndnpingserver of `name`, in one exchange of at most 4 s.
    ///
    /// # Errors
    /// [`is_timeout`](Error::is_timeout) without an answer, [`is_not_found`](Error::is_not_found) without a route.
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let _server = client.serve("/site/ping").answer(|_| Some("".into()))?;
    /// assert!(client.ping("/site")?.as_secs() < 4);
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn ping(&self, name: impl ToName) -> Result<Duration> {
        block_on(self.begin_ping(name.to_name()?)?)
    }

    /// Begins what [`ping`](Self::ping) waits for.
    pub(crate) fn begin_ping(&self, name: Name) -> Result<Pending<Duration>> {
        self.permit(&name)?;
        self.reach()?;
        self.locate(&ping_name(&name))?;
        let options =
            PingOptions { interval: Duration::ZERO, count: Some(1), ..PingOptions::default() };
        let pinger = self.pinger(&name, options)?;
        Pending::begin(self, move |engine, task, promise| {
            let owner = Ping { name, promise, has_ended: false };
            engine.start(task, Box::new(pinger), Vec::new(), Box::new(owner));
        })
    }

    /// Measures round trips to `name`, again and again: [`Event::Sent`], [`Event::Received`], [`Event::TimedOut`] and
    /// [`Event::Nacked`], with the number of the Interest in place of a segment.
    ///
    /// # Errors
    /// Those of the name. [`is_unreachable`](Error::is_unreachable): there is no peer at the face; the iterator ends with it if
    /// the peer rejects datagrams.
    ///
    /// ```
    /// use recoup::Event;
    /// use recoup::ping::PingOptions;
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let _server = client.serve("/site/ping").answer(|_| Some("".into()))?;
    /// let options = PingOptions { count: Some(1), ..PingOptions::default() };
    /// let events: Vec<Event> = client.pings("/site", options)?.collect::<Result<_, _>>()?;
    /// assert!(matches!(events[..], [Event::Sent { .. }, Event::Received { .. }]));
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn pings(&self, name: impl ToName, options: PingOptions) -> Result<Arrivals<Event>> {
        let name = name.to_name()?;
        self.permit(&name)?;
        self.reach()?;
        self.locate(&ping_name(&name))?;
        let pinger = self.pinger(&name, options)?;
        Arrivals::begin(self, move |engine, task, events| {
            let owner = Pings { events: Some(events), is_answered: false, is_over: false };
            engine.start(task, Box::new(pinger), Vec::new(), Box::new(owner));
        })
    }

    fn pinger(&self, name: &Name, options: PingOptions) -> Result<Pinger> {
        Ok(Pinger::new(ping_name(name), options, self.rng()?))
    }
}

/// The owner of a series.
struct Pings {
    events: Option<Sender<Result<Event>>>,
    is_answered: bool,
    is_over: bool,
}

impl Pings {
    fn end(&mut self, error: Option<Error>) {
        if let (Some(events), Some(error)) = (self.events.take(), error) {
            let _ = events.send(Err(error));
        }
    }
}

impl Task for Pings {
    fn report(&mut self, _now: Instant, report: Report) {
        match report {
            Report::Event(event) => {
                self.is_answered |= matches!(event, Event::Received { .. });
                // Without a receiver, the operation is about to be cancelled.
                let _ = self.events.iter().try_for_each(|events| events.send(Ok(event)));
            }
            Report::Done(_) => self.is_over = true,
            _ => {}
        }
    }

    fn flush(&mut self, session: &Session) -> u64 {
        if self.is_over {
            self.end(session.unreachable_error().filter(|_| !self.is_answered));
        }
        0
    }

    fn has_ended(&self) -> bool {
        self.events.is_none()
    }

    fn fail(&mut self, error: &Error) {
        self.end(Some(error.clone()));
    }

    fn is_consumer(&self) -> bool {
        true
    }
}

/// The owner of one exchange.
struct Ping {
    name: Name,
    promise: Promise<Duration>,
    has_ended: bool,
}

impl Ping {
    fn end(&mut self, result: Result<Duration>) {
        self.has_ended = true;
        self.promise.put(result);
    }
}

impl Task for Ping {
    fn report(&mut self, _now: Instant, report: Report) {
        let name = &self.name;
        match report {
            Report::Event(Event::Received { rtt, .. }) => self.end(Ok(rtt.into())),
            Report::Event(Event::TimedOut { .. }) => {
                let error = Error::new(ErrorKind::TimedOut, format!("no answer for {name}"));
                self.end(Err(
                    error.with_remedy("check the name, and that a ping server runs there")
                ));
            }
            Report::Event(Event::Nacked { reason, .. }) => {
                let kind = match reason {
                    NackReason::NoRoute => ErrorKind::NotFound,
                    _ => ErrorKind::TimedOut,
                };
                let error =
                    Error::new(kind, format!("the network sent a Nack for {name}: {reason}"));
                self.end(Err(
                    error.with_remedy("start `recoup ping --serve` or ndnpingserver there")
                ));
            }
            _ => {}
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, error: &Error) {
        self.end(Err(error.clone()));
    }

    fn is_consumer(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinger(count: u64) -> Pinger {
        let options = PingOptions { count: Some(count), first: Some(7), ..PingOptions::default() };
        let mut pinger = Pinger::new("/a/ping".parse().unwrap(), options, Rng::from_seed(1));
        pinger.handle(Instant::ZERO, AppInput::FaceUp { receive_budget: None });
        pinger
    }

    fn drain(pinger: &mut Pinger, now: Instant) -> Vec<AppOutput> {
        std::iter::from_fn(|| pinger.poll(now)).collect()
    }

    #[test]
    fn interests_leave_at_their_interval() {
        let mut pinger = pinger(2);
        assert_eq!(drain(&mut pinger, Instant::ZERO).len(), 2);
        assert_eq!(pinger.deadline(), Some(Instant::from_millis(1000)));
        assert!(drain(&mut pinger, Instant::from_millis(999)).is_empty());
        assert_eq!(drain(&mut pinger, Instant::from_millis(1000)).len(), 2);
    }

    #[test]
    fn unanswered_interest_times_out_and_ends_the_run() {
        let mut pinger = pinger(1);
        drain(&mut pinger, Instant::ZERO);
        let rest = drain(&mut pinger, Instant::from_millis(4000));
        assert!(matches!(
            rest[0],
            AppOutput::Report(Report::Event(Event::TimedOut { segment: 7 }))
        ));
        assert!(matches!(rest[1], AppOutput::Report(Report::Done(Ok(())))));
        assert_eq!(pinger.deadline(), None);
    }
}
