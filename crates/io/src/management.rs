//! Telling a local forwarder which names to bring here: the NFD management protocol, as NFD, ndnd and
//! NDNts speak it.
//!
//! Sources: NFD wiki, "ControlCommand", "RibMgmt" (module `rib`, verb `register`); NDN packet format
//! 0.3, §5.4 "Signed Interest".
use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::Signer;
use recoup_packet::tlv::{self, DecodeError, Reader};
use recoup_transport::application::{AppInput, AppOutput, Application};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

const CONTROL_RESPONSE: u64 = 101;
const STATUS_CODE: u64 = 102;
const STATUS_TEXT: u64 = 103;
const CONTROL_PARAMETERS: u64 = 104;
const NAME: u64 = 7;
const COST: u64 = 106;
const FLAGS: u64 = 108;
const ORIGIN: u64 = 111;
/// The route was made by an application.
const ORIGIN_APP: u64 = 0;
/// Longer prefixes without routes of their own use the route too.
const CHILD_INHERIT: u64 = 1;
/// How long an answer is waited for.
const LIFETIME: Duration = Duration::from_secs(4);
/// How often a silent forwarder is asked.
const ATTEMPTS: u32 = 3;
/// Longest text of a refusal that is kept, in octets.
const MAX_TEXT: usize = 256;

/// How a registration stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// No answer yet.
    #[default]
    Asked,
    /// The forwarder brings Interests for the name here.
    Registered,
    /// It will not.
    Failed(RegisterError),
}

/// Why a forwarder does not bring Interests here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// It said no.
    #[error("the forwarder refused to register {name}: {text} (code {code})")]
    Refused {
        /// The name.
        name: Name,
        /// NFD's status code; 403 means that the signature was not accepted.
        code: u64,
        /// NFD's words.
        text: String,
    },
    /// It does not answer.
    #[error("the forwarder does not answer the request to register {0}")]
    Silent(Name),
    /// It is none.
    #[error("what is there does not manage routes, so {name} cannot be registered: {reason}")]
    NoManager {
        /// The name.
        name: Name,
        /// The network's reason.
        reason: NackReason,
    },
    /// It answers in another language.
    #[error("the forwarder's answer to the request to register {name} cannot be read: {error}")]
    NotUnderstood {
        /// The name.
        name: Name,
        /// What is wrong with it.
        error: DecodeError,
    },
}

/// Watches a registration from outside the node.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    status: Arc<Mutex<Status>>,
}

