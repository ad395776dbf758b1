//! Scenarios 2 and 3, in which all nodes request; and claims about all scenarios.
use super::axis::{ADAPTIVE, HOPS, Scenario, TIMERS};
use super::one;
use super::runs::{At, Runs, mean_of};
use crate::claim::Outcome;
use crate::rule::{Finding, LEVEL, SEEDS, THIRD_LOOK, less, less_at, quotient, ratio, within};
use recoup_sim::statistic::{Seeded, paired};

pub(super) fn row(hops: &'static str) -> At {
    (Scenario::Row, hops)
}

pub(super) fn sides(hops: &'static str) -> At {
    (Scenario::Sides, hops)
}

const SEVERAL: [&str; 4] = ["2", "3", "4", "5"];

/// The greatest ratio of times, existing over new, wherever; and the Interests of that case, new over existing.
fn best_case(
    runs: &Runs<'_>,
    places: &[At],
    existing: &[&'static str],
    times: (f64, f64),
    interests: (f64, f64),
) -> Finding {
    let mut best: Option<(f64, At, &str, &str)> = None;
    for at in places {
        for old in existing {
            for new in ["CCNTimer", "WMA"] {
                let ratio = mean_of(&quotient(&runs.time(*at, old), &runs.time(*at, new)));
                if let Some(ratio) = ratio
                    && best.is_none_or(|(most, ..)| ratio > most)
                {
                    best = Some((ratio, *at, old, new));
                }
            }
        }
    }
    let Some((_, at, old, new)) = best else {
        return Finding::open("no results");
    };
    let time = runs.ratio(Runs::time, at, (old, new), times);
    let sent = runs.ratio(Runs::interests, at, (new, old), interests);
    let place = format!("scenario {}, {} hops", at.0 as usize + 1, at.1);
    time.labelled(&place).and(sent.labelled("Interests"))
}

fn everywhere() -> Vec<At> {
    let scenarios = [Scenario::One, Scenario::Row, Scenario::Sides];
    scenarios.into_iter().flat_map(|scenario| HOPS.map(|hops| (scenario, hops))).collect()
}

/// Against timers that adapt.
pub(super) fn best_against_existing(runs: &Runs<'_>) -> Finding {
    let existing = ["TCP RTO", "Timeest", "ICP"];
    best_case(runs, &everywhere(), &existing, (1.5, 2.5), (0.0, 1.01))
}

/// Against 4 s.
pub(super) fn best_against_constant(runs: &Runs<'_>) -> Finding {
    best_case(runs, &everywhere(), &["constant"], (3.0, f64::INFINITY), (0.97, 1.03))
}

pub(super) fn time(runs: &Runs<'_>, at: At, timers: (&str, &str), band: (f64, f64)) -> Finding {
    runs.ratio(Runs::time, at, timers, band).labelled(&format!("{} hops", at.1))
}

pub(super) fn interests(
    runs: &Runs<'_>,
    at: At,
    timers: (&str, &str),
    band: (f64, f64),
) -> Finding {
    let finding = runs.ratio(Runs::interests, at, timers, band);
    finding.labelled(&format!("Interests, {} hops", at.1))
}

/// WMA sends the most, at all numbers of hops where there are relays; of set-ups that were run at fewer, at those.
pub(super) fn wma_sends_most(runs: &Runs<'_>) -> Finding {
    let at = |hops: &'static str, most: Vec<Seeded>| {
        let others = TIMERS.into_iter().filter(|timer| *timer != "WMA");
        let less = |timer| less((timer, &runs.interests(row(hops), timer)), ("WMA", &most), "");
        Finding::all(others.map(less)).labelled(&format!("{hops} hops"))
    };
    let run = SEVERAL.map(|hops| (hops, runs.interests(row(hops), "WMA")));
    let run = run.into_iter().filter(|(_, most)| !most.is_empty());
    Finding::all(run.map(|(hops, most)| at(hops, most)))
}

/// No other timer is both faster and sends less.
pub(super) fn ccntimer_is_undominated(runs: &Runs<'_>) -> Finding {
    Finding::all(["3", "5"].map(|hops| {
        let at = row(hops);
        let better = |of: &dyn Fn(&str) -> Vec<Seeded>, timer: &str| {
            mean_of(&of(timer)).zip(mean_of(&of("CCNTimer"))).is_some_and(|(it, own)| it < own)
        };
        let dominates = |timer: &&str| {
            better(&|timer| runs.time(at, timer), timer)
                && better(&|timer| runs.interests(at, timer), timer)
        };
        let all: Vec<_> = TIMERS.into_iter().filter(dominates).collect();
        let outcome = match runs.time(at, "CCNTimer").len() {
            few if few < SEEDS => Outcome::Open,
            _ if all.is_empty() => Outcome::Holds,
            _ => Outcome::Fails,
        };
        let ours = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        Finding { outcome, ours: format!("{hops} hops: {ours} faster with fewer Interests") }
    }))
}

