//! How likely a deviation is under the law that is being tested.

/// `full` in an optimised build, `quick` in a debug build.
pub(crate) fn scaled(full: u64, quick: u64) -> u64 {
    if cfg!(debug_assertions) { quick } else { full }
}

/// Whether `value` lies within `share` of `expected`.
#[track_caller]
pub(crate) fn assert_within(what: &str, value: f64, expected: f64, share: f64) {
    let error = value / expected - 1.0;
    println!("{what}: {value:.6}, expected {expected:.6}: off by {:.4} %", error * 100.0);
    assert!(error.abs() <= share, "{what}: {value} instead of {expected}, off by {error}");
}

/// Whether `value` lies within three standard deviations of `expected`: one run in 370 does not.
#[track_caller]
pub(crate) fn assert_likely(what: &str, value: f64, expected: f64, deviation: f64) {
    let deviations = (value - expected) / deviation;
    println!("{what}: {value:.6}, expected {expected:.6}: {deviations:.2} deviations");
    assert!(deviations.abs() < 3.0, "{what}: {value} instead of {expected}: {deviations}");
}

/// The probability that counts deviate at least that much from what is expected, by Pearson's
/// chi-square test. Neighbouring cells are put together until ten are expected in each.
pub(crate) fn chi_square_p(counts: &[u64], expected: &[f64]) -> f64 {
    const LEAST: f64 = 10.0;
    assert_eq!(counts.len(), expected.len());
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (count, expected) in counts.iter().zip(expected) {
        open = (open.0 + *count as f64, open.1 + expected);
        if open.1 >= LEAST {
            cells.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = cells.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    assert!(cells.len() > 1, "too little is expected");
    let statistic: f64 = cells.iter().map(|(seen, all)| (seen - all) * (seen - all) / all).sum();
    upper_gamma((cells.len() - 1) as f64 / 2.0, statistic / 2.0)
}

/// The regularised upper incomplete gamma function Q(a, x).
///
/// Abramowitz & Stegun, 6.5.29 (series) and 6.5.31 (continued fraction, by Lentz's method).
fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let scale = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 { 1.0 - scale * series(a, x) } else { scale * fraction(a, x) }
}

fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
    while term > sum * 1e-15 {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    sum
}

fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..100_000 {
        let an = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        let away = |value: f64| if value.abs() < TINY { TINY } else { value };
        d = 1.0 / away(an * d + b);
        c = away(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    h
}

#[test]
fn chi_square_quantiles_match_the_tables() {
    // Abramowitz & Stegun, table 26.8.
    for (freedom, statistic, p) in [
        (1.0, 3.841_46, 0.05),
        (10.0, 23.209_3, 0.01),
        (100.0, 118.498, 0.10),
        (5.0, 0.554_3, 0.99),
    ] {
        let ours = upper_gamma(freedom / 2.0, statistic / 2.0);
        assert!((ours - p).abs() < 1e-4, "{freedom} {statistic}: {ours}");
    }
}

#[test]
fn counts_of_another_law_are_found_out() {
    let expected = [1_000.0, 1_000.0, 1_000.0, 1_000.0];
    assert!(chi_square_p(&[1_010, 985, 1_020, 985], &expected) > 0.5);
    assert!(chi_square_p(&[1_100, 900, 1_100, 900], &expected) < 1e-6);
}
