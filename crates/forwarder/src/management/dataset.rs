//! What the node tells about itself: `rib/list`, `fib/list`, `faces/list`, `faces/query`, `faces/channels`,
//! `strategy-choice/list`, `cs/info`, `status/general`.
//!
//! A dataset is made when somebody asks for it without a version, and kept for a while so that its segments are of one
//! piece.
//!
//! Source: NFD's wiki pages "StatusDataset" and those of the modules.
use super::roster::Roster;
use super::{Management, Node};
use crate::face::FaceId;
use crate::shard::Tally;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_transport::application::ReturnPath;
use recoup_transport::management::{
    ChannelStatus, Dataset, FaceCounters, FaceFilter, FaceStatus, FibEntry, GeneralStatus,
    RibEntry, Route, encode_records,
};
use recoup_transport::time::{Duration, Instant};
use std::collections::VecDeque;

/// Octets of a segment; with its name it fits any face.
const SEGMENT_OCTETS: usize = 8_000;
/// How long a dataset is kept.
const KEPT: Duration = Duration::from_secs(10);
/// Datasets that are kept, and octets of all of them but the newest.
const MAX_KEPT: usize = 16;
const MAX_KEPT_OCTETS: usize = 32 << 20;
/// A dataset that is younger is told again, so that asking often costs little.
const YOUNG: Duration = Duration::from_millis(10);
/// How long a segment counts as fresh.
const FRESH: Duration = Duration::from_secs(1);

/// Datasets that were made.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// Oldest first.
    kept: VecDeque<Made>,
    last_version: u64,
    /// Something was changed by a command, or by a face, since the newest was made.
    stale: bool,
}

#[derive(Debug)]
pub(super) struct Made {
    /// With the version.
    name: Name,
    content: Vec<u8>,
    at: Instant,
}

impl Shelf {
    /// What is told next is to be made anew.
    pub(super) fn spoil(&mut self) {
        self.stale = true;
    }

    fn get(&self, versioned: &Name) -> Option<&Made> {
        self.kept.iter().find(|made| made.name == *versioned)
    }

    /// One that was made just now.
    pub(super) fn young(&self, now: Instant, name: &Name) -> Option<&Made> {
        let newest = self.kept.iter().rev().find(|made| made.name.parent() == *name);
        newest.filter(|made| !self.stale && now.since(made.at) < YOUNG)
    }

    fn put(&mut self, now: Instant, name: &Name, micros: u64, content: Vec<u8>) -> &Made {
        self.last_version = micros.max(self.last_version + 1);
        self.stale = false;
        let octets = |kept: &VecDeque<Made>| kept.iter().map(|it| it.content.len()).sum::<usize>();
        while self.kept.front().is_some_and(|made| {
            let is_old = now.since(made.at) > KEPT;
            is_old || self.kept.len() >= MAX_KEPT || octets(&self.kept) > MAX_KEPT_OCTETS
        }) {
            self.kept.pop_front();
        }
        let name =
            name.components().collect::<Name>().append(Component::version(self.last_version));
        self.kept.push_back(Made { name, content, at: now });
        &self.kept[self.kept.len() - 1]
    }
}

impl Made {
    fn segment(&self, number: u64) -> Option<Data> {
        let count = self.content.len().div_ceil(SEGMENT_OCTETS).max(1);
        let place = usize::try_from(number).ok().filter(|place| *place < count)?;
        let from = place * SEGMENT_OCTETS;
        let to = self.content.len().min(from + SEGMENT_OCTETS);
        let name = self.name.append(Component::segment(number));
        let last = Component::segment(count as u64 - 1);
        let builder = DataBuilder::new(&name).freshness(FRESH).final_block(last);
        Some(builder.build(self.content.get(from..to)?, &DigestSigner))
    }
}

impl Node {
    /// Somebody asks for a dataset, whose name has `depth` components, or for a segment of one.
    pub(super) fn on_question(
        &mut self,
        now: Instant,
        interest: &Interest,
        path: ReturnPath,
        dataset: &Dataset,
        depth: usize,
    ) {
        let name = &interest.name;
        let data = match name.len() - depth.min(name.len()) {
            0 if interest.can_be_prefix => self.first_segment(now, name, dataset),
            1 => self.kept_segment(name, 0),
            2 => {
                let number = name.last().and_then(|last| last.is_segment());
                number.and_then(|number| self.kept_segment(&name.parent(), number))
            }
            _ => None,
        };
        match data {
            Some(data) => self.answer(now, FaceId::MANAGEMENT, data, path),
            None => self.refusal(now, FaceId::MANAGEMENT, NackReason::NoRoute, path),
        }
    }

