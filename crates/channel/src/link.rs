//! The options of one direction of a link, each described once: name, default, text and check.
//!
//! Scenario files, `recoup link` (feature `clap`) and emulated networks read and write this struct. Its fields are the keys.
use crate::model::law::Law;
use crate::model::loss::Loss;
use crate::model::marking::LinkMarking;
use crate::model::trace::{DelayTrace, RateTrace, Trace as _};
pub use crate::over_time::OverTime;
use recoup_transport::link::Recovery;
use recoup_transport::queue::{QueueLimit, Scheduler};
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;
use recoup_transport::unit;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One direction of a link. The command `recoup link` has one for each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LinkOptions {
    /// Bits per second, such as '10 Mbit/s', unlimited, or 'trace(file=lte.up)' over time
    ///
    /// A trace has packet-delivery opportunities of mahimahi, or a time in seconds and Mbit/s on each line.
    // In the code, 0 means without limit.
    #[serde(rename = "rate", with = "unit::as_text::rate")]
    #[cfg_attr(feature = "clap", arg(
        long = "rate",
        value_name = "RATE",
        default_value = unit::print_rate(Self::default().rate_bits),
        value_parser = rate,
        help_heading = "Link"
    ))]
    pub rate_bits: u64,

    /// Propagation delay, such as '10 ms', or 'trace(file=rtt.txt)' over time
    ///
    /// A trace has a time in seconds and milliseconds on each line.
    #[serde(with = "unit::as_text::duration")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "TIME",
        default_value = unit::print_compact_duration(Self::default().delay),
        value_parser = delay,
        help_heading = "Link"
    ))]
    pub delay: Duration,

    /// Random part of the delay, such as 'uniform(min=0ms,max=2ms)', exponential(mean=1ms) or normal(sd=1ms)
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "DISTRIBUTION",
        default_value_t = Self::default().jitter,
        help_heading = "Link"
    ))]
    pub jitter: Spelled<Law>,

    /// Let packets with different jitter overtake each other
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Link"))]
    pub reorder: bool,

    /// Queue limit: '32 packets', '64 KiB' or unlimited
    ///
    /// The packet that is being sent does not count.
    #[serde(with = "recoup_transport::queue::as_rooms")]
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "LIMIT",
        default_value_t = Self::default().queue,
        help_heading = "Link"
    ))]
    pub queue: QueueLimit,

    /// Bytes added to each packet, for example '28 B'
    ///
    /// The rate is charged with the frame and this overhead: '28 B' for UDP and IPv4, '46 B' with
    /// Ethernet, more to emulate longer packets.
    #[serde(rename = "overhead", with = "unit::as_text::few_bytes")]
    #[cfg_attr(feature = "clap", arg(
        long = "overhead",
        value_name = "SIZE",
        default_value = unit::print_bytes(Self::default().overhead_bytes.into()),
        value_parser = unit::few_bytes,
        help_heading = "Link"
    ))]
    pub overhead_bytes: u32,

    /// Bytes charged for an Interest, instead of its length and --overhead
    #[serde(
        rename = "interest",
        with = "unit::as_text::few_bytes_if_any",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "clap", arg(
        long = "interest",
        value_name = "SIZE",
        value_parser = unit::few_bytes,
        help_heading = "Link"
    ))]
    pub interest_bytes: Option<u32>,

    /// Loss model, such as 'bernoulli(p=0.01)'; models are joined by +
    ///
    /// 'trace(file=lift.txt)' drops the packets listed in a file: a number, range, time or span on
    /// each line.
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "MODEL",
        default_value_t = Self::default().loss,
        help_heading = "Link"
    ))]
    pub loss: Spelled<Loss>,

    /// Model of duplicate packets, written as for --loss
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "MODEL",
        default_value_t = Self::default().duplicate,
        help_heading = "Link"
    ))]
    pub duplicate: Spelled<Loss>,

    /// Order: rate-then-delay, or delay-then-rate as in Mininet's links
    #[cfg_attr(feature = "clap", arg(
        long,
        value_name = "ORDER",
        default_value_t = Self::default().order,
        help_heading = "Link"
    ))]
    pub order: Order,

    /// Congestion marking: `none`, `codel(threshold=64kB,interval=100ms)`, `pie` or `red`.
    #[cfg_attr(feature = "clap", arg(skip = Self::default().marking))]
    pub marking: Spelled<LinkMarking>,

    /// Link recovery of the sending end.
    #[cfg_attr(feature = "clap", arg(skip = Self::default().recovery))]
    pub recovery: Spelled<Recovery>,

    /// How the node that sends shares the channel among flows; `none`: as the node does. The scheduler receives the
    /// rates of both directions, and measures background traffic.
    #[cfg_attr(feature = "clap", arg(skip = Self::default().scheduler))]
    pub scheduler: Spelled<Scheduler>,

    /// The rate over time; [`rate_bits`](Self::rate_bits) then stands for the whole trace, and is 0 until its file was read.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub rate_trace: Option<OverTime<RateTrace>>,

    /// The delay over time; [`delay`](Self::delay) is then that at the beginning, and 0 until the file was read.
    #[serde(skip)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub delay_trace: Option<OverTime<DelayTrace>>,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self {
            rate_bits: 0,
            delay: Duration::ZERO,
            jitter: Law::None.into(),
            reorder: false,
            queue: QueueLimit::of_packets(100),
            overhead_bytes: 0,
            interest_bytes: None,
            loss: Loss::default().into(),
            duplicate: Loss::default().into(),
            order: Order::RateThenDelay,
            marking: LinkMarking::default().into(),
            recovery: Recovery::Off.into(),
            scheduler: Scheduler::default().into(),
            rate_trace: None,
            delay_trace: None,
        }
    }
}

