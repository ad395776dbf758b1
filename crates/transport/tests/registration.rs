//! Registration against a forwarder that answers, refuses, forges and keeps silent.
use recoup_packet::data::Data;
use recoup_packet::data::DataBuilder;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::{AppInput, AppOutput, Application, Beside, Report};
use recoup_transport::management::{ManagementError, Scope};
use recoup_transport::random::Rng;
use recoup_transport::registration::{Registration, RegistrationConfig};
use recoup_transport::time::{Duration, Instant, TimeOfDay};
use std::sync::Arc;

const MAX_ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);
const REFRESH: Duration = Duration::from_secs(300);
const RETRY: Duration = Duration::from_secs(30);

/// A forwarder that answers as it is told, and the instant.
struct World {
    app: Registration,
    now: Instant,
    commands: Vec<Interest>,
    told: Vec<(String, Result<(), ManagementError>)>,
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

impl World {
    fn new(app: Registration) -> Self {
        let (commands, told) = (Vec::new(), Vec::new());
        Self { app, now: Instant::ZERO, commands, told }
    }

    fn up(prefixes: &[&str]) -> Self {
        let mut world = Self::new(Registration::new(config(prefixes)));
        world.tell(UP);
        world
    }

    fn tell(&mut self, input: AppInput) {
        self.app.handle(self.now, input);
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(output) = self.app.poll(self.now) {
            match output {
                AppOutput::Interest(interest) => self.commands.push(Arc::unwrap_or_clone(interest)),
                AppOutput::Report(Report::Registered { prefix, outcome }) => {
                    self.told.push((prefix.to_string(), outcome.map_err(|error| *error)));
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(self.app.deadline().is_none_or(|deadline| deadline > self.now));
    }

    /// Lets time pass until the machine wants to be woken.
    fn wait(&mut self) -> Duration {
        let before = self.now;
        self.now = self.app.deadline().expect("the machine waits for something");
        self.drain();
        self.now.since(before)
    }

    fn answer(&mut self, content: &[u8]) {
        let name = &self.commands.last().unwrap().name;
        let data = DataBuilder::new(name).build(content, &DigestSigner);
        self.tell(AppInput::Data { data, congestion_mark: 0, beside: Beside::default() });
    }

    fn ok(&mut self) {
        self.answer(b"\x65\x07\x66\x01\xc8\x67\x02OK");
    }

    fn refuse(&mut self, code: u16) {
        let [high, low] = code.to_be_bytes();
        self.answer(&[0x65, 6, 0x66, 2, high, low, 0x67, 0]);
    }

    fn time(&self, command: usize) -> u64 {
        self.commands[command].signature.as_ref().unwrap().info().time.unwrap()
    }

    fn last_outcome(&self) -> &Result<(), ManagementError> {
        &self.told.last().unwrap().1
    }
}

#[test]
fn prefixes_are_registered_one_after_the_other_with_growing_times() {
    let mut world = World::up(&["/a", "/b"]);
    assert_eq!(world.commands.len(), 1);
    world.ok();
    assert_eq!(world.commands.len(), 2);
    world.ok();
    assert_eq!(world.told, [("/a".to_owned(), Ok(())), ("/b".to_owned(), Ok(()))]);
    assert_eq!((world.time(0), world.time(1)), (1_700_000_000_000, 1_700_000_000_001));
    assert_ne!(world.commands[0].nonce, world.commands[1].nonce);
}

#[test]
fn commands_follow_a_clock_that_is_set() {
    let mut world = World::up(&["/a"]);
    world.ok();
    let mut noon = 1_700_000_000_000;
    for step in [-86_400_000, 31_536_000_000, -70_000] {
        let refresh = world.app.deadline().unwrap();
        noon += refresh.since(world.now).as_millis() as i64 + step;
        world.now = refresh;
        let clock = TimeOfDay::at(world.now, noon as u64 * 1_000);
        world.tell(AppInput::TimeOfDay(clock));
        let last = world.commands.len() - 1;
        assert_eq!(world.time(last) as i64, noon, "after a step of {step} ms");
        world.ok();
    }
}

#[test]
fn nothing_is_asked_before_there_is_a_way_out() {
    let mut world = World::new(Registration::new(config(&["/a"])));
    world.drain();
    assert!(world.commands.is_empty() && world.app.deadline().is_none());
}

#[test]
fn silence_is_answered_with_new_commands_and_then_told() {
    let mut world = World::up(&["/a"]);
    for _ in 0..MAX_ATTEMPTS {
        assert_eq!(world.wait(), Duration::from_secs(1));
    }
    assert_eq!(world.commands.len(), 4);
    let mut names: Vec<_> = world.commands.iter().map(|command| command.name.clone()).collect();
    names.dedup();
    assert_eq!(names.len(), 4, "each command has its own time and nonce");
    assert_eq!(world.last_outcome(), &Err(ManagementError::NoAnswer { attempts: 4 }));
    assert_eq!(world.wait(), RETRY);
    world.ok();
    assert_eq!(world.last_outcome(), &Ok(()));
}

#[test]
fn a_late_answer_to_an_earlier_command_counts_for_nothing() {
    let mut world = World::up(&["/a"]);
    let first = world.commands[0].name.clone();
    world.wait();
    let late = DataBuilder::new(&first).build(b"\x65\x05\x66\x01\xc8\x67\x00", &DigestSigner);
    world.tell(AppInput::Data { data: late, congestion_mark: 0, beside: Beside::default() });
    assert!(world.told.is_empty());
}

#[test]
fn a_refusal_that_may_be_a_clash_of_times_is_tried_once_more() {
    let mut world = World::up(&["/a"]);
    world.refuse(403);
    assert!(world.told.is_empty());
    assert_eq!(world.wait(), PAUSE);
    assert_eq!(world.commands.len(), 2);
    world.refuse(403);
    world.wait();
    assert_eq!(world.commands.len(), 2);
    assert!(matches!(world.last_outcome(), Err(ManagementError::Refused { code: 403, .. })));
}

#[test]
fn a_refusal_for_good_is_told_at_once_and_the_next_prefix_has_its_turn() {
    let mut world = World::up(&["/too/long", "/b"]);
    world.refuse(414);
    assert!(matches!(world.last_outcome(), Err(ManagementError::Refused { code: 414, .. })));
    world.ok();
    assert_eq!(world.told[1], ("/b".to_owned(), Ok(())));
}

#[test]
fn a_nack_is_followed_by_another_attempt() {
    let mut world = World::up(&["/a"]);
    for attempt in 1..=MAX_ATTEMPTS as usize {
        assert_eq!(world.commands.len(), attempt);
        let interest = world.commands.last().unwrap().clone();
        let interest = Arc::new(interest);
        world.tell(AppInput::Nack { interest, reason: NackReason::NoRoute });
        assert_eq!(world.wait(), PAUSE);
    }
    assert_eq!(world.last_outcome(), &Err(ManagementError::Nack(NackReason::NoRoute)));
}

#[test]
fn a_forged_or_senseless_answer_does_not_count_as_success() {
    let mut world = World::up(&["/a"]);
    let name = world.commands[0].name.clone();
    let right = DataBuilder::new(&name).build(b"\x65\x05\x66\x01\xc8\x67\x00", &DigestSigner);
    let mut wire = right.wire().to_vec();
    *wire.last_mut().unwrap() ^= 1;
    let data = Data::decode(wire.into()).unwrap();
    world.tell(AppInput::Data { data, congestion_mark: 0, beside: Beside::default() });
    assert!(world.told.is_empty());
    world.answer(b"nonsense");
    assert!(world.told.is_empty());
    world.wait();
    world.ok();
    assert_eq!(world.last_outcome(), &Ok(()));
}

#[test]
fn prefixes_are_registered_anew_when_the_way_out_comes_back() {
    let mut world = World::up(&["/a"]);
    world.ok();
    world.tell(DOWN);
    assert_eq!(world.app.deadline(), None);
    world.tell(UP);
    assert_eq!(world.commands.len(), 2);
    world.ok();
    assert_eq!(world.told.len(), 2);
}

#[test]
fn a_refresh_is_told_only_if_it_changes_something() {
    let mut world = World::up(&["/a"]);
    world.ok();
    assert_eq!(world.wait(), REFRESH);
    world.ok();
    assert_eq!(world.told.len(), 1);
    world.wait();
    world.refuse(414);
    assert!(world.last_outcome().is_err());
    assert_eq!(world.told.len(), 2);
}

#[test]
fn without_prefixes_nothing_happens() {
    let mut world = World::up(&[]);
    world.tell(DOWN);
    assert!(world.commands.is_empty() && world.app.deadline().is_none());
}

#[test]
fn a_forwarder_that_keeps_silent_for_long_still_hears_of_every_prefix() {
    let prefixes: Vec<String> = (0..12).map(|n| format!("/p{n}")).collect();
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    let mut world = World::up(&prefixes);
    while world.told.len() < prefixes.len() && world.now < Instant::from_millis(60_000) {
        world.wait();
    }
    assert_eq!(world.told.len(), prefixes.len());
    let before = world.commands.len();
    world.wait();
    assert!(world.commands.len() > before, "and then of the first one again");
}
