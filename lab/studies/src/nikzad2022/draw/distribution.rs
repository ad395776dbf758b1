//! Distributions of round trips and timeouts: Figures 3 and 5.
use crate::figure::{Figure, Series, Style};
use crate::nikzad2022::timer::{BASIC, Gains, Jacobson, S, floored};
use crate::result::Results;
use recoup_sim::statistic::order::quantile_of_sorted;

/// Points of a distribution.
const POINTS: usize = 200;
/// Longer times are not drawn, in ms.
const LONGEST: f64 = 1_000.0;

/// Figure 3.
pub(super) fn of_floor(results: &Results) -> Vec<Figure> {
    let line = |column: &'static str| {
        move |s: &&str| distribution(results, "rtt", floored(100), s, column, &format!("s = {s}"))
    };
    vec![
        figure(
            ("rtt-100", "Round trips with RTO_min 100 ms (Fig. 3a)"),
            S.iter().map(line("rtt_s")).collect(),
        ),
        figure(
            ("rto-100", "First timeouts with RTO_min 100 ms (Fig. 3b)"),
            S.iter().map(line("first_rto_s")).collect(),
        ),
    ]
}

/// Figure 5.
pub(super) fn of_classes(results: &Results) -> Vec<Figure> {
    let very_slow = Jacobson { gains: Gains::VerySlow, ..BASIC };
    let round_trips =
        |s: &&str| distribution(results, "rtt", very_slow, s, "rtt_s", &format!("s = {s}"));
    let timeouts = |gains: Gains| {
        let timer = Jacobson { gains, ..BASIC };
        distribution(results, "rto", timer, "1.5", "first_rto_s", gains.name())
    };
    vec![
        figure(
            ("rtt-very-slow", "Round trips with Very Slow (Fig. 5a)"),
            S.iter().map(round_trips).collect(),
        ),
        figure(
            ("rto-classes", "First timeouts at s = 1.5 (Fig. 5b)"),
            Gains::ALL.map(timeouts).into(),
        ),
    ]
}

fn figure((id, title): (&str, &str), series: Vec<Series>) -> Figure {
    let x = if id.starts_with("rtt") { "round trip" } else { "first timeout" };
    Figure {
        id: id.into(),
        ..super::WORDS.figure("figure", &[("title", &title), ("x", &x)], series)
    }
}

/// The distribution of a column over the requests of all consumers; of round trips, those without
/// retransmission.
fn distribution(
    results: &Results,
    experiment: &str,
    timer: Jacobson,
    s: &str,
    column: &str,
    name: &str,
) -> Series {
    let point = format!("timer={}, s={s}", timer.label());
    let mut values = Vec::new();
    for consumer in 1..=20 {
        let Some(curve) = results.curve(experiment, &format!("{point}/c{consumer}/segments"))
        else {
            continue;
        };
        let times = curve.column(column).iter().zip(curve.column("transmissions"));
        let counts = times.filter(|(_, times)| column != "rtt_s" || **times == 1.0);
        values.extend(counts.map(|(time, _)| 1e3 * time));
    }
    values.sort_by(f64::total_cmp);
    let mut series = Series::new(name, Style::Line);
    let at = |place: usize| {
        let share = place as f64 / POINTS as f64;
        Some((quantile_of_sorted(&values, share)?, share))
    };
    series.points = (0..=POINTS).filter_map(at).filter(|(time, _)| *time <= LONGEST).collect();
    series
}
