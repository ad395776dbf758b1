//! The table of pending Interests against a reference list.
use super::*;
use proptest::prelude::*;
use recoup_packet::data::{ContentType, SignatureShape, Template};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Component;
use recoup_transport::time::Duration;
use std::collections::BTreeMap;

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn data(name: &Name) -> Data {
    let template = Template::new(ContentType::Blob, Duration::ZERO, None, SignatureShape::Digest);
    template.describe(name.clone(), 10).unwrap()
}

fn with_digest(name: &Name, digest: &[u8; 32]) -> Name {
    name.append(Component::new(1, digest).unwrap())
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

struct Fixture {
    hasher: NameHasher,
    pit: Pit,
}

impl Fixture {
    fn new(limit: usize) -> Self {
        let hasher = NameHasher::new(1);
        Self { pit: Pit::new(hasher.clone(), limit), hasher }
    }

    fn hash(&self, name: &Name) -> u64 {
        self.hasher.hash(name.value())
    }

    fn find(&self, interest: &Interest) -> Option<PitId> {
        self.pit.find(interest, self.hash(&interest.name))
    }

    fn insert(&mut self, interest: &Interest) -> Result<PitId, PitFull> {
        let hash = self.hash(&interest.name);
        self.pit.insert(Arc::new(interest.clone()), hash)
    }

    fn matches(&mut self, data: &Data) -> Vec<PitId> {
        let (hash, mut found) = (self.hash(data.name()), Vec::new());
        self.pit.matches(data, hash, &mut found);
        found
    }
}

#[test]
fn a_removed_entry_leaves_nothing_for_the_next() {
    let mut fixture = Fixture::new(8);
    let id = fixture.insert(&Interest::new(name("/a"))).unwrap();
    let entry = fixture.pit.entry_mut(id);
    for face in 0..5 {
        entry.receive(InRecord::new(FaceId(face), Some(face), at(10)));
        entry.send(at(1), FaceId(face), Some(face), at(10));
    }
    fixture.pit.arm(id, at(10));
    assert_eq!(fixture.pit.remove(id).map(|interest| interest.name.clone()), Some(name("/a")));
    assert_eq!(fixture.pit.remove(id), None);
    assert_eq!((fixture.pit.deadline(), fixture.pit.len()), (None, 0));

    let again = fixture.insert(&Interest::new(name("/b"))).unwrap();
    assert_eq!(again, id);
    let entry = fixture.pit.entry(id);
    assert!(entry.ins().is_empty() && entry.outs().is_empty());
    assert_eq!(entry.interest().name, name("/b"));
}

#[test]
fn pending_interest_has_144_bytes_of_overhead() {
    assert!(size_of::<PitEntry>() <= 144, "{} bytes", size_of::<PitEntry>());
}

#[test]
fn records_distinguish_retransmissions_copies_and_loops() {
    let mut fixture = Fixture::new(8);
    let id = fixture.insert(&Interest::new(name("/a"))).unwrap();
    let entry = fixture.pit.entry_mut(id);
    let mut receive =
        |face, nonce, millis| entry.receive(InRecord::new(FaceId(face), nonce, at(millis)));
    assert_eq!(receive(1, Some(7), 10), Arrival::First);
    assert_eq!(receive(2, Some(8), 30), Arrival::AnotherFace);
    assert_eq!(receive(1, Some(7), 10), Arrival::Repetition);
    assert_eq!(receive(1, Some(9), 20), Arrival::Retransmission);
    assert_eq!(receive(1, None, 20), Arrival::Retransmission);
    assert_eq!(receive(1, None, 20), Arrival::Retransmission);
    assert_eq!((entry.ins().len(), entry.latest_expiry()), (2, Some(at(30))));

    entry.send(at(5), FaceId(3), Some(8), at(30));
    let nonce = entry.find_nonce(FaceId(2), 8);
    assert_eq!(
        nonce,
        DuplicateNonce { in_same: true, out_other: true, ..DuplicateNonce::default() }
    );
    let copy = DuplicateNonce { in_same: true, ..DuplicateNonce::default() };
    assert!(nonce.is_loop(false) && copy.is_loop(true) && !copy.is_loop(false));
    assert_eq!(entry.find_nonce(FaceId(2), 1), DuplicateNonce::default());
}

#[test]
fn out_record_is_pending_until_nack_or_expiry() {
    let mut fixture = Fixture::new(8);
    let id = fixture.insert(&Interest::new(name("/a"))).unwrap();
    let entry = fixture.pit.entry_mut(id);
    assert!(!entry.has_pending_out(at(0)));
    entry.send(at(5), FaceId(3), Some(8), at(30));
    assert!(entry.has_pending_out(at(29)) && !entry.has_pending_out(at(30)));
    entry.out_record_mut(FaceId(3)).unwrap().set_nacked(NackReason::NoRoute);
    assert!(!entry.has_pending_out(at(6)));
    entry.send(at(7), FaceId(3), Some(9), at(40));
    assert!(entry.has_pending_out(at(8)));
    assert_eq!((entry.outs().len(), entry.outs()[0].transmissions), (1, 2));
    assert_eq!(entry.last_sent(), Some(at(7)));
}

#[test]
fn forwarding_hints_of_one_name_are_limited() {
    let mut fixture = Fixture::new(1_000);
    let hinted = |number: usize| {
        let mut interest = Interest::new(name("/a"));
        interest.forwarding_hint = vec![name(&format!("/hint/{number}"))];
        interest
    };
    for number in 0..MAX_HINTED {
        assert!(fixture.insert(&hinted(number)).is_ok());
    }
    assert_eq!(fixture.insert(&hinted(MAX_HINTED)), Err(PitFull));
    assert!(fixture.insert(&Interest::new(name("/a"))).is_ok());
    assert_eq!(fixture.matches(&data(&name("/a"))).len(), MAX_HINTED + 1);
}

#[test]
fn digest_bytes_inside_a_component_are_no_digest() {
    let mut bytes = vec![1, 32];
    bytes.extend([7; 32]);
    let parent = name("/a").append(Component::generic(b"x"));
    assert_eq!(without_digest(&parent.append(Component::generic(&bytes))), None);
    let full = with_digest(&parent, &[7; 32]);
    assert_eq!(without_digest(&full), Some(&parent.value()[..]));
}

#[test]
fn removed_face_has_no_out_records() {
    let mut fixture = Fixture::new(8);
    for uri in ["/a", "/b"] {
        let id = fixture.insert(&Interest::new(name(uri))).unwrap();
        let entry = fixture.pit.entry_mut(id);
        entry.receive(InRecord::new(FaceId(1), None, at(10)));
        entry.send(at(0), FaceId(1), None, at(10));
        entry.send(at(0), FaceId(2), None, at(10));
    }
    fixture.pit.forget_asked(FaceId(1));
    assert_eq!(fixture.pit.iter().count(), 2);
    let others =
        |entry: &PitEntry| entry.outs().len() == 1 && entry.out_record(FaceId(2)).is_some();
    assert!(fixture.pit.iter().all(|(_, entry)| entry.ins().len() == 1 && others(entry)));
}

const NAMES: [&str; 7] = ["/a", "/a/b", "/a/b/c", "/a/b/d", "/b", "/a/b/c/d/e", "/"];

#[derive(Clone, Debug)]
enum Operation {
    Insert(Interest),
    Remove(usize),
    Arm(usize, u64),
    Pop(u64),
}

fn any_interest() -> impl Strategy<Value = Interest> {
    let digest = prop_oneof![4 => Just(0_u8), 1 => Just(1), 1 => Just(2)];
    (0..NAMES.len(), digest, any::<bool>(), any::<bool>(), 0..4_usize).prop_map(
        |(place, digest, can_be_prefix, must_be_fresh, hint)| {
            let plain = name(NAMES[place]);
            let name = match digest {
                0 => plain,
                1 => with_digest(&plain, &data(&plain).implicit_digest()),
                _ => with_digest(&plain, &[9; 32]),
            };
            let forwarding_hint =
                NAMES[hint..3].iter().map(|uri| super::tests::name(uri)).collect();
            let mut interest = Interest::new(name);
            (interest.can_be_prefix, interest.must_be_fresh) = (can_be_prefix, must_be_fresh);
            interest.forwarding_hint = forwarding_hint;
            interest
        },
    )
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        4 => any_interest().prop_map(Operation::Insert),
        2 => (0..20_usize).prop_map(Operation::Remove),
        1 => (0..20_usize, 0..50_u64).prop_map(|(nth, millis)| Operation::Arm(nth, millis)),
        1 => (0..50_u64).prop_map(Operation::Pop),
    ]
}

