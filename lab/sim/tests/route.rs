//! Routes on the Sprint network against its known figures, and on random ones against their promises.

use recoup_sim::network::{LinkId, LinkOptions, NodeId, RoutePlan};
use recoup_sim::route::{Distance, Graph, Metric, NextHops, Producer};
use recoup_sim::topology::{Topology, random, sprint, sprint_routers};
use recoup_transport::random::Rng;
use std::collections::BTreeMap;

fn graph(topology: &Topology, metric: Metric) -> Graph {
    let (nodes, links) = topology.plans(&LinkOptions::default());
    Graph::of_plans(&nodes, &links, metric).unwrap()
}

/// The distances of all unordered pairs.
fn pairs(metric: Metric) -> Vec<Distance> {
    pairs_of(&sprint(), metric)
}

fn pairs_of(topology: &Topology, metric: Metric) -> Vec<Distance> {
    let graph = graph(topology, metric);
    let mut pairs = Vec::new();
    for to in 0..topology.nodes.len() as u32 {
        let distances = graph.distances(&[NodeId(to)]).unwrap();
        pairs.extend(distances[..to as usize].iter().map(|distance| distance.unwrap()));
    }
    pairs
}

fn by_hops(pairs: &[Distance]) -> Vec<usize> {
    let mut counts = BTreeMap::new();
    for pair in pairs {
        *counts.entry(pair.hops).or_insert(0) += 1;
    }
    assert!(counts.keys().copied().eq(1..=counts.len() as u32));
    counts.into_values().collect()
}

#[test]
fn hop_counts_of_sprint_are_the_known_ones() {
    let pairs = pairs(Metric::Hops);
    assert_eq!(by_hops(&pairs), [84, 263, 377, 303, 167, 108, 24]);
    let mean = pairs.iter().map(|pair| pair.metric).sum::<u64>() as f64 / 1_326.0;
    assert!((mean - 3.472).abs() < 0.000_5, "{mean}");
}

#[test]
fn sprint_routers_have_the_known_hop_counts() {
    let pairs = pairs_of(&sprint_routers().unwrap(), Metric::Hops);
    assert_eq!(by_hops(&pairs), [972, 5206, 13_125, 16_195, 8_086, 2_725, 1_598, 1_041, 455, 52]);
}

#[test]
fn delays_of_sprint_are_the_known_ones() {
    let pairs = pairs(Metric::Delay);
    assert_eq!(by_hops(&pairs), [84, 235, 314, 279, 189, 122, 62, 26, 9, 6]);
    assert_eq!(pairs.iter().filter(|pair| (4..=10).contains(&pair.hops)).count(), 693);
    let mut micros = pairs.iter().map(|pair| pair.metric / 1_000).collect::<Vec<_>>();
    micros.sort();
    let mean = micros.iter().sum::<u64>() as f64 / 1_326_000.0;
    assert!((mean - 33.218).abs() < 0.000_5, "{mean}");
    assert_eq!(micros[1_325], 138_818);
    let median = (micros[662] + micros[663]) / 2;
    assert!(median.abs_diff(23_146) <= 1, "{median}");
}

#[test]
fn weights_of_sprint_give_the_known_longest_path() {
    let hops = by_hops(&pairs(Metric::Cost));
    assert_eq!((hops.len(), hops.iter().sum::<usize>()), (8, 1_326));
    assert_eq!(hops[0], 81);
}

#[test]
fn first_hops_follow_the_shortest_path() {
    let topology = sprint();
    let graph = graph(&topology, Metric::Delay);
    let producer = [Producer { node: NodeId(51), prefix: "/hk".parse().unwrap() }];
    for route in graph.routes(&producer, NextHops::Shortest, &[]).unwrap() {
        let path = graph.path(route.node, NodeId(51)).unwrap().unwrap();
        assert_eq!(route.hops, [(path.links[0], path.length.metric)]);
        assert_eq!(path.nodes.len(), path.links.len() + 1);
        assert_eq!(path.length.hops as usize, path.links.len());
    }
}