impl Watch {
    /// How the registration stands.
    pub fn status(&self) -> Status {
        self.status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// Registers a name with the forwarder that the node's upstream face leads to, and again whenever that
/// face comes up again: a forwarder forgets a route with its face.
pub struct Registration {
    name: Name,
    /// `/localhost/nfd/rib/register`, or its `localhop` sibling.
    command: Name,
    signer: Box<dyn Signer>,
    rng: Rng,
    /// Milliseconds from 1970 to the beginning of the run.
    epoch_millis: u64,
    watch: Watch,
    /// The command that waits for its answer, and until when.
    pending: Option<(Name, Instant)>,
    attempts: u32,
    /// Grows with each command, so that none is taken for a replay of another.
    last_time: u64,
    outputs: VecDeque<AppOutput>,
}

impl Registration {
    /// Registers `name`. `local`: the forwarder runs on this machine, behind a local face. Signature
    /// times are `epoch_millis` (from 1970 to the beginning of the run) plus the time of the run.
    pub fn new(
        name: Name,
        local: bool,
        signer: Box<dyn Signer>,
        epoch_millis: u64,
        rng: Rng,
    ) -> Self {
        let scope: &[u8] = if local { b"localhost" } else { b"localhop" };
        let words = [scope, b"nfd", b"rib", b"register"];
        Self {
            name,
            command: words.into_iter().map(Component::generic).collect(),
            signer,
            rng,
            epoch_millis,
            watch: Watch::default(),
            pending: None,
            attempts: 0,
            last_time: 0,
            outputs: VecDeque::new(),
        }
    }

    /// Tells how it stands, also after the machine has gone into a node.
    pub fn watch(&self) -> Watch {
        self.watch.clone()
    }

    fn ask(&mut self, now: Instant) {
        self.attempts += 1;
        let name = self.command.append(Component::generic(&self.parameters()));
        let time = (self.epoch_millis + now.as_nanos() / 1_000_000).max(self.last_time + 1);
        self.last_time = time;
        let nonce = self.rng.next_u64().to_be_bytes();
        let unique = Uniqueness {
            nonce: Some(&nonce),
            time: Some(time),
            seq_num: None,
        };
        let mut interest = Interest::new(name);
        interest.must_be_fresh = true;
        interest.nonce = Some(self.rng.next_u32());
        interest.lifetime = Some(LIFETIME);
        let interest = interest.sign(Bytes::new(), self.signer.as_ref(), unique);
        self.pending = Some((interest.name.clone(), now + LIFETIME));
        self.outputs.push_back(AppOutput::Interest(interest));
    }

    fn parameters(&self) -> Vec<u8> {
        let mut value = Vec::new();
        tlv::put_tlv(&mut value, NAME, self.name.value());
        tlv::put_nni_tlv(&mut value, ORIGIN, ORIGIN_APP);
        tlv::put_nni_tlv(&mut value, COST, 0);
        tlv::put_nni_tlv(&mut value, FLAGS, CHILD_INHERIT);
        let mut parameters = Vec::new();
        tlv::put_tlv(&mut parameters, CONTROL_PARAMETERS, &value);
        parameters
    }

    fn is_pending(&self, name: &Name) -> bool {
        self.pending
            .as_ref()
            .is_some_and(|(pending, _)| pending == name)
    }

    fn end(&mut self, status: Status) {
        self.pending = None;
        self.watch.set(status);
    }

    fn fail(&mut self, error: RegisterError) {
        self.end(Status::Failed(error));
    }

    fn on_data(&mut self, data: &Data) {
        if !self.is_pending(data.name()) {
            return;
        }
        let name = self.name.clone();
        match response(data.content()) {
            Ok((200, _)) => self.end(Status::Registered),
            Ok((code, text)) => self.fail(RegisterError::Refused { name, code, text }),
            Err(error) => self.fail(RegisterError::NotUnderstood { name, error }),
        }
    }
}

/// Reads a ControlResponse.
fn response(content: &[u8]) -> Result<(u64, String), DecodeError> {
    let response = Reader::new(content).expect(CONTROL_RESPONSE, "a ControlResponse")?;
    let mut reader = response.reader();
    let code = reader.expect(STATUS_CODE, "a StatusCode")?.number()?;
    let text = reader.expect(STATUS_TEXT, "a StatusText")?.value;
    let text = text.get(..MAX_TEXT).unwrap_or(text);
    Ok((code, String::from_utf8_lossy(text).into_owned()))
}

impl Application for Registration {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => {
                self.attempts = 0;
                self.watch.set(Status::Asked);
                self.ask(now);
            }
            AppInput::FaceDown => {
                self.end(Status::Asked);
                self.outputs.clear();
            }
            AppInput::Data { data, .. } => self.on_data(&data),
            AppInput::Nack { interest, reason } if self.is_pending(&interest.name) => {
                let name = self.name.clone();
                self.fail(RegisterError::NoManager { name, reason });
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        if self
            .pending
            .as_ref()
            .is_some_and(|(_, until)| *until <= now)
        {
            if self.attempts < ATTEMPTS {
                self.ask(now);
            } else {
                self.fail(RegisterError::Silent(self.name.clone()));
            }
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.pending.as_ref().map(|(_, until)| *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::DigestSigner;

    fn registration() -> Registration {
        let name = "/a/b".parse().unwrap();
        Registration::new(
            name,
            true,
            Box::new(DigestSigner),
            1_000_000,
            Rng::from_seed(1),
        )
    }

    fn asked(registration: &mut Registration, now: Instant) -> Interest {
        match registration.poll(now) {
            Some(AppOutput::Interest(interest)) => interest,
            other => panic!("{other:?}"),
        }
    }

    fn answer(name: &Name, code: u64, text: &[u8]) -> AppInput {
        let (mut value, mut content) = (Vec::new(), Vec::new());
        tlv::put_nni_tlv(&mut value, STATUS_CODE, code);
        tlv::put_tlv(&mut value, STATUS_TEXT, text);
        tlv::put_tlv(&mut content, CONTROL_RESPONSE, &value);
        let data = DataBuilder::new(name).build(&content, &DigestSigner);
        AppInput::Data {
            data,
            congestion_mark: 0,
        }
    }

    #[test]
    fn a_command_carries_its_parameters_in_its_name_and_is_signed() {
        let mut registration = registration();
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        let interest = asked(&mut registration, Instant::ZERO);
        let text = interest.name.to_string();
        assert!(text.starts_with("/localhost/nfd/rib/register/h%"), "{text}");
        let info = interest.signature.as_ref().unwrap().info();
        assert_eq!(info.time, Some(1_000_000));
        assert!(info.nonce.is_some());
        registration.handle(Instant::ZERO, answer(&interest.name, 200, b"Success"));
        assert_eq!(registration.watch().status(), Status::Registered);
        assert_eq!(registration.deadline(), None);
    }

    #[test]
    fn a_refusal_is_told_in_the_words_of_the_forwarder() {
        let mut registration = registration();
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        let interest = asked(&mut registration, Instant::ZERO);
        registration.handle(Instant::ZERO, answer(&interest.name, 403, b"Forbidden"));
        let Status::Failed(error) = registration.watch().status() else {
            panic!()
        };
        let text = "the forwarder refused to register /8=a/8=b: Forbidden (code 403)";
        assert_eq!(error.to_string().replace("/a/b", "/8=a/8=b"), text);
    }

    #[test]
    fn a_silent_forwarder_is_asked_three_times_with_growing_times() {
        let mut registration = registration();
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        let mut names = Vec::new();
        for attempt in 0..3 {
            names.push(asked(&mut registration, Instant::from_millis(4000 * attempt)).name);
        }
        names.dedup();
        assert_eq!(names.len(), 3);
        assert!(registration.poll(Instant::from_millis(12_000)).is_none());
        assert!(matches!(
            registration.watch().status(),
            Status::Failed(RegisterError::Silent(_))
        ));
    }

    #[test]
    fn a_face_that_comes_back_is_registered_again() {
        let mut registration = registration();
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        let first = asked(&mut registration, Instant::ZERO);
        registration.handle(Instant::ZERO, answer(&first.name, 200, b"OK"));
        registration.handle(Instant::ZERO, AppInput::FaceDown);
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        assert_ne!(asked(&mut registration, Instant::ZERO).name, first.name);
        assert_eq!(registration.watch().status(), Status::Asked);
    }

    #[test]
    fn an_answer_that_cannot_be_read_is_no_success() {
        let mut registration = registration();
        registration.handle(
            Instant::ZERO,
            AppInput::FaceUp {
                receive_budget: None,
            },
        );
        let name = asked(&mut registration, Instant::ZERO).name;
        let data = DataBuilder::new(&name).build(b"hello", &DigestSigner);
        registration.handle(
            Instant::ZERO,
            AppInput::Data {
                data,
                congestion_mark: 0,
            },
        );
        assert!(matches!(
            registration.watch().status(),
            Status::Failed(RegisterError::NotUnderstood { .. })
        ));
    }
}
