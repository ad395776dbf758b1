//! One Interest and its Data, for producers with one packet for each name.
use crate::client::Client;
use crate::engine::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::name::ToName;
use crate::wait::{Pending, Promise, block_on};
use bytes::Bytes;
use recoup_packet::data::ContentType;
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::{Verdict, Verifier};
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::fetch::{DENIALS, FetchError, denied_wait};
use recoup_transport::random::Rng;
use recoup_transport::rejection::{Rejection, Rejections};
use recoup_transport::resolve::{MAX_COPIES, Resolver, displaced};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Time to the first retransmission; it doubles with each.
const FIRST_TIMEOUT: Duration = Duration::from_millis(500);
/// Interests for one name, beside those that follow rejected answers.
const MAX_ATTEMPTS: u32 = 4;

impl Client {
    /// Sends one Interest for `name`, and returns the content of its Data. For producers that answer each name with one
    /// packet, such as sensors ([`ServeBuilder::answer`](crate::ServeBuilder::answer)). The Interest has MustBeFresh,
    /// and is sent up to four times within 7.5 s.
    ///
    /// # Errors
    /// [`is_not_found`](Error::is_not_found), [`is_timeout`](Error::is_timeout), [`is_unverified`](Error::is_unverified).
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let _server = client.serve("/sensor").answer(|_| Some("21.5".into()))?;
    /// assert_eq!(client.get_packet("/sensor/temperature")?, "21.5");
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn get_packet(&self, name: impl ToName) -> Result<Bytes> {
        block_on(self.begin_packet(name.to_name()?)?)
    }

    /// Begins what [`get_packet`](Self::get_packet) waits for.
    pub(crate) fn begin_packet(&self, name: Name) -> Result<Pending<Bytes>> {
        self.permit(&name)?;
        self.reach()?;
        self.locate(&name)?;
        let verifier = self.settings.opened.verifier(&self.settings.options.verify)?;
        let found = Found::default();
        let exchange = Exchange::new(name, verifier, self.rng()?, Arc::clone(&found));
        Pending::begin(self, move |engine, task, promise| {
            let owner = Waiting { found, promise, has_ended: false };
            engine.start(task, Box::new(exchange), Vec::new(), Box::new(owner));
        })
    }
}

/// Shared by the application and its owner.
type Found = Arc<Mutex<Option<Result<Bytes>>>>;

/// One Interest, sent until it is answered.
struct Exchange {
    name: Name,
    verifier: Box<dyn Verifier>,
    rng: Rng,
    is_up: bool,
    attempts: u32,
    /// Application Nacks: another producer of the prefix may have the content.
    denials: u32,
    until: Option<Instant>,
    found: Found,
    has_ended: bool,
    rejected: Rejections,
    /// The last Interest had a rejected answer.
    is_rejected: bool,
    /// Copies that wait for certificates, and the names of these.
    pending: Vec<(Data, Name)>,
    resolver: Resolver,
    outputs: VecDeque<AppOutput>,
}

impl Exchange {
    fn new(name: Name, verifier: Box<dyn Verifier>, rng: Rng, found: Found) -> Self {
        Self {
            resolver: Resolver::of(name.clone()),
            name,
            verifier,
            rng,
            is_up: false,
            attempts: 0,
            denials: 0,
            until: None,
            found,
            has_ended: false,
            rejected: Rejections::NONE,
            is_rejected: false,
            pending: Vec::new(),
            outputs: VecDeque::new(),
        }
    }

    fn end(&mut self, result: Result<Bytes>) {
        self.has_ended = true;
        self.until = None;
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.outputs.push_back(AppOutput::Report(Report::Done(Ok(()))));
    }

    fn send(&mut self, now: Instant) {
        let timeout = FIRST_TIMEOUT.saturating_mul(1 << self.charged().min(8));
        self.attempts += 1;
        self.is_rejected = false;
        self.until = Some(now + timeout);
        let mut interest = Interest::new(self.name.clone());
        (interest.can_be_prefix, interest.must_be_fresh) = (false, true);
        (interest.nonce, interest.lifetime) = (Some(self.rng.next_u32()), Some(timeout));
        self.outputs.push_back(AppOutput::Interest(Arc::new(interest)));
    }

    /// Interests that no rejected answer excuses.
    fn charged(&self) -> u32 {
        self.attempts.saturating_sub(self.rejected.count)
    }

    /// Judges Data, which may have to wait for certificates.
    fn judge(&mut self, now: Instant, data: Data) {
        match self.verifier.verify(&data) {
            _ if self.has_ended => {}
            verdict @ (Verdict::Bad(_) | Verdict::Invalid(_)) => {
                if let Some(rejection) = Rejection::of(verdict, &data) {
                    self.on_rejected(now, rejection);
                }
            }
            Verdict::Pending => {
                if let Some(certificates) = self.verifier.certificates()
                    && let Some(name) = certificates.missing(&data)
                {
                    self.resolver.want(now, &name, certificates);
                    self.keep(data, name);
                }
            }
            Verdict::Verified | Verdict::NotVerified => self.accept(now, &data),
        }
    }

