//! Next hops beyond those that lead closer, for as long as no Interest can run in a circle.
//!
//! Source: Schneider, Zhang and Benmohamed, "Hop-by-hop multipath routing: choosing the right nexthop
//! set", INFOCOM 2020 (LFID, loop-free inport-dependent routing): what keeps paths free of loops is that
//! a node never sends an Interest back over the link on which it came.
//!
//! Differences: the paper removes detours until no loop is left. Here they are added one by one, cheapest first over
//! the whole network. Each must close no loop, and must not strand an Interest at its other end. Both checks walk the
//! graph whose points are links with a direction. Costs of detours are those of the best path that avoids the node.
use super::NextHop;
use super::graph::{Distance, Graph};
use crate::network::NodeId;

/// Adds detours to the next hops of each node until it has `most`.
///
/// Takes a run of Dijkstra's algorithm for each node: meant for networks of up to some thousand nodes.
pub(super) fn add_detours(
    graph: &Graph,
    distances: &[Option<Distance>],
    most: usize,
    hops: &mut [Vec<NextHop>],
) {
    let mut open = detours(graph, distances, most, hops);
    let mut walk = Walk { seen: vec![0; 2 * graph.links()], round: 0, waiting: Vec::new() };
    loop {
        let before = open.len();
        open.retain(|(hop, node)| {
            let full = hops[node.0 as usize].len() >= most;
            let taken = !full && goes_on(hops, hop) && !walk.closes_circle(hops, hop, *node);
            if taken {
                hops[node.0 as usize].push(*hop);
            }
            !taken && !full
        });
        // A detour may be what another one was waiting for.
        if open.len() == before || open.is_empty() {
            break;
        }
    }
    hops.iter_mut().for_each(|hops| hops.sort());
}

/// All hops that do not lead closer, but to a node from which a producer can be reached without coming
/// back: cheapest first, with the nodes that they belong to.
fn detours(
    graph: &Graph,
    distances: &[Option<Distance>],
    most: usize,
    hops: &[Vec<NextHop>],
) -> Vec<(NextHop, NodeId)> {
    let producers =
        (0..).map(NodeId).zip(distances).filter(|(_, d)| **d == Some(Distance::default()));
    let producers = producers.map(|(node, _)| node).collect::<Vec<_>>();
    let mut detours = Vec::new();
    for (node, own) in (0..).map(NodeId).zip(hops) {
        let uphill =
            graph.ways(node).iter().filter(|way| own.iter().all(|hop| hop.link != way.link));
        let uphill = uphill.collect::<Vec<_>>();
        if own.is_empty() || own.len() >= most || uphill.is_empty() {
            continue;
        }
        let avoiding = graph.distances_without(&producers, Some(node));
        for way in uphill {
            if let Some(Some(beyond)) = avoiding.get(way.to.0 as usize) {
                let length = beyond.after(way.forth);
                detours.push((NextHop { length, link: way.link, to: way.to }, node));
            }
        }
    }
    detours.sort_by_key(|(hop, node)| (hop.length, *node, hop.link));
    detours
}

/// Whether an Interest that takes this hop can leave its end again, over another link.
fn goes_on(hops: &[Vec<NextHop>], hop: &NextHop) -> bool {
    hops[hop.to.0 as usize].iter().any(|next| next.link != hop.link)
}

/// A walk over links in the direction in which Interests cross them.
struct Walk {
    /// Round in which an arrival was last seen: by link and end.
    seen: Vec<u32>,
    round: u32,
    waiting: Vec<(NextHop, NodeId)>,
}

impl Walk {
    /// Whether an Interest that takes this hop from `node` may take it again later.
    fn closes_circle(&mut self, hops: &[Vec<NextHop>], new: &NextHop, node: NodeId) -> bool {
        self.round += 1;
        self.waiting.clear();
        self.waiting.push((*new, node));
        while let Some((arrived, from)) = self.waiting.pop() {
            if arrived.to == node && arrived.link != new.link {
                return true;
            }
            let place = 2 * arrived.link.0 as usize + usize::from(from > arrived.to);
            if self.seen[place] != self.round {
                self.seen[place] = self.round;
                let onward = hops[arrived.to.0 as usize].iter();
                let onward = onward.filter(|next| next.link != arrived.link);
                self.waiting.extend(onward.map(|next| (*next, arrived.to)));
            }
        }
        false
    }
}
