//! Judges the claims B-01 to B-22.
use super::{DESIGNS, scenario};
use crate::result::Results;
use crate::rule::{Finding, always, increasing, joined, less, ratio, scaled, within};
use crate::study::Dependence;
use recoup_sim::statistic::{Seeded, mean};

/// Bytes of all Data packets of the file in the paper's accounting: 10,240 packets of 1448 bytes.
const FILE_BYTES: f64 = 10_240.0 * 1448.0;

/// The runs of one network, by design, at one value of the other axis.
struct Runs<'a> {
    results: &'a Results,
    experiment: &'a str,
    /// The rest of the point: axis and value.
    rest: Option<(&'a str, &'a str)>,
    consumers: &'static [&'static str],
}

const ONE: &[&str] = &["c1"];
const TWO: &[&str] = &["c1", "c2"];

impl<'a> Runs<'a> {
    fn linear(results: &'a Results) -> Self {
        Self { results, experiment: "linear", rest: None, consumers: ONE }
    }

    fn dumbbell(results: &'a Results) -> Self {
        Self { results, experiment: "dumbbell", rest: None, consumers: TWO }
    }

    /// A metric of a consumer, by seed.
    fn of(&self, design: &str, consumer: &str, metric: &str) -> Vec<Seeded> {
        let choice: Vec<_> = [("design", design)].into_iter().chain(self.rest).collect();
        self.results.values(self.experiment, &choice, &format!("{consumer}.{metric}"))
    }

    /// A metric, averaged over the consumers of each run.
    fn each(&self, design: &str, metric: &str) -> Vec<Seeded> {
        let all: Vec<_> = self.consumers.iter().map(|it| self.of(design, it, metric)).collect();
        averaged(&all)
    }

    fn time(&self, design: &str) -> Vec<Seeded> {
        self.each(design, "time_s")
    }

    fn loss(&self, design: &str) -> Vec<Seeded> {
        self.each(design, "loss_event_percent")
    }

