//! A node in its place: its faces' channels, its applications' numbers, and what waits for its attention.
use crate::model::law::Law;
use crate::network::ApplicationId;
use recoup_core::agenda::Key;
use recoup_forwarder::face::{AppId, FaceId};
use recoup_forwarder::node::Node;
use recoup_forwarder::observer::Recorder;
use recoup_forwarder::packet::Packet;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use std::collections::VecDeque;

/// A node and its state in the simulation.
pub(super) struct Station {
    pub(super) node: Node<Recorder>,
    /// Face → the lane that leads away from it.
    pub(super) doors: Vec<usize>,
    pub(super) is_down: bool,
    /// Number of set-ups.
    pub(super) lives: u32,
    /// Attached application → which one it is.
    applications: Vec<Option<ApplicationId>>,
    processing: Law,
    processing_rng: Rng,
    /// Arrived packets that are still to be processed, by the end of their processing.
    inbox: VecDeque<(Key, FaceId, Packet)>,
    busy_until: Instant,
}

impl Station {
    pub(super) fn new(node: Node<Recorder>, processing: Law, processing_rng: Rng) -> Self {
        Self {
            node,
            doors: Vec::new(),
            is_down: false,
            lives: 1,
            applications: Vec::new(),
            processing,
            processing_rng,
            inbox: VecDeque::new(),
            busy_until: Instant::ZERO,
        }
    }

    /// Whether packets are handled as they arrive.
    pub(super) fn is_prompt(&self) -> bool {
        self.processing == Law::None
    }

    /// Queues an arrived packet behind earlier ones, and draws its processing time.
    pub(super) fn wait(&mut self, now: Instant, sequence: u64, face: FaceId, packet: Packet) {
        let time = self.processing.draw_time(&mut self.processing_rng);
        self.busy_until = self.busy_until.max(now) + time;
        self.inbox.push_back((Key::new(self.busy_until, sequence), face, packet));
    }

    /// When the first packet that waits is handled.
    pub(super) fn first_waiting(&self) -> Option<Key> {
        self.inbox.front().map(|(key, ..)| *key)
    }

    /// The packet whose turn it is at `now`.
    pub(super) fn next_waiting(&mut self, now: Instant) -> Option<(FaceId, Packet)> {
        self.first_waiting().filter(|key| key.at() <= now)?;
        self.inbox.pop_front().map(|(_, face, packet)| (face, packet))
    }

    /// The node fails: returns its queued packets, which are lost.
    pub(super) fn forget_waiting(&mut self, now: Instant) -> Vec<Packet> {
        self.busy_until = now;
        self.inbox.drain(..).map(|(.., packet)| packet).collect()
    }

    pub(super) fn note(&mut self, app: AppId, application: Option<ApplicationId>) {
        let place = app.0 as usize;
        if self.applications.len() <= place {
            self.applications.resize(place + 1, None);
        }
        self.applications[place] = application;
    }

    pub(super) fn application(&self, app: AppId) -> Option<ApplicationId> {
        self.applications.get(app.0 as usize).copied().flatten()
    }
}
