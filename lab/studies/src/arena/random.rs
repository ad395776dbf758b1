//! Random networks, each known by its kind and its number.
//!
//! Constants of a transport are fixed on one range of numbers and checked on another; the cases of the arena stay out
//! of it. A number gives the same network on every machine. Each quantity has its own random stream, so a new
//! quantity does not shift the draws of others.
mod alone;
mod path;
mod shared;

use super::ideal;
use super::path::Path;
use recoup_transport::random::Rng;

/// Bytes of a segment and of its packet.
const BYTES: (u32, u32) = (1200, 1300);
/// Bits of a packet.
const PACKET_BITS: f64 = BYTES.1 as f64 * 8.0;

/// A kind of random networks.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name.
    pub word: &'static str,
    /// Its quantities, in a few words.
    pub about: &'static str,
    text: fn(&Draw) -> String,
}

/// All kinds.
pub const KINDS: [Kind; 7] = [
    Kind {
        word: "paths",
        about: "one fetch: rate, delay, buffer, loss, jitter, other traffic",
        text: path::text,
    },
    Kind {
        word: "jitter",
        about: "one fetch: jitter, half of it with reordering",
        text: path::jittery,
    },
    Kind {
        word: "policers",
        about: "one fetch: a policer that drops what exceeds its rate",
        text: alone::policer,
    },
    Kind {
        word: "caches",
        about: "one fetch: stripes of the object in a near cache",
        text: alone::cache,
    },
    Kind {
        word: "outages",
        about: "one fetch: a link that carries nothing for some seconds",
        text: alone::outage,
    },
    Kind {
        word: "own",
        about: "1 to 128 fetches alike: segments per fetch, buffer",
        text: shared::own,
    },
    Kind {
        word: "rivals",
        about: "beside CUBIC or NewReno: jitter, buffer, marks",
        text: shared::rival,
    },
];

impl Kind {
    /// The kind of that name.
    pub fn named(word: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.word == word)
    }

    /// The network of that number, as a case: its name and its text.
    pub fn case(&self, number: u64) -> (String, String) {
        let stream = match self.word {
            "paths" => "arena/family".to_owned(),
            word => format!("arena/random/{word}"),
        };
        let text = (self.text)(&Draw(Rng::from_seed(number).substream(&stream)));
        (
            format!("{}-{number}", self.word),
            format!("# Number {number} of `{}`.\n{text}", self.word),
        )
    }
}

/// Draws of one network, each by its name.
struct Draw(Rng);

impl Draw {
    fn unit(&self, name: &str) -> f64 {
        self.0.substream(name).unit_f64()
    }

    /// Uniform on a logarithmic scale.
    fn log(&self, name: &str, low: f64, high: f64) -> f64 {
        rounded(low * (self.unit(name) * (high / low).ln()).exp())
    }

    /// True in that share of the networks.
    fn is(&self, name: &str, share: f64) -> bool {
        self.unit(name) < share
    }
}

/// Three significant digits: enough to read, and the same whatever the last bit of a logarithm is.
fn rounded(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// Packets of a queue of so many bandwidth-delay products.
fn queue_packets(rate_mbit: f64, rtt_ms: f64, buffer_bdp: f64) -> f64 {
    (rate_mbit * rtt_ms * 1e3 / PACKET_BITS * buffer_bdp).round().max(2.0)
}

/// The path of one fetch of `segments` over one link, without losses.
fn plain_path(rate_mbit: f64, rtt_ms: f64, segments: f64) -> Path {
    let rate = rate_mbit * 1e6;
    Path {
        rates: vec![(0.0, rate)],
        line_rate: rate,
        rtt_s: rtt_ms / 1e3,
        loss: 0.0,
        packet_bits: PACKET_BITS,
        segment_bytes: f64::from(BYTES.0),
        segments,
        bottleneck: None,
    }
}

/// Shortest time of such a fetch, in s.
fn ideal_s(rate_mbit: f64, rtt_ms: f64, segments: f64) -> f64 {
    ideal::time_s(&plain_path(rate_mbit, rtt_ms, segments))
}

/// The lines of a producer of `segments`.
fn serve(segments: f64) -> String {
    let (segment, packet) = BYTES;
    let size = segments * f64::from(segment);
    format!("[serve]\nsize = \"{size} B\"\nsegment = \"{segment} B\"\npacket = \"{packet} B\"\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::case::{self, Case};

    #[test]
    fn each_number_is_a_case() {
        for kind in KINDS {
            for number in 0..60 {
                let (name, text) = kind.case(number);
                let made = Case::new(&name, &text, &|_| Err(String::new()));
                let made = made.unwrap_or_else(|error| panic!("{error}\n{text}"));
                let shares = matches!(made.terms.kind, case::Kind::Sharing { .. });
                assert_eq!(shares, ["own", "rivals"].contains(&kind.word), "{name}");
                if let case::Kind::Completion { ideal_s } = made.terms.kind {
                    assert!((0.2..90.0).contains(&ideal_s), "{name}: {ideal_s}");
                }
            }
        }
    }

    #[test]
    fn number_gives_one_network() {
        for kind in KINDS {
            assert_eq!(kind.case(7), kind.case(7));
            assert_ne!(kind.case(7).1, kind.case(8).1);
        }
        // If the path of a number changed, kept results would belong to another path.
        let (_, text) = KINDS[0].case(1);
        assert!(text.contains("17.2 Mbit/s, 40.2 ms, buffer 0.946 BDP"), "{text}");
    }
}