    /// `metric` grows from design to design in that order.
    fn ordered(&self, order: &[&'static str], metric: &str, unit: &str) -> Finding {
        let series: Vec<_> = order.iter().map(|it| (*it, self.each(it, metric))).collect();
        increasing(&series, unit)
    }

    fn band(&self, design: &str, time: (f64, f64), loss: (f64, f64)) -> Finding {
        within("time", &self.time(design), "s", time.0, time.1).and(within(
            "loss",
            &self.loss(design),
            "%",
            loss.0,
            loss.1,
        ))
    }

    fn ratio(&self, design: &str, low: f64, high: f64) -> Finding {
        ratio(&format!("{design}/#0"), &self.time(design), &self.time("#0"), low, high)
    }
}

/// The mean over several series, for each seed that all of them have.
fn averaged(all: &[Vec<Seeded>]) -> Vec<Seeded> {
    let Some((first, others)) = all.split_first() else {
        return Vec::new();
    };
    let with = |seed: u64, value: f64| {
        let rest = others.iter().map(|it| it.iter().find(|(other, _)| *other == seed));
        let rest: Option<Vec<f64>> = rest.map(|it| it.map(|(_, value)| *value)).collect();
        let values: Vec<f64> = rest?.into_iter().chain([value]).collect();
        Some((seed, mean(&values)?))
    };
    first.iter().filter_map(|(seed, value)| with(*seed, *value)).collect()
}

/// The finding on a claim.
pub(super) fn judge(id: &str, results: &Results) -> Finding {
    let (linear, dumbbell) = (Runs::linear(results), Runs::dumbbell(results));
    let any = f64::INFINITY;
    match id {
        "B-01" => {
            let throughput = scaled(linear.each("#0", "throughput_bps"), 1e-3);

            within("time", &linear.time("#0"), "s", 23.8 * 0.98, 23.8 * 1.02)
                .and(within("throughput", &throughput, "kb/s", 4900.0, any))
                .and(always("no timeout", &linear.each("#0", "timeouts"), 0.0, 0.0))
        }
        "B-02" => linear.band("#1", (30.0, 48.0), (0.7, 2.0)),
        "B-03" => linear.band("#2", (27.0, 34.0), (0.2, 0.8)),
        "B-04" => linear.band("#3", (24.2, 26.0), (0.08, 0.2)),
        "B-05" => linear.ordered(&["#0", "#3", "#2", "#1"], "time_s", "s"),
        "B-06a" => linear.ratio("#3", 0.0, 1.10),
        "B-06b" => linear.ratio("#2", 1.10, 1.45).and(linear.ratio("#1", 1.25, 2.0)),
        "B-07" => {
            let none = always("#0: no loss", &linear.loss("#0"), 0.0, 0.0);
            let rest = linear.ordered(&["#3", "#2", "#1"], "loss_event_percent", "%");
            let some = within("#3", &linear.loss("#3"), "%", f64::MIN_POSITIVE, any);
            none.and(some).and(rest)
        }
        "B-08" => {
            let each = |it| {
                let time = dumbbell.of("#0", it, "time_s");
                within(it, &time, "s", 47.6 * 0.98, 47.6 * 1.02)
            };
            each("c1").and(each("c2"))
        }
        "B-09" => dumbbell.band("#1", (51.0, 65.0), (1.3, 4.0)),
        "B-10" => dumbbell.band("#2", (49.0, 57.0), (0.6, 1.8)),
        "B-11" => dumbbell.band("#3", (45.0, 49.5), (0.25, 0.42)),
        "B-12" => {
            let order = dumbbell.ordered(&["#3", "#2", "#1"], "time_s", "s");
            dumbbell.ratio("#3", 0.96, 1.04).and(order)
        }
        "B-13" => {
            let none = always("#0: no loss", &dumbbell.loss("#0"), 0.0, 0.0);
            let some = within("#3", &dumbbell.loss("#3"), "%", f64::MIN_POSITIVE, any);
            let rest = dumbbell.ordered(&["#3", "#2", "#1"], "loss_event_percent", "%");
            none.and(some).and(rest)
        }
        "B-14" => constant_product(&linear).and(constant_product(&dumbbell)),
        "B-15" => {
            let (dumbbell, linear) = (dumbbell.loss("#3"), linear.loss("#3"));
            ratio("dumbbell/linear", &dumbbell, &linear, 1.7, 4.0)
        }
        "B-16" => {
            let of = |consumer| dumbbell.of("#3", consumer, "throughput_bps");
            let larger = joined(&of("c1"), &of("c2"), |one, other| one.max(other) / one.min(other));
            let jain = within("Jain", &dumbbell.of("#3", "all", "jain"), "", 0.995, any);

            within("larger/smaller", &larger, "", 0.0, 1.1).and(jain)
        }
        "B-17" => spread(&dumbbell),
        "B-18" => {
            let share = scaled(linear.each("#0", "throughput_bps"), 1.0 / 5e6);
            within("share of 5 Mbit/s", &share, "", 0.97, any)
        }
        "B-19" => {
            let later = |design| later(&dumbbell, design);
            let beats = |design| less(("#0", &later("#0")), (design, &later(design)), "s");
            let linear = ["#1", "#2", "#3"].map(|design| {
                less(("#0", &linear.time("#0")), (design, &linear.time(design)), "s")
            });
            let all = linear.into_iter().chain(["#1", "#2", "#3"].map(beats));

            all.reduce(Finding::and).unwrap_or_else(|| Finding::open("no results"))
        }
        "B-20" => linear.ordered(&["#1", "#2", "#3"], "window_mean", "segments"),
        "B-21" => {
            let twice = scaled(linear.each("#3", "bad_timeouts"), 2.0);

            less(("2 × #3", &twice), ("#2", &linear.each("#2", "bad_timeouts")), "")
        }
        "B-22" => {
            let rises = |runs: &Runs<'_>, design| {
                let rises = runs.each(design, "recovery_point_rises");
                always(&format!("{} {design}", runs.experiment), &rises, 1.0, 1.0)
            };

            rises(&linear, "#2")
                .and(rises(&linear, "#3"))
                .and(rises(&dumbbell, "#2"))
                .and(rises(&dumbbell, "#3"))
        }
        _ => Finding::open("no rule for this claim"),
    }
}

/// Time × throughput is what was transferred.
fn constant_product(runs: &Runs<'_>) -> Finding {
    let product = |design: &str| {
        let rate = runs.each(design, "packet_bytes");
        let share = scaled(rate, 1.0 / FILE_BYTES);
        always(&format!("{} {design}: within 1 %", runs.experiment), &share, 0.99, 1.01)
    };
    DESIGNS.map(product).into_iter().reduce(Finding::and).unwrap_or_else(|| Finding::open(""))
}

