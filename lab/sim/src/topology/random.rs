//! Random networks that are always connected.
//!
//! Sources: Erdős and Rényi, "On random graphs I", 1959 (the graph with a given number of edges);
//! Waxman, "Routing of multipoint connections", IEEE JSAC 6(9), 1988, section II.
//!
//! Differences: the Erdős–Rényi graph begins with a uniform random tree, so that it is connected. In a disconnected
//! Waxman graph the nearest nodes of different parts are joined until it is connected.
use super::draft::{Draft, Parts};
use super::error::Problem;
use super::{ChannelPart, Topology, TopologyError, delay_of};
use crate::network::NodeId;
use recoup_transport::random::Rng;
use std::collections::BTreeSet;

/// Most nodes of a Waxman graph: each pair of nodes is looked at.
const MAX_WAXMAN_NODES: u32 = 5_000;

/// A random network after Erdős and Rényi: `nodes` nodes `n1`, `n2`, … and `links` different links, at
/// least one less than nodes.
pub fn random(nodes: u32, links: u32, rng: &mut Rng) -> Result<Topology, TopologyError> {
    let (count, wanted) = (u64::from(nodes), u64::from(links));
    if nodes == 0 || wanted + 1 < count || wanted > count * (count - 1) / 2 {
        return Err(
            Problem::Shape("n random nodes need at least n-1 and at most n(n-1)/2 links").into()
        );
    }
    let mut draft = numbered(nodes)?;
    let mut joined = BTreeSet::new();
    for node in 1..nodes {
        let earlier = rng.below(u64::from(node)) as u32;
        joined.insert((earlier, node));
        draft.plain(NodeId(earlier), NodeId(node))?;
    }
    let mut open = wanted - (count - 1);
    while open > 0 {
        let (a, b) = (rng.below(count) as u32, rng.below(count) as u32);
        let pair = (a.min(b), a.max(b));
        if a != b && joined.insert(pair) {
            draft.plain(NodeId(pair.0), NodeId(pair.1))?;
            open -= 1;
        }
    }
    Ok(draft.finish())
}

/// A random network on a square after Waxman: near nodes are joined more often than far ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waxman {
    /// Number of nodes, at most 5,000: `n1`, `n2`, …
    pub nodes: u32,
    /// Probability of a link between nodes at one place, above 0 and at most 1.
    pub alpha: f64,
    /// How slowly the probability falls with the distance, above 0: by a factor of e for each `beta`
    /// diagonals of the square.
    pub beta: f64,
    /// Side of the square in kilometres; delays are 1 ms for each 200 km.
    pub side_km: f64,
}

impl Default for Waxman {
    fn default() -> Self {
        Self { nodes: 50, alpha: 0.4, beta: 0.14, side_km: 2_000.0 }
    }
}

/// Draws a Waxman graph. Positions are in metres.
pub fn waxman(shape: &Waxman, rng: &mut Rng) -> Result<Topology, TopologyError> {
    check(shape)?;
    let mut draft = numbered(shape.nodes)?;
    let mut places = Vec::new();
    for node in 0..shape.nodes {
        let place = (rng.unit_f64() * shape.side_km, rng.unit_f64() * shape.side_km);
        draft.describe(NodeId(node), Some((place.0 * 1_000.0, place.1 * 1_000.0)), None);
        places.push(place);
    }
    let mut parts = Parts::new(places.len());
    let scale = shape.beta * shape.side_km * libm::sqrt(2.0);
    for (a, b) in pairs(places.len()) {
        let km = distance(places[a], places[b]);
        if rng.unit_f64() < shape.alpha * libm::exp(-km / scale) {
            parts.join(a, b);
            join(&mut draft, a, b, km)?;
        }
    }
    join_parts(&mut draft, &places, &mut parts)?;
    Ok(draft.finish())
}

fn check(shape: &Waxman) -> Result<(), Problem> {
    if !(1..=MAX_WAXMAN_NODES).contains(&shape.nodes) {
        return Err(Problem::Shape("a Waxman graph has 1 to 5000 nodes"));
    }
    let probable = shape.alpha > 0.0 && shape.alpha <= 1.0;
    if !probable || shape.beta.is_nan() || shape.beta <= 0.0 {
        return Err(Problem::Shape("alpha must be above 0 and at most 1, beta above 0"));
    }
    if !(shape.side_km > 0.0 && shape.side_km <= 100_000.0) {
        return Err(Problem::Shape("the side must be above 0 and at most 100000 km"));
    }
    Ok(())
}