/// The timers are in the same order at other requesters: no pair that differs at both is reversed.
pub(super) fn order_is_the_same(runs: &Runs<'_>) -> Finding {
    let at = row("5");
    let sign = |metric: &str, one: &str, other: &str| {
        let of = |timer: &str| runs.values(at, timer, metric);
        let difference = paired(&of(one), &of(other), LEVEL)?;
        (difference.low() * difference.high() > 0.0).then_some(difference.mean > 0.0)
    };
    let pairs = || {
        let numbers = 0..TIMERS.len();
        numbers.flat_map(|one| (0..one).map(move |other| (TIMERS[one], TIMERS[other])))
    };
    let differs = |metric: &str| {
        pairs().any(|(one, other)| {
            let (left, own) = (sign("c1.time_s", one, other), sign(metric, one, other));
            left.is_some() && own.is_some() && left != own
        })
    };
    let requesters = ["row1", "row2", "row3", "row4"];
    let same = requesters.iter().filter(|name| !differs(&format!("{name}.time_s"))).count();
    let outcome = match runs.time(at, "CCNTimer").len() {
        few if few < SEEDS => Outcome::Open,
        // Four of five, the leftmost included.
        _ if same + 1 >= 4 => Outcome::Holds,
        _ => Outcome::Fails,
    };
    Finding { outcome, ours: format!("{same} of {} other requesters", requesters.len()) }
}

/// Timers whose lifetime follows the variance of round trips, too.
const WITH_VARIANCE: [&str; 3] = ["TCP RTO", "Timeest", "CCNTimer"];

/// The means of WMA's lifetimes and round trips are below those of the timers that consider variance.
pub(super) fn wma_is_below_timers_with_variance(runs: &Runs<'_>) -> Finding {
    wma_is_below(runs, &WITH_VARIANCE, ("mean", "mean"))
}

/// A-41 until 28 November 2026: WMA has the lowest medians among all timers that adapt.
pub(super) fn wma_is_lowest(runs: &Runs<'_>) -> Finding {
    let others: Vec<_> = ADAPTIVE.into_iter().filter(|timer| *timer != "WMA").collect();
    wma_is_below(runs, &others, ("median", "p50"))
}

/// A statistic of WMA's lifetimes and round trips is below that of others, at five hops of scenario 2.
fn wma_is_below(runs: &Runs<'_>, others: &[&str], (name, statistic): (&str, &str)) -> Finding {
    let at = row("5");
    let pairs = |what: &str, of: &dyn Fn(&str) -> Vec<Seeded>| {
        let wma = of("WMA");
        let below = |timer: &&str| less(("WMA", &wma), (timer, &of(timer)), "s");
        Finding::all(others.iter().map(below)).labelled(&format!("{name} {what}"))
    };
    let finding = pairs("lifetime", &|timer| runs.lifetime(at, timer, statistic))
        .and(pairs("round trip", &|timer| runs.round_trip(at, timer, statistic)));
    runs.unless_bound(at, &["WMA"], finding)
}

/// At three to five hops all but ICP take about as long.
pub(super) fn times_are_alike(runs: &Runs<'_>) -> Finding {
    let at = |hops| {
        let near = |timer| time(runs, sides(hops), (timer, "CCNTimer"), (0.88, 1.12));
        Finding::all(["TCP RTO", "Timeest", "WMA"].map(near))
    };
    Finding::all(["3", "4", "5"].map(at))
}

/// WMA is faster than CCNTimer at two hops, and not at four and five.
pub(super) fn wma_gains_only_near(runs: &Runs<'_>) -> Finding {
    let at = |timer| runs.time(sides("2"), timer);
    let near = less(("2 hops: WMA", &at("WMA")), ("CCNTimer", &at("CCNTimer")), "s");
    let far = |hops| time(runs, sides(hops), ("WMA", "CCNTimer"), (0.99, f64::INFINITY));
    near.and(far("4")).and(far("5"))
}

/// The time that ICP loses against CCNTimer shrinks with distance.
pub(super) fn icp_loses_near(runs: &Runs<'_>) -> Finding {
    let times = |hops| ["ICP", "CCNTimer"].map(|timer| runs.time(sides(hops), timer));
    let ([near_icp, near], [far_icp, far]) = (times("1"), times("5"));
    let (at_one, at_five) = (quotient(&near_icp, &near), quotient(&far_icp, &far));
    ratio("1 hop", &near_icp, &near, 1.1, 1.5)
        .and(ratio("5 hops", &far_icp, &far, 1.0, 1.15))
        .and(less(("5 hops", &at_five), ("1 hop", &at_one), ""))
}

