//! Figure 11 and what the paper concludes: its proposal against the others (C-29 to C-35).
use super::runs::{B, Runs, Timer, W, joined};
use super::timer::{BASIC, Gains, Jacobson, PER_PROVIDER, PREDICTIVE, RECONSIDERED};
use super::trend::{Side, beyond, least};
use crate::claim::Outcome;
use crate::rule::{Finding, less, quotient, ratio, within};
use recoup_sim::statistic::{Seeded, mean};

/// The timers of Figure 11.
pub(super) fn figure_11() -> [Timer; 4] {
    [BASIC.into(), PER_PROVIDER.into(), PREDICTIVE.into(), RECONSIDERED.into()]
}

/// C-29.
pub(super) fn predictive_is_best(runs: &Runs<'_>) -> Finding {
    let others = [BASIC.into(), PER_PROVIDER.into(), RECONSIDERED.into()];
    let at = |s: &&'static str| {
        let one = |what, metric| {
            let found = least(runs, s, PREDICTIVE.into(), &others, |runs, timer, s| {
                runs.of(timer, s, metric)
            });
            found.labelled(what)
        };
        one("B", B).and(one("W", W))
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// C-30.
pub(super) fn reconsidered_is_better(runs: &Runs<'_>) -> Finding {
    let at = |s: &&'static str| {
        let w = |timer: Timer| runs.of(timer, s, W);
        let (own, basic, each) = (w(RECONSIDERED.into()), w(BASIC.into()), w(PER_PROVIDER.into()));
        let lower = joined(&basic, &each, f64::min);
        let others = [BASIC.into(), PER_PROVIDER.into()];
        let b = least(runs, s, RECONSIDERED.into(), &others, |runs, timer, s| runs.of(timer, s, B));
        let w = beyond("W over the lower of both", &quotient(&own, &lower), "", Side::Below, 1.1);
        b.labelled("B").and(w)
    };
    let finding = Finding::all(runs.exponents().iter().map(at));
    finding.with_second_reading("no timer is better by both", &is_undominated(runs))
}

/// At each exponent, each other timer is worse than Reconsidered by one of B and W.
fn is_undominated(runs: &Runs<'_>) -> Finding {
    let at = |s: &&'static str| {
        let worse = |other: Timer| {
            let worse = |what: &str, metric| {
                let of = |timer: Timer| runs.of(timer, s, metric);
                let own = of(RECONSIDERED.into());
                less((&format!("s = {s}: {what}"), &own), (&other.label(), &of(other)), "")
            };
            worse("B", B).or(worse("W", W))
        };
        worse(BASIC.into()).and(worse(PER_PROVIDER.into()))
    };
    Finding::all(runs.exponents().iter().map(at))
}

/// C-31.
pub(super) fn per_provider_hardly_helps(runs: &Runs<'_>) -> Finding {
    let gain = |s: &str| {
        let of = |timer: Timer| runs.of(timer, s, B);
        joined(&of(PER_PROVIDER.into()), &of(BASIC.into()), |own, basic| {
            100.0 * (1.0 - own / basic)
        })
    };
    let small = |s: &&'static str| {
        within(&format!("s = {s}: fewer bad ones by"), &gain(s), "%", f64::NEG_INFINITY, 15.0)
    };
    let some = beyond("at s = 2 by", &gain("2"), "%", Side::Above, 0.0);
    Finding::all(runs.exponents().iter().map(small)).and(some)
}

