//! Keeps prefixes registered with the forwarder of the uplink.
//!
//! The application sends one command after the other, because forwarders reject two commands with the same time. It
//! retransmits unanswered commands. It registers again whenever the uplink comes up, and every five minutes, because
//! some forwarders remove idle faces.
//!
//! A forwarder on another machine is reached by way of address translators, which forget an idle UDP flow after 30 s
//! ([`NAT_BINDING`]). The forwarder also closes idle UDP faces itself. While a prefix is registered there, a frame
//! without packet follows every [`KEEP_ALIVE`].
use crate::application::{AppInput, AppOutput, Application, Report};
use crate::management::{
    CHILD_INHERIT, CommandTimes, ControlParameters, ManagementError, Origin, Scope, parse_response,
    register_command,
};
use crate::random::Rng;
use crate::time::{Duration, Instant, TimeOfDay};
use recoup_packet::data::Data;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_packet::signature::{AutoVerifier, Signer, Verdict, Verifier};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Commands for one prefix before its registration counts as failed.
pub const MAX_ATTEMPTS: u32 = 4;
/// Lifetime of a command to a forwarder on another machine.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Rejections of one prefix that are followed by another attempt.
const MAX_REJECTIONS: u32 = 2;
/// Least time between a rejection or Nack and the next attempt.
const PAUSE: Duration = Duration::from_millis(100);
/// Interval of registrations of one prefix.
pub const REFRESH: Duration = Duration::from_secs(300);
/// Interval of keep-alives, unless a command is sent.
pub const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// Common idle time after which address translators forget a UDP flow (Linux: 30 s in one direction). RFC 4787 wants two
/// minutes at least.
pub const NAT_BINDING: Duration = Duration::from_secs(30);
/// Time after a failed registration to the next one.
pub const RETRY: Duration = Duration::from_secs(30);

/// Parameters of a registration.
pub struct RegistrationConfig {
    /// The prefixes.
    pub prefixes: Vec<Name>,
    /// The forwarder.
    pub scope: Scope,
    /// Signer of the commands; DigestSha256 satisfies a forwarder's default on the same machine.
    pub signer: Box<dyn Signer>,
    /// Cost of the routes.
    pub cost: u64,
    /// Clock for the times of commands.
    pub time_of_day: TimeOfDay,
    /// Source of nonces.
    pub rng: Rng,
}

impl fmt::Debug for RegistrationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prefixes, scope, .. } = self;
        f.debug_struct("RegistrationConfig")
            .field("prefixes", prefixes)
            .field("scope", scope)
            .finish_non_exhaustive()
    }
}

/// An application that keeps prefixes registered.
///
/// The application reports the first outcome of each prefix, and each change, with [`Report::Registered`].
#[derive(Debug)]
pub struct Registration {
    config: RegistrationConfig,
    is_up: bool,
    /// Whether each prefix is registered, once that is known.
    fates: Vec<Option<bool>>,
    waiting: VecDeque<usize>,
    exchange: Option<Exchange>,
    /// Time of the next registration of all prefixes.
    again: Option<Instant>,
    /// Time of the next keep-alive.
    alive: Option<Instant>,
    times: CommandTimes,
    outputs: VecDeque<AppOutput>,
}

/// The pending command.
#[derive(Debug)]
struct Exchange {
    prefix: usize,
    attempts: u32,
    rejections: u32,
    /// Name of the pending command; `None` during a pause.
    asked: Option<Name>,
    /// End of the timeout, or of the pause.
    until: Instant,
    trouble: Option<ManagementError>,
}

impl Registration {
    /// Registers the prefixes of `config` as soon as an uplink is up, and keeps them registered.
    pub fn new(config: RegistrationConfig) -> Self {
        Self {
            fates: vec![None; config.prefixes.len()],
            times: CommandTimes::new(config.time_of_day),
            config,
            is_up: false,
            waiting: VecDeque::new(),
            exchange: None,
            again: None,
            alive: None,
            outputs: VecDeque::new(),
        }
    }

    fn begin_all(&mut self) {
        self.again = None;
        self.exchange = None;
        self.waiting = (0..self.config.prefixes.len()).collect();
    }

    fn parameters(&self, prefix: usize) -> ControlParameters {
        let origin = match self.config.scope {
            Scope::Localhost => Origin::App,
            Scope::Localhop => Origin::Client,
        };
        ControlParameters {
            name: self.config.prefixes.get(prefix).cloned(),
            origin: Some(origin as u64),
            cost: Some(self.config.cost),
            flags: Some(CHILD_INHERIT),
            ..ControlParameters::default()
        }
    }

    /// Sends a new command for the prefix of the exchange, with a time later than all before.
    fn ask(&mut self, now: Instant, mut exchange: Exchange) {
        let nonce = self.config.rng.next_u64().to_be_bytes();
        let time = Some(self.times.next(now));
        let unique = Uniqueness { nonce: Some(&nonce), time, seq_num: None };
        let parameters = self.parameters(exchange.prefix);
        let (scope, signer) = (self.config.scope, self.config.signer.as_ref());
        let mut interest = register_command(scope, &parameters, signer, unique);
        interest.nonce = Some(self.config.rng.next_u32());
        interest.lifetime = Some(self.patience());
        exchange.attempts += 1;
        exchange.asked = Some(interest.name.clone());
        exchange.until = now + self.patience();
        self.alive = self.alive.map(|_| now + KEEP_ALIVE);
        self.exchange = Some(exchange);
        self.outputs.push_back(AppOutput::Interest(Arc::new(interest)));
    }

