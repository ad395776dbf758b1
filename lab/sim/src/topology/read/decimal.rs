//! Quantities as files write them, read exactly: a decimal number is a whole number and a power of ten,
//! and is only rounded when it becomes nanoseconds or bits.
use super::Problem;
use crate::model::loss::Loss;
use recoup_transport::spec::Spelled;
use recoup_transport::time::Duration;

/// Digits that are kept; further ones are taken for zeros.
const DIGITS: u32 = 27;
/// Powers of ten beyond this are taken for nothing or for too much.
const POWERS: i32 = 1_000;

/// A decimal number, not negative: `digits · 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Reads a number and nothing else: `12`, `0.5`, `1e-3`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::split(text).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
    }

    /// Reads a number at the beginning of a text; returns the rest.
    pub(super) fn split(text: &str) -> Option<(Self, &str)> {
        let text = text.trim();
        let text = text.strip_prefix('+').unwrap_or(text);
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            return None;
        }
        let (power, rest) = split_power(rest);
        let mut decimal = Self { digits: 0, exponent: power };
        whole.bytes().for_each(|digit| decimal.push(digit, false));
        fraction.bytes().for_each(|digit| decimal.push(digit, true));
        Some((decimal, rest.trim_start()))
    }

    fn push(&mut self, digit: u8, fraction: bool) {
        if self.digits < 10_u128.pow(DIGITS - 1) {
            self.digits = self.digits * 10 + u128::from(digit - b'0');
            self.exponent = self.exponent.saturating_sub(i32::from(fraction));
        } else {
            self.exponent = self.exponent.saturating_add(i32::from(!fraction));
        }
    }

    /// The number times `factor · 10^power`, rounded to the nearest whole number; `None` if it does not
    /// fit. A factor has at most 36 bits.
    pub(super) fn times(self, factor: u64, power: i32) -> Option<u64> {
        let product = self.digits.checked_mul(u128::from(factor))?;
        let power = self.exponent.saturating_add(power);
        if product == 0 {
            return Some(0);
        }
        let size = power.unsigned_abs().min(POWERS as u32);
        let whole = match (10_u128.checked_pow(size), power >= 0) {
            (Some(ten), true) => product.checked_mul(ten)?,
            (None, true) => return None,
            (Some(ten), false) => product / ten + u128::from(product % ten >= ten - product % ten),
            (None, false) => 0,
        };
        u64::try_from(whole).ok()
    }

    /// Whether it has nothing behind the point.
    pub(super) fn is_whole(self) -> bool {
        let behind = self.exponent.min(0).unsigned_abs();
        10_u128.checked_pow(behind).map_or(self.digits == 0, |ten| self.digits.is_multiple_of(ten))
    }

    /// The loss model that loses this share of packets, the number taken times `10^power`.
    pub(super) fn loss(self, power: i32) -> Option<Spelled<Loss>> {
        const PARTS: i32 = 18;
        let parts = self.times(1, power + PARTS).filter(|parts| *parts <= 10_u64.pow(18))?;
        if parts == 0 {
            return Some(Loss::default().into());
        }
        let (whole, fraction) = (parts / 10_u64.pow(18), parts % 10_u64.pow(18));
        let text = format!("{whole}.{fraction:018}");
        let share = text.trim_end_matches('0').trim_end_matches('.');
        format!("bernoulli(p={share})").parse().ok()
    }
}

/// An exponent such as `e-3`, and the rest of the text.
fn split_power(text: &str) -> (i32, &str) {
    let Some(behind) = text.strip_prefix(['e', 'E']) else { return (0, text) };
    let (sign, behind) = match behind.strip_prefix('-') {
        Some(behind) => (-1, behind),
        None => (1, behind.strip_prefix('+').unwrap_or(behind)),
    };
    let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
    if end == 0 {
        return (0, text);
    }
    let power = behind[..end].parse::<i32>().unwrap_or(POWERS).min(POWERS);
    (sign * power, &behind[end..])
}