/// The mean over exponents of a quotient of two timers, seed by seed.
fn mean_ratio(
    runs: &Runs<'_>,
    timers: (Timer, Timer),
    of: impl Fn(&Runs<'_>, Timer, &str) -> Vec<Seeded>,
) -> Vec<Seeded> {
    let at = |s: &&'static str| quotient(&of(runs, timers.0, s), &of(runs, timers.1, s));
    let all: Vec<_> = runs.exponents().iter().map(at).collect();
    let seeds = all.first().into_iter().flatten().map(|(seed, _)| *seed);
    let over = |seed| {
        let values = all.iter().filter_map(|it| it.iter().find(|(own, _)| *own == seed));
        mean(&values.map(|(_, value)| *value).collect::<Vec<_>>()).map(|mean| (seed, mean))
    };
    seeds.filter_map(over).collect()
}

/// C-32, C-33: a timer against Basic, over all exponents.
fn doubles(runs: &Runs<'_>, timer: Timer) -> Finding {
    let both = (timer, BASIC.into());
    let b = mean_ratio(runs, both, |runs, timer, s| runs.of(timer, s, B));
    let w = mean_ratio(runs, both, |runs, timer, s| runs.of(timer, s, W));
    let cost = mean_ratio(runs, both, |runs, timer, s| runs.cost(timer, s));
    let short = within("W", &w, "", 0.0, 0.8);
    let cheap = within("product", &cost, "", 0.0, 0.6);
    let either = match (short.outcome, cheap.outcome) {
        (Outcome::Holds, _) | (_, Outcome::Holds) => Outcome::Holds,
        (Outcome::Fails, Outcome::Fails) => Outcome::Fails,
        _ => Outcome::Open,
    };
    let ours = format!("{}; {}", short.ours, cheap.ours);
    within("B", &b, "", 0.3, 0.7).and(Finding { outcome: either, ours })
}

/// C-32.
pub(super) fn reconsidered_doubles(runs: &Runs<'_>) -> Finding {
    doubles(runs, RECONSIDERED.into())
}

/// C-33: a floor near the mean round trip and small gains alone, k = 4.
pub(super) fn floor_and_gains_double(runs: &Runs<'_>) -> Finding {
    doubles(runs, Jacobson { gains: Gains::VerySlow, k: 4, floor: 100 }.into())
}

/// C-34: the share of requests for the most popular fifth of 10 000 contents, in per cent.
fn share_of_a_fifth(q: f64, s: f64) -> f64 {
    let weight = |k: u32| (-s * (f64::from(k) + q).ln()).exp();
    let sum = |to| (1..=to).map(weight).sum::<f64>();
    100.0 * sum(2_000) / sum(10_000)
}

/// C-34.
pub(super) fn shares() -> Finding {
    let of = |q| [share_of_a_fifth(q, 1.0), share_of_a_fifth(q, 2.0)];
    let ([low, high], [other_low, other_high]) = (of(16.0), of(0.7));
    let holds = (74.0..=76.0).contains(&low) && (99.0..=99.6).contains(&high);
    let ours =
        format!("q = 16: {low:.1} and {high:.2} %; q = 0.7: {other_low:.1} and {other_high:.2} %");
    Finding { outcome: if holds { Outcome::Holds } else { Outcome::Fails }, ours }
}

/// Bytes of a packet on a link, Interests and Data together, by seed.
fn packet_size(runs: &Runs<'_>, timer: Timer, s: &str) -> Vec<Seeded> {
    let of = |metric| runs.of(timer, s, metric);
    quotient(&of("all.hop_bytes"), &of("all.packet_hops"))
}

/// C-35: what timers add to packets. A timer that repeats less sends fewer of the short Interests, so the mean of all
/// packets may differ a little although none is longer.
pub(super) fn overhead(runs: &Runs<'_>) -> Finding {
    let at = |s: &&'static str| {
        let of = |timer: Timer| packet_size(runs, timer, s);
        let (basic, own) = (of(BASIC.into()), of(RECONSIDERED.into()));
        let (each, most) = (of(PER_PROVIDER.into()), of(PREDICTIVE.into()));
        let label = format!("s = {s}: Reconsidered over Basic");
        ratio(&label, &own, &basic, 0.97, 1.03)
            .and(less(("Basic", &basic), ("Predictive", &most), "bytes a packet"))
            .and(less(("PerProvider", &each), ("Predictive", &most), "bytes a packet"))
    };
    Finding::all(runs.exponents().iter().map(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_of_16_gives_the_quoted_shares() {
        assert!((share_of_a_fifth(16.0, 1.0) - 75.0).abs() < 0.1);
        assert!((share_of_a_fifth(0.7, 2.0) - 99.95).abs() < 0.01);
        assert_eq!(shares().outcome, Outcome::Holds);
    }
}
