//! Dates of certificates and announcements.
//!
//! Source: NDN certificate format 2.0, which takes `YYYYMMDDThhmmss` of ISO 8601, in UTC.

/// `unix_s` seconds after 1970-01-01 as `YYYYMMDDThhmmss`, UTC.
#[must_use]
pub fn date(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // Years that begin in March end with the leap day, which makes the months' lengths regular.
    let day_of_era = days + 719_468;
    let (era, day) = (day_of_era / 146_097, day_of_era % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day + 2) / 153;
    let day = day - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

/// Seconds after 1970-01-01 of a date as [`date`] writes it; 0 if it lies before. `None` if it is no date.
#[must_use]
pub fn seconds(date: &[u8]) -> Option<u64> {
    if date.len() != 15 || date.get(8) != Some(&b'T') {
        return None;
    }
    let number = |from: usize, to: usize| {
        let digits = date.get(from..to)?;
        digits.iter().try_fold(0, |number, digit| {
            digit.is_ascii_digit().then(|| number * 10 + u64::from(digit - b'0'))
        })
    };
    let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
    let (hour, minute, second) = (number(9, 11)?, number(11, 13)?, number(13, 15)?);
    if !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    // Years begin in March, as in `date`.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    let days = days.saturating_sub(719_468);
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_gregorian_calendar() {
        let known = [
            (0, "19700101T000000"),
            (951_782_399, "20000228T235959"),
            (951_782_400, "20000229T000000"),
            (951_868_800, "20000301T000000"),
            (1_000_000_000, "20010909T014640"),
            (4_107_542_400, "21000301T000000"),
            (1_735_689_599, "20241231T235959"),
        ];
        for (unix_s, text) in known {
            assert_eq!(date(unix_s), text);
            assert_eq!(seconds(text.as_bytes()), Some(unix_s), "{text}");
        }
        for unix_s in (0..4_000_000_000).step_by(7_654_321) {
            assert_eq!(seconds(date(unix_s).as_bytes()), Some(unix_s));
        }
        assert_eq!(seconds(b"19691231T235959"), Some(86_399), "clipped to the first day");
        for wrong in ["20240101 000000", "2024010aT000000", "20241301T000000", "20240100T000000"] {
            assert_eq!(seconds(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
