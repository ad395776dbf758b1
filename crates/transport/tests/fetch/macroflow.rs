//! Files of a folder over one bottleneck: fetches of a macroflow, polled as a node polls its applications.
use crate::harness::{metadata_of, name, segment_of};
use recoup_packet::data::{ContentType, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::name::convention::Convention;
use recoup_packet::signature::NoVerifier;
use recoup_transport::application::{AppInput, AppOutput, Application, Asked, Beside, Report};
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchOptions, Macroflow};
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const SEGMENT_BYTES: u64 = 1_300;

/// A folder and the path to it.
#[derive(Clone, Copy)]
struct Plan {
    files: u64,
    file_bytes: u64,
    /// Files that are fetched at a time.
    jobs: usize,
    rate_bits: f64,
    rtt: Duration,
    /// Data packets that the bottleneck queues, the one in transmission included.
    queue: usize,
    congestion: &'static str,
    loss: &'static str,
    shares: bool,
}

/// 32 files of 1.5 MB over 20 Mbit/s and 40 ms, with a queue of one bandwidth-delay product.
const LARGE: Plan = Plan {
    files: 32,
    file_bytes: 1_500_000,
    jobs: 32,
    rate_bits: 20e6,
    rtt: Duration::from_millis(40),
    queue: 77,
    congestion: "recoup",
    loss: "rack",
    shares: true,
};

/// Result of a folder.
#[derive(Clone, Debug, Default)]
struct Outcome {
    elapsed: Duration,
    /// Data packets that the queue dropped.
    dropped: u64,
    /// Most segments of all files in flight beyond the window at the time, tail-loss probes apart.
    excess: f64,
    /// Least and longest time of one file.
    shortest: Duration,
    longest: Duration,
    /// Segments in flight when the first one arrived.
    first_flight: usize,
}

struct Active {
    file: u64,
    fetch: Fetch,
    begun: Instant,
    in_flight: BTreeSet<u64>,
}

struct Folder {
    plan: Plan,
    now: Instant,
    begun: u64,
    macroflow: Option<Macroflow>,
    /// As the applications of a node: places that are used again.
    active: Vec<Option<Active>>,
    turn: usize,
    /// Answers, each with the place and the file of the fetch.
    agenda: BTreeMap<(Instant, u64), (usize, u64, AppInput)>,
    sequence: u64,
    /// Departure times of the packets in the queue.
    inside: VecDeque<Instant>,
    window: f64,
    outcome: Outcome,
}