/// Joins the nearest nodes of different parts until there is one part (Kruskal's algorithm).
fn join_parts(draft: &mut Draft, places: &[(f64, f64)], parts: &mut Parts) -> Result<(), Problem> {
    if parts.count() <= 1 {
        return Ok(());
    }
    let mut candidates = pairs(places.len()).collect::<Vec<_>>();
    let km = |(a, b): &(usize, usize)| distance(places[*a], places[*b]);
    candidates.sort_by(|one, other| km(one).total_cmp(&km(other)).then(one.cmp(other)));
    for pair in candidates {
        if parts.join(pair.0, pair.1) {
            join(draft, pair.0, pair.1, km(&pair))?;
        }
    }
    Ok(())
}

fn join(draft: &mut Draft, a: usize, b: usize, km: f64) -> Result<(), Problem> {
    let part = ChannelPart { delay: Some(delay_of(km)), ..ChannelPart::default() };
    draft.link(NodeId(a as u32), NodeId(b as u32), part, 1).map(|_| ())
}

fn numbered(nodes: u32) -> Result<Draft, Problem> {
    let mut draft = Draft::default();
    for number in 1..=nodes {
        draft.node(&format!("n{number}"))?;
    }
    Ok(draft)
}

fn pairs(nodes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..nodes).flat_map(move |a| (a + 1..nodes).map(move |b| (a, b)))
}

fn distance(a: (f64, f64), b: (f64, f64)) -> f64 {
    libm::hypot(a.0 - b.0, a.1 - b.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_network_is_connected_with_given_links() {
        for seed in 0..200 {
            let mut rng = Rng::from_seed(seed);
            let nodes = 1 + rng.below(30) as u32;
            let most = nodes * (nodes - 1) / 2;
            let links = (nodes - 1) + rng.below(u64::from(most - (nodes - 1)) + 1) as u32;
            let topology = random(nodes, links, &mut rng).unwrap();
            assert_eq!(topology.links.len(), links as usize, "seed {seed}");
            assert!(topology.is_connected() && topology.check().is_ok(), "seed {seed}");
        }
    }

    #[test]
    fn sparse_waxman_network_is_connected() {
        for seed in 0..20 {
            let shape = Waxman { alpha: 0.05, beta: 0.05, ..Waxman::default() };
            let topology = waxman(&shape, &mut Rng::from_seed(seed)).unwrap();
            assert!(topology.is_connected() && topology.check().is_ok(), "seed {seed}");
        }
    }

    #[test]
    fn waxman_joins_near_nodes_more_often() {
        let shape = Waxman { nodes: 200, beta: 0.1, ..Waxman::default() };
        let topology = waxman(&shape, &mut Rng::from_seed(3)).unwrap();
        let delay: u128 = topology.links.iter().map(|l| l.forth.delay.unwrap().as_micros()).sum();
        // Two points drawn from a square are 0.52 sides apart on average: 5.2 ms.
        assert!(delay / (topology.links.len() as u128) < 3_500);
    }

    #[test]
    fn a_seed_draws_the_same_network_again() {
        let draw = |seed| waxman(&Waxman::default(), &mut Rng::from_seed(seed)).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        let draw = |seed| random(20, 40, &mut Rng::from_seed(seed)).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn impossible_shapes_are_rejected() {
        let mut rng = Rng::from_seed(1);
        assert!(random(0, 0, &mut rng).is_err());
        assert!(random(5, 3, &mut rng).is_err() && random(5, 11, &mut rng).is_err());
        let rejected = [
            Waxman { nodes: 0, ..Waxman::default() },
            Waxman { alpha: 0.0, ..Waxman::default() },
            Waxman { beta: f64::NAN, ..Waxman::default() },
            Waxman { side_km: f64::INFINITY, ..Waxman::default() },
        ];
        assert!(rejected.iter().all(|shape| waxman(shape, &mut rng).is_err()));
    }
}
