//! A transport: congestion control, loss detector and retransmission timer.
use crate::fetch::FetchOptions;
use crate::{congestion, loss, rto};
use std::fmt;

/// The transport of a consumer, each part as the command line of `recoup fetch` writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transport {
    /// Congestion control.
    pub congestion: String,
    /// Loss detector.
    pub loss: String,
    /// Retransmission timer.
    pub rto: String,
}

/// The transport of a fetch without options.
impl Default for Transport {
    fn default() -> Self {
        let FetchOptions { congestion, loss, rto, .. } = FetchOptions::default();
        Self { congestion: congestion.to_string(), loss: loss.to_string(), rto: rto.to_string() }
    }
}

impl Transport {
    /// Reads `congestion=…,loss=…,rto=…`; a part that is left out is that of `default`. The name of the congestion
    /// control alone, such as `newreno`, stands for `congestion=newreno`.
    ///
    /// # Errors
    /// The mistake, in one sentence.
    pub fn parse(text: &str, default: &Self) -> Result<Self, String> {
        let mut transport = default.clone();
        let mut seen = Vec::new();
        for part in parts(text) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) if !key.contains('(') => (key.trim(), value.trim()),
                _ => ("congestion", part),
            };
            let place = match key {
                "congestion" => &mut transport.congestion,
                "loss" => &mut transport.loss,
                "rto" => &mut transport.rto,
                _ => {
                    return Err(format!(
                        "a transport has congestion, loss and rto, but no `{key}`"
                    ));
                }
            };
            if seen.contains(&key) {
                return Err(format!("`{key}` is there twice"));
            }
            seen.push(key);
            value.clone_into(place);
        }
        transport.check()?;
        Ok(transport)
    }

    fn check(&self) -> Result<(), String> {
        congestion::parse(&self.congestion).map_err(|error| error.to_string())?;
        loss::parse(&self.loss).map_err(|error| error.to_string())?;
        rto::parse(&self.rto).map_err(|error| error.to_string()).map(drop)
    }

    /// The parts that differ from `default`, as a short name of the transport: `newreno,
    /// loss=smart`.
    pub fn short(&self, default: &Self) -> String {
        let mut text = self.congestion.clone();
        for (key, own, other) in
            [("loss", &self.loss, &default.loss), ("rto", &self.rto, &default.rto)]
        {
            if own != other {
                text += &format!(", {key}={own}");
            }
        }
        text
    }
}

/// All parts, so that the text means the same when a default is changed.
impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "congestion={},loss={},rto={}", self.congestion, self.loss, self.rto)
    }
}

/// Splits at commas outside of brackets.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let split = text.split(move |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    });
    split.map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cubic() -> Transport {
        let text = |text: &str| text.to_owned();
        Transport {
            congestion: text("cubic"),
            loss: text("time-threshold(share=1/4)"),
            rto: text("jacobson(alpha=1/8,beta=1/4)"),
        }
    }

    #[test]
    fn default_is_read_as_written() {
        let default = Transport::default();
        assert_eq!(Transport::parse(&default.to_string(), &default).unwrap(), default);
    }

    #[test]
    fn parts_left_out_are_the_defaults() {
        let read = |text| Transport::parse(text, &cubic()).unwrap();
        assert_eq!(read("congestion=newreno").congestion, "newreno");
        assert_eq!(read("newreno"), read("congestion=newreno"));
        assert_eq!(read("fixed(window=4)").congestion, "fixed(window=4)");
        let both = read("loss=out-of-order(frt=3), rto=constant(rto=1s)");
        assert_eq!(
            (both.congestion.as_str(), both.loss.as_str()),
            ("cubic", "out-of-order(frt=3)")
        );
        assert_eq!(both.short(&cubic()), "cubic, loss=out-of-order(frt=3), rto=constant(rto=1s)");
        assert_eq!(read(&both.to_string()), both);
    }
}