/// Times of the later consumer.
fn later(runs: &Runs<'_>, design: &str) -> Vec<Seeded> {
    let other = runs.of(design, "c2", "time_s");
    let first = runs.of(design, "c1", "time_s").into_iter();
    first
        .filter_map(|(seed, time)| {
            let (_, second) = other.iter().find(|(it, _)| *it == seed)?;
            Some((seed, time.max(*second)))
        })
        .collect()
}

/// Run by run, times of #3 lie nearer to their mean than those of #1 (absolute deviations, as in Levene's
/// test).
fn spread(runs: &Runs<'_>) -> Finding {
    let (every, one) = (deviations(runs, "#1"), deviations(runs, "#3"));
    less(("deviation of #3", &one), ("#1", &every), "s")
}

/// Distance of a run's time from the mean of its consumer, averaged over the consumers.
fn deviations(runs: &Runs<'_>, design: &str) -> Vec<Seeded> {
    let of = |consumer: &&str| {
        let times = runs.of(design, consumer, "time_s");
        let all: Vec<f64> = times.iter().map(|(_, time)| *time).collect();
        let centre = mean(&all).unwrap_or_default();
        times.into_iter().map(|(seed, time)| (seed, (time - centre).abs())).collect::<Vec<_>>()
    };
    averaged(&TWO.iter().map(of).collect::<Vec<_>>())
}

/// The claims about the linear network that can be judged without design #0, at each value of the open parameters.
/// open.
pub(super) fn dependences(results: &Results) -> Vec<Dependence> {
    let mut all = Vec::new();
    for open in &scenario::OPEN {
        for value in open.axis.names() {
            let rest = Some((open.axis.name, value));
            let runs = Runs { results, experiment: open.experiment, rest, consumers: ONE };
            let findings = without_a_fixed_window(&runs);
            let is_assumed = value == open.assumed;
            all.push(Dependence {
                parameter: open.axis.name,
                value: value.into(),
                is_assumed,
                findings,
            });
        }
    }
    all
}

fn without_a_fixed_window(runs: &Runs<'_>) -> Vec<(&'static str, Finding)> {
    let twice = scaled(runs.each("#3", "bad_timeouts"), 2.0);
    let bad = runs.each("#2", "bad_timeouts");
    vec![
        ("B-02", runs.band("#1", (30.0, 48.0), (0.7, 2.0))),
        ("B-03", runs.band("#2", (27.0, 34.0), (0.2, 0.8))),
        ("B-04", runs.band("#3", (24.2, 26.0), (0.08, 0.2))),
        ("B-05", runs.ordered(&["#3", "#2", "#1"], "time_s", "s")),
        ("B-07", runs.ordered(&["#3", "#2", "#1"], "loss_event_percent", "%")),
        ("B-20", runs.ordered(&["#1", "#2", "#3"], "window_mean", "segments")),
        ("B-21", less(("2 × #3", &twice), ("#2", &bad), "")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::Outcome;
    use crate::result::Row;
    use std::collections::BTreeMap;

    /// Runs of #3 in the dumbbell whose consumers' rates are `ratio` to 1, with either of them ahead in turns.
    fn shared(ratio: f64) -> Results {
        let row = |seed: u64| {
            let rates = if seed.is_multiple_of(2) { [ratio, 1.0] } else { [1.0, ratio] };
            let jain = recoup_sim::statistic::jain(&rates).unwrap();
            let metrics = [
                ("c1.throughput_bps", rates[0]),
                ("c2.throughput_bps", rates[1]),
                ("all.jain", jain),
            ];
            Row {
                point: BTreeMap::from([("design".to_owned(), "#3".to_owned())]),
                seed,
                metrics: metrics.map(|(name, value)| (name.to_owned(), value)).into(),
            }
        };
        let rows = (1..=20).map(row).collect();
        Results {
            experiments: BTreeMap::from([("dumbbell".to_owned(), rows)]),
            ..Results::default()
        }
    }

    #[test]
    fn unequal_shares_show_for_either_consumer() {
        let b_16 = |ratio| judge("B-16", &shared(ratio)).outcome;
        assert_eq!(b_16(1.05), Outcome::Holds);
        // The mean of c1/c2 would be 1.007.
        assert_eq!(b_16(1.13), Outcome::Fails);
    }
}