    fn patience(&self) -> Duration {
        match self.config.scope {
            Scope::Localhost => Duration::from_secs(1),
            Scope::Localhop => PATIENCE,
        }
    }

    fn keep_alive(&mut self, now: Instant) {
        if self.alive.is_some_and(|alive| alive <= now) {
            self.alive = Some(now + KEEP_ALIVE);
            self.outputs.push_back(AppOutput::KeepAlive);
        }
    }

    /// Registers the next prefix, retries the current one, or starts again.
    fn advance(&mut self, now: Instant) {
        if let Some(exchange) = self.exchange.take_if(|exchange| exchange.until <= now) {
            self.retry(now, exchange);
        }
        // Never in the middle of a round, which would starve the last prefixes.
        let is_idle = self.exchange.is_none() && self.waiting.is_empty();
        if is_idle && self.again.is_some_and(|again| again <= now) {
            self.begin_all();
        }
        if self.exchange.is_none()
            && let Some(prefix) = self.waiting.pop_front()
        {
            let until = now;
            let fresh =
                Exchange { prefix, attempts: 0, rejections: 0, asked: None, until, trouble: None };
            self.ask(now, fresh);
        }
    }

    fn retry(&mut self, now: Instant, exchange: Exchange) {
        let Exchange { prefix, attempts, rejections, .. } = exchange;
        if attempts < MAX_ATTEMPTS && rejections < MAX_REJECTIONS {
            return self.ask(now, exchange);
        }
        let silence = ManagementError::NoAnswer { attempts };
        self.conclude(now, prefix, Err(exchange.trouble.unwrap_or(silence)));
    }

    fn conclude(&mut self, now: Instant, prefix: usize, outcome: Result<(), ManagementError>) {
        self.exchange = None;
        let again = now + if outcome.is_ok() { REFRESH } else { RETRY };
        self.again = Some(self.again.map_or(again, |earlier| earlier.min(again)));
        if outcome.is_ok() && self.config.scope == Scope::Localhop {
            self.alive.get_or_insert(now + KEEP_ALIVE);
        }
        let fate = Some(outcome.is_ok());
        let (Some(known), Some(name)) =
            (self.fates.get_mut(prefix), self.config.prefixes.get(prefix))
        else {
            return;
        };
        if std::mem::replace(known, fate) != fate {
            let prefix = Box::new(name.clone());
            let outcome = outcome.map_err(Box::new);
            self.outputs.push_back(AppOutput::Report(Report::Registered { prefix, outcome }));
        }
    }

    fn on_data(&mut self, now: Instant, data: &Data) {
        let Some(exchange) = self.exchange.take_if(|e| e.asked.as_ref() == Some(data.name()))
        else {
            return;
        };
        if matches!(AutoVerifier.verify(data), Verdict::Bad(_)) {
            self.exchange = Some(exchange);
            return;
        }
        match parse_response(data) {
            Ok(_) => self.conclude(now, exchange.prefix, Ok(())),
            Err(error) if error.is_transient() => self.pause(now, exchange, error),
            Err(error) => self.conclude(now, exchange.prefix, Err(error)),
        }
    }

    fn on_nack(&mut self, now: Instant, interest: &Interest, reason: NackReason) {
        let asked = |exchange: &mut Exchange| exchange.asked.as_ref() == Some(&interest.name);
        if let Some(exchange) = self.exchange.take_if(asked) {
            self.pause(now, exchange, ManagementError::Nack(reason));
        }
    }

    /// Waits before the next attempt.
    fn pause(&mut self, now: Instant, mut exchange: Exchange, trouble: ManagementError) {
        exchange.rejections += u32::from(matches!(trouble, ManagementError::Rejected { .. }));
        exchange.asked = None;
        exchange.until = now + PAUSE;
        exchange.trouble = Some(trouble);
        self.exchange = Some(exchange);
    }
}

impl Application for Registration {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => {
                self.is_up = true;
                self.begin_all();
            }
            AppInput::FaceDown => {
                self.is_up = false;
                self.exchange = None;
                (self.again, self.alive) = (None, None);
                self.waiting.clear();
                self.fates.fill(None);
            }
            AppInput::TimeOfDay(clock) => self.times.set(clock),
            AppInput::Data { data, .. } => self.on_data(now, &data),
            AppInput::Nack { interest, reason } => self.on_nack(now, &interest, reason),
            AppInput::Interest { .. }
            | AppInput::Consumed { .. }
            | AppInput::Held { .. }
            | AppInput::Shared { .. } => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self.outputs.is_empty() && self.is_up {
            self.advance(now);
            self.keep_alive(now);
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let next = self.exchange.as_ref().map(|exchange| exchange.until).or(self.again);
        next.into_iter().chain(self.alive).min()
    }
}
