//! The content store against a reference list.
use super::*;
use bytes::Bytes;
use proptest::prelude::*;
use recoup_packet::data::{ContentType, DataBuilder, SignatureShape, Template};
use recoup_packet::name::Component;
use recoup_packet::signature::DigestSigner;
use recoup_transport::time::Duration;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn data(uri: &str, content_bytes: usize, freshness_ms: u64) -> Data {
    let freshness = Duration::from_millis(freshness_ms);
    let template = Template::new(ContentType::Blob, freshness, None, SignatureShape::Digest);
    template.describe(name(uri), content_bytes).unwrap()
}

fn asking(name: Name, can_be_prefix: bool, must_be_fresh: bool) -> Interest {
    let mut interest = Interest::new(name);
    (interest.can_be_prefix, interest.must_be_fresh) = (can_be_prefix, must_be_fresh);
    interest
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

struct Fixture {
    hasher: NameHasher,
    cs: Cs,
}

impl Fixture {
    fn new(capacity: CsCapacity) -> Self {
        let hasher = NameHasher::new(1);
        Self { cs: Cs::new(hasher.clone(), capacity), hasher }
    }

    fn insert(&mut self, now: Instant, data: &Data) -> u64 {
        let hash = self.hasher.hash(data.name().value());
        self.cs.insert(now, data.clone(), hash).unwrap_or(0)
    }

    fn find(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        let hash = self.hasher.hash(interest.name.value());
        self.cs.find(now, interest, hash)
    }

    fn has(&mut self, uri: &str) -> bool {
        self.find(at(0), &Interest::new(name(uri))).is_some()
    }
}

#[test]
fn erase_removes_data_below_a_prefix() {
    let mut fixture = Fixture::new(CsCapacity::Packets(9));
    for uri in ["/a", "/a/b", "/a/b/c", "/ab", "/b"] {
        fixture.insert(at(0), &data(uri, 1, 0));
    }
    assert_eq!(fixture.cs.erase(&name("/a"), 2), (2, true));
    assert!(!fixture.has("/a") && fixture.has("/a/b/c"));
    assert_eq!(fixture.cs.erase(&name("/a"), 2), (1, false));
    fixture.cs.set_capacity(CsCapacity::Packets(1));
    assert_eq!((fixture.has("/ab"), fixture.has("/b")), (false, true));
}

#[test]
fn admission_and_serving_can_be_disabled() {
    let mut fixture = Fixture::new(CsCapacity::Packets(9));
    fixture.insert(at(0), &data("/a", 1, 0));
    fixture.cs.set_serving(false);
    assert!(!fixture.has("/a"));
    fixture.cs.set_serving(true);
    fixture.cs.set_admitting(false);
    fixture.insert(at(0), &data("/b", 1, 0));
    assert!(fixture.has("/a") && !fixture.has("/b"));
}

#[test]
fn stored_packet_has_40_bytes_of_overhead() {
    assert!(size_of::<Option<Stored>>() + 2 * size_of::<u32>() <= 40);
}

#[test]
fn bytes_are_counted_as_on_the_wire() {
    let packet = data("/a", 100, 0);
    let limit = 3 * packet.encoded_len() as u64;
    let mut fixture = Fixture::new(CsCapacity::Bytes(limit));
    for uri in ["/a", "/b", "/c"] {
        fixture.insert(at(0), &data(uri, 100, 0));
    }
    assert_eq!((fixture.cs.len(), fixture.cs.bytes()), (3, limit));
    assert_eq!(fixture.insert(at(0), &data("/d", 101, 0)), 2);
    assert_eq!(fixture.insert(at(0), &data("/e", limit as usize, 0)), 0);
    assert!(fixture.has("/c") && fixture.has("/d") && !fixture.has("/e"));
    fixture.cs.clear();
    assert_eq!((fixture.cs.len(), fixture.cs.bytes()), (0, 0));
}

#[test]
fn a_capacity_of_zero_keeps_nothing() {
    let neither = |packets, bytes| CsCapacity::Both { packets, bytes };
    let none = [CsCapacity::Packets(0), CsCapacity::Bytes(0), neither(0, 9), neither(9, 0)];
    for capacity in none {
        let mut fixture = Fixture::new(capacity);
        assert!(fixture.cs.is_off());
        fixture.insert(at(0), &data("/a", 1, 0));
        assert!(fixture.cs.is_empty() && !fixture.has("/a"));
    }
}

#[test]
fn stored_packet_does_not_hold_its_receive_buffer() {
    let built = DataBuilder::new(&name("/a")).build(b"content", &DigestSigner);
    let mut buffer = built.wire().to_vec();
    let len = buffer.len();
    buffer.resize(64 * 1024, 0);
    let buffer = Bytes::from(buffer);
    let arrived = Data::decode(buffer.slice(..len)).unwrap();
    let mut fixture = Fixture::new(CsCapacity::Unlimited);
    fixture.insert(at(0), &arrived);
    drop(arrived);
    assert!(buffer.is_unique());
    assert_eq!(fixture.find(at(0), &Interest::new(name("/a"))), Some(built));
}

const NAMES: [&str; 6] = ["/a", "/a/b", "/a/b/c", "/a/b/d", "/b", "/b/c/d"];

/// The reference: Data in the order of use, searched from end to end.
struct Model {
    stored: Vec<(Data, Instant)>,
    capacity: CsCapacity,
}

impl Model {
    fn bytes(&self) -> u64 {
        self.stored.iter().map(|(data, _)| data.encoded_len() as u64).sum()
    }

    fn insert(&mut self, now: Instant, data: &Data) {
        let bytes = data.encoded_len() as u64;
        let (packets, bytes) = match self.capacity {
            CsCapacity::Packets(packets) => (packets.saturating_sub(1), u64::MAX),
            CsCapacity::Bytes(limit) | CsCapacity::Both { bytes: limit, .. } if bytes > limit => {
                return;
            }
            CsCapacity::Bytes(limit) => (u64::MAX, limit - bytes),
            CsCapacity::Both { packets, bytes: limit } => (packets - 1, limit - bytes),
            CsCapacity::Unlimited => (u64::MAX, u64::MAX),
        };
        self.stored.retain(|(other, _)| other.name() != data.name());
        while self.stored.len() as u64 > packets || self.bytes() > bytes {
            self.stored.remove(0);
        }
        self.stored.push((data.clone(), now + data.freshness()));
    }

    fn find(&mut self, now: Instant, interest: &Interest) -> Option<Data> {
        let matching = self.stored.iter().filter(|(data, stale_at)| {
            interest.is_satisfied_by(data) && (!interest.must_be_fresh || now < *stale_at)
        });
        let rank = |data: &Data| (*data.name() != interest.name, data.name().clone());
        let (best, _) = matching.min_by_key(|(data, _)| rank(data))?.clone();
        let place = self.stored.iter().position(|(data, _)| data.name() == best.name())?;
        let used = self.stored.remove(place);
        self.stored.push(used);
        Some(best)
    }
}

fn any_capacity() -> impl Strategy<Value = CsCapacity> {
    prop_oneof![
        (1..5_u64).prop_map(CsCapacity::Packets),
        (100..500_u64).prop_map(CsCapacity::Bytes),
        (1..5_u64, 100..500_u64).prop_map(|(packets, bytes)| CsCapacity::Both { packets, bytes }),
        Just(CsCapacity::Unlimited),
    ]
}

proptest! {
    #[test]
    fn store_behaves_like_the_reference_list(
        capacity in any_capacity(),
        steps in prop::collection::vec(
            (0..6_usize, 0..4_usize, 0..20_u64, 0..4_u8, any::<[bool; 3]>()), 0..100
        ),
    ) {
        let mut fixture = Fixture::new(capacity);
        let mut model = Model { stored: Vec::new(), capacity };
        let mut now = 0;
        for (place, bytes, wait, kind, [can_be_prefix, must_be_fresh, digest]) in steps {
            now += wait;
            let packet = data(NAMES[place], bytes * 30, 15);
            if kind < 2 {
                fixture.insert(at(now), &packet);
                model.insert(at(now), &packet);
            } else {
                let mut wanted = name(NAMES[place]);
                if digest {
                    wanted = wanted.append(Component::new(1, &packet.implicit_digest()).unwrap());
                }
                let interest = asking(wanted, can_be_prefix, must_be_fresh);
                prop_assert_eq!(fixture.find(at(now), &interest), model.find(at(now), &interest));
            }
            prop_assert_eq!(fixture.cs.len(), model.stored.len());
            prop_assert_eq!(fixture.cs.bytes(), model.bytes());
        }
    }
}
