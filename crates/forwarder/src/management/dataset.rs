//! Datasets about the node: `rib/list`, `fib/list`, `faces/list`, `faces/query`, `faces/channels`,
//! `strategy-choice/list`, `cs/info`, `status/general`.
//!
//! A dataset is generated for an Interest without a version, and cached for a while so that its segments are
//! consistent.
//!
//! Source: NFD's wiki pages "StatusDataset" and those of the modules.
use super::registry::FaceRegistry;
use super::{Management, View};
use crate::counters::NodeCounters;
use crate::face::FaceId;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    ChannelStatus, Dataset, FaceCounters, FaceFilter, FaceStatus, GeneralStatus, RibEntry, Route,
    encode_records,
};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;

/// Bytes of a segment; with its name it fits any face.
const SEGMENT_BYTES: usize = 8_000;
/// Lifetime of a cached dataset.
const KEPT: Duration = Duration::from_secs(10);
/// Most cached datasets, and most bytes of all of them but the newest.
const MAX_KEPT: usize = 16;
const MAX_KEPT_BYTES: usize = 32 << 20;
/// A cached dataset younger than this is reused, so that frequent requests cost little.
const YOUNG: Duration = Duration::from_millis(10);
/// Freshness of a segment.
const FRESH: Duration = Duration::from_secs(1);

/// Cached datasets.
#[derive(Debug, Default)]
pub(super) struct DatasetCache {
    /// Oldest first.
    kept: VecDeque<CachedDataset>,
    last_version: u64,
    /// A command or a face event changed the state since the newest was generated.
    stale: bool,
}

#[derive(Debug)]
struct CachedDataset {
    /// Name, with the version.
    name: Name,
    content: Vec<u8>,
    at: Instant,
}

impl DatasetCache {
    /// Forces the next request to generate a new dataset.
    pub(super) fn invalidate(&mut self) {
        self.stale = true;
    }

    fn get(&self, versioned: &Name) -> Option<&CachedDataset> {
        self.kept.iter().find(|made| made.name == *versioned)
    }

    /// The dataset, if it was just generated.
    fn recent(&self, now: Instant, name: &Name) -> Option<&CachedDataset> {
        let newest = self.kept.iter().rev().find(|made| made.name.parent() == *name);
        newest.filter(|made| !self.stale && now.since(made.at) < YOUNG)
    }

    fn put(&mut self, now: Instant, name: &Name, micros: u64, content: Vec<u8>) -> &CachedDataset {
        self.last_version = micros.max(self.last_version + 1);
        self.stale = false;
        let bytes =
            |kept: &VecDeque<CachedDataset>| kept.iter().map(|it| it.content.len()).sum::<usize>();
        while self.kept.front().is_some_and(|made| {
            let is_old = now.since(made.at) > KEPT;
            is_old || self.kept.len() >= MAX_KEPT || bytes(&self.kept) > MAX_KEPT_BYTES
        }) {
            self.kept.pop_front();
        }
        let name =
            name.components().collect::<Name>().append(Component::version(self.last_version));
        self.kept.push_back(CachedDataset { name, content, at: now });
        &self.kept[self.kept.len() - 1]
    }
}

impl CachedDataset {
    fn segment(&self, number: u64) -> Option<Data> {
        let count = self.content.len().div_ceil(SEGMENT_BYTES).max(1);
        let place = usize::try_from(number).ok().filter(|place| *place < count)?;
        let from = place * SEGMENT_BYTES;
        let to = self.content.len().min(from + SEGMENT_BYTES);
        let name = self.name.append(Component::segment(number));
        let last = Component::segment(count as u64 - 1);
        let builder = DataBuilder::new(&name).freshness(FRESH).final_block(last);
        Some(builder.build(self.content.get(from..to)?, &DigestSigner))
    }
}

impl Management {
    /// Handles an Interest for a dataset, whose name has `depth` components, or for a segment of one.
    pub(super) fn on_dataset(
        &mut self,
        now: Instant,
        interest: &Interest,
        path: ReturnPath,
        dataset: &Dataset,
        depth: usize,
        view: &impl View,
    ) {
        let name = &interest.name;
        let data = match name.len() - depth.min(name.len()) {
            0 if interest.can_be_prefix => self.first_segment(now, name, dataset, view),
            1 => self.kept_segment(name, 0),
            2 => {
                let number = name.last().and_then(|last| last.is_segment());
                number.and_then(|number| self.kept_segment(&name.parent(), number))
            }
            _ => None,
        };
        match data {
            Some(data) => self.answer(path, data),
            None => self.reject(path, NackReason::NoRoute),
        }
    }

