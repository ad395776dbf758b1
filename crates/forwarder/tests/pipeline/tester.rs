//! Several nodes on links with a delay, and scripted applications.
use crate::bench::{UNLIMITED, answer, describe, question};
use recoup_forwarder::face::{AppId, FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::observer::Recorder;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::packet::Packet;
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::application::{AppInput, AppOutput, Application, Beside, Report, ReturnPath};
use recoup_transport::fetch::FetchError;
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// A scripted application that records its inputs.
#[derive(Clone, Default)]
pub(crate) struct Probe(Rc<RefCell<Desk>>);

#[derive(Default)]
struct Desk {
    mode: Mode,
    received: Vec<String>,
    asked: Vec<(Interest, ReturnPath)>,
    beside: Vec<Beside>,
    outputs: VecDeque<AppOutput>,
}

/// Response of a probe to Interests.
#[derive(Clone, Copy, Default)]
pub(crate) enum Mode {
    /// An answer.
    #[default]
    Answer,
    /// No response.
    Silence,
    /// A Nack.
    Nack(NackReason),
}

impl Probe {
    pub(crate) fn new(mode: Mode) -> Self {
        Self(Rc::new(RefCell::new(Desk { mode, ..Desk::default() })))
    }

    /// Sends an Interest with a lifetime of 4 s.
    pub(crate) fn ask(&self, uri: &str, nonce: u32) {
        self.put(AppOutput::Interest(std::sync::Arc::new(question(uri, nonce))));
    }

    pub(crate) fn put(&self, output: AppOutput) {
        self.0.borrow_mut().outputs.push_back(output);
    }

    /// Lines received since the last call.
    pub(crate) fn received(&self) -> Vec<String> {
        std::mem::take(&mut self.0.borrow_mut().received)
    }

    /// Link fields received with Data.
    pub(crate) fn beside(&self) -> Vec<Beside> {
        std::mem::take(&mut self.0.borrow_mut().beside)
    }

    /// Interests received, and their return paths.
    pub(crate) fn asked(&self) -> Vec<(Interest, ReturnPath)> {
        std::mem::take(&mut self.0.borrow_mut().asked)
    }
}

impl Application for Probe {
    fn handle(&mut self, now: Instant, input: AppInput) {
        let mut desk = self.0.borrow_mut();
        let line = match input {
            AppInput::Interest { interest, path } => {
                match desk.mode {
                    Mode::Silence => {}
                    Mode::Answer => {
                        let data = answer(&interest.name.to_string());
                        desk.outputs.push_back(AppOutput::Data { data, path });
                    }
                    Mode::Nack(reason) => {
                        desk.outputs.push_back(AppOutput::Nack { reason, path });
                    }
                }
                let line = format!("interest {}", interest.name);
                desk.asked.push((Interest::clone(&interest), path));
                line
            }
            AppInput::Data { data, congestion_mark, beside } => {
                desk.beside.push(Beside { asked: None, ..beside });
                let marked = if congestion_mark > 0 { "marked " } else { "" };
                format!("{marked}data {}", data.name())
            }
            AppInput::Nack { interest, reason } => format!("nack {}: {reason}", interest.name),
            AppInput::Held { interest } => format!("held {}", interest.name),
            AppInput::FaceUp { .. } => "up".to_owned(),
            AppInput::FaceDown => "down".to_owned(),
            AppInput::Consumed { .. } | AppInput::Shared { .. } | AppInput::TimeOfDay(_) => return,
        };
        desk.received.push(format!("{} ms: {line}", now.as_nanos() / 1_000_000));
    }

    fn poll(&mut self, _now: Instant) -> Option<AppOutput> {
        self.0.borrow_mut().outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// A network of nodes. The face of a node toward another has the number of that one.
pub(crate) struct Tester {
    nodes: Vec<Node<Recorder>>,
    delays: BTreeMap<(u32, u32), Duration>,
    /// Packets in flight: arrival time, receiver and sender.
    agenda: BTreeMap<(Instant, u64), (u32, u32, Packet)>,
    sequence: u64,
    /// Packets sent over links so far.
    carried: u64,
    now: Instant,
    /// End of an application, and when.
    pub(crate) done: Option<(Instant, Result<(), Box<FetchError>>)>,
    /// Outputs of the nodes, with time and node.
    pub(crate) log: Vec<String>,
}

impl Tester {
    pub(crate) fn new(nodes: u32, options: impl Fn(u32) -> NodeConfig) -> Self {
        let make = |node| Node::observed(options(node), Recorder::default());
        Self {
            nodes: (0..nodes).map(make).collect(),
            delays: BTreeMap::new(),
            agenda: BTreeMap::new(),
            sequence: 0,
            carried: 0,
            now: Instant::ZERO,
            done: None,
            log: Vec::new(),
        }
    }

    pub(crate) fn link(&mut self, a: u32, b: u32, delay_ms: u64) {
        for (from, to) in [(a, b), (b, a)] {
            self.delays.insert((from, to), Duration::from_millis(delay_ms));
            let attributes = FaceAttributes::value(UNLIMITED);
            self.feed(from, Input::FaceUp { face: FaceId(to), attributes });
        }
    }

    /// Loses all packets of a link from now on, without notification.
    pub(crate) fn cut(&mut self, from: u32, to: u32) {
        self.delays.remove(&(from, to));
    }

    /// Sets the one-way delay of a link.
    pub(crate) fn restore(&mut self, from: u32, to: u32, delay_ms: u64) {
        self.delays.insert((from, to), Duration::from_millis(delay_ms));
    }

    /// The face of a node toward another goes down, and packets from there are lost.
    pub(crate) fn down(&mut self, node: u32, to: u32) {
        self.cut(node, to);
        self.feed(node, Input::FaceDown { face: FaceId(to) });
    }

    /// The face comes up.
    pub(crate) fn up(&mut self, node: u32, to: u32, delay_ms: u64) {
        self.restore(node, to, delay_ms);
        let attributes = FaceAttributes::value(UNLIMITED);
        self.feed(node, Input::FaceUp { face: FaceId(to), attributes });
    }

    pub(crate) fn unroute(&mut self, node: u32, prefix: &str, to: u32) {
        let prefix = prefix.parse().unwrap();
        self.feed(node, Input::Route(RouteChange { prefix, face: FaceId(to), cost: None }));
    }

    /// Injects a packet.
    pub(crate) fn forge(&mut self, node: u32, face: u32, packet: Packet) {
        self.feed(node, Input::Packet { face: FaceId(face), packet });
    }

    pub(crate) fn route(&mut self, node: u32, prefix: &str, to: u32) {
        let prefix = prefix.parse().unwrap();
        let change = RouteChange { prefix, face: FaceId(to), cost: Some(u64::from(to)) };
        self.feed(node, Input::Route(change));
    }

    pub(crate) fn attach(&mut self, node: u32, probe: &Probe, prefixes: &[&str]) -> AppId {
        self.attach_application(node, Box::new(probe.clone()), prefixes)
    }

    pub(crate) fn attach_application(
        &mut self,
        node: u32,
        application: Box<dyn Application>,
        prefixes: &[&str],
    ) -> AppId {
        let prefixes = prefixes.iter().map(|uri| uri.parse().unwrap()).collect();
        let now = self.now;
        self.node(node).attach(now, application, prefixes)
    }

    pub(crate) fn node(&mut self, node: u32) -> &mut Node<Recorder> {
        &mut self.nodes[node as usize]
    }

    fn feed(&mut self, node: u32, input: Input) {
        let now = self.now;
        self.node(node).handle(now, input);
    }

    /// Packets sent over links so far.
    pub(crate) fn carried(&self) -> u64 {
        self.carried
    }

    /// Runs until `millis` after the start.
    pub(crate) fn run(&mut self, millis: u64) {
        let end = Instant::from_millis(millis);
        loop {
            (0..self.nodes.len() as u32).for_each(|node| self.drain(node));
            let arrival = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let timers = self.nodes.iter().filter_map(Node::deadline);
            match timers.chain(arrival).min().filter(|at| *at <= end) {
                Some(next) => self.now = next,
                None => break,
            }
            while let Some(entry) = self.agenda.first_entry().filter(|it| it.key().0 <= self.now) {
                let (to, from, packet) = entry.remove();
                self.feed(to, Input::Packet { face: FaceId(from), packet });
                self.drain(to);
            }
        }
        self.now = end;
    }

    fn drain(&mut self, node: u32) {
        let now = self.now;
        while let Some(output) = self.node(node).poll(now) {
            if !matches!(output, Output::Wants { .. } | Output::Transmit { .. })
                && let Some(line) = describe(&output)
            {
                self.log.push(format!("{} ms, node {node}: {line}", now.as_nanos() / 1_000_000));
            }
            match output {
                Output::App { report: Report::Done(result), .. } => {
                    self.done = Some((now, result));
                }
                Output::Wants { face } => self.feed(node, Input::Ready { face }),
                Output::Transmit { face, packet } => {
                    if let Some(delay) = self.delays.get(&(node, face.0)) {
                        self.sequence += 1;
                        self.carried += 1;
                        let key = (now + *delay, self.sequence);
                        self.agenda.insert(key, (face.0, node, packet));
                    }
                }
                _ => {}
            }
        }
    }
}