    /// Sends another Interest soon: a forged copy consumed the pending Interests on its way.
    fn on_rejected(&mut self, now: Instant, rejection: Rejection) {
        let is_first = self.attempts > 0 && !std::mem::replace(&mut self.is_rejected, true);
        self.rejected.record(rejection, is_first);
        if let Some(due) = self.rejected.due(now, None).filter(|_| is_first) {
            self.until = self.until.map(|until| until.min(due));
        }
    }

    /// Keeps a copy until the certificate `name` is there.
    fn keep(&mut self, data: Data, name: Name) {
        if self.pending.iter().any(|(known, _)| known.wire() == data.wire()) {
            return;
        }
        if self.pending.len() >= MAX_COPIES {
            let keys: Vec<&Name> = self.pending.iter().map(|(_, key)| key).collect();
            displaced(&keys, &name, |_| 0).map(|place| self.pending.remove(place));
        }
        self.pending.push((data.detached(), name));
    }

    fn accept(&mut self, now: Instant, data: &Data) {
        if data.content_type() == ContentType::Nack {
            self.denials += 1;
            if self.denials < DENIALS {
                // The next Interest is no retransmission.
                self.attempts = self.attempts.saturating_sub(1);
                self.until = Some(now + denied_wait(self.denials));
                return;
            }
            self.end(Err(Error::from(&FetchError::denied(self.name.clone(), data))));
        } else {
            // A copy: what arrived is a part of a larger receive buffer.
            self.end(Ok(Bytes::copy_from_slice(data.content())));
        }
    }

    /// The next Interest for a certificate. Judges again once one is there, or cannot be had.
    fn next_certificate(&mut self, now: Instant) -> Option<Interest> {
        loop {
            let certificates = self.verifier.certificates()?;
            let interest = self.resolver.poll(now, FIRST_TIMEOUT, certificates);
            if self.resolver.take_news() {
                for (data, _) in std::mem::take(&mut self.pending) {
                    self.judge(now, data);
                }
            } else if interest.is_none() || self.has_ended {
                return None;
            }
            if let Some(mut interest) = interest {
                let nonce = Some(self.rng.next_u32());
                (interest.nonce, interest.lifetime) = (nonce, Some(FIRST_TIMEOUT * 4));
                return Some(interest);
            }
        }
    }

    fn give_up(&mut self) {
        let name = &self.name;
        let error = match self.rejected.last() {
            Some(rejection) => Error::from(&FetchError::rejected(name.clone(), rejection)),
            None => Error::new(
                ErrorKind::TimedOut,
                format!("no answer for {name} after {} Interests", self.attempts),
            )
            .with_remedy("check the name, and that its producer runs and can be reached"),
        };
        self.end(Err(error));
    }
}

impl Application for Exchange {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            _ if self.has_ended => {}
            AppInput::FaceUp { .. } => (self.is_up, self.until) = (true, None),
            AppInput::FaceDown => self.is_up = false,
            AppInput::Data { data, .. } if *data.name() == self.name => {
                self.judge(now, data);
            }
            AppInput::Data { data, .. } => {
                if let Some(certificates) = self.verifier.certificates() {
                    self.resolver.on_data(now, &data, certificates);
                }
            }
            AppInput::Nack { interest, reason: NackReason::NoRoute }
                if interest.name == self.name =>
            {
                let text = format!("no route to {}", self.name);
                let error = Error::new(ErrorKind::NotFound, text);
                self.end(Err(error.with_remedy("start its producer, or check the name")));
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self.is_up
            && !self.has_ended
            && let Some(interest) = self.next_certificate(now)
        {
            return Some(AppOutput::Interest(Arc::new(interest)));
        }
        if self.outputs.is_empty()
            && !self.has_ended
            && self.is_up
            && self.until.is_none_or(|it| it <= now)
        {
            match self.resolver.deadline().filter(|_| !self.pending.is_empty()) {
                _ if self.charged() < MAX_ATTEMPTS && !self.rejected.are_too_many(None) => {
                    self.send(now);
                }
                // The verdict on what waits follows.
                Some(due) => self.until = Some(due),
                None => self.give_up(),
            }
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let next = self.until.into_iter().chain(self.resolver.deadline()).min();
        next.filter(|_| self.is_up && !self.has_ended)
    }

    fn awaits(&self, data: &Data) -> bool {
        !self.has_ended && (*data.name() == self.name || self.resolver.awaits(data.name()))
    }
}

/// The owner of an exchange.
struct Waiting {
    found: Found,
    promise: Promise<Bytes>,
    has_ended: bool,
}

impl Task for Waiting {
    fn report(&mut self, _now: Instant, report: Report) {
        if matches!(report, Report::Done(_)) {
            let found = self.found.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.has_ended = true;
            self.promise.put(found.unwrap_or_else(|| Err(Error::stopped())));
        }
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn fail(&mut self, error: &Error) {
        self.has_ended = true;
        self.promise.put(Err(error.clone()));
    }

    fn is_consumer(&self) -> bool {
        true
    }
}
