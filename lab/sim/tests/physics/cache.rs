//! Hit ratios of content stores: Che's approximation, and a naive store beside.
//!
//! Che, Tung & Wang, "Hierarchical Web caching systems: modeling, design and experimental results", IEEE
//! JSAC 20(7), 2002: under independent requests a content stays for a characteristic time `T`, the same
//! for all, that solves `sum(1 - exp(-p_k T)) = C`; content `k` is hit with probability `1 - exp(-p_k T)`.
use crate::line::{Notes, add, channel, line, produce, request, run};
use crate::popularity::zipf_mandelbrot;
use crate::significance::scaled;
use recoup_forwarder::event::NodeEvent;
use recoup_forwarder::table::policy::{Admission, Replacement};
use recoup_sim::network::{Arrival, CsCapacity, NodeId, Popularity};

const CONTENTS: u64 = 10_000;
const CAPACITY: u64 = 500;

/// The hit ratio by Che's approximation.
fn che(shares: &[f64], capacity: f64) -> f64 {
    let hit = |time: f64| move |share: &f64| 1.0 - libm::exp(-share * time);
    let held = |time: f64| shares.iter().map(hit(time)).sum::<f64>();
    let (mut low, mut high) = (0.0, 1.0);
    while held(high) < capacity {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if held(middle) < capacity { low = middle } else { high = middle }
    }
    shares.iter().map(|share| share * hit(high)(share)).sum()
}

/// A consumer, two nodes with content stores, and a producer; nothing takes any time.
fn requested(s: f64, requests: u64) -> Notes {
    let mut network = line(&[(); 3].map(|()| (channel(0, 0), channel(0, 0))));
    network.nodes[1].options.cache = CsCapacity::Packets(CAPACITY);
    network.nodes[2].options.cache = CsCapacity::Packets(CAPACITY);
    let popularity = Popularity::ZipfMandelbrot { q: 0.0, s };
    let consumer = request(requests, Arrival::Poisson(1_000.0), popularity, CONTENTS);
    add(&mut network, "consumer", 0, consumer);
    add(&mut network, "producer", 3, produce());
    let (notes, _) = run(&network, 1);
    assert_eq!(notes.got.len() as u64, requests);
    notes
}

/// Lookups of a content store, by hash, and whether they were hits.
fn asked(notes: &Notes, node: u32) -> Vec<(u64, bool)> {
    let of = |(_, at, event): &(_, NodeId, NodeEvent)| match *event {
        NodeEvent::CsHit { hash } if at.0 == node => Some((hash, true)),
        NodeEvent::CsMiss { hash } if at.0 == node => Some((hash, false)),
        _ => None,
    };
    notes.events.iter().filter_map(of).collect()
}

fn hit_ratio(asked: &[(u64, bool)]) -> f64 {
    asked.iter().filter(|(_, hit)| *hit).count() as f64 / asked.len() as f64
}

/// A list with the most recent in front.
fn is_hit_in_naive_store(store: &mut Vec<u64>, hash: u64) -> bool {
    let place = store.iter().position(|held| *held == hash);
    if let Some(place) = place {
        store.remove(place);
    }
    store.insert(0, hash);
    store.truncate(usize::try_from(CAPACITY).unwrap());
    place.is_some()
}

#[test]
fn hit_ratios_follow_che_at_each_level() {
    for s in [0.8, 1.0] {
        let (warm_up, counted) = (10_000, scaled(500_000, 60_000));
        let notes = requested(s, warm_up + counted);
        let first = asked(&notes, 1);
        assert_eq!(first.len() as u64, warm_up + counted);
        let ratio = hit_ratio(&first[usize::try_from(warm_up).unwrap()..]);
        let expected = che(&zipf_mandelbrot(CONTENTS, 0.0, s), CAPACITY as f64);
        println!("s={s}: hit ratio {ratio:.4}, by Che {expected:.4}");
        assert!((ratio - expected).abs() < 0.01, "s={s}: {ratio} instead of {expected}");
        // No formula holds behind a cache, whose misses are no independent requests: a naive store
        // must hit and miss with it.
        let second = asked(&notes, 2);
        assert_eq!(first.iter().filter(|(_, hit)| !hit).count(), second.len());
        println!("s={s}: hit ratio of the second level {:.4}", hit_ratio(&second));
        for asked in [&first, &second] {
            let mut store = Vec::new();
            for (hash, hit) in asked {
                assert_eq!(is_hit_in_naive_store(&mut store, *hash), *hit);
            }
        }
    }
}

