//! Random links: loss in bursts, reordering, duplication, handovers, forged and stale notices. The invariants hold
//! for every seed; a failure names the seed. `RECOUP_SWARM_SEEDS=5000..50000` runs others.
use crate::pair::{BYTES, End, Frame, ms, number, sending};
use recoup_transport::link::recovery::{Ewln, FrameKind, Notice, Sending, State, Tag};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Parameters of one link.
#[derive(Clone, Debug)]
struct Weather {
    loss: f64,
    /// Probability that the frame after a lost one is lost, too.
    burst: f64,
    duplicate: f64,
    delay_micros: u64,
    jitter_micros: u64,
    hand_overs: u64,
    forged: u64,
}

enum Event {
    Arrive {
        from: usize,
        to: usize,
        frame: Frame,
    },
    Send {
        from: usize,
        packet: u64,
    },
    Wake,
    /// The mobile end loses its neighbour.
    Leave,
    /// The mobile end gets this neighbour.
    Join(usize),
    Forge,
    /// No more losses, no more handovers.
    Calm,
}

/// A mobile end (0) and two others, one of which it reaches at a time.
struct Air {
    rng: Rng,
    weather: Weather,
    calm: bool,
    now: Instant,
    /// The mobile end greets, as the static end of a face does.
    greets: bool,
    agenda: BTreeMap<(Instant, u64), Event>,
    ids: u64,
    ends: [End; 3],
    neighbour: Option<usize>,
    losing: [bool; 3],
    /// Frames that an attacker may have received.
    overheard: Vec<Frame>,
    /// Packets sent with a number between verified ends, and their senders.
    tracked: BTreeMap<u64, usize>,
    /// Whether the last frame of an end had a number.
    numbers: [bool; 3],
    frames: u64,
    /// Most frames that an end may hold.
    most_held: u64,
}

const PACKETS: u64 = 60;
const CALM: u64 = 400;

impl Air {
    fn new(text: &str, seed: u64) -> Self {
        let mut rng = Rng::from_seed(seed).substream("air");
        let mut up_to = |most: f64| rng.unit_f64() * most;
        let weather = Weather {
            loss: up_to(0.4),
            burst: up_to(0.7),
            duplicate: up_to(0.2),
            delay_micros: 1 + up_to(5_000.0) as u64,
            jitter_micros: up_to(4_000.0) as u64,
            hand_overs: if seed.is_multiple_of(2) { 0 } else { up_to(12.0) as u64 },
            forged: if seed.is_multiple_of(2) { 0 } else { up_to(40.0) as u64 },
        };
        let ends = [1, 2, 3].map(|end| End::new(text, 10 * seed + end));
        let mut air = Self {
            rng,
            weather,
            calm: false,
            now: Instant::ZERO,
            greets: seed % 4 < 2,
            agenda: BTreeMap::new(),
            ids: 0,
            ends,
            neighbour: Some(1),
            losing: [false; 3],
            overheard: Vec::new(),
            tracked: BTreeMap::new(),
            numbers: [false; 3],
            frames: 0,
            most_held: 16,
        };
        air.plan();
        air
    }

    fn plan(&mut self) {
        for packet in 0..PACKETS {
            for from in [0, 9] {
                let at = ms(self.rng.below(CALM));
                self.at(at, Event::Send { from, packet: 1_000 * from as u64 + packet });
            }
        }
        for _ in 0..self.weather.hand_overs {
            let leave = self.rng.below(CALM - 60);
            let join = leave + self.rng.below(60);
            let to = 1 + self.rng.below(2) as usize;
            self.at(ms(leave), Event::Leave);
            self.at(ms(join), Event::Join(to));
        }
        for _ in 0..self.weather.forged {
            let at = ms(self.rng.below(CALM));
            self.at(at, Event::Forge);
        }
        self.at(ms(CALM), Event::Calm);
        // After the last loss, more frames show the remaining gaps.
        for step in 0..20 {
            for from in [0, 9] {
                let packet = 1_000 * from as u64 + PACKETS + step;
                self.at(ms(CALM + 20 * step), Event::Send { from, packet });
            }
        }
    }

    fn at(&mut self, at: Instant, event: Event) {
        self.ids += 1;
        self.agenda.insert((at, self.ids), event);
    }

