//! Rows of the report of all benchmarks.

use super::sample::Spread;
use serde_json::{Value, json};

/// The value that a row should reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Aim {
    AtLeast(f64),
    AtMost(f64),
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The benchmark that it comes from.
    pub(crate) part: &'static str,
    /// The work.
    pub(crate) name: String,
    pub(crate) unit: &'static str,
    pub(crate) spread: Spread,
    /// `None` for limits of the machine, and what is only shown.
    pub(crate) aim: Option<Aim>,
}

impl Row {
    /// A row of some values in `unit`; `None` without values.
    pub(crate) fn of(
        part: &'static str,
        name: impl Into<String>,
        unit: &'static str,
        values: Vec<f64>,
        aim: Option<Aim>,
    ) -> Option<Self> {
        let spread = Spread::of(values)?;
        Some(Self { part, name: name.into(), unit, spread, aim })
    }

    /// How far it is: 1 reaches the aim, more is better.
    pub(crate) fn share(&self) -> Option<f64> {
        Some(match self.aim? {
            Aim::AtLeast(least) => self.spread.median / least,
            Aim::AtMost(most) => most / self.spread.median,
        })
    }

    /// The aim in words.
    pub(crate) fn aim_text(&self) -> String {
        match self.aim {
            Some(Aim::AtLeast(least)) => format!("≥ {}", number(least)),
            Some(Aim::AtMost(most)) => format!("≤ {}", number(most)),
            None => String::new(),
        }
    }

    /// Median, least and most in words.
    pub(crate) fn spread_text(&self) -> [String; 3] {
        [self.spread.median, self.spread.min, self.spread.max].map(number)
    }

    pub(crate) fn to_json(&self) -> Value {
        let Self { part, name, unit, spread, .. } = self;
        let aim = self.aim.map(|aim| match aim {
            Aim::AtLeast(least) => json!({ "at_least": least }),
            Aim::AtMost(most) => json!({ "at_most": most }),
        });
        json!({ "part": part, "work": name, "unit": unit, "median": spread.median, "min": spread.min,
            "max": spread.max, "aim": aim, "share_of_aim": self.share() })
    }
}

/// Three digits that count, thousands apart.
fn number(value: f64) -> String {
    let digits = match value.abs() {
        magnitude if magnitude >= 100.0 => 0,
        magnitude if magnitude >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut apart = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) && !apart.ends_with('-') {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_one_at_the_aim() {
        let row = |aim| Row::of("part", "work", "ms", vec![4.0, 2.0, 3.0], Some(aim)).unwrap();
        assert_eq!(row(Aim::AtLeast(3.0)).share(), Some(1.0));
        assert_eq!(row(Aim::AtLeast(6.0)).share(), Some(0.5));
        assert_eq!(row(Aim::AtMost(6.0)).share(), Some(2.0));
        assert_eq!(Row::of("part", "work", "ms", Vec::new(), None), None);
    }

    #[test]
    fn numbers_have_three_digits_that_count() {
        let texts = [0.563, 12.34, 893.4, 5_213.0, 1_600_000.0, -1_234.0].map(number);
        assert_eq!(texts, ["0.56", "12.3", "893", "5,213", "1,600,000", "-1,234"]);
    }
}
