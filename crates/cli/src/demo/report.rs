//! The table and the document of the demo.
use crate::demo::args::DemoArgs;
use crate::demo::consumer::Consumed;
use crate::format;
use serde::Serialize;
use std::fmt;

/// The whole report. Serialises as the document that `docs/json.md` describes.
#[derive(Debug, Serialize)]
pub(crate) struct Demo {
    /// Always `demo`.
    pub command: &'static str,
    /// The link.
    pub link: Link,
    /// Bytes of content.
    pub bytes: u64,
    /// Bytes of content per segment.
    pub segment_bytes: u64,
    /// Congestion control of the timers' runs.
    pub congestion: String,
    /// SHA-256 of the content in hexadecimal.
    pub sha256: String,
    /// The picture.
    pub picture: String,
    /// One run per transport; the first is what the others are compared with.
    pub runs: Vec<Row>,
}

/// The link.
#[derive(Debug, Serialize)]
pub(crate) struct Link {
    /// Bits per second, each way.
    pub bit_s: u64,
    /// Delay each way, in milliseconds.
    pub delay_ms: f64,
    /// Limit of the queue in bytes, each way.
    pub queue_bytes: u64,
    /// Share of packets lost, each way.
    pub loss: f64,
}

impl Link {
    /// The link that the options describe.
    pub(crate) fn new(args: &DemoArgs) -> Self {
        Self {
            bit_s: args.rate,
            delay_ms: format::ms(args.delay),
            queue_bytes: args.queue,
            loss: args.loss,
        }
    }
}

/// One run.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    /// The timer as it was given, or `recoup fetch` for its transport.
    pub timer: String,
    /// The timer with all its parameters.
    pub rto: String,
    /// The congestion control with all its parameters.
    pub congestion: String,
    /// The loss detector with all its parameters.
    pub loss: String,
    /// From the first Interest for a segment to the last segment, in seconds.
    pub elapsed_s: f64,
    /// Content in bits per second.
    pub goodput_bit_s: f64,
    /// Interests for segments.
    pub sent: u64,
    /// Of these, repetitions.
    pub retransmitted: u64,
    /// Spurious retransmissions among them.
    pub spurious: u64,
    /// Mean round-trip time in milliseconds; none without a sample.
    pub rtt_avg_ms: Option<f64>,
    /// Mean time from the first Interest for a lost segment to its arrival, in milliseconds.
    pub recovery_avg_ms: Option<f64>,
    /// Packets that the link lost, both ways.
    pub lost: u64,
    /// Whether the received bytes equal the sent ones.
    pub intact: bool,
}

impl Row {
    /// Report of a run.
    pub(crate) fn new(run: &Consumed, intact: bool) -> Self {
        let lost: Vec<_> = run.points.iter().filter(|point| point.transmissions > 1).collect();
        let recovery = lost.iter().map(|point| point.delay_ms).sum::<f64>();
        let (toward, back) = &run.link;
        Self {
            timer: run.label.clone(),
            rto: run.rto.clone(),
            congestion: run.congestion.clone(),
            loss: run.loss.clone(),
            elapsed_s: run.tally.elapsed().as_secs_f64(),
            goodput_bit_s: run.tally.goodput().unwrap_or(0.0),
            sent: run.tally.interests,
            retransmitted: run.tally.retransmissions,
            spurious: run.tally.spurious,
            rtt_avg_ms: run.tally.rtt.mean().map(format::ms),
            recovery_avg_ms: (!lost.is_empty()).then(|| recovery / lost.len() as f64),
            lost: toward.lost() + back.lost(),
            intact,
        }
    }
}

impl fmt::Display for Demo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.runs.iter().map(|run| run.timer.len());
        let width = names.max().unwrap_or(0).max(5);
        writeln!(
            f,
            "{:width$}  {:>8}  {:>12}  {:>5}  {:>6}  {:>8}  {:>10}  SHA-256",
            "timer", "time", "goodput", "lost", "resent", "RTT", "recovery"
        )?;
        for run in &self.runs {
            run.fmt_line(f, width)?;
        }
        if let [first, others @ ..] = self.runs.as_slice() {
            let best = others.iter().map(|run| run.elapsed_s).fold(f64::INFINITY, f64::min);
            if best.is_finite() && best > 0.0 {
                let name = &first.timer;
                let factor = first.elapsed_s / best;
                writeln!(
                    f,
                    "\nAgainst {name}, the best of the others took 1/{factor:.1} of the time."
                )?;
            }
        }
        for run in &self.runs {
            if run.congestion != self.congestion {
                let Row { timer, congestion, loss, rto, .. } = run;
                writeln!(f, "  {timer} is {congestion}, {loss}, {rto}")?;
            } else if run.rto != run.timer {
                writeln!(f, "  {} is {}", run.timer, run.rto)?;
            }
        }
        write!(f, "Round-trip times and timeouts of every segment: {}", self.picture)
    }
}

impl Row {
    fn fmt_line(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        let time = |ms: Option<f64>| {
            ms.map_or("-".to_owned(), |ms| format!("{} ms", format::milliseconds(ms)))
        };
        writeln!(
            f,
            "{:width$}  {:>8}  {:>12}  {:>5}  {:>6}  {:>8}  {:>10}  {}",
            self.timer,
            format!("{:.2} s", self.elapsed_s),
            format::rate(self.goodput_bit_s),
            self.lost,
            self.retransmitted,
            time(self.rtt_avg_ms),
            time(self.recovery_avg_ms),
            if self.intact { "same" } else { "DIFFERS" }
        )
    }
}