    fn run(&mut self) {
        let mut steps = 0;
        while let Some(((at, _), event)) = self.agenda.pop_first() {
            self.now = at;
            self.happen(event);
            steps += 1;
            assert!(steps < 40_000, "a storm of frames that does not end");
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Send { from, packet } => {
                // 9 stands for the current neighbour.
                let (Some(from), Some(to)) = (self.other_than(from), self.other_than(9 - from))
                else {
                    return;
                };
                self.send(from, to, packet);
            }
            Event::Arrive { from, to, frame } => self.arrive(from, to, &frame),
            Event::Wake => {}
            Event::Leave => {
                self.neighbour = None;
                self.ends[0].machine.link_down(self.now);
            }
            Event::Join(neighbour) => {
                self.neighbour = Some(neighbour);
                self.ends[0].machine.link_up(self.now, self.greets);
                self.ends[neighbour].machine.link_up(self.now, false);
            }
            Event::Forge => self.forge(),
            Event::Calm => {
                self.calm = true;
                if self.neighbour.is_none() {
                    self.happen(Event::Join(1));
                }
            }
        }
        for end in 0..3 {
            self.drain(end);
        }
    }

    fn other_than(&self, end: usize) -> Option<usize> {
        if end == 0 { self.neighbour.map(|_| 0) } else { self.neighbour }
    }

    fn send(&mut self, from: usize, to: usize, packet: u64) {
        let kind = if packet.is_multiple_of(2) { FrameKind::Interest } else { FrameKind::Data };
        let lifetime = (!packet.is_multiple_of(3)).then_some(Duration::from_secs(2));
        let frame =
            self.ends[from].send_as(self.now, &Sending { kind, ..sending(packet, lifetime) });
        // An end that still adds offers to frames has no verified neighbour.
        let knows = self.ends[from].machine.tag_bytes() < 29;
        self.numbers[from] = knows && number(&frame).is_some();
        if self.numbers[from] && self.numbers[to] {
            self.tracked.insert(packet, from);
        }
        self.carry(from, to, frame);
    }

    /// A frame goes through the air.
    fn carry(&mut self, from: usize, to: usize, frame: Frame) {
        self.frames += 1;
        if frame.packet.is_none() && self.overheard.len() < 50 {
            self.overheard.push(frame.clone());
        }
        let Weather { loss, burst, duplicate, .. } = self.weather.clone();
        let odds = if self.losing[from] { burst } else { loss };
        self.losing[from] = !self.calm && self.rng.unit_f64() < odds;
        if self.losing[from] {
            return;
        }
        let known = self.numbers[from] && self.numbers[to];
        let copies = if known && !self.calm && self.rng.unit_f64() < duplicate { 2 } else { 1 };
        for _ in 0..copies {
            let jitter = if self.calm { 0 } else { self.rng.below(self.weather.jitter_micros + 1) };
            let delay = Duration::from_micros(self.weather.delay_micros + jitter);
            self.at(self.now + delay, Event::Arrive { from, to, frame: frame.clone() });
        }
    }

    fn arrive(&mut self, from: usize, to: usize, frame: &Frame) {
        let linked = [from, to].contains(&0) && self.neighbour == Some(from.max(to));
        if linked || frame.packet.is_none() {
            self.ends[to].receive(self.now, frame);
        }
    }

    /// Injects a notice, stale or forged.
    fn forge(&mut self) {
        let to = self.rng.below(3) as usize;
        let old = self.rng.below(50) as usize;
        let notice = match self.rng.below(3) {
            0 => self.overheard.get(old).and_then(|frame| frame.tag.notice),
            1 => Some(Notice::Ewln(Ewln {
                session: self.rng.next_u64(),
                expected: self.rng.next_u32(),
                last_received: self.rng.next_u32(),
            })),
            _ => Some(Notice::State(State {
                wants_answer: self.rng.below(2) == 0,
                answers: self.rng.below(2) == 0,
                session: self.rng.next_u64().max(1),
                neighbour: self.rng.next_u64(),
                next: self.rng.next_u32(),
                settled: Some(self.rng.next_u32()),
            })),
        };
        let frame =
            Frame { tag: Tag { notice, acks: vec![old as u64], ..Tag::default() }, packet: None };
        self.ends[to].receive(self.now, &frame);
    }

    /// Sends all frames of an end; its timers fire when they are due.
    fn drain(&mut self, end: usize) {
        for frame in self.ends[end].drain(self.now) {
            let to = if end == 0 { self.neighbour } else { Some(0) };
            let linked = self.neighbour.is_some_and(|neighbour| end == 0 || end == neighbour);
            if let (Some(to), true) = (to, linked) {
                self.carry(end, to, frame);
            }
        }
        self.check(end);
        if let Some(due) = self.ends[end].machine.deadline() {
            assert!(due > self.now, "a deadline at {due} that has passed at {}", self.now);
            let waking = matches!(self.agenda.first_key_value(), Some(((at, _), _)) if *at <= due);
            if !waking {
                self.at(due, Event::Wake);
            }
        }
    }

