//! Management client: sends one command, retrieves one dataset in all its segments, or subscribes to notifications.
//!
//! Source: NFD's wiki pages "ControlCommand", "StatusDataset" and "Notification".
use super::face::FaceEvent;
use super::{
    CommandTimes, ControlParameters, ManagementError, Scope, Verb, command_interest, parse_response,
};
use crate::application::{AppInput, AppOutput, Application, Report};
use crate::random::Rng;
use crate::time::{Duration, Instant, TimeOfDay};
use recoup_packet::data::{ContentType, Data};
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{AutoVerifier, Signer, Verdict, Verifier};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Most attempts.
const MAX_ATTEMPTS: u32 = 4;
/// Timeout of an attempt. Faces may take some time to open.
const PATIENCE: Duration = Duration::from_secs(4);
/// Least time between a rejection or Nack and the next attempt.
const PAUSE: Duration = Duration::from_millis(100);
/// Lifetime of an Interest for notifications.
const VIGIL: Duration = Duration::from_secs(60);
/// Most bytes of a dataset.
const MAX_DATASET_BYTES: usize = 64 << 20;

/// Kind of a request.
#[derive(Clone, Debug)]
pub enum Question {
    /// A command.
    Command {
        /// Destination of the command.
        scope: Scope,
        /// Module and verb.
        verb: Verb,
        /// Parameters of the command.
        parameters: Box<ControlParameters>,
    },
    /// The dataset of this name.
    Dataset(Name),
    /// Notifications under this name, without end.
    Events(Name),
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Managed {
    /// The command was executed, with these parameters.
    Done(Box<ControlParameters>),
    /// The whole dataset; [`decode_records`](super::decode_records) decodes it.
    Dataset(Vec<u8>),
    /// A notification.
    Event(FaceEvent),
}

/// A request and its parameters.
pub struct InquiryConfig {
    /// The request.
    pub question: Question,
    /// Signer of commands. DigestSha256 satisfies a forwarder's default on the same machine.
    pub signer: Box<dyn Signer>,
    /// Clock for the times of commands.
    pub time_of_day: TimeOfDay,
    /// Source of nonces.
    pub rng: Rng,
}

impl fmt::Debug for InquiryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InquiryConfig").field("question", &self.question).finish_non_exhaustive()
    }
}

/// An application that sends one request and reports the answer with [`Report::Managed`]: once, or for each
/// notification.
#[derive(Debug)]
pub struct Inquiry {
    config: InquiryConfig,
    is_up: bool,
    ended: bool,
    attempts: u32,
    /// Name of the pending Interest; `None` during a pause.
    asked: Option<Name>,
    /// End of the timeout, or of the pause.
    until: Option<Instant>,
    trouble: Option<ManagementError>,
    times: CommandTimes,
    /// Of a dataset: its name with version once that is known, the next segment, and the content before it.
    version: Option<Name>,
    segment: u64,
    content: Vec<u8>,
    /// Of notifications: the number of the next one, after the first.
    next_event: Option<u64>,
    outputs: VecDeque<AppOutput>,
}

impl Inquiry {
    /// Sends the request as soon as an uplink is up.
    #[must_use]
    pub fn new(config: InquiryConfig) -> Self {
        Self {
            times: CommandTimes::new(config.time_of_day),
            config,
            is_up: false,
            ended: false,
            attempts: 0,
            asked: None,
            until: None,
            trouble: None,
            version: None,
            segment: 0,
            content: Vec::new(),
            next_event: None,
            outputs: VecDeque::new(),
        }
    }

    fn ask(&mut self, now: Instant) {
        let nonce = self.config.rng.next_u32();
        let mut interest = match &self.config.question {
            Question::Command { .. } => self.command(now),
            Question::Dataset(name) => match &self.version {
                None => probe(name),
                Some(version) => Interest::new(version.append(Component::segment(self.segment))),
            },
            Question::Events(name) => match self.next_event {
                None => probe(name),
                Some(next) => Interest::new(name.append(Component::sequence_num(next))),
            },
        };
        let patience = self.patience();
        interest.nonce = Some(nonce);
        interest.lifetime = Some(patience);
        self.attempts += 1;
        self.asked = Some(interest.name.clone());
        self.until = Some(now + patience);
        self.outputs.push_back(AppOutput::Interest(Arc::new(interest)));
    }

    fn command(&mut self, now: Instant) -> Interest {
        let nonce = self.config.rng.next_u64().to_be_bytes();
        let time = Some(self.times.next(now));
        let unique = Uniqueness { nonce: Some(&nonce), time, seq_num: None };
        let InquiryConfig { question, signer, .. } = &self.config;
        match question {
            Question::Command { scope, verb, parameters } => {
                command_interest(*scope, *verb, parameters, signer.as_ref(), unique)
            }
            Question::Dataset(name) | Question::Events(name) => Interest::new(name.clone()),
        }
    }

