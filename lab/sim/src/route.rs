//! Routes: which next hops each node has for the prefixes of the producers.
//!
//! A [`Graph`] is a network under a [`Metric`]; [`Graph::routes`] computes the routes of a converged routing protocol.
//! All lengths are whole numbers. Ties go to the path with fewer hops, then to the link with the lower number: the same
//! network always has the same routes.
//!
//! Source of the shortest paths: Dijkstra, "A note on two problems in connexion with graphs", 1959.
mod graph;
mod loop_free;

pub use self::graph::{Distance, Graph, Path};

use crate::network::{LinkId, NodeId, RoutePlan};
use recoup_packet::name::Name;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The metric of path length. A link counts in the direction in which Interests cross it, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Each link counts 1.
    Hops,
    /// Delay in nanoseconds.
    Delay,
    /// Delay of both directions together, in nanoseconds: the way of the Interest and of its Data.
    RoundTrip,
    /// Cost of the link.
    Cost,
}

/// The next hops of a node for a prefix. A producer of the prefix gets none.
///
/// A node is *closer* than another if its shortest path to the nearest producer is shorter or, where
/// they are equally long, has fewer hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHops {
    /// The first hop of the shortest path.
    Shortest,
    /// The first hops of all shortest paths (ECMP).
    EqualCost,
    /// All neighbours that are closer than the node itself, cheapest first, at most so many. However
    /// nodes choose among them, no Interest meets a node twice.
    Downhill(Option<u32>),
    /// The neighbours of [`Self::Downhill`], then other neighbours over which a producer is reachable without coming
    /// back to this node, cheapest first, at most that many. Whatever a node chooses, no Interest loops or gets stuck,
    /// provided that no node sends one back to the face it came from.
    LoopFree(Option<u32>),
}

/// A producer of a prefix.
#[derive(Clone, Debug, PartialEq)]
pub struct Producer {
    /// Its node.
    pub node: NodeId,
    /// The prefix that it answers. Several producers of a prefix are equally good: Interests go to the nearest.
    pub prefix: Name,
}

/// Why there are no routes.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RouteError {
    /// No links lead from a consumer to a producer.
    #[error("{consumer} cannot reach {producer}, the producer of {prefix}; join them with links")]
    Unreachable {
        /// Name of the node that asks.
        consumer: String,
        /// Name of the node that would answer.
        producer: String,
        /// The prefix.
        prefix: String,
    },
    /// A number without a node.
    #[error("there is no node number {0}")]
    UnknownNode(u32),
    /// A link ends at no node, or at one node twice.
    #[error("link {0:?} does not join two nodes")]
    BadLink(String),
}

impl Graph {
    /// The routes of all nodes that can reach a producer, prefix by prefix in the order of the
    /// producers, node by node. `consumers` must be able to reach a producer of each prefix.
    ///
    /// The cost of a hop is the length of the path over it, in the metric of the graph.
    pub fn routes(
        &self,
        producers: &[Producer],
        next_hops: NextHops,
        consumers: &[NodeId],
    ) -> Result<Vec<RoutePlan>, RouteError> {
        let mut nodes_of: BTreeMap<&Name, Vec<NodeId>> = BTreeMap::new();
        for producer in producers {
            nodes_of.entry(&producer.prefix).or_default().push(producer.node);
        }
        let mut routes = Vec::new();
        for producer in producers {
            // The first producer of a prefix stands for all of them.
            let Some(nodes) = nodes_of.remove(&producer.prefix) else { continue };
            let distances = self.distances(&nodes)?;
            self.check_reach(producer, consumers, &distances)?;
            let hops = self.next_hops(&distances, next_hops);
            for (node, hops) in (0..).map(NodeId).zip(hops).filter(|(_, hops)| !hops.is_empty()) {
                let hops = hops.iter().map(|hop| (hop.link, hop.length.metric)).collect();
                routes.push(RoutePlan { node, prefix: producer.prefix.clone(), hops });
            }
        }
        Ok(routes)
    }

    fn check_reach(
        &self,
        producer: &Producer,
        consumers: &[NodeId],
        distances: &[Option<Distance>],
    ) -> Result<(), RouteError> {
        for consumer in consumers {
            let distance = distances.get(consumer.0 as usize);
            if distance.ok_or(RouteError::UnknownNode(consumer.0))?.is_none() {
                return Err(RouteError::Unreachable {
                    consumer: self.name(*consumer).into(),
                    producer: self.name(producer.node).into(),
                    prefix: producer.prefix.to_string(),
                });
            }
        }
        Ok(())
    }

