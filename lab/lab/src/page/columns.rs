//! Columns of numbers behind a JSON document, as typed arrays of a script read them.
use serde_json::{Value, json};

/// No such number.
pub(super) const NONE: u32 = u32::MAX;

/// Columns, little-endian; each begins at a multiple of eight bytes from the first.
#[derive(Debug, Default)]
pub(super) struct Columns {
    heads: Vec<Value>,
    bytes: Vec<u8>,
}

impl Columns {
    /// Name, type, place and length of each column.
    pub(super) fn heads(&self) -> &[Value] {
        &self.heads
    }

    /// The length of `header` in 32 bits, the header, and the columns from the next multiple of eight bytes on.
    pub(super) fn behind(&self, header: &Value) -> Vec<u8> {
        let mut text = header.to_string();
        // Blanks change no document.
        text += &" ".repeat((12 - text.len() % 8) % 8);
        let mut all = (text.len() as u32).to_le_bytes().to_vec();
        all.extend_from_slice(text.as_bytes());
        all.extend_from_slice(&self.bytes);
        all
    }

    /// Times that never go backwards, each as the difference to the one before.
    pub(super) fn times(&mut self, name: &str, times: impl Iterator<Item = u32>) {
        let mut before = 0;
        let differences = times.map(|time| {
            let difference = time.saturating_sub(before);
            before = time.max(before);
            difference
        });
        self.column(name, "times", differences.map(u32::to_le_bytes));
    }

    pub(super) fn u32s(&mut self, name: &str, values: impl Iterator<Item = u32>) {
        self.column(name, "u32", values.map(u32::to_le_bytes));
    }

    pub(super) fn f32s(&mut self, name: &str, values: impl Iterator<Item = f32>) {
        self.column(name, "f32", values.map(f32::to_le_bytes));
    }

    pub(super) fn f64s(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        self.column(name, "f64", values.map(f64::to_le_bytes));
    }

    pub(super) fn u8s(&mut self, name: &str, values: impl Iterator<Item = u8>) {
        self.column(name, "u8", values.map(|value| [value]));
    }

    fn column<const N: usize>(
        &mut self,
        name: &str,
        kind: &str,
        values: impl Iterator<Item = [u8; N]>,
    ) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let from = self.bytes.len();
        self.bytes.extend(values.flatten());
        let count = (self.bytes.len() - from) / N;
        self.heads.push(json!([name, kind, from, count]));
    }
}
