//! The table and the document of the demo.
use crate::demo::args::DemoArgs;
use crate::demo::consumer::Consumed;
use crate::format;
use serde::Serialize;
use std::fmt;

/// Characters of a transport's name beside its figures.
const WIDEST: usize = 22;

/// The whole report. Serialises as the document that `docs/library.md` describes.
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
    /// The transport as it was given, or `recoup fetch` for the default.
    pub transport: String,
    /// The timer with all its parameters.
    pub rto: String,
    /// The congestion control with all its parameters.
    pub congestion: String,
    /// The loss detector with all its parameters.
    pub loss: String,
    /// How the link recovers its losses.
    pub recovery: String,
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
            transport: run.label.clone(),
            rto: run.rto.clone(),
            congestion: run.congestion.clone(),
            loss: run.loss.clone(),
            recovery: run.recovery.clone(),
            elapsed_s: run.stats.elapsed().as_secs_f64(),
            goodput_bit_s: run.stats.goodput().unwrap_or(0.0),
            sent: run.stats.interests,
            retransmitted: run.stats.retransmissions,
            spurious: run.stats.spurious,
            rtt_avg_ms: run.stats.rtt.mean().map(format::ms),
            recovery_avg_ms: (!lost.is_empty()).then(|| recovery / lost.len() as f64),
            lost: toward.lost() + back.lost(),
            intact,
        }
    }
}

impl fmt::Display for Demo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.runs.iter().map(|run| run.transport.chars().count());
        let width = names.filter(|name| *name <= WIDEST).max().unwrap_or(0).max("transport".len());
        writeln!(
            f,
            "{:width$}  {:>7}  {:>12}  {:>4}  {:>6}  {:>8}  {:>8}",
            "transport", "time", "goodput", "lost", "resent", "RTT", "recovery"
        )?;
        for run in &self.runs {
            run.fmt_line(f, width)?;
        }
        if let [first, others @ ..] = self.runs.as_slice() {
            let best = others.iter().min_by(|a, b| a.elapsed_s.total_cmp(&b.elapsed_s));
            if let Some(Row { transport, elapsed_s, .. }) = best.filter(|it| it.elapsed_s > 0.0) {
                let factor = first.elapsed_s / elapsed_s;
                writeln!(
                    f,
                    "\n{} takes {factor:.1} times as long as {transport}.",
                    first.transport
                )?;
            }
        }
        if self.runs.iter().all(|run| run.intact) {
            writeln!(f, "All content arrived as it was sent (SHA-256).")?;
        }
        write!(f, "Picture of the content over time: {}", self.picture)
    }
}

impl Row {
    fn fmt_line(&self, f: &mut fmt::Formatter<'_>, width: usize) -> fmt::Result {
        let time = |ms: Option<f64>| {
            ms.map_or("-".to_owned(), |ms| format!("{} ms", format::milliseconds(ms)))
        };
        // A longer name has a line of its own, so that the table fits a terminal.
        let name = match self.transport.chars().count() > WIDEST {
            true => {
                writeln!(f, "{}", self.transport)?;
                ""
            }
            false => &self.transport,
        };
        writeln!(
            f,
            "{:width$}  {:>7}  {:>12}  {:>4}  {:>6}  {:>8}  {:>8}{}",
            name,
            format!("{:.2} s", self.elapsed_s),
            format::rate(self.goodput_bit_s),
            self.lost,
            self.retransmitted,
            time(self.rtt_avg_ms),
            time(self.recovery_avg_ms),
            if self.intact { "" } else { "  other bytes arrived" }
        )
    }
}