    /// The next hops of each node, cheapest first.
    fn next_hops(&self, distances: &[Option<Distance>], wanted: NextHops) -> Vec<Vec<NextHop>> {
        let most = |most: Option<u32>| most.map_or(usize::MAX, |most| most as usize);
        let mut hops = self.downhill(distances);
        match wanted {
            NextHops::Shortest => hops.iter_mut().for_each(|hops| hops.truncate(1)),
            NextHops::EqualCost => {
                for hops in &mut hops {
                    let shortest = hops.first().map(|hop| hop.length.metric);
                    hops.retain(|hop| Some(hop.length.metric) == shortest);
                }
            }
            NextHops::Downhill(limit) => hops.iter_mut().for_each(|h| h.truncate(most(limit))),
            NextHops::LoopFree(limit) => {
                hops.iter_mut().for_each(|hops| hops.truncate(most(limit)));
                loop_free::add_detours(self, distances, most(limit), &mut hops);
            }
        }
        hops
    }

    /// The neighbours of each node that are closer than itself, cheapest first.
    fn downhill(&self, distances: &[Option<Distance>]) -> Vec<Vec<NextHop>> {
        let distance = |node: NodeId| distances.get(node.0 as usize).copied().flatten();
        let of_node = |node: NodeId| {
            let own = distance(node)?;
            let hops = self.ways(node).iter().filter_map(|way| {
                let beyond = distance(way.to).filter(|beyond| *beyond < own)?;
                Some(NextHop { length: beyond.after(way.forth), link: way.link, to: way.to })
            });
            let mut hops = hops.collect::<Vec<_>>();
            hops.sort();
            Some(hops)
        };
        (0..self.len() as u32).map(|node| of_node(NodeId(node)).unwrap_or_default()).collect()
    }
}

/// A next hop, ordered by the length of the path over it and then by the number of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NextHop {
    length: Distance,
    link: LinkId,
    to: NodeId,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hops => "hops",
            Self::Delay => "delay",
            Self::RoundTrip => "round-trip",
            Self::Cost => "cost",
        })
    }
}

impl FromStr for Metric {
    type Err = SpellingError;

    fn from_str(text: &str) -> Result<Self, SpellingError> {
        let all = [Self::Hops, Self::Delay, Self::RoundTrip, Self::Cost];
        let wrong = || SpellingError("a metric: hops, delay, round-trip or cost", text.into());
        all.into_iter().find(|metric| metric.to_string() == text).ok_or_else(wrong)
    }
}

impl fmt::Display for NextHops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, most) = match self {
            Self::Shortest => ("shortest", None),
            Self::EqualCost => ("equal-cost", None),
            Self::Downhill(most) => ("downhill", *most),
            Self::LoopFree(most) => ("loop-free", *most),
        };
        f.write_str(name)?;
        most.map_or(Ok(()), |most| write!(f, "({most})"))
    }
}

impl FromStr for NextHops {
    type Err = SpellingError;

    fn from_str(text: &str) -> Result<Self, SpellingError> {
        let wrong = || {
            const WHAT: &str = "next hops: shortest, equal-cost, downhill, downhill(3), loop-free \
                                or loop-free(3)";
            SpellingError(WHAT, text.into())
        };
        let (name, most) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            None => (text, None),
            Some((name, most)) => {
                let most = most.parse().ok().filter(|most| *most > 0);
                (name, Some(most.ok_or_else(wrong)?))
            }
        };
        match (name, most) {
            ("shortest", None) => Ok(Self::Shortest),
            ("equal-cost", None) => Ok(Self::EqualCost),
            ("downhill", most) => Ok(Self::Downhill(most)),
            ("loop-free", most) => Ok(Self::LoopFree(most)),
            _ => Err(wrong()),
        }
    }
}