#[test]
fn full_size_store_misses_each_content_once() {
    let mut network = line(&[(); 2].map(|()| (channel(0, 0), channel(0, 0))));
    network.nodes[1].options.cache = CsCapacity::Bytes(100 * 1_010);
    let consumer = request(5_000, Arrival::Constant(1_000.0), Popularity::Uniform, 100);
    add(&mut network, "consumer", 0, consumer);
    add(&mut network, "producer", 2, produce());
    let (notes, _) = run(&network, 1);
    let asked = asked(&notes, 1);
    assert_eq!(asked.iter().filter(|(_, hit)| !hit).count(), 100);
}

/// Nodes in whose stores ten requests for one content were found, by the caches of the three nodes on the way.
fn hits_of_one_content(admission: &str, caches: [u64; 3]) -> Vec<u32> {
    let mut network = line(&[(); 4].map(|()| (channel(0, 0), channel(0, 0))));
    for (node, cache) in network.nodes.iter_mut().zip([0, caches[0], caches[1], caches[2], 0]) {
        node.options.cache = CsCapacity::Packets(cache);
        node.options.cache_admission = admission.parse::<Admission>().unwrap().into();
    }
    if admission == "mcd" {
        // No store is below the edge.
        network.nodes[1].options.cache_admission = "lcd".parse::<Admission>().unwrap().into();
    }
    let consumer = request(10, Arrival::Constant(1_000.0), Popularity::Uniform, 1);
    add(&mut network, "consumer", 0, consumer);
    add(&mut network, "producer", 4, produce());
    let (notes, _) = run(&network, 1);
    assert_eq!(notes.got.len(), 10);
    let of = |(_, at, event): &(_, NodeId, NodeEvent)| {
        matches!(event, NodeEvent::CsHit { .. }).then_some(at.0)
    };
    notes.events.iter().filter_map(of).collect()
}

#[test]
fn hit_copies_data_one_store_down() {
    assert_eq!(hits_of_one_content("lce", [1, 1, 1]), [1; 9]);
    for admission in ["lcd", "mcd"] {
        assert_eq!(hits_of_one_content(admission, [1, 1, 1]), [3, 2, 1, 1, 1, 1, 1, 1, 1]);
        // A node without a store forwards the mark, and counts as no step.
        assert_eq!(hits_of_one_content(admission, [1, 0, 1]), [3, 1, 1, 1, 1, 1, 1, 1, 1]);
    }
    assert!(hits_of_one_content("prob(p=0)", [1, 1, 1]).is_empty());
}

#[test]
fn popular_contents_stay_in_frequency_based_stores() {
    let ratio = |replacement: &str| {
        let mut network = line(&[(); 2].map(|()| (channel(0, 0), channel(0, 0))));
        network.nodes[1].options.cache = CsCapacity::Packets(50);
        network.nodes[1].options.cache_replacement =
            replacement.parse::<Replacement>().unwrap().into();
        let popularity = Popularity::ZipfMandelbrot { q: 0.0, s: 0.8 };
        let consumer =
            request(scaled(50_000, 20_000), Arrival::Poisson(1_000.0), popularity, 1_000);
        add(&mut network, "consumer", 0, consumer);
        add(&mut network, "producer", 2, produce());
        let (notes, _) = run(&network, 1);
        hit_ratio(&asked(&notes, 1))
    };
    let [random, lru, lfu] = ["random", "lru", "lfu"].map(ratio);
    println!("random {random:.3}, lru {lru:.3}, lfu {lfu:.3}");
    assert!(random < lru && lru + 0.03 < lfu, "{random} {lru} {lfu}");
}
