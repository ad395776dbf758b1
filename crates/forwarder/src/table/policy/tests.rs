//! Policies in a content store, against naive models and known hit ratios.
use super::*;
use crate::hash::NameHasher;
use crate::table::{Cs, CsCapacity};
use proptest::prelude::*;
use recoup_core::spec::family::Custom;
use recoup_packet::data::{ContentType, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_transport::random::Rng;
use recoup_transport::time::Duration;

fn name(content: u64) -> Name {
    Name::root().append(Component::generic(&content.to_be_bytes()))
}

fn data(content: u64) -> Data {
    let template = Template::new(ContentType::Blob, Duration::ZERO, None, SignatureShape::Digest);
    template.describe(name(content), 1).unwrap()
}

struct Fixture {
    hasher: NameHasher,
    cs: Cs,
}

impl Fixture {
    fn new(packets: u64, replacement: &str, admission: &str) -> Self {
        let hasher = NameHasher::new(1);
        let (replacement, admission) = (replacement.parse().unwrap(), admission.parse().unwrap());
        let cs = Cs::new(hasher.clone(), CsCapacity::Packets(packets));
        Self { cs: cs.with_policies(&replacement, &admission, &Rng::from_seed(1)), hasher }
    }

    /// Requests a content and stores it if it was not found; returns whether it was.
    fn request(&mut self, content: u64) -> bool {
        let interest = Interest::new(name(content));
        let hash = self.hasher.hash(interest.name.value());
        let is_hit = self.cs.find(Instant::ZERO, &interest, hash).is_some();
        if !is_hit {
            self.cs.insert(Instant::ZERO, data(content), hash);
        }
        is_hit
    }

    fn insert(&mut self, content: u64) -> Option<u64> {
        let hash = self.hasher.hash(name(content).value());
        self.cs.insert(Instant::ZERO, data(content), hash)
    }

    fn holds(&self, contents: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let is_there = |content: &u64| {
            let name = name(*content);
            self.cs.contains(&name, self.hasher.hash(name.value()))
        };
        contents.into_iter().filter(is_there).collect()
    }
}

#[test]
fn policies_print_the_text_that_they_parse() {
    for text in Replacement::names() {
        assert_eq!(text.parse::<Replacement>().unwrap().to_string(), text);
    }
    for text in Admission::names() {
        assert_eq!(text.parse::<Admission>().unwrap().to_string(), text);
    }
    assert_eq!("prob(p=10%)".parse::<Admission>().unwrap().to_string(), "prob(p=0.1)");
    let error = "prob(p=1.5)".parse::<Admission>().unwrap_err().to_string();
    assert!(error.contains("a number from 0 to 1"), "{error}");
    let error = "lfru".parse::<Replacement>().unwrap_err().to_string();
    assert!(error.contains("lfu"), "{error}");
}

#[test]
fn perfect_lfu_counts_names_without_data() {
    let mut fixture = Fixture::new(1, "perfect-lfu", "lce");
    for content in [1, 1, 1, 2, 2] {
        fixture.request(content);
    }
    assert_eq!(fixture.holds(1..3), [1]);
    fixture.request(2);
    assert_eq!(fixture.holds(1..3), [2]);
}

#[test]
fn perfect_lfu_counts_a_limited_number_of_names() {
    let mut fixture = Fixture::new(10, "perfect-lfu(names=100)", "lce");
    for content in 0..10_000 {
        fixture.request(content);
        fixture.request(content % 5);
        fixture.request(content % 5);
    }
    assert_eq!(fixture.holds(0..5).len(), 5);
    let text = format!("{:?}", fixture.cs);
    let counts = text.split("counts: {").nth(1).and_then(|it| it.split('}').next()).unwrap();
    assert!(counts.split(',').count() <= 100, "{counts}");
}

#[test]
fn newer_data_of_a_name_keeps_its_count() {
    let mut fixture = Fixture::new(2, "lfu", "prob(p=0)");
    assert_eq!(fixture.insert(1), None);
    let mut fixture = Fixture::new(2, "lfu", "lce");
    for content in [1, 1, 1, 2] {
        fixture.request(content);
    }
    assert_eq!(fixture.insert(1), Some(0));
    fixture.request(3);
    assert_eq!(fixture.holds(1..4), [1, 3]);
}

/// A policy that names slots which are not in use.
#[derive(Clone, Debug)]
struct Wrong;

impl ReplacementPolicy for Wrong {
    fn on_insert(&mut self, _entry: &Entry<'_>) {}
    fn on_hit(&mut self, _entry: &Entry<'_>) {}
    fn on_remove(&mut self, _slot: u32) {}
    fn victim(&mut self) -> Option<u32> {
        Some(1_000)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wrong")
    }
}

#[test]
fn capacity_holds_if_a_policy_names_unused_slots() {
    let hasher = NameHasher::new(1);
    let cs = Cs::new(hasher.clone(), CsCapacity::Packets(3));
    let wrong = Replacement::custom(Wrong);
    let cs = cs.with_policies(&wrong, &Admission::default(), &Rng::from_seed(1));
    let mut fixture = Fixture { cs, hasher };
    for content in 0..10 {
        assert!(!fixture.request(content));
        assert!(fixture.cs.len() <= 3);
    }
    fixture.cs.clear();
    assert!(fixture.cs.is_empty());
}

/// Contents in the order of their evictions.
enum Model {
    Lru(Vec<u64>),
    Fifo(Vec<u64>),
    /// Content, count, last use.
    Lfu(Vec<(u64, u64, usize)>),
}

impl Model {
    fn request(&mut self, content: u64, now: usize, limit: usize) -> bool {
        match self {
            Self::Lru(held) | Self::Fifo(held) if !held.contains(&content) => {
                held.drain(..(held.len() + 1).saturating_sub(limit));
                held.push(content);
                false
            }
            Self::Lru(held) => {
                held.retain(|other| *other != content);
                held.push(content);
                true
            }
            Self::Fifo(_) => true,
            Self::Lfu(held) => {
                if let Some(one) = held.iter_mut().find(|(other, ..)| *other == content) {
                    (one.1, one.2) = (one.1 + 1, now);
                    return true;
                }
                while held.len() >= limit {
                    let least = held.iter().min_by_key(|(_, count, used)| (*count, *used)).copied();
                    held.retain(|other| Some(*other) != least);
                }
                held.push((content, 1, now));
                false
            }
        }
    }
}

/// `lru`, known under another name: it has virtual calls.
fn boxed_lru() -> Replacement {
    Replacement::Custom(Custom::new("virtual-lru", || -> Box<dyn ReplacementPolicy> {
        Box::new(Lru::default())
    }))
}

proptest! {
    #[test]
    fn policies_behave_like_naive_models(
        limit in 1..6_u64,
        requests in prop::collection::vec(0..12_u64, 0..200),
    ) {
        let models = [
            ("lru", Model::Lru(Vec::new())),
            ("fifo", Model::Fifo(Vec::new())),
            ("lfu", Model::Lfu(Vec::new())),
        ];
        for (policy, mut model) in models {
            let mut fixture = Fixture::new(limit, policy, "lce");
            for (now, content) in requests.iter().enumerate() {
                let expected = model.request(*content, now, limit as usize);
                prop_assert_eq!(fixture.request(*content), expected, "{} {}", policy, now);
            }
        }
    }

    #[test]
    fn limits_hold_with_every_policy(
        limit in 1..6_u64,
        admission in prop_oneof![Just("lce"), Just("prob(p=0.5)"), Just("lcd")],
        steps in prop::collection::vec((0..12_u64, 0..20_u8), 0..200),
    ) {
        for policy in Replacement::names() {
            let mut fixture = Fixture::new(limit, policy, admission);
            for (content, step) in &steps {
                match step {
                    0 => fixture.cs.clear(),
                    1 => drop(fixture.cs.erase(&name(*content), 10)),
                    2 => fixture.cs.set_capacity(CsCapacity::Packets(limit.div_ceil(2))),
                    3 => fixture.cs.set_capacity(CsCapacity::Packets(limit)),
                    4 | 5 => drop(fixture.insert(*content)),
                    _ => drop(fixture.request(*content)),
                }
                prop_assert!(fixture.cs.len() as u64 <= limit);
                prop_assert_eq!(fixture.holds(0..12).len(), fixture.cs.len());
            }
        }
    }

    #[test]
    fn virtual_calls_do_not_change_lru(requests in prop::collection::vec(0..12_u64, 0..200)) {
        let mut inline = Fixture::new(5, "lru", "lce");
        let mut boxed = Fixture::new(5, "lru", "lce");
        boxed.cs = Cs::new(boxed.hasher.clone(), CsCapacity::Packets(5)).with_policies(
            &boxed_lru(), &Admission::default(), &Rng::from_seed(1),
        );
        for content in requests {
            prop_assert_eq!(inline.request(content), boxed.request(content));
        }
    }
}

/// Hit ratio under independent requests for 2,000 contents with Zipf popularity of exponent 1, store of 100.
fn hit_ratio(replacement: &str, admission: &str) -> f64 {
    let shares = shares();
    let mut fixture = Fixture::new(100, replacement, admission);
    let mut rng = Rng::from_seed(7);
    let (warm_up, counted) = (20_000, 60_000);
    let hits = (0..warm_up + counted).filter(|round| {
        let drawn = rng.unit_f64();
        let content = shares.partition_point(|up_to| *up_to < drawn) as u64;
        fixture.request(content) && *round >= warm_up
    });
    hits.count() as f64 / f64::from(counted)
}

/// Cumulative popularity.
fn shares() -> Vec<f64> {
    let weights = (1..=2_000).map(|rank| 1.0 / f64::from(rank));
    let total: f64 = weights.clone().sum();
    let sum = weights.scan(0.0, |sum, weight| {
        *sum += weight / total;
        Some(*sum)
    });
    sum.collect()
}

#[test]
fn hit_ratios_under_zipf_follow_theory() {
    let [lru, fifo, random] = ["lru", "fifo", "random"].map(|it| hit_ratio(it, "lce"));
    let [lfu, perfect] = ["lfu", "perfect-lfu"].map(|it| hit_ratio(it, "lce"));
    let prob = hit_ratio("lru", "prob(p=0.1)");
    println!(
        "lru {lru:.3} fifo {fifo:.3} random {random:.3} lfu {lfu:.3} perfect {perfect:.3} prob {prob:.3}"
    );
    // FIFO and random eviction have the same hit ratio (Gelenbe, 1973), below that of LRU.
    assert!((fifo - random).abs() < 0.01 && fifo + 0.01 < lru);
    // The most popular contents are the best that can be stored.
    let best = shares()[99];
    assert!((best - perfect).abs() < 0.02, "{perfect} instead of {best}");
    assert!(lfu > lru + 0.03 && perfect >= lfu);
    assert!(prob > lru + 0.03 && prob < best);
}
