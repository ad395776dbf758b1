//! Registration with a forwarder that answers, rejects, forges or is silent.
use recoup_packet::data::Data;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Beside, Report};
use recoup_transport::management::{ManagementError, Scope};
use recoup_transport::random::Rng;
use recoup_transport::registration::{NAT_BINDING, Registration, RegistrationConfig};
use recoup_transport::time::{Duration, Instant, TimeOfDay};
use std::sync::Arc;

const MAX_ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);
const REFRESH: Duration = Duration::from_secs(300);
const RETRY: Duration = Duration::from_secs(30);

/// A scripted forwarder, and the time.
struct Harness {
    app: Registration,
    now: Instant,
    commands: Vec<Interest>,
    kept_alive: Vec<Instant>,
    reports: Vec<(String, Result<(), ManagementError>)>,
}

const DOWN: AppInput = AppInput::FaceDown;
const UP: AppInput = AppInput::FaceUp { receive_budget: None };

fn config(prefixes: &[&str]) -> RegistrationConfig {
    RegistrationConfig {
        prefixes: prefixes.iter().map(|prefix| prefix.parse().unwrap()).collect(),
        scope: Scope::Localhost,
        signer: Box::new(DigestSigner),
        cost: 0,
        time_of_day: TimeOfDay::at(Instant::ZERO, 1_700_000_000_000_000),
        rng: Rng::from_seed(1),
    }
}

impl Harness {
    fn new(app: Registration) -> Self {
        let (commands, kept_alive, reports) = (Vec::new(), Vec::new(), Vec::new());
        Self { app, now: Instant::ZERO, commands, kept_alive, reports }
    }

    fn up(prefixes: &[&str]) -> Self {
        let mut harness = Self::new(Registration::new(config(prefixes)));
        harness.feed(UP);
        harness
    }

