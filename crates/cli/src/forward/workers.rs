//! The number of workers, and their shards.
use super::config::ForwardConfig;
use crate::config::{text, whole};
use recoup_config::tree::Tree;
use recoup_forwarder::node::Node;
use recoup_forwarder::options::NodeConfig;
use recoup_forwarder::shard::{MAX_COMPONENTS, ShardOptions, Worker};
use recoup_forwarder::strategy::Strategy;
use recoup_packet::name::Name;
use std::str::FromStr;
use std::thread::available_parallelism;

/// Most workers: more would only wait for each other.
const MOST: Worker = 64;
/// Default number of name components that select a shard.
pub(super) const COMPONENTS: usize = 2;

/// Number of workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Workers {
    /// A fixed number.
    Number(Worker),
    /// One for each available core.
    Auto,
}

impl Workers {
    /// The number on this machine.
    pub(super) fn number(self) -> Worker {
        match self {
            Self::Number(number) => number,
            Self::Auto => {
                let cores = available_parallelism().map_or(1, |cores| cores.get());
                Worker::try_from(cores).unwrap_or(MOST).min(MOST)
            }
        }
    }

    fn of(number: u64) -> Result<Self, String> {
        let number = Worker::try_from(number).ok().filter(|it| (1..=MOST).contains(it));
        number.map(Self::Number).ok_or_else(|| format!("must be from 1 to {MOST}, or \"auto\""))
    }

    /// Reads the value of a key.
    pub(super) fn read(tree: &Tree) -> Result<Self, String> {
        match text(tree) {
            Ok(text) => text.parse(),
            Err(_) => Self::of(whole(tree)?),
        }
    }
}

impl FromStr for Workers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            other => Self::of(other.parse().unwrap_or(0)),
        }
    }
}

/// Reads how many components of a name decide whose it is.
pub(super) fn components(tree: &Tree) -> Result<usize, String> {
    let count = usize::try_from(whole(tree)?).ok();
    let count = count.filter(|count| (1..=MAX_COMPONENTS).contains(count));
    count.ok_or_else(|| format!("must be from 1 to {MAX_COMPONENTS}"))
}

/// Description of a node, for any thread to build it.
#[derive(Clone, Debug)]
pub(crate) struct Blueprint {
    /// Configuration of the node.
    pub config: NodeConfig,
    /// Strategies below prefixes.
    pub strategies: Vec<(Name, Strategy)>,
}

impl Blueprint {
    /// Those of all workers of a forwarder with chance from `seed`, in their order.
    pub(super) fn of(config: &ForwardConfig, workers: Worker, seed: u64) -> Vec<Self> {
        if workers == 1 {
            return vec![config.blueprint(seed, None)];
        }
        let parts = ShardOptions::of(workers, config.components).into_iter();
        parts.map(|part| config.blueprint(seed, Some(part))).collect()
    }

    /// Makes the node.
    pub(crate) fn node(self) -> Node {
        let mut node = Node::new(self.config);
        for (prefix, strategy) in &self.strategies {
            node.set_strategy(prefix, strategy);
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_a_number_or_auto() {
        assert_eq!("3".parse(), Ok(Workers::Number(3)));
        assert_eq!("auto".parse(), Ok(Workers::Auto));
        assert!((1..=MOST).contains(&Workers::Auto.number()));
        for wrong in ["0", "65", "-1", "many", ""] {
            assert!(wrong.parse::<Workers>().is_err(), "{wrong}");
        }
    }
}