/// A quantity whose unit is `factor · 10^power`.
pub(super) fn quantity(
    text: &str,
    what: &'static str,
    unit: impl Fn(&str) -> Option<(u64, i32)>,
) -> Result<u64, Problem> {
    let wrong = || Problem::unexpected(what, text);
    let (number, name) = Decimal::split(text).ok_or_else(wrong)?;
    let (factor, power) = unit(name).ok_or_else(wrong)?;
    number.times(factor, power).ok_or_else(wrong)
}

/// A duration, whose units are given in nanoseconds.
pub(super) fn duration(
    text: &str,
    what: &'static str,
    unit: impl Fn(&str) -> Option<(u64, i32)>,
) -> Result<Duration, Problem> {
    quantity(text, what, unit).map(Duration::from_nanos)
}

/// A whole number.
pub(super) fn whole(text: &str, what: &'static str) -> Result<u64, Problem> {
    text.trim().parse().map_err(|_| Problem::unexpected(what, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(text: &str, factor: u64, power: i32) -> Option<u64> {
        Decimal::parse(text)?.times(factor, power)
    }

    #[test]
    fn numbers_are_exact_until_they_are_whole() {
        assert_eq!(times("0.312", 1, 6), Some(312_000));
        assert_eq!(times("59.812", 1, 6), Some(59_812_000));
        assert_eq!(times("1e3", 1, 0), Some(1_000));
        assert_eq!(times("2.5E-3", 8, 6), Some(20_000));
        assert_eq!(times("10000000000.0", 1, 0), Some(10_000_000_000));
        assert_eq!(times("0.30000000000000004", 1, 9), Some(300_000_000));
        assert_eq!(
            (times(".5", 1, 0), times("0.4999", 1, 0), times("7.", 1, 0)),
            (Some(1), Some(0), Some(7))
        );
        assert_eq!(times("18446744073709551615", 1, 0), Some(u64::MAX));
    }

    #[test]
    fn bad_and_oversized_numbers_are_none() {
        for text in ["", ".", "1.2.3", "-1", "e3", "1e", "1 2", "NaN", "inf", "٣", "0x10"] {
            assert_eq!(Decimal::parse(text), None, "{text:?}");
        }
        assert_eq!(times("18446744073709551616", 1, 0), None);
        assert_eq!(times("1e999999999999", 1, 0), None);
        assert_eq!(times("1e-999999999999", 1, 9), Some(0));
        assert_eq!(times("0e999999999999", 1, 9), Some(0));
        assert_eq!(times(&"9".repeat(100_000), 1, 0), None);
        assert_eq!(times(&format!("0.{}", "9".repeat(100_000)), 1, 0), Some(1));
    }

    #[test]
    fn a_unit_stands_behind_its_number() {
        let split = |text| Decimal::split(text).map(|(number, unit)| (number.times(1, 3), unit));
        assert_eq!(split("1.5Mbps"), Some((Some(1_500), "Mbps")));
        assert_eq!(split(" 10 ms "), Some((Some(10_000), "ms")));
        assert_eq!(split("1e2ms"), Some((Some(100_000), "ms")));
        assert_eq!(split("1em"), Some((Some(1_000), "em")));
    }

    #[test]
    fn a_share_of_packets_keeps_its_digits() {
        let loss = |text, power| Decimal::parse(text).unwrap().loss(power);
        assert_eq!(loss("0.7", -2).unwrap().text(), "bernoulli(p=0.007)");
        assert_eq!(loss("100", -2).unwrap().text(), "bernoulli(p=1)");
        assert_eq!((loss("0", -2).unwrap().text(), loss("101", -2)), ("none", None));
        assert!(!Decimal::parse("2.5").unwrap().is_whole());
        assert!(Decimal::parse("2.50e1").unwrap().is_whole());
    }
}