    fn feed(&mut self, input: AppInput) {
        self.app.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.app.poll(self.now) {
            match output {
                AppOutput::Interest(interest) => self.commands.push(Arc::unwrap_or_clone(interest)),
                AppOutput::KeepAlive => self.kept_alive.push(self.now),
                AppOutput::Report(Report::Registered { prefix, outcome }) => {
                    self.reports.push((prefix.to_string(), outcome.map_err(|error| *error)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(self.app.deadline().is_none_or(|deadline| deadline > self.now));
    }

    /// Advances the time to the next deadline.
    fn wait(&mut self) -> Duration {
        let before = self.now;
        self.now = self.app.deadline().expect("the machine waits for something");
        self.drain();
        self.now.since(before)
    }

    fn answer(&mut self, content: &[u8]) {
        let name = &self.commands.last().unwrap().name;
        let data = DataBuilder::new(name).build(content, &DigestSigner);
        self.feed(AppInput::Data { data, congestion_mark: 0, beside: Beside::default() });
    }

    fn ok(&mut self) {
        self.answer(b"\x65\x07\x66\x01\xc8\x67\x02OK");
    }

    fn reject(&mut self, code: u16) {
        let [high, low] = code.to_be_bytes();
        self.answer(&[0x65, 6, 0x66, 2, high, low, 0x67, 0]);
    }

    fn time(&self, command: usize) -> u64 {
        self.commands[command].signature.as_ref().unwrap().info().time.unwrap()
    }

    fn last_outcome(&self) -> &Result<(), ManagementError> {
        &self.reports.last().unwrap().1
    }
}

#[test]
fn prefixes_are_registered_with_increasing_times() {
    let mut harness = Harness::up(&["/a", "/b"]);
    assert_eq!(harness.commands.len(), 1);
    harness.ok();
    assert_eq!(harness.commands.len(), 2);
    harness.ok();
    assert_eq!(harness.reports, [("/a".to_owned(), Ok(())), ("/b".to_owned(), Ok(()))]);
    assert_eq!((harness.time(0), harness.time(1)), (1_700_000_000_000, 1_700_000_000_001));
    assert_ne!(harness.commands[0].nonce, harness.commands[1].nonce);
}

#[test]
fn commands_follow_a_clock_that_is_set() {
    let mut harness = Harness::up(&["/a"]);
    harness.ok();
    let mut noon = 1_700_000_000_000;
    for step in [-86_400_000, 31_536_000_000, -70_000] {
        let refresh = harness.app.deadline().unwrap();
        noon += refresh.since(harness.now).as_millis() as i64 + step;
        harness.now = refresh;
        let clock = TimeOfDay::at(harness.now, noon as u64 * 1_000);
        harness.feed(AppInput::TimeOfDay(clock));
        let last = harness.commands.len() - 1;
        assert_eq!(harness.time(last) as i64, noon, "after a step of {step} ms");
        harness.ok();
    }
}

#[test]
fn no_command_is_sent_without_an_uplink() {
    let mut harness = Harness::new(Registration::new(config(&["/a"])));
    harness.drain();
    assert!(harness.commands.is_empty() && harness.app.deadline().is_none());
}

#[test]
fn unanswered_commands_are_retried_and_reported() {
    let mut harness = Harness::up(&["/a"]);
    for _ in 0..MAX_ATTEMPTS {
        assert_eq!(harness.wait(), Duration::from_secs(1));
    }
    assert_eq!(harness.commands.len(), 4);
    let mut names: Vec<_> = harness.commands.iter().map(|command| command.name.clone()).collect();
    names.dedup();
    assert_eq!(names.len(), 4, "each command has its own time and nonce");
    assert_eq!(harness.last_outcome(), &Err(ManagementError::NoAnswer { attempts: 4 }));
    assert_eq!(harness.wait(), RETRY);
    harness.ok();
    assert_eq!(harness.last_outcome(), &Ok(()));
}

#[test]
fn late_answer_to_an_earlier_command_is_ignored() {
    let mut harness = Harness::up(&["/a"]);
    let first = harness.commands[0].name.clone();
    harness.wait();
    let late = DataBuilder::new(&first).build(b"\x65\x05\x66\x01\xc8\x67\x00", &DigestSigner);
    harness.feed(AppInput::Data { data: late, congestion_mark: 0, beside: Beside::default() });
    assert!(harness.reports.is_empty());
}

#[test]
fn transient_rejection_is_retried_once() {
    let mut harness = Harness::up(&["/a"]);
    harness.reject(403);
    assert!(harness.reports.is_empty());
    assert_eq!(harness.wait(), PAUSE);
    assert_eq!(harness.commands.len(), 2);
    harness.reject(403);
    harness.wait();
    assert_eq!(harness.commands.len(), 2);
    assert!(matches!(harness.last_outcome(), Err(ManagementError::Rejected { code: 403, .. })));
}

#[test]
fn final_rejection_is_reported_at_once() {
    let mut harness = Harness::up(&["/too/long", "/b"]);
    harness.reject(414);
    assert!(matches!(harness.last_outcome(), Err(ManagementError::Rejected { code: 414, .. })));
    harness.ok();
    assert_eq!(harness.reports[1], ("/b".to_owned(), Ok(())));
}

#[test]
fn a_nack_is_followed_by_another_attempt() {
    let mut harness = Harness::up(&["/a"]);
    for attempt in 1..=MAX_ATTEMPTS as usize {
        assert_eq!(harness.commands.len(), attempt);
        let interest = harness.commands.last().unwrap().clone();
        let interest = Arc::new(interest);
        harness.feed(AppInput::Nack { interest, reason: NackReason::NoRoute });
        assert_eq!(harness.wait(), PAUSE);
    }
    assert_eq!(harness.last_outcome(), &Err(ManagementError::Nack(NackReason::NoRoute)));
}

#[test]
fn forged_or_malformed_answer_is_no_success() {
    let mut harness = Harness::up(&["/a"]);
    let name = harness.commands[0].name.clone();
    let right = DataBuilder::new(&name).build(b"\x65\x05\x66\x01\xc8\x67\x00", &DigestSigner);
    let mut wire = right.wire().to_vec();
    *wire.last_mut().unwrap() ^= 1;
    let data = Data::decode(wire.into()).unwrap();
    harness.feed(AppInput::Data { data, congestion_mark: 0, beside: Beside::default() });
    assert!(harness.reports.is_empty());
    harness.answer(b"nonsense");
    assert!(harness.reports.is_empty());
    harness.wait();
    harness.ok();
    assert_eq!(harness.last_outcome(), &Ok(()));
}

#[test]
fn prefixes_are_registered_again_after_reconnecting() {
    let mut harness = Harness::up(&["/a"]);
    harness.ok();
    harness.feed(DOWN);
    assert_eq!(harness.app.deadline(), None);
    harness.feed(UP);
    assert_eq!(harness.commands.len(), 2);
    harness.ok();
    assert_eq!(harness.reports.len(), 2);
}

#[test]
fn refresh_is_reported_only_if_changed() {
    let mut harness = Harness::up(&["/a"]);
    harness.ok();
    assert_eq!(harness.wait(), REFRESH);
    harness.ok();
    assert_eq!(harness.reports.len(), 1);
    harness.wait();
    harness.reject(414);
    assert!(harness.last_outcome().is_err());
    assert_eq!(harness.reports.len(), 2);
}

#[test]
fn without_prefixes_nothing_happens() {
    let mut harness = Harness::up(&[]);
    harness.feed(DOWN);
    assert!(harness.commands.is_empty() && harness.app.deadline().is_none());
}

#[test]
fn silent_forwarder_gets_every_prefix() {
    let prefixes: Vec<String> = (0..12).map(|n| format!("/p{n}")).collect();
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    let mut harness = Harness::up(&prefixes);
    while harness.reports.len() < prefixes.len() && harness.now < Instant::from_millis(60_000) {
        harness.wait();
    }
    assert_eq!(harness.reports.len(), prefixes.len());
    let before = harness.commands.len();
    harness.wait();
    assert!(harness.commands.len() > before, "the first one is registered again");
}

#[test]
fn registration_over_a_network_is_kept_alive() {
    let remote = RegistrationConfig { scope: Scope::Localhop, ..config(&["/a"]) };
    let mut harness = Harness::new(Registration::new(remote));
    harness.feed(UP);
    harness.ok();
    while harness.now < Instant::ZERO + REFRESH {
        harness.wait();
    }
    let (mut before, mut frames) = (Instant::ZERO, harness.kept_alive.clone());
    frames.push(Instant::ZERO + REFRESH);
    for at in frames {
        assert!(at.since(before) < NAT_BINDING, "no frame from {before:?} to {at:?}");
        before = at;
    }
    assert_eq!(harness.commands.len(), 2, "the registration is renewed");
    harness.feed(DOWN);
    assert_eq!(harness.app.deadline(), None);
}

#[test]
fn local_registration_needs_no_keep_alive() {
    let mut harness = Harness::up(&["/a"]);
    harness.ok();
    assert_eq!((harness.wait(), harness.kept_alive.len()), (REFRESH, 0));
}
