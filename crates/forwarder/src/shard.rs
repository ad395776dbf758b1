//! Sharding: several nodes that are one forwarder. Each is a *worker* with the faces of its own sockets and a part of
//! all tables.
//!
//! A face belongs to the worker that has its socket. That worker has its link, with fragmentation, recovery and
//! scheduler. A name belongs to one worker, too, by the hash of its first components. That worker has its pending
//! Interests, its stored Data and its measurements. A frame becomes a packet at the worker of its face and goes to
//! the worker of its name; resulting packets go to the workers of their egress faces. All workers know all faces and
//! all routes. The first one, the *leader*, has the management, and announces changes.
//!
//! Workers exchange [`WorkerMessage`]s: outputs of one and inputs of another, delivered in the order of sending. The
//! channel may drop packets, but no other messages ([`WorkerMessage::is_packet`]).
//!
//! An Interest with CanBePrefix for fewer components than are hashed may be answered by Data of other workers. It is
//! pending at the worker of its own name. While there are any of its length (all workers share a count), Data that
//! might answer it go there first.
//!
//! Workers have wire faces; applications and value faces belong to nodes that are alone.
mod message;
mod task;

pub use crate::table::MAX_COMPONENTS;
pub use crate::tally::{FaceTally, Tally};
pub(crate) use message::Visit;
pub use message::{DataSearch, WorkerMessage};
pub use task::RingTask;
pub(crate) use task::Task;

use crate::face::FaceId;
use crate::hash::{NameHasher, mix};
use crate::table::{ShortCounter, ShortNames};
use recoup_packet::name::{Name, Scope};
use recoup_packet::tlv::{Reader, typ};
use recoup_transport::management::FaceCounters;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of a worker, from 0.
pub type Worker = u16;

/// Identity of a worker.
#[derive(Clone, Debug)]
pub struct ShardOptions {
    worker: Worker,
    workers: Worker,
    components: usize,
    short: Arc<ShortNames>,
}

impl ShardOptions {
    /// The identities of `workers` workers, at least one. The first `components` of a name, from 1 to
    /// [`MAX_COMPONENTS`], decide on its worker. All must be used, and have the same `hash_seed`.
    #[must_use]
    pub fn of(workers: Worker, components: usize) -> Vec<Self> {
        let (workers, components) = (workers.max(1), components.clamp(1, MAX_COMPONENTS));
        let short = Arc::new(ShortNames::default());
        let part = |worker| Self { worker, workers, components, short: Arc::clone(&short) };
        (0..workers).map(part).collect()
    }

    /// Number of the worker.
    #[must_use]
    pub const fn worker(&self) -> Worker {
        self.worker
    }

    /// This worker's share of a common amount.
    pub(crate) fn share(&self, of_all: u64) -> u64 {
        let (worker, workers) = (u64::from(self.worker), u64::from(self.workers));
        of_all / workers + u64::from(worker < of_all % workers)
    }

    /// This worker's share of a limit, at least 1.
    pub(crate) fn share_of_places(&self, of_all: usize) -> usize {
        usize::try_from(self.share(of_all as u64)).unwrap_or(usize::MAX).max(1)
    }

    pub(crate) fn short_names(&self) -> ShortCounter {
        ShortCounter { components: self.components, short: Arc::clone(&self.short) }
    }
}

/// State of a node as a worker.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) options: ShardOptions,
    hasher: NameHasher,
    /// Counters of faces of this worker that are down and may come up again.
    pub(crate) carried: BTreeMap<FaceId, FaceCounters>,
    /// Counters of faces of this worker that are gone.
    pub(crate) past: FaceCounters,
    /// Counters of all others, as last collected.
    pub(crate) tallied: Tally,
}

/// Next worker of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    pub(crate) worker: Worker,
    /// Data go on from there: the prefix length from which pending Interests are searched.
    pub(crate) next: Option<u8>,
}

impl Shard {
    pub(crate) fn new(options: ShardOptions, hasher: NameHasher) -> Self {
        let (carried, past, tallied) = Default::default();
        Self { options, hasher, carried, past, tallied }
    }

    pub(crate) fn worker(&self) -> Worker {
        self.options.worker
    }

    /// Whether it is the worker with the management.
    pub(crate) fn leads(&self) -> bool {
        self.options.worker == 0
    }

    /// All other workers.
    pub(crate) fn others(&self) -> impl Iterator<Item = Worker> + use<> {
        let own = self.options.worker;
        (0..self.options.workers).filter(move |worker| *worker != own)
    }

    /// The next worker in the ring.
    pub(crate) fn next(&self) -> Worker {
        (self.options.worker + 1) % self.options.workers
    }

    /// Worker of a packet; `None` for other bytes. Data first go to the workers of pending Interests for prefixes of
    /// at least `from` components.
    pub(crate) fn place(&self, packet: &[u8], from: u8) -> Option<Placement> {
        let mut outer = Reader::new(packet);
        let packet = outer.read().ok()??;
        let name = packet.reader().expect(typ::NAME, "a Name").ok()?.value;
        let (is_data, components) = (packet.typ == typ::DATA, self.options.components);
        let worker = self.worker_of(name, prefix_end(name, components, is_data));
        if is_data {
            for length in from..components as u8 {
                if self.options.short.has(usize::from(length)) {
                    let prefix = &name[..prefix_end(name, length.into(), true)];
                    let waiting_worker = self.worker_of(prefix, prefix.len());
                    if waiting_worker != worker {
                        return Some(Placement { worker: waiting_worker, next: Some(length + 1) });
                    }
                }
            }
        }
        Some(Placement { worker, next: None })
    }