    fn kept_segment(&self, versioned: &Name, number: u64) -> Option<Data> {
        self.shelf.get(versioned)?.segment(number)
    }

    fn first_segment(
        &mut self,
        now: Instant,
        name: &Name,
        dataset: &Dataset,
        view: &impl View,
    ) -> Option<Data> {
        if let Some(made) = self.shelf.recent(now, name) {
            return made.segment(0);
        }
        let content = self.content(now, dataset, view);
        self.shelf.put(now, name, self.clock.micros(now), content).segment(0)
    }

    fn content(&self, now: Instant, dataset: &Dataset, view: &impl View) -> Vec<u8> {
        match dataset {
            Dataset::RibList => encode_records(self.rib_entries(now)),
            Dataset::FibList => encode_records(view.fib_entries()),
            Dataset::FaceList => encode_records(self.face_statuses(view)),
            Dataset::FaceQuery(filter) => encode_records(self.filtered(filter, view)),
            Dataset::FaceChannels => {
                let channels = self.channels.iter();
                encode_records(channels.map(|uri| ChannelStatus { local_uri: uri.clone() }))
            }
            Dataset::StrategyList => encode_records(view.strategy_choices()),
            Dataset::CsInfo => encode_records([view.cs_info()]),
            Dataset::Status => encode_records([self.general_status(now, view)]),
        }
    }

    /// All routes, by prefix in canonical order.
    pub(crate) fn rib_entries(&self, now: Instant) -> impl Iterator<Item = RibEntry> {
        self.rib.iter().map(move |(name, routes)| {
            let route = |(face, origin, route): (FaceId, u64, super::Route)| Route {
                face_id: u64::from(face.0),
                origin,
                cost: route.cost,
                flags: route.flags,
                expiration_period: route.expires.map(|at| at.since(now)),
            };
            RibEntry { name: name.clone(), routes: routes.map(route).collect() }
        })
    }

    /// URI of a face, if the owner described it.
    pub(crate) fn face_uri(&self, face: FaceId) -> Option<&str> {
        Some(&self.registry.get(face)?.uri)
    }

    /// All faces that the owner described, by number, and that of the management.
    pub(crate) fn face_statuses(&self, view: &impl View) -> impl Iterator<Item = FaceStatus> {
        let faces = self.registry.faces().filter_map(|face| self.face_status(face, view));
        faces.chain([FaceRegistry::own()])
    }

    fn filtered(&self, filter: &FaceFilter, view: &impl View) -> impl Iterator<Item = FaceStatus> {
        self.face_statuses(view).filter(|face| filter.accepts(&face.profile))
    }

    /// The status of the node as a whole.
    pub(crate) fn general_status(&self, now: Instant, view: &impl View) -> GeneralStatus {
        let mut status = node_status(view, self.face_statuses(view), self.registry.past);
        status.version.clone_from(&self.version);
        status.start_millis = self.clock.start_millis();
        status.now_millis = self.clock.millis(now);
        status
    }
}

/// The status of a node with these faces, and faces that are gone and carried `past`.
pub(crate) fn node_status(
    view: &impl View,
    faces: impl Iterator<Item = FaceStatus>,
    past: FaceCounters,
) -> GeneralStatus {
    let mut counters = past;
    faces.for_each(|face| counters.add(&face.counters));
    let NodeCounters { satisfied, unsatisfied, .. } = view.counters();
    let (fib, pit) = (view.prefixes() as u64, view.pending() as u64);
    let measurements = view.measurements() as u64;
    GeneralStatus {
        name_tree_entries: fib + pit + measurements + view.strategies() as u64,
        fib_entries: fib,
        pit_entries: pit,
        measurement_entries: measurements,
        cs_entries: view.cs_info().entries,
        counters,
        satisfied,
        unsatisfied,
        ..GeneralStatus::default()
    }
}