    /// Invariants at any time.
    fn check(&self, end: usize) {
        let it = self.ends[end].counters();
        assert!(
            it.held <= self.most_held && it.held_bytes <= self.most_held * u64::from(BYTES),
            "{it:?}"
        );
        let ended = it.resent + it.settled + it.given_up + it.expired;
        assert_eq!(it.labelled, ended + it.held, "every label ends in one way: {it:?}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the seeds of a test may be given")]
fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("RECOUP_SWARM_SEEDS").ok();
    let range = given
        .as_deref()
        .and_then(|it| it.split_once(".."))
        .map(|(from, until)| from.parse().unwrap_or(0)..until.parse().unwrap_or(2_000));
    range.unwrap_or(0..2_000)
}

/// Runs one seed; the panic of a failure names it.
fn weather(text: &str, seed: u64) -> Air {
    let mut air = Air::new(text, seed);
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| air.run()));
    assert!(ran.is_ok(), "seed {seed} of {text}: {:?}", air.weather);
    air
}

fn duplicates(got: &[u64], tracked: &BTreeMap<u64, usize>) -> Vec<u64> {
    let mut seen = BTreeSet::new();
    got.iter().copied().filter(|it| !seen.insert(*it) && tracked.contains_key(it)).collect()
}

#[test]
fn wldr_delivers_once_on_any_link() {
    delivers_once_and_accounts_for_every_label("wldr", seeds());
}

#[test]
fn auto_delivers_once_on_any_link() {
    let all = seeds();
    delivers_once_and_accounts_for_every_label("auto", all.start..all.end.min(all.start + 1_000));
}

fn delivers_once_and_accounts_for_every_label(name: &str, seeds: std::ops::Range<u64>) {
    let (mut delivered, mut recovered) = (0, 0);
    for seed in seeds.clone() {
        let hold = ["0s", "2ms", "6ms"][(seed % 3) as usize];
        let text = format!("{name}(ring=16,bytes=16000,hold={hold})");
        let air = weather(&text, seed);
        let total = air.ends.iter().map(End::counters);
        let mut accounted = 0;
        for (end, counters) in total.enumerate() {
            accounted += counters.given_up + counters.expired + counters.missed;
            recovered += counters.resent;
            if air.weather.hand_overs == 0 {
                let twice = duplicates(&air.ends[end].got, &air.tracked);
                assert!(twice.is_empty(), "seed {seed}: {twice:?} delivered twice to {end}");
            }
        }
        let came: BTreeSet<_> = air.ends.iter().flat_map(|end| &end.got).collect();
        let lost = air.tracked.keys().filter(|it| !came.contains(it)).count() as u64;
        delivered += came.len();
        if air.weather.hand_overs == 0 {
            assert!(lost <= accounted, "seed {seed}: {lost} lost, {accounted} accounted for");
        }
        assert!(air.frames < 3_000, "seed {seed}: {} frames", air.frames);
    }
    assert!(delivered as u64 > seeds.end - seeds.start && recovered > 0);
}

#[test]
fn wldr_recovers_all_moderate_losses() {
    for seed in seeds().take(400).step_by(2) {
        let mut air = Air::new("wldr(lifetime=10s,hold=5ms)", seed);
        air.weather = Weather { loss: 0.1, burst: 0.3, jitter_micros: 2_000, ..air.weather };
        air.most_held = 8192;
        air.run();
        let came: BTreeSet<_> = air.ends.iter().flat_map(|end| &end.got).collect();
        let lost: Vec<_> = air.tracked.keys().filter(|it| !came.contains(it)).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?}");
        assert!(air.tracked.len() > 100, "seed {seed}: {}", air.tracked.len());
    }
}

#[test]
fn acked_is_bounded_on_any_link() {
    for seed in seeds().take(500) {
        let air = weather("acked(frames=16,bytes=16000)", seed);
        let ended: u64 =
            air.ends.iter().map(|it| it.counters().given_up + it.counters().expired).sum();
        let came: BTreeSet<_> = air.ends.iter().flat_map(|end| &end.got).collect();
        let sent = 2 * (PACKETS + 20);
        if air.weather.hand_overs == 0 {
            assert!(sent - came.len() as u64 <= ended, "seed {seed}: {} of {sent}", came.len());
        }
        assert!(air.frames < 3_000, "seed {seed}: {} frames", air.frames);
    }
}