    fn patience(&self) -> Duration {
        if self.is_vigil() { VIGIL } else { PATIENCE }
    }

    fn is_vigil(&self) -> bool {
        matches!(self.config.question, Question::Events(_))
    }

    fn conclude(&mut self, outcome: Result<Managed, ManagementError>) {
        (self.ended, self.asked, self.until) = (true, None, None);
        let outcome = outcome.map(Box::new).map_err(Box::new);
        self.outputs.push_back(AppOutput::Report(Report::Managed(outcome)));
    }

    /// Waits before the next attempt, or gives up.
    fn pause(&mut self, now: Instant, trouble: ManagementError) {
        let lasts = trouble.is_transient() && self.attempts < MAX_ATTEMPTS;
        if !lasts {
            return self.conclude(Err(trouble));
        }
        (self.asked, self.until, self.trouble) = (None, Some(now + PAUSE), Some(trouble));
    }

    /// The timeout or the pause has ended.
    fn on_time(&mut self, now: Instant) {
        if self.asked.is_some() && self.is_vigil() {
            self.attempts = 0;
        }
        if self.attempts < MAX_ATTEMPTS {
            return self.ask(now);
        }
        let silence = ManagementError::NoAnswer { attempts: self.attempts };
        let trouble = self.trouble.take().unwrap_or(silence);
        self.conclude(Err(trouble));
    }

    fn on_data(&mut self, now: Instant, data: &Data) {
        let is_answer = self.asked.as_ref().is_some_and(|asked| asked.is_prefix_of(data.name()));
        if !is_answer || matches!(AutoVerifier.verify(data), Verdict::Bad(_)) {
            return;
        }
        match &self.config.question {
            Question::Command { .. } => match parse_response(data) {
                Ok(parameters) => self.conclude(Ok(Managed::Done(Box::new(parameters)))),
                Err(error) => self.pause(now, error),
            },
            // A rejection instead of the dataset.
            Question::Dataset(_) if data.content_type() == ContentType::Nack => {
                let rejection = parse_response(data).err();
                let silence = ManagementError::NoAnswer { attempts: self.attempts };
                self.pause(now, rejection.unwrap_or(silence));
            }
            Question::Dataset(name) => {
                let depth = name.len();
                self.on_segment(now, data, depth);
            }
            Question::Events(_) => self.on_event(now, data),
        }
    }

    fn on_segment(&mut self, now: Instant, data: &Data, depth: usize) {
        let name = data.name();
        let number = name.last().and_then(|last| last.is_segment());
        let (Some(number), true) = (number, name.len() == depth + 2) else {
            return self.pause(now, ManagementError::NoAnswer { attempts: self.attempts });
        };
        self.attempts = 0;
        self.version = Some(name.parent());
        if number == self.segment {
            let free_bytes = MAX_DATASET_BYTES.saturating_sub(self.content.len());
            self.content.extend(data.content().iter().take(free_bytes));
            if data.final_block() == name.last() || free_bytes == 0 {
                let content = std::mem::take(&mut self.content);
                return self.conclude(Ok(Managed::Dataset(content)));
            }
            self.segment += 1;
        }
        self.ask(now);
    }

    fn on_event(&mut self, now: Instant, data: &Data) {
        let number = data.name().last().and_then(|last| last.to_number());
        self.next_event = number.and_then(|number| number.checked_add(1));
        self.attempts = 0;
        if let Ok(event) = FaceEvent::from_content(data.content()) {
            let event = Ok(Box::new(Managed::Event(event)));
            self.outputs.push_back(AppOutput::Report(Report::Managed(event)));
        }
        self.ask(now);
    }
}

/// An Interest for the newest Data under a name.
fn probe(name: &Name) -> Interest {
    let mut interest = Interest::new(name.clone());
    (interest.can_be_prefix, interest.must_be_fresh) = (true, true);
    interest
}

impl Application for Inquiry {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => {
                (self.is_up, self.attempts, self.next_event) = (true, 0, None);
                (self.version, self.segment) = (None, 0);
                self.content.clear();
                self.until = (!self.ended).then_some(now);
            }
            AppInput::TimeOfDay(clock) => self.times.set(clock),
            AppInput::FaceDown => (self.is_up, self.asked, self.until) = (false, None, None),
            AppInput::Data { data, .. } if !self.ended => self.on_data(now, &data),
            AppInput::Nack { interest, reason } if self.asked.as_ref() == Some(&interest.name) => {
                // The forwarder no longer has these notifications: start again with the newest.
                (self.version, self.segment, self.next_event) = (None, 0, None);
                self.content.clear();
                self.pause(now, ManagementError::Nack(reason));
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self.outputs.is_empty() && self.is_up && self.until.is_some_and(|until| until <= now) {
            self.on_time(now);
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.until
    }
}