proptest! {
    #[test]
    fn table_behaves_like_the_reference_list(
        operations in prop::collection::vec(operation(), 0..80)
    ) {
        let mut fixture = Fixture::new(12);
        let all_data: Vec<Data> = NAMES.iter().map(|uri| data(&name(uri))).collect();
        let mut model: BTreeMap<PitId, Interest> = BTreeMap::new();
        let mut due: BTreeMap<PitId, u64> = BTreeMap::new();
        for operation in operations {
            match operation {
                Operation::Insert(interest) => {
                    let known = model.iter().find(|(_, other)| **other == interest).map(|(id, _)| *id);
                    prop_assert_eq!(fixture.find(&interest), known);
                    if known.is_none() {
                        let id = fixture.insert(&interest);
                        prop_assert_eq!(id.is_ok(), model.len() < 12);
                        id.into_iter().for_each(|id| prop_assert_none(model.insert(id, interest.clone())));
                    }
                }
                Operation::Remove(nth) => {
                    if let Some(id) = model.keys().nth(nth).copied() {
                        fixture.pit.remove(id);
                        model.remove(&id);
                        due.remove(&id);
                    }
                }
                Operation::Arm(nth, millis) => {
                    if let Some(id) = model.keys().nth(nth) {
                        fixture.pit.arm(*id, at(millis));
                        due.insert(*id, millis);
                    }
                }
                Operation::Pop(millis) => match fixture.pit.pop_due(at(millis)) {
                    Some(id) => {
                        let earliest = due.values().min().copied();
                        prop_assert!(earliest <= Some(millis) && due.remove(&id) == earliest);
                    }
                    None => prop_assert!(due.values().all(|at| *at > millis)),
                },
            }
            prop_assert_eq!(fixture.pit.len(), model.len());
            prop_assert_eq!(fixture.pit.deadline(), due.values().min().map(|millis| at(*millis)));
            for data in &all_data {
                let satisfied = model.iter().filter(|(_, interest)| interest.is_satisfied_by(data));
                let expected: Vec<PitId> = satisfied.map(|(id, _)| *id).collect();
                prop_assert_eq!(fixture.matches(data), expected);
            }
        }
    }
}

fn prop_assert_none(before: Option<Interest>) {
    assert_eq!(before, None, "a number in use was given out");
}
