//! Medium and consumers that the paper does not describe, and the assumed set-up.
use std::fmt::Write;

/// A set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub radio: &'static str,
    pub segment: &'static str,
    pub pipeline: &'static str,
    pub processing: &'static str,
}

/// Rate, and whether nodes two hops apart sense each other.
pub(super) const RADIOS: [&str; 6] = [
    "6 Mbit/s, hidden",
    "24 Mbit/s, hidden",
    "54 Mbit/s, hidden",
    "6 Mbit/s, sensed",
    "24 Mbit/s, sensed",
    "54 Mbit/s, sensed",
];
/// Content of a segment.
pub(super) const SEGMENTS: [&str; 2] = ["1024 B", "4096 B"];
/// Segments from the lowest missing one to the highest requested one.
pub(super) const PIPELINES: [&str; 2] = ["4", "16"];
/// Processing time of a node for each packet that arrives.
pub(super) const PROCESSINGS: [&str; 3] = ["0 ms", "5 ms", "20 ms"];

/// Bytes of the file: 5 MB, a whole number of segments of either size.
const FILE: u32 = 5 << 20;
/// Field of a scenario that holds the number of the last segment.
pub(super) const LAST: &str = "fetch.last";

/// Bytes that name and signature add to a segment.
const HEADER: u32 = 400;

/// Distance of the outer nodes from the row, in metres, at even and at odd places. If nodes of the row are 700 m apart,
/// each outer node receives its node of the row only.
pub(super) const SIDE: [f64; 2] = [395.0, 760.0];

/// The assumed set-up.
pub(super) const NAMED: Setup =
    Setup { radio: "6 Mbit/s, hidden", segment: "1024 B", pipeline: "16", processing: "5 ms" };

impl Setup {
    /// Metres between nodes of the row. At 16 dBm frames are decoded, and carriers sensed, up to 787 m; those of
    /// 54 Mbit/s need 18.5 dB and reach some 400 m.
    pub(super) fn spacing(&self) -> f64 {
        match self.radio {
            "54 Mbit/s, hidden" => 396.0,
            "54 Mbit/s, sensed" => 280.0,
            _ if self.is_hidden() => 700.0,
            _ => 350.0,
        }
    }

    pub(super) fn is_hidden(&self) -> bool {
        matches!(self.radio, "6 Mbit/s, hidden" | "24 Mbit/s, hidden")
    }

    /// The fields of a scenario for this set-up.
    pub(super) fn fields(&self) -> String {
        let mut fields = String::new();
        let rate = self.radio.split(' ').next().unwrap_or_default();
        let _ = writeln!(fields, "\"wifi.rate\" = \"ofdm-{rate}\"");
        let _ = writeln!(fields, "\"wifi.spacing\" = \"{} m\"", self.spacing());
        fields + &self.consumer() + &self.processing()
    }

    fn consumer(&self) -> String {
        let bytes = number(self.segment);
        let window = self.pipeline;
        format!(
            "\"produce.content\" = \"{bytes} B\"\n\"produce.packet\" = \"{} B\"\n\"{LAST}\" = {}\n\
             \"fetch.congestion\" = \"fixed(window={window},accounting=span)\"\n",
            bytes + HEADER,
            FILE / bytes - 1
        )
    }

    fn processing(&self) -> String {
        match number(self.processing) {
            0 => "\"node.processing\" = \"none\"\n".to_owned(),
            millis => format!("\"node.processing\" = \"constant(time={millis}ms)\"\n"),
        }
    }
}

/// The number that a text begins with.
fn number(text: &str) -> u32 {
    text.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}
