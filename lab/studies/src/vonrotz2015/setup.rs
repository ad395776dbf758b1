//! Medium and consumers that neither the paper nor its tools describe, and the chosen set-up.
use std::fmt::Write;

/// A set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub radio: &'static str,
    pub pipeline: &'static str,
    pub capture: &'static str,
    pub segment: &'static str,
}

/// Rate, and whether nodes two hops apart sense each other. None of them decodes what the other sends, as the paper
/// states: that excludes rows in which they sense each other at a rate that goes further. At 54 Mbit/s nothing arrives.
pub(super) const RADIOS: [&str; 10] = [
    "1 Mbit/s, hidden",
    "2 Mbit/s, hidden",
    "5.5 Mbit/s, hidden",
    "11 Mbit/s, hidden",
    "6 Mbit/s, hidden",
    "9 Mbit/s, hidden",
    "12 Mbit/s, hidden",
    "18 Mbit/s, hidden",
    "24 Mbit/s, hidden",
    "ARF, hidden",
];
/// Segments from the lowest missing one to the highest requested one.
pub(super) const PIPELINES: [&str; 8] = ["4", "5", "6", "7", "8", "10", "12", "16"];
/// Whether a frame stronger by this much replaces one that has just begun.
pub(super) const CAPTURES: [&str; 2] = [NO_CAPTURE, "5 dB"];
pub(super) const NO_CAPTURE: &str = "off";
/// Content of a segment, CCNx's first.
pub(super) const SEGMENTS: [&str; 2] = [BLOCK, "1024 B"];
const BLOCK: &str = "4096 B";
/// NS3-DCE takes no time for a packet.
pub(super) const AT_ONCE: &str = "\"node.processing\" = \"none\"\n";

/// Bytes of the file: 5 MB, a whole number of segments of either size.
const FILE: u32 = 5 << 20;
/// Field of a scenario that holds the number of the last segment.
pub(super) const LAST: &str = "fetch.last";

/// Bytes that name and signature add to a segment.
const HEADER: u32 = 400;

/// Distance of the outer nodes from the row, in metres, at even and at odd places. If nodes of the row are 700 m apart,
/// each outer node receives its node of the row only.
pub(super) const SIDE: [f64; 2] = [395.0, 760.0];

/// The set-up that the second search chose (`calibration.toml`).
pub(super) const NAMED: Setup = Setup::with_tools("6 Mbit/s, hidden", "16", NO_CAPTURE);
/// The set-up that the first search chose, whose space had no rate below 6 Mbit/s and no absolute level.
pub(super) const FIRST: Setup = Setup::with_tools("24 Mbit/s, sensed", "10", "5 dB");

impl Setup {
    /// A set-up with the segments of CCNx.
    pub(super) const fn with_tools(
        radio: &'static str,
        pipeline: &'static str,
        capture: &'static str,
    ) -> Self {
        Self { radio, pipeline, capture, segment: BLOCK }
    }

    /// Metres between nodes of the row. At 16 dBm frames are decoded, and carriers sensed, up to 787 m.
    pub(super) fn spacing(&self) -> f64 {
        if self.is_hidden() { 700.0 } else { 350.0 }
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.radio.ends_with("hidden")
    }

    /// The fields of a scenario for this set-up.
    pub(super) fn fields(&self) -> String {
        self.medium() + &self.reception() + &self.content() + &self.consumer() + AT_ONCE
    }

    /// Rate and distances.
    pub(super) fn medium(&self) -> String {
        let rate = match self.radio.split([' ', ',']).next() {
            Some("ARF") => "arf".to_owned(),
            Some(mbits @ ("1" | "2" | "5.5" | "11")) => format!("dsss-{mbits}"),
            mbits => format!("ofdm-{}", mbits.unwrap_or_default()),
        };
        let spacing = self.spacing();
        format!("\"wifi.rate\" = \"{rate}\"\n\"wifi.spacing\" = \"{spacing} m\"\n")
    }

    /// Capture of frames.
    pub(super) fn reception(&self) -> String {
        match self.capture {
            NO_CAPTURE => String::new(),
            level => format!("\"wifi.capture\" = \"{level}\"\n"),
        }
    }

    /// The pipeline of each consumer.
    pub(super) fn consumer(&self) -> String {
        let window = self.pipeline;
        format!("\"fetch.congestion\" = \"fixed(window={window},accounting=span)\"\n")
    }

    /// Segments, and the number of the last.
    pub(super) fn content(&self) -> String {
        let bytes = number(self.segment);
        let (packet, last) = (bytes + HEADER, FILE / bytes - 1);
        let mut fields = format!("\"produce.content\" = \"{bytes} B\"\n");
        let _ = writeln!(fields, "\"produce.packet\" = \"{packet} B\"\n\"{LAST}\" = {last}");
        fields
    }
}

/// The number that a text begins with.
fn number(text: &str) -> u32 {
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}
