//! Numbers that are written in fewer bits than they have.
//!
//! Source: serial arithmetic (RFC 1982), as used by QUIC's packet numbers (RFC 9000, section 17.1). Internal numbers
//! have 64 bits and never wrap. The wire carries their lowest bits; the reader takes the number with these bits that
//! is nearest to the expected one.

/// Bits of a number in a label.
pub(super) const LABEL_BITS: u32 = 24;

/// The lowest `bits` bits of a number, 1 to 32.
pub(super) const fn shorten(number: u64, bits: u32) -> u32 {
    (number & ((1 << bits) - 1)) as u32
}

/// The number with these lowest `bits` bits that is nearest to `near`; of two, the higher one. None is below 0.
pub(super) const fn lengthen(short: u32, bits: u32, near: u64) -> u64 {
    let modulus = 1_u64 << bits;
    let ahead = (short as u64).wrapping_sub(near) & (modulus - 1);
    if ahead <= modulus / 2 || near + ahead < modulus {
        near + ahead
    } else {
        near + ahead - modulus
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn number_within_half_the_range_is_restored(
            near in 0..u64::MAX >> 1,
            behind in 0..1_u64 << 23,
            ahead in 0..1_u64 << 23,
        ) {
            for number in [near.saturating_sub(behind), near + ahead] {
                prop_assert_eq!(lengthen(shorten(number, LABEL_BITS), LABEL_BITS, near), number);
                prop_assert_eq!(lengthen(shorten(number, 32), 32, near), number);
            }
        }
    }

    #[test]
    fn wrap_of_the_written_number_is_hidden() {
        let wrap = 1 << LABEL_BITS;
        for (short, near, number) in
            [(0, wrap - 1, wrap), (0xff_ffff, wrap, wrap - 1), (0xff_ffff, 3, wrap - 1), (5, 4, 5)]
        {
            assert_eq!(lengthen(short, LABEL_BITS, near), number, "{short} near {near}");
        }
    }
}