    /// Worker of an Interest for a name.
    pub(crate) fn worker_of_interest(&self, name: &Name) -> Worker {
        self.worker_of(name.value(), prefix_end(name.value(), self.options.components, false))
    }

    /// Worker of names that begin like this one, up to `end`.
    fn worker_of(&self, name: &[u8], end: usize) -> Worker {
        if is_of_leader(name) {
            return 0;
        }
        // Tables use the same hash: the part that is left must still differ between the names of one worker.
        let hash = mix(self.hasher.hash(&name[..end]));
        (hash % u64::from(self.options.workers)) as Worker
    }
}

/// End of the first `components` of a name. The implicit digest at the end of an Interest's name is no component of
/// its Data's name.
fn prefix_end(name: &[u8], components: usize, is_data: bool) -> usize {
    let (mut reader, mut end) = (Reader::new(name), 0);
    for _ in 0..components {
        let Ok(Some(it)) = reader.read() else {
            break;
        };
        let is_digest = it.typ == typ::IMPLICIT_SHA256_DIGEST && reader.is_empty();
        if is_data || !is_digest {
            end = reader.offset();
        }
    }
    end
}

/// Whether names like this one belong to the leader: those of the management.
fn is_of_leader(name: &[u8]) -> bool {
    const NFD: &[u8] = b"\x08\x03nfd";
    match Scope::of_value(name) {
        Scope::Localhost => true,
        Scope::Localhop => name.windows(NFD.len()).nth(Scope::LOCALHOP.len()) == Some(NFD),
        Scope::Global => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::interest::Interest;
    use recoup_packet::signature::DigestSigner;

    fn shards(workers: Worker, components: usize) -> Vec<Shard> {
        let shard = |options| Shard::new(options, NameHasher::new(7));
        ShardOptions::of(workers, components).into_iter().map(shard).collect()
    }

    fn data(uri: &str) -> Vec<u8> {
        DataBuilder::new(&uri.parse().unwrap()).build(b"", &DigestSigner).wire().to_vec()
    }

    fn interest(name: Name) -> Vec<u8> {
        Interest::new(name).to_bytes().to_vec()
    }

    #[test]
    fn interest_and_data_have_the_same_worker() {
        for components in 1..=3 {
            let shard = &shards(5, components)[0];
            for uri in ["/a", "/a/b", "/a/b/c", "/a/b/c/d", "/localhost/nfd/status"] {
                let name: Name = uri.parse().unwrap();
                let packet = DataBuilder::new(&name).build(b"", &DigestSigner);
                let digest = packet.implicit_digest();
                let digest = recoup_packet::name::Component::new(1, &digest).unwrap();
                let place = shard.place(&packet.wire(), 0).unwrap();
                assert_eq!(place.next, None);
                assert_eq!(shard.place(&interest(name.clone()), 0), Some(place), "{uri}");
                assert_eq!(shard.place(&interest(name.append(digest)), 0), Some(place), "{uri}");
            }
        }
    }

    #[test]
    fn first_components_decide_on_the_worker() {
        let shards = shards(4, 2);
        let place = |worker: usize, uri: &str| shards[worker].place(&data(uri), 0).unwrap().worker;
        let mut used = [0; 4];
        for number in 0..100 {
            let worker = place(0, &format!("/a/{number}"));
            used[usize::from(worker)] += 1;
            assert_eq!(place(3, &format!("/a/{number}/c/d")), worker);
        }
        assert!(used.iter().all(|used| *used > 5), "{used:?}");
        assert_eq!(place(2, "/localhost/any/name"), 0);
        assert_eq!(place(2, "/localhop/nfd/rib"), 0);
    }

    #[test]
    fn data_first_go_where_a_shorter_prefix_waits() {
        let shards = shards(7, 3);
        let worker_of =
            |uri: &str| shards[0].place(&interest(uri.parse().unwrap()), 0).unwrap().worker;
        let wire = data("/a/b/c/d");
        let home = Placement { worker: worker_of("/a/b/c"), next: None };
        let [one, two] = [worker_of("/a"), worker_of("/a/b")];
        assert!(one != home.worker && two != home.worker, "another seed is needed");
        let counter = shards[3].options.short_names();
        for length in [1, 2, 3] {
            counter.add(length);
        }
        let place = |from| shards[5].place(&wire, from).unwrap();
        assert_eq!(place(0), Placement { worker: one, next: Some(2) });
        assert_eq!(place(2), Placement { worker: two, next: Some(3) });
        assert_eq!(place(3), home, "those of three components are at home");
        counter.remove(1);
        assert_eq!(place(0).worker, two);
        counter.remove(2);
        assert_eq!(place(0), home);
    }

    #[test]
    fn malformed_packet_has_no_worker() {
        let shard = &shards(2, 2)[0];
        for bytes in [&b""[..], &[5], &[5, 0], &[5, 2, 8, 0], &[5, 3, 7, 2, 8]] {
            assert_eq!(shard.place(bytes, 0), None, "{bytes:?}");
        }
    }

    #[test]
    fn shares_add_up_to_the_whole() {
        for whole in [0, 1, 5, 65_536] {
            let shares = ShardOptions::of(3, 2).into_iter().map(|it| it.share(whole));
            assert_eq!(shares.sum::<u64>(), whole);
        }
    }
}