#[cfg(feature = "clap")]
fn rate(text: &str) -> Result<u64, String> {
    match OverTime::<RateTrace>::parse(text)? {
        Some(_) => Ok(0),
        None => unit::rate(text).map_err(|error| error.to_string()),
    }
}

#[cfg(feature = "clap")]
fn delay(text: &str) -> Result<Duration, String> {
    match OverTime::<DelayTrace>::parse(text)? {
        Some(_) => Ok(Duration::ZERO),
        None => unit::duration(text).map_err(|error| error.to_string()),
    }
}

/// Copies one option of a link onto another link.
type Copied = fn(&mut LinkOptions, &LinkOptions);

impl LinkOptions {
    /// A copying function for each option, by its key.
    const COPIES: [(&'static str, Copied); 13] = [
        ("rate", |to, from| {
            to.rate_bits = from.rate_bits;
            to.rate_trace.clone_from(&from.rate_trace);
        }),
        ("delay", |to, from| {
            to.delay = from.delay;
            to.delay_trace.clone_from(&from.delay_trace);
        }),
        ("jitter", |to, from| to.jitter = from.jitter.clone()),
        ("reorder", |to, from| to.reorder = from.reorder),
        ("queue", |to, from| to.queue = from.queue),
        ("overhead", |to, from| to.overhead_bytes = from.overhead_bytes),
        ("interest", |to, from| to.interest_bytes = from.interest_bytes),
        ("loss", |to, from| to.loss = from.loss.clone()),
        ("duplicate", |to, from| to.duplicate = from.duplicate.clone()),
        ("order", |to, from| to.order = from.order),
        ("marking", |to, from| to.marking = from.marking.clone()),
        ("recovery", |to, from| to.recovery = from.recovery.clone()),
        ("scheduler", |to, from| to.scheduler = from.scheduler.clone()),
    ];

    /// The number of an option, by its key.
    #[must_use]
    pub fn option(key: &str) -> Option<usize> {
        Self::COPIES.iter().position(|(known, _)| *known == key)
    }

    /// Puts the files of traces in place; each of the functions reads one.
    ///
    /// # Errors
    /// Those of the functions.
    pub fn read_traces<E>(
        &mut self,
        rate: impl FnOnce(&str) -> Result<Arc<RateTrace>, E>,
        delay: impl FnOnce(&str) -> Result<Arc<DelayTrace>, E>,
    ) -> Result<(), E> {
        if let Some(over_time) = &mut self.rate_trace {
            let trace = rate(over_time.file())?;
            self.rate_bits = trace.nominal();
            over_time.read(trace);
        }
        if let Some(over_time) = &mut self.delay_trace {
            let trace = delay(over_time.file())?;
            self.delay = trace.nominal();
            over_time.read(trace);
        }
        Ok(())
    }

    /// Copies the option of that number ([`option`](Self::option)) from another link.
    pub fn copy(&mut self, option: usize, from: &Self) {
        if let Some((_, copy)) = Self::COPIES.get(option) {
            copy(self, from);
        }
    }
}

/// Order of rate and delay on a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A queue in front of the rate, then the delay: a router's interface and a wire. The queue's limit
    /// counts what waits for the rate.
    #[default]
    RateThenDelay,
    /// The delay first, then the rate, and one limit that counts packets in both stages: what Mininet
    /// builds from netem and a rate limiter.
    DelayThenRate,
}

impl Order {
    const WORDS: [(&'static str, Self); 2] =
        [("rate-then-delay", Self::RateThenDelay), ("delay-then-rate", Self::DelayThenRate)];
}

impl std::str::FromStr for Order {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::WORDS.into_iter().find(|(word, _)| *word == text);
        found.map(|(_, order)| order).ok_or("write rate-then-delay or delay-then-rate")
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = Self::WORDS.into_iter().find(|(_, order)| order == self);
        f.pad(word.map_or("", |(word, _)| word))
    }
}
