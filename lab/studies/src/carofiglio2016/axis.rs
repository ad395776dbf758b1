//! The axes of the sweeps: what the paper varies, and what it compares.
use crate::sweep::Axis;
pub(super) use crate::sweep::axis;

// --- the wireless network -----------------------------------------------------------------------

/// Nothing recovers losses of the radio.
pub(super) const NOTHING: &str = "nothing";
/// Both radio links recover their losses as the paper has it: a gap is reported once, and the sender is not queried.
pub(super) const WLDR: &str = "WLDR";
/// WLDR with the additions of Recoup: repeated reports, and queries when a link falls idle.
pub(super) const OURS: &str = "Recoup's WLDR";
/// Explicit loss notification: the link signals losses to the consumer.
pub(super) const ELN: &str = "ELN";
/// Every frame is acknowledged by the link above the radio, as NDNLPv2 has it.
pub(super) const ACKED: &str = "NDNLPv2";
/// Interests alone are recovered, on both radio links.
pub(super) const INTERESTS: &str = "Interests";
/// Data alone are.
pub(super) const DATA: &str = "Data";
/// Interests, on the consumer's radio link alone.
pub(super) const NEAR_INTERESTS: &str = "Interests at the consumer";
/// Data, on the producer's radio link alone.
pub(super) const FAR_DATA: &str = "Data at the producer";

/// The recoveries of Figure 5a, and one more.
pub(super) const WAYS: [&str; 4] = [NOTHING, ELN, WLDR, ACKED];
/// The ways of Figure 5a, and Recoup's own WLDR.
pub(super) const ALL_WAYS: [&str; 5] = [NOTHING, ELN, WLDR, ACKED, OURS];
/// The recoveries of Figure 5b.
pub(super) const PARTS: [&str; 6] = [NOTHING, INTERESTS, NEAR_INTERESTS, DATA, FAR_DATA, WLDR];

/// The axis of that name.
pub(super) const fn named(name: &'static str) -> Axis {
    Axis::new(include_str!("axes.toml"), name)
}

/// Recoveries of losses of the radio.
pub(super) const RECOVERY: Axis = named("recovery");

/// The paper's WLDR.
pub(super) const STRICT: &str = "wldr(strict=true)";

/// The timers of Figure 5a, in milliseconds.
pub(super) const TIMERS: [&str; 9] = ["40", "50", "60", "80", "100", "150", "200", "500", "1000"];
/// The timers that are longer than the round trip.
pub(super) const LONG_TIMERS: [&str; 7] = ["60", "80", "100", "150", "200", "500", "1000"];
/// The two of Figures 5b and 5c.
pub(super) const TWO_TIMERS: [&str; 2] = ["60", "200"];
/// The timers of Figure 9c.
pub(super) const JOINT_TIMERS: [&str; 4] = ["500", "1000", "2000", "4000"];

/// The axis of timers, which are lifetimes, too.
pub(super) fn timers(chosen: &[&'static str]) -> String {
    axis("timer", chosen.iter().map(|millis| (*millis, timer(millis))))
}

pub(super) fn timer(millis: &str) -> String {
    format!("\"fetch.rto\" = \"constant(rto={millis}ms)\"\n\"fetch.lifetime\" = \"{millis} ms\"\n")
}

/// Rates of the wires, in Mbit/s: the bottleneck is the radio, or they are.
pub(super) const WIRES: [&str; 2] = ["300", "60"];

/// The axis of wires.
pub(super) fn wires(chosen: &[&'static str]) -> String {
    let value = |rate: &&'static str| (*rate, format!("\"link.rate\" = \"{rate} Mbit/s\"\n"));
    axis("wires", chosen.iter().map(value))
}

/// Speeds, in km/h.
pub(super) const SPEEDS: [&str; 4] = ["3", "10", "20", "50"];
/// The speeds with steps of less than a point from what MLDR gains at one to what it gains at the next.
pub(super) const SLOWER: [&str; 3] = ["3", "10", "20"];
/// Slowest and fastest.
pub(super) const SLOW: &str = SPEEDS[0];
/// Fastest.
pub(super) const FAST: &str = SPEEDS[3];

/// The axis of speeds of these nodes.
pub(super) fn speeds(nodes: &[&str], chosen: &[&'static str]) -> String {
    let fields = |speed: &&'static str| {
        let one = |node: &&str| format!("\"nodes.{node}.motion.speed\" = \"{speed}km/h\"\n");
        (*speed, nodes.iter().map(one).collect())
    };
    axis("speed", chosen.iter().map(fields))
}

// --- the mobile network -------------------------------------------------------------------------

/// The consumer's timer alone detects losses by moves.
pub(super) const TIMER: &str = "timer";
/// The network sends Interests on.
pub(super) const MLDR: &str = "MLDR";

/// The recoveries of Figure 7a: the timer, ELN and MLDR.
pub(super) const MOVES: [&str; 3] = [TIMER, ELN, MLDR];
/// The recoveries of Figure 7c: the timer, in milliseconds, and MLDR.
pub(super) const CONSUMER_TIMERS: [&str; 4] = ["50", "100", "200", "500"];

/// The fate of Interests whose face is gone. Without notices, consumers receive none of their own faces either.
pub(super) const MOBILITY: Axis = named("mobility");

/// The consumer moves instead of the producer; MLDR against timers.
pub(super) fn consumer_moves() -> String {
    let swapped = "\"applications.p.node\" = \"root\"\n\"applications.c.node\" = \"mobile\"\n";
    let with = |millis: &'static str| {
        (millis, format!("{swapped}{}{}", MOBILITY.fields(TIMER), timer(millis)))
    };
    let mldr = (MLDR, format!("{swapped}{}", MOBILITY.fields(MLDR)));
    axis("mobility", CONSUMER_TIMERS.map(with).into_iter().chain([mldr]))
}

/// Most repetitions of an Interest by a timer in Figure 7b.
pub(super) const REPETITIONS: [&str; 2] = ["0", "5"];

/// Repetitions; a segment still missing after them is a hole. The links above take 70 ms.
pub(super) const REPEATED: Axis = named("repetitions");

// --- the joint network --------------------------------------------------------------------------

/// Link recovery and mobility together.
pub(super) const BOTH: &str = "WLDR and MLDR";
/// Recoup's link recovery and mobility together.
pub(super) const OURS_BOTH: &str = "Recoup's WLDR and MLDR";

/// The recoveries of Figures 9a to 9c.
pub(super) const JOINT: [&str; 4] = [NOTHING, WLDR, MLDR, BOTH];
/// The recoveries of the paper, and Recoup's own WLDR, alone and with MLDR.
pub(super) const ALL_JOINT: [&str; 6] = [NOTHING, WLDR, MLDR, BOTH, OURS, OURS_BOTH];
/// The recoveries of Figure 9c, and Recoup's own with MLDR.
pub(super) const TIMED_JOINT: [&str; 5] = [NOTHING, WLDR, MLDR, BOTH, OURS_BOTH];

/// Recoveries on the joint network.
pub(super) const NETWORK: Axis = named("network");
