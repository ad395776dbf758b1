//! A forwarder of several workers without threads: messages between workers are delivered in a random order.
use bytes::Bytes;
use recoup_forwarder::drop::DropReason;
use recoup_forwarder::face::{FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output, RouteChange};
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::shard::{ShardOptions, WorkerMessage};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::signature::DigestSigner;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::collections::VecDeque;

pub(crate) struct Several {
    pub(crate) nodes: Vec<Node>,
    pub(crate) now: Instant,
    /// From one worker to another, in the order of sending.
    mail: Vec<Vec<VecDeque<WorkerMessage>>>,
    rng: Rng,
    sent: Vec<(u32, Bytes)>,
    pub(crate) drops: Vec<DropReason>,
}

pub(crate) fn data(uri: &str) -> Data {
    DataBuilder::new(&uri.parse().unwrap()).build(b"content", &DigestSigner)
}

pub(crate) fn interest(uri: &str, nonce: u32) -> Interest {
    let mut interest = Interest::new(uri.parse().unwrap());
    interest.nonce = Some(nonce);
    interest
}

impl Several {
    /// A forwarder of so many workers; one worker is a node that is alone.
    pub(crate) fn new(workers: u16, components: usize, seed: u64, options: &NodeConfig) -> Self {
        let parts = ShardOptions::of(workers, components).into_iter();
        let node = |part: ShardOptions| {
            let management = options.management.clone().filter(|_| part.worker() == 0);
            let shard = (workers > 1).then_some(part);
            Node::new(NodeConfig { shard, management, ..options.clone() })
        };
        Self {
            nodes: parts.map(node).collect(),
            now: Instant::ZERO,
            mail: vec![vec![VecDeque::new(); workers.into()]; workers.into()],
            rng: Rng::from_seed(seed),
            sent: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// The worker that has a face.
    pub(crate) fn home(&self, face: u32) -> usize {
        face as usize % self.nodes.len()
    }

    pub(crate) fn up(&mut self, face: u32, attributes: FaceAttributes) -> Vec<(u32, Bytes)> {
        self.at_face(face, Input::FaceUp { face: FaceId(face), attributes })
    }

    pub(crate) fn down(&mut self, face: u32) -> Vec<(u32, Bytes)> {
        self.at_face(face, Input::FaceDown { face: FaceId(face) })
    }

    pub(crate) fn route(&mut self, prefix: &str, face: u32, cost: u64) {
        let prefix = prefix.parse().unwrap();
        let change = RouteChange { prefix, face: FaceId(face), cost: Some(cost) };
        self.feed(0, Input::Route(change));
    }

    pub(crate) fn frame(&mut self, face: u32, frame: Bytes) -> Vec<(u32, Bytes)> {
        self.at_face(face, Input::Frame { face: FaceId(face), frame })
    }

    /// Handles an input of a face.
    fn at_face(&mut self, face: u32, input: Input) -> Vec<(u32, Bytes)> {
        self.feed(self.home(face), input)
    }

    /// Handles an input of a worker; returns the frames sent, by face.
    pub(crate) fn feed(&mut self, worker: usize, input: Input) -> Vec<(u32, Bytes)> {
        self.nodes[worker].handle(self.now, input);
        self.settle()
    }

    /// Advances the time.
    pub(crate) fn pass(&mut self, end: Instant) -> Vec<(u32, Bytes)> {
        let mut sent = Vec::new();
        while let Some(due) = self.nodes.iter().filter_map(Node::deadline).min()
            && due <= end
        {
            self.now = due.max(self.now);
            sent.extend(self.settle());
        }
        self.now = end.max(self.now);
        sent
    }

    /// Handles an input of a worker without polling it: a driver first passes all inputs of a turn.
    pub(crate) fn note(&mut self, worker: usize, input: Input) {
        self.nodes[worker].handle(self.now, input);
    }

    /// Takes random steps: a worker is polled, or takes one message.
    pub(crate) fn step(&mut self, steps: usize) {
        for _ in 0..steps {
            match self.draw(2) {
                0 => {
                    let worker = self.draw(self.nodes.len());
                    self.drain(worker);
                }
                _ => drop(self.carry()),
            }
        }
    }

    /// Runs until there is no output and no message.
    pub(crate) fn settle(&mut self) -> Vec<(u32, Bytes)> {
        loop {
            (0..self.nodes.len()).for_each(|worker| self.drain(worker));
            if self.carry().is_none() {
                let mut sent = std::mem::take(&mut self.sent);
                sent.sort();
                return sent;
            }
        }
    }

    /// Delivers one message between workers; `None` without messages.
    fn carry(&mut self) -> Option<()> {
        let (workers, mut all) = (self.nodes.len(), Vec::new());
        for way in 0..workers * workers {
            if !self.mail[way / workers][way % workers].is_empty() {
                all.push((way / workers, way % workers));
            }
        }
        let drawn = self.draw(all.len().max(1));
        let (from, to) = *all.get(drawn)?;
        let handed = self.mail[from][to].pop_front()?;
        self.nodes[to].handle(self.now, Input::Worker(handed));
        Some(())
    }

    fn draw(&mut self, below: usize) -> usize {
        self.rng.next_u32() as usize % below
    }

    fn drain(&mut self, worker: usize) {
        while let Some(output) = self.nodes[worker].poll(self.now) {
            match output {
                Output::Send { face, frame } => {
                    assert_eq!(self.home(face.0), worker, "a frame leaves where its face is");
                    self.sent.push((face.0, frame.into_bytes()));
                }
                Output::Worker { worker: to, message: handed } => {
                    assert_ne!(usize::from(to), worker);
                    self.mail[worker][usize::from(to)].push_back(handed);
                }
                Output::Dropped { reason, .. } => self.drops.push(reason),
                other => panic!("{other:?}"),
            }
        }
    }

    /// Reasons of the drops since the last call.
    pub(crate) fn dropped(&mut self) -> Vec<DropReason> {
        self.drops.sort_unstable();
        std::mem::take(&mut self.drops)
    }
}