    fn kept_segment(&self, versioned: &Name, number: u64) -> Option<Data> {
        self.management.as_ref()?.shelf.get(versioned)?.segment(number)
    }

    fn first_segment(&mut self, now: Instant, name: &Name, dataset: &Dataset) -> Option<Data> {
        if let Some(made) = self.management.as_ref()?.shelf.young(now, name) {
            return made.segment(0);
        }
        let content = self.tell(now, dataset);
        let Management { shelf, clock, .. } = self.management.as_mut()?;
        shelf.put(now, name, clock.micros(now), content).segment(0)
    }

    fn tell(&self, now: Instant, dataset: &Dataset) -> Vec<u8> {
        match dataset {
            Dataset::RibList => encode_records(self.rib_entries(now)),
            Dataset::FibList => encode_records(self.fib_entries()),
            Dataset::FaceList => encode_records(self.face_statuses()),
            Dataset::FaceQuery(filter) => encode_records(self.filtered(filter)),
            Dataset::FaceChannels => {
                let channels = self.management.iter().flat_map(|it| &it.channels);
                encode_records(channels.map(|uri| ChannelStatus { local_uri: uri.clone() }))
            }
            Dataset::StrategyList => encode_records(self.strategy_choices()),
            Dataset::CsInfo => encode_records([self.cs_info()]),
            Dataset::Status => encode_records([self.general_status(now)]),
        }
    }

    /// All routes, by prefix in canonical order; empty without management.
    pub fn rib_entries(&self, now: Instant) -> impl Iterator<Item = RibEntry> {
        let entries = self.management.iter().flat_map(|management| management.rib.iter());
        entries.map(move |(name, routes)| {
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

    /// All prefixes with next hops, in canonical order.
    pub fn fib_entries(&self) -> impl Iterator<Item = FibEntry> {
        self.fib.iter().map(|(name, hops)| {
            let next_hops = hops.iter().map(|hop| (u64::from(hop.face.0), hop.cost)).collect();
            FibEntry { name: name.clone(), next_hops }
        })
    }

    /// Where a face leads, if the owner described it.
    #[must_use]
    pub fn face_uri(&self, face: FaceId) -> Option<&str> {
        let description = self.management.as_ref()?.roster.get(face)?;
        Some(&description.uri)
    }

    /// All faces that the owner described, by number, and that of the management; empty without management.
    pub fn face_statuses(&self) -> impl Iterator<Item = FaceStatus> {
        let roster = self.management.iter().map(|management| &management.roster);
        let faces = roster.flat_map(Roster::faces);
        let own = self.management.iter().map(|_| Roster::own());
        faces.filter_map(|face| self.face_status(face)).chain(own)
    }

    fn filtered(&self, filter: &FaceFilter) -> impl Iterator<Item = FaceStatus> {
        self.face_statuses().filter(|face| filter.accepts(&face.profile))
    }

    /// How the node is, as a whole.
    #[must_use]
    pub fn general_status(&self, now: Instant) -> GeneralStatus {
        let (mut counters, mut status) = (FaceCounters::default(), GeneralStatus::default());
        if let Some(Management { roster, clock, version, .. }) = &self.management {
            counters.add(&roster.past);
            status.version.clone_from(version);
            status.start_millis = clock.start_millis();
            status.now_millis = clock.millis(now);
        }
        self.face_statuses().for_each(|face| counters.add(&face.counters));
        let Tally { counters: all, pit, cs, measurements, past, .. } = self.total();
        counters.add(&past);
        let fib = self.fib.len() as u64;
        GeneralStatus {
            name_tree_entries: fib + pit + measurements + self.strategies.len() as u64,
            fib_entries: fib,
            pit_entries: pit,
            measurement_entries: measurements,
            cs_entries: cs,
            counters,
            satisfied: all.satisfied,
            unsatisfied: all.unsatisfied,
            ..status
        }
    }
}