pub(super) fn wma_sends_more(runs: &Runs<'_>) -> Finding {
    let more = |hops| interests(runs, sides(hops), ("WMA", "CCNTimer"), (1.03, 1.14));
    Finding::all(["2", "3", "5"].map(more))
}

pub(super) fn icp_sends_more_near(runs: &Runs<'_>) -> Finding {
    let band = |hops, band| interests(runs, sides(hops), ("ICP", "CCNTimer"), band);
    let near = band("1", (1.1, 1.5));
    near.and(Finding::all(["2", "3", "5"].map(|hops| band(hops, (0.94, 1.06)))))
}

pub(super) fn others_send_alike(runs: &Runs<'_>) -> Finding {
    let at = |hops| {
        let near = |timer| interests(runs, sides(hops), (timer, "CCNTimer"), (0.96, 1.04));
        Finding::all(["constant", "TCP RTO", "Timeest"].map(near))
    };
    Finding::all(HOPS.map(at))
}

/// A statistic of the lifetime of each adaptive timer, without judgement.
pub(super) fn lifetimes(runs: &Runs<'_>, at: At, what: &str) -> Finding {
    let one = |timer| {
        let value = mean_of(&runs.lifetime(at, timer, what)).unwrap_or(f64::NAN);
        format!("{timer} {value:.2} s")
    };
    Finding {
        outcome: Outcome::Reported,
        ours: format!("{what}: {}", ADAPTIVE.map(one).join(", ")),
    }
}

/// Lifetimes of CCNTimer are below those of Timeest, which has no spurious timeouts.
pub(super) fn timeest_waits_too_long(runs: &Runs<'_>) -> Finding {
    let of = |timer| runs.lifetime(sides("1"), timer, "mean");
    let below = less(("lifetime CCNTimer", &of("CCNTimer")), ("Timeest", &of("Timeest")), "s");
    let below = runs.unless_bound(sides("1"), &["CCNTimer", "Timeest"], below);
    let [bad, segments] = ["bad_timeouts", "segments"].map(|it| runs.followed("Timeest", it));
    let share = quotient(&bad, &segments);
    below.and(within(
        "spurious timeouts of Timeest for each segment",
        &share,
        "",
        f64::NEG_INFINITY,
        0.01,
    ))
}

/// WMA has more spurious timeouts than CCNTimer in whole files. A quarter of the file stands beside.
pub(super) fn wma_is_sometimes_too_short(runs: &Runs<'_>) -> Finding {
    let whole = more_are_spurious(runs, |timer| runs.followed_whole(timer, "bad_timeouts"));
    let quarter = wma_is_too_short_in_a_quarter(runs);
    let beside = format!("in a quarter of the file: {} ({})", quarter.outcome.word(), quarter.ours);
    whole.beside(&beside)
}

/// WMA has more spurious timeouts than CCNTimer in a quarter of the file.
pub(super) fn wma_is_too_short_in_a_quarter(runs: &Runs<'_>) -> Finding {
    more_are_spurious(runs, |timer| runs.followed(timer, "bad_timeouts"))
}

fn more_are_spurious(runs: &Runs<'_>, of: impl Fn(&str) -> Vec<Seeded>) -> Finding {
    let (fewer, more) = (of("CCNTimer"), of("WMA"));
    let first = ("spurious timeouts CCNTimer", fewer.as_slice());
    let finding = less_at(THIRD_LOOK, first, ("WMA", &more), "");
    runs.unless_bound(sides("1"), &["WMA", "CCNTimer"], finding)
}

/// Timeouts of ICP and CCNTimer, without judgement.
pub(super) fn icp_times_out(runs: &Runs<'_>) -> Finding {
    let of = |timer| mean_of(&runs.timeouts(sides("1"), timer)).unwrap_or(f64::NAN);
    let ours = format!("{:.0} and {:.1}", of("ICP"), of("CCNTimer"));
    Finding { outcome: Outcome::Reported, ours }
}

/// Each adaptive timer is faster than 4 s in both dense scenarios.
pub(super) fn every_adaptive_is_faster(runs: &Runs<'_>) -> Finding {
    let rows = one::beats_constant(runs, SEVERAL.map(row)).labelled("scenario 2");
    rows.and(one::beats_constant(runs, SEVERAL.map(sides)).labelled("scenario 3"))
}