impl Folder {
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            now: Instant::ZERO,
            begun: 0,
            macroflow: None,
            active: (0..plan.jobs).map(|_| None).collect(),
            turn: 0,
            agenda: BTreeMap::new(),
            sequence: 0,
            inside: VecDeque::new(),
            window: f64::INFINITY,
            outcome: Outcome { shortest: Duration::MAX, ..Outcome::default() },
        }
    }

    fn last(&self) -> u64 {
        (self.plan.file_bytes - 1) / SEGMENT_BYTES
    }

    fn begin(&mut self) {
        for place in 0..self.plan.jobs {
            if self.active[place].is_some() || self.begun == self.plan.files {
                continue;
            }
            let options = FetchOptions {
                congestion: self.plan.congestion.parse().unwrap(),
                loss: self.plan.loss.parse().unwrap(),
                ..FetchOptions::default()
            };
            let object = name(&format!("/folder/{}", self.begun));
            let config = FetchConfig::new(object, options, Rng::from_seed(self.begun));
            let config = FetchConfig { verifier: Box::new(NoVerifier), ..config };
            let file = self.begun;
            self.begun += 1;
            let mut fetch = match &self.macroflow {
                Some(macroflow) => Fetch::joining(macroflow, self.now, config),
                None if self.plan.shares => {
                    let macroflow = self.macroflow.insert(Macroflow::new(&config));
                    Fetch::joining(macroflow, self.now, config)
                }
                None => Fetch::new(config),
            };
            fetch.handle(self.now, AppInput::FaceUp { receive_budget: None });
            let (begun, in_flight) = (self.now, BTreeSet::new());
            self.active[place] = Some(Active { file, fetch, begun, in_flight });
        }
    }

    fn answer(&mut self, place: usize, interest: &Interest) {
        let last = self.last();
        let data = match segment_of(interest) {
            Some(segment) if segment > last => return,
            Some(segment) => {
                let shape = SignatureShape::Digest;
                let end = Some(Convention::Typed.segment(last));
                let template = Template::new(ContentType::Blob, Duration::ZERO, end, shape);
                let left = self.plan.file_bytes - segment * SEGMENT_BYTES;
                let bytes = left.min(SEGMENT_BYTES) as usize;
                template.describe(interest.name.clone(), bytes).unwrap()
            }
            None => metadata_of(interest, 7, Some(last)),
        };
        let at = self.now + self.plan.rtt / 2;
        while self.inside.front().is_some_and(|left| *left <= at) {
            self.inside.pop_front();
        }
        if self.inside.len() >= self.plan.queue {
            self.outcome.dropped += 1;
            return;
        }
        let begun = self.inside.back().map_or(at, |left| at.max(*left));
        let seconds = data.encoded_len() as f64 * 8.0 / self.plan.rate_bits;
        let left = begun + Duration::from_secs_f64(seconds);
        self.inside.push_back(left);
        let beside = Beside { asked: Some(Asked::of(interest)), ..Beside::default() };
        let file = self.active[place].as_ref().map_or(0, |it| it.file);
        self.sequence += 1;
        let input = AppInput::Data { data, congestion_mark: 0, beside };
        self.agenda.insert((left + self.plan.rtt / 2, self.sequence), (place, file, input));
    }

    /// Polls all fetches in a circle, until none has an output.
    fn drain(&mut self) {
        let mut idle = 0;
        while idle < self.plan.jobs {
            let place = self.turn;
            let output = self.active[place].as_mut().and_then(|it| it.fetch.poll(self.now));
            idle += 1;
            match output {
                None => self.turn = (place + 1) % self.plan.jobs,
                Some(output) => {
                    idle = 0;
                    self.carry_out(place, output);
                }
            }
        }
        for active in self.active.iter().flatten() {
            assert!(active.fetch.deadline().is_none_or(|at| at > self.now), "deadline");
        }
    }

    fn carry_out(&mut self, place: usize, output: AppOutput) {
        match output {
            AppOutput::Interest(interest) => self.answer(place, &interest),
            AppOutput::Report(Report::Event(event)) => self.note(place, &event),
            AppOutput::Report(Report::Done(result)) => {
                result.unwrap();
                let Some(ended) = self.active[place].take() else { return };
                let elapsed = self.now.since(ended.begun);
                let outcome = &mut self.outcome;
                outcome.shortest = outcome.shortest.min(elapsed);
                outcome.longest = outcome.longest.max(elapsed);
            }
            _ => {}
        }
    }

    fn in_flight(&self) -> usize {
        self.active.iter().flatten().map(|it| it.in_flight.len()).sum()
    }

    fn note(&mut self, place: usize, event: &Event) {
        let all = self.in_flight();
        let Some(active) = self.active[place].as_mut() else { return };
        let outcome = &mut self.outcome;
        match event {
            Event::Window { window, .. } => self.window = *window,
            Event::Sent { segment, .. } => {
                active.in_flight.insert(*segment);
                outcome.excess = outcome.excess.max((all + 1) as f64 - self.window);
            }
            Event::Received { segment, .. } => {
                active.in_flight.remove(segment);
                if outcome.first_flight == 0 {
                    outcome.first_flight = all;
                }
            }
            Event::Lost { segment } | Event::TimedOut { segment } => {
                active.in_flight.remove(segment);
            }
            _ => {}
        }
    }

    fn run(mut self) -> Outcome {
        loop {
            self.begin();
            self.drain();
            if self.active.iter().any(Option::is_none) && self.begun < self.plan.files {
                continue;
            }
            let deadlines = self.active.iter().flatten().filter_map(|it| it.fetch.deadline());
            let arrival = self.agenda.first_key_value().map(|((at, _), _)| *at);
            if self.active.iter().all(Option::is_none) {
                break;
            }
            self.now = deadlines.chain(arrival).min().unwrap();
            while let Some(entry) = self.agenda.first_entry().filter(|it| it.key().0 <= self.now) {
                let (place, file, input) = entry.remove();
                let active = self.active[place].as_mut().filter(|it| it.file == file);
                if let Some(active) = active {
                    active.fetch.handle(self.now, input);
                }
            }
        }
        self.outcome.elapsed = self.now.since(Instant::ZERO);
        self.outcome
    }
}

/// Eight files of 300 kB over the path of [`LARGE`].
const EIGHT: Plan = Plan { files: 8, file_bytes: 300_000, jobs: 8, ..LARGE };

fn both(plan: Plan) -> (Outcome, Outcome) {
    let run = |shares| Folder::new(Plan { shares, ..plan }).run();
    (run(true), run(false))
}

#[test]
fn files_of_a_macroflow_start_once() {
    let (shared, apart) = both(EIGHT);
    assert!(shared.excess <= 0.0, "in flight is above the window: {shared:?}");
    assert_eq!((shared.first_flight, apart.first_flight), (10, 80));
    assert!(5 * shared.dropped < apart.dropped, "{shared:?} {apart:?}");
    assert!(shared.elapsed < apart.elapsed.mul_f64(1.05), "{shared:?} {apart:?}");
}

#[test]
fn later_file_begins_with_the_window() {
    let (shared, apart) = both(Plan { jobs: 1, ..EIGHT });
    assert!(shared.elapsed < apart.elapsed.mul_f64(0.95), "{shared:?} {apart:?}");
}

#[test]
fn page_has_the_figures_of_folders() {
    let page = include_str!("../../../../docs/algorithms.md");
    let row = |jobs| {
        let (shared, apart) = both(Plan { jobs, ..LARGE });
        let loss = "time-threshold(share=1/4)";
        let cubic = Plan { jobs, congestion: "cubic", loss, shares: false, ..LARGE };
        let cell = |it: Outcome| format!("{:.1}, {}", it.elapsed.as_secs_f64(), it.dropped);
        let [shared, apart, cubic] = [shared, apart, Folder::new(cubic).run()].map(cell);
        format!("| {jobs} | {shared} | {apart} | {cubic} |\n")
    };
    let rows = [1, 8, 32].map(row).concat();
    assert!(page.contains(&rows), "{rows}");
}