/// A random network with delays and costs that differ by direction and are sometimes zero.
fn network(seed: u64) -> Topology {
    let mut rng = Rng::from_seed(seed);
    let nodes = 3 + rng.below(12) as u32;
    let links = nodes - 1 + rng.below(u64::from(nodes)) as u32;
    let links = links.min(nodes * (nodes - 1) / 2);
    let mut topology = random(nodes, links, &mut rng).unwrap();
    for link in &mut topology.links {
        (link.cost, link.back_cost) = (rng.below(5), Some(rng.below(5)));
    }
    topology
}

fn far_end(topology: &Topology, link: LinkId, node: NodeId) -> NodeId {
    let ends = topology.links[link.0 as usize].ends;
    if ends.0 == node { ends.1 } else { ends.0 }
}

/// Follows all choices of all nodes; fails if an Interest can meet a state again or be stuck.
fn follow(topology: &Topology, routes: &[RoutePlan], producer: NodeId, seed: u64) {
    let hops = |node: NodeId| {
        let route = routes.iter().find(|route| route.node == node);
        route.map_or(&[][..], |route| &route.hops[..])
    };
    // (where, over which link it came) in the state: on the way, or done.
    let mut done = BTreeMap::new();
    for start in (0..topology.nodes.len() as u32).map(NodeId) {
        let mut stack = vec![(start, None::<LinkId>, 0)];
        while let Some((node, came, next)) = stack.pop() {
            let open = hops(node).iter().filter(|hop| Some(hop.0) != came).collect::<Vec<_>>();
            if next == 0 {
                assert!(node == producer || !open.is_empty(), "seed {seed}: stuck at {node:?}");
                done.insert((node, came), false);
            }
            let Some((link, _)) = open.get(next) else {
                done.insert((node, came), true);
                continue;
            };
            stack.push((node, came, next + 1));
            let onward = (far_end(topology, *link, node), Some(*link));
            match done.get(&onward) {
                Some(true) => (),
                Some(false) => panic!("seed {seed}: a circle through {onward:?}"),
                None => stack.push((onward.0, onward.1, 0)),
            }
        }
    }
}

#[test]
fn no_next_hop_makes_a_loop() {
    let mut detours = 0;
    for seed in 0..400 {
        let topology = network(seed);
        let graph = graph(&topology, Metric::Cost);
        let producer = NodeId(seed as u32 % topology.nodes.len() as u32);
        let served = [Producer { node: producer, prefix: "/p".parse().unwrap() }];
        let of = |next_hops| graph.routes(&served, next_hops, &[]).unwrap();
        let count = |routes: &[RoutePlan]| routes.iter().map(|r| r.hops.len()).sum::<usize>();
        let downhill = of(NextHops::Downhill(None));
        for next_hops in [NextHops::LoopFree(None), NextHops::LoopFree(Some(2))] {
            let routes = of(next_hops);
            follow(&topology, &routes, producer, seed);
            assert!(routes.iter().all(|route| route.hops.is_sorted_by_key(|hop| hop.1)));
        }
        for next_hops in [NextHops::Shortest, NextHops::EqualCost, NextHops::Downhill(None)] {
            follow_strictly(&topology, &of(next_hops), producer);
        }
        assert!(of(NextHops::LoopFree(Some(2))).iter().all(|route| route.hops.len() <= 2));
        detours += count(&of(NextHops::LoopFree(None))) - count(&downhill);
    }
    assert!(detours > 400, "only {detours} detours");
}

/// Without uphill hops not even nodes may be met twice: there is an order in which all hops lead down.
fn follow_strictly(topology: &Topology, routes: &[RoutePlan], producer: NodeId) {
    let mut open = routes.iter().collect::<Vec<_>>();
    let mut settled = vec![producer];
    while !open.is_empty() {
        let before = open.len();
        open.retain(|route| {
            let ends = route.hops.iter().map(|hop| far_end(topology, hop.0, route.node));
            let down = ends.into_iter().all(|end| settled.contains(&end));
            if down {
                settled.push(route.node);
            }
            !down
        });
        assert!(open.len() < before, "a circle");
    }
}