/// An unknown word.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected {0}, found {1:?}")]
pub struct SpellingError(pub(crate) &'static str, pub(crate) String);

#[cfg(test)]
mod tests {
    use super::graph::tests::graph;
    use super::*;
    use crate::topology::{self, Topology};

    fn routes(topology: &Topology, producer: u32, next_hops: NextHops) -> Vec<RoutePlan> {
        let graph = graph(topology, Metric::Cost).unwrap();
        let producer = Producer { node: NodeId(producer), prefix: "/p".parse().unwrap() };
        graph.routes(&[producer], next_hops, &[NodeId(0)]).unwrap()
    }

    fn hops(routes: &[RoutePlan], node: u32) -> Vec<(u32, u64)> {
        let hops = routes.iter().filter(|route| route.node == NodeId(node));
        hops.flat_map(|route| route.hops.iter().map(|(link, cost)| (link.0, *cost))).collect()
    }

    /// a(0) - b(1) - d(2) with costs 1 and 1, a - c(3) - d with 2 and 3, b - c with 5.
    fn kite() -> Topology {
        let text = "a b 1\nb d 1\na c 2\nc d 3\nb c 5\n";
        let kite = topology::read::rocketfuel::read(None, Some(text)).unwrap();
        let order = ["a", "b", "c", "d"].map(|name| kite.node(name).unwrap().0);
        assert_eq!(order, [0, 1, 3, 2]);
        kite
    }

    #[test]
    fn shortest_path_has_one_next_hop() {
        let routes = routes(&kite(), 2, NextHops::Shortest);
        assert_eq!(hops(&routes, 0), [(0, 2)]);
        assert_eq!((hops(&routes, 1), hops(&routes, 3)), (vec![(1, 1)], vec![(3, 3)]));
        assert_eq!(routes.len(), 3);
    }

    #[test]
    fn downhill_hops_are_all_that_lead_closer() {
        let routes = routes(&kite(), 2, NextHops::Downhill(None));
        assert_eq!((hops(&routes, 0), hops(&routes, 1)), (vec![(0, 2)], vec![(1, 1)]));
        assert_eq!(hops(&routes, 3), [(3, 3), (2, 4), (4, 6)]);
    }

    #[test]
    fn loop_free_hops_take_detours_too() {
        let of = |most| routes(&kite(), 2, NextHops::LoopFree(most));
        assert_eq!(hops(&of(None), 0), [(0, 2), (2, 5)]);
        assert_eq!(hops(&of(Some(1)), 0), [(0, 2)]);
        // From b over c or a an Interest could come back to b.
        assert_eq!(hops(&of(None), 1), [(1, 1)]);
    }

    #[test]
    fn equal_paths_use_all_or_lowest_link() {
        let square = topology::grid(2, 2).unwrap();
        assert_eq!(hops(&routes(&square, 3, NextHops::EqualCost), 0), [(0, 2), (1, 2)]);
        assert_eq!(hops(&routes(&square, 3, NextHops::Shortest), 0), [(0, 2)]);
    }

    #[test]
    fn links_without_cost_still_make_no_circle() {
        let mut ring = topology::grid(2, 2).unwrap();
        ring.links.iter_mut().for_each(|link| link.cost = 0);
        let routes = routes(&ring, 3, NextHops::EqualCost);
        assert_eq!(hops(&routes, 0), [(0, 0), (1, 0)]);
        assert_eq!((hops(&routes, 1), hops(&routes, 2)), (vec![(3, 0)], vec![(2, 0)]));
    }

    #[test]
    fn interest_goes_to_the_nearest_producer() {
        let line = topology::line(5).unwrap();
        let graph = graph(&line, Metric::Hops).unwrap();
        let at = |node| Producer { node: NodeId(node), prefix: "/p".parse().unwrap() };
        let routes = graph.routes(&[at(0), at(4)], NextHops::Shortest, &[]).unwrap();
        let found = routes.iter().map(|route| (route.node.0, route.hops[0].0.0));
        assert_eq!(found.collect::<Vec<_>>(), [(1, 0), (2, 1), (3, 3)]);
    }

    #[test]
    fn unreachable_producer_is_named_with_its_consumer() {
        let mut topology = topology::line(3).unwrap();
        topology.links.truncate(1);
        let graph = graph(&topology, Metric::Hops).unwrap();
        let producer = [Producer { node: NodeId(2), prefix: "/p".parse().unwrap() }];
        let error = graph.routes(&producer, NextHops::Shortest, &[NodeId(0)]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "n1 cannot reach n3, the producer of /p; join them with links"
        );
        assert_eq!(graph.routes(&producer, NextHops::Shortest, &[]), Ok(vec![]));
        let error = graph.routes(&producer, NextHops::Shortest, &[NodeId(9)]).unwrap_err();
        assert_eq!(error, RouteError::UnknownNode(9));
    }

    #[test]
    fn names_are_printed_and_read() {
        for text in ["hops", "delay", "round-trip", "cost"] {
            assert_eq!(text.parse::<Metric>().unwrap().to_string(), text);
        }
        for text in
            ["shortest", "equal-cost", "downhill", "downhill(2)", "loop-free", "loop-free(3)"]
        {
            assert_eq!(text.parse::<NextHops>().unwrap().to_string(), text);
        }
        for text in ["", "shortest(2)", "downhill()", "downhill(0)", "downhill(-1)", "downhill(2"] {
            assert!(
                text.parse::<NextHops>().unwrap_err().to_string().contains("expected next hops")
            );
        }
        assert!("time".parse::<Metric>().is_err());
    }
}
