//! Student's t distribution: cumulative distribution and quantile.
//!
//! The distribution is the regularised incomplete beta function (DLMF 8.17), by its continued fraction
//! (8.17.22) evaluated with Lentz's method as modified by Thompson and Barnett; the quantile is found
//! by bisection, which needs no approximation of its own. Differences: none.

/// Share of the distribution with `freedom` degrees of freedom below `t`.
fn cumulative(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The `t` below which the share `p` lies, for `freedom` degrees of freedom (from 1 up; above a
/// million the distribution no longer changes). NaN unless `p` lies between 0 and 1.
pub fn quantile(p: f64, freedom: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    if p < 0.5 {
        return -quantile(1.0 - p, freedom);
    }
    let freedom = freedom.clamp(1.0, 1e6);
    let (mut low, mut high) = (0.0, 1.0);
    while cumulative(high, freedom) < p && high < f64::MAX / 4.0 {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if cumulative(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// `I_x(a, b)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let front = libm::exp(a * libm::log(x) + b * libm::log1p(-x) - log_beta);
    // The fraction converges quickly on this side of the mean; the other side is the complement.
    if x < (a + 1.0) / (a + b + 2.0) {
        front / (a * fraction(x, a, b))
    } else {
        1.0 - front / (b * fraction(1.0 - x, b, a))
    }
}

/// `1 + d1/(1 + d2/(1 + …))` of DLMF 8.17.22.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let (mut value, mut upper, mut lower) = (1.0, 1.0, 0.0);
    for step in 1..10_000 {
        let d = coefficient(step, x, a, b);
        lower = 1.0 / nonzero(1.0 + d * lower, TINY);
        upper = nonzero(1.0 + d / upper, TINY);
        let change = upper * lower;
        value *= change;
        if (change - 1.0_f64).abs() < 1e-16 {
            break;
        }
    }
    value
}

fn coefficient(step: u32, x: f64, a: f64, b: f64) -> f64 {
    let m = f64::from(step / 2);
    if step.is_multiple_of(2) {
        m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
    } else {
        -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
    }
}

fn nonzero(value: f64, tiny: f64) -> f64 {
    if value.abs() < tiny { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_printed_tables() {
        for (p, freedom, t) in [
            (0.975, 1.0, 12.706_204_736),
            (0.975, 2.0, 4.302_652_730),
            (0.975, 4.0, 2.776_445_105),
            (0.975, 19.0, 2.093_024_054),
            (0.975, 30.0, 2.042_272_456),
            (0.995, 9.0, 3.249_835_542),
            (0.95, 99.0, 1.660_391_156),
            (0.975, 1e9, 1.959_966),
        ] {
            let found = quantile(p, freedom);
            assert!((found - t).abs() < 2e-6, "t({p}, {freedom}) = {found}, not {t}");
        }
    }

    #[test]
    fn the_distribution_is_symmetric_and_its_own_inverse() {
        for freedom in [1.0, 3.0, 12.5, 400.0] {
            assert!((cumulative(0.0, freedom) - 0.5).abs() < 1e-12);
            for p in [0.01, 0.2, 0.6, 0.999] {
                assert!((cumulative(quantile(p, freedom), freedom) - p).abs() < 1e-12);
            }
        }
        assert!(quantile(1.0, 5.0).is_nan());
    }
}
