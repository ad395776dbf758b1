//! Section 4.4: two clients want the same file while other traffic takes a part of every link.
use super::axis::LOADS;
use super::runs::{Runs, joined};
use crate::rule::{Finding, always, estimate, less, quotient, ratio, scaled, text, within};
use recoup_sim::statistic::Seeded;

/// A metric of a client.
pub(super) fn of(
    runs: &Runs<'_>,
    client: &str,
    (fairness, load): (&str, &str),
    metric: &str,
) -> Vec<Seeded> {
    let choice = [("fairness", fairness), ("load", load)];
    runs.values(&choice, &format!("{client}.{metric}"))
}

/// Losses as Table 3 counts them: segments that a client declared lost and retransmitted.
pub(super) const LOSSES: &str = "retransmissions";

/// Bytes of content per second, in thousands.
fn kilobytes(runs: &Runs<'_>, client: &str, at: (&str, &str)) -> Vec<Seeded> {
    scaled(of(runs, client, at, "goodput_bps"), 1.0 / 8e3)
}

/// Times with over without fairness.
pub(super) fn change(runs: &Runs<'_>, client: &str, load: &str) -> Vec<Seeded> {
    let time = |fairness| of(runs, client, (fairness, load), "time_s");
    quotient(&time("max-min"), &time("off"))
}

/// Time that a client saves by fairness, in percent.
fn saving(runs: &Runs<'_>, client: &str, load: &str) -> Vec<Seeded> {
    scaled(change(runs, client, load), -100.0)
        .into_iter()
        .map(|(seed, it)| (seed, it + 100.0))
        .collect()
}

/// Without other traffic fairness changes the time by at most 1 %, and nothing is lost with it or without: no segment is
/// taken for lost, no queue drops a packet.
pub(super) fn no_difference(runs: &Runs<'_>, client: &str) -> Finding {
    let both =
        |metric| ["max-min", "off"].map(|fairness| of(runs, client, (fairness, "0 %"), metric));
    let [with, without] = both("time_s");
    let found = ratio("time with/without", &with, &without, 0.99, 1.01);
    let losses = ["max-min", "off"].into_iter().zip(both(LOSSES));
    let losses =
        losses.map(|(name, values)| always(&format!("{name}: no losses"), &values, 0.0, 0.0));
    let found = found.and(Finding::all(losses));
    ["max-min", "off"].into_iter().fold(found, |found, fairness| {
        let dropped = runs.values(&[("fairness", fairness), ("load", "0 %")], "all.lost");
        found.and(always(&format!("{fairness}: no drops in queues"), &dropped, 0.0, 0.0))
    })
}

/// Time, throughput and losses without and with fairness.
pub(super) fn row(runs: &Runs<'_>, client: &str, load: &str) -> Finding {
    let shown = |values: &[Seeded], unit: &str| {
        estimate(values).map_or_else(|| "no results".to_owned(), |it| text(&it, unit))
    };
    let pair = |of: &dyn Fn(&str) -> Vec<Seeded>, unit: &str| {
        format!("{} / {}", shown(&of("off"), unit), shown(&of("max-min"), unit))
    };
    let time = pair(&|fairness| of(runs, client, (fairness, load), "time_s"), "s");
    let rate = pair(&|fairness| kilobytes(runs, client, (fairness, load)), "kB/s");
    let lost = pair(&|fairness| of(runs, client, (fairness, load), LOSSES), "losses");
    Finding { outcome: crate::claim::Outcome::Reported, ours: format!("{time}; {rate}; {lost}") }
}

/// Client 2's time changes by less than 5 %.
pub(super) fn hardly_changes(runs: &Runs<'_>) -> Finding {
    let [with, without] =
        ["max-min", "off"].map(|fairness| of(runs, "c2", (fairness, "80 %"), "time_s"));
    let found = ratio("time with/without", &with, &without, 0.95, 1.05);
    found.beside(&row(runs, "c2", "80 %").ours)
}

/// Client 1 saves 5 to 40 % of its time, and loses less.
pub(super) fn helps_client_1(runs: &Runs<'_>) -> Finding {
    let time = within("saves", &saving(runs, "c1", "80 %"), "%", 5.0, 40.0);
    let lost = |fairness| of(runs, "c1", (fairness, "80 %"), LOSSES);
    let found = time.and(less(("losses with", &lost("max-min")), ("without", &lost("off")), ""));
    let dropped = |fairness| {
        let at = [("fairness", fairness), ("load", "80 %")];
        let dropped = estimate(&runs.values(&at, "all.lost"));
        dropped.map_or_else(|| "none known".to_owned(), |it| text(&it, ""))
    };
    let dropped = format!("packets lost in queues {} / {}", dropped("off"), dropped("max-min"));
    found.beside(&dropped)
}

/// Time × throughput is the length of the file, in every run.
pub(super) fn product(runs: &Runs<'_>) -> Finding {
    let each = ["c1", "c2"].into_iter().flat_map(|client| {
        ["off", "max-min", "drr"].into_iter().flat_map(move |fairness| {
            LOADS.into_iter().map(move |load| {
                let (time, rate) = (
                    of(runs, client, (fairness, load), "time_s"),
                    kilobytes(runs, client, (fairness, load)),
                );
                joined(&time, &rate, |time, rate| time * rate)
            })
        })
    });
    let all: Vec<_> = each.flatten().collect();
    always("20 000 kB within 1 %", &all, 19_800.0, 20_200.0)
}

/// Client 2, which finds a part near, is faster.
pub(super) fn client_2_is_faster(runs: &Runs<'_>) -> Finding {
    let time = |client| of(runs, client, ("off", "80 %"), "time_s");
    less(("Client 2", &time("c2")), ("Client 1", &time("c1")), "s")
}

/// Client 1 saves nothing without other traffic, and more beside the most of it.
pub(super) fn helps_more_with_load(runs: &Runs<'_>) -> Finding {
    let (none, most) = (saving(runs, "c1", "0 %"), saving(runs, "c1", "80 %"));
    let found = within("saves at 0 %", &none, "%", -1.0, 1.0);
    let found = found.and(less(("0 %", &none), ("80 %", &most), "%"));
    let shown = |load| {
        let saved = estimate(&saving(runs, "c1", load));
        format!("{load} {}", saved.map_or_else(|| "no results".to_owned(), |it| text(&it, "%")))
    };
    found.beside(&format!("between them {}, {}", shown("40 %"), shown("60 %")))
}

/// Throughputs of the two clients, the larger over the smaller.
pub(super) fn equality(runs: &Runs<'_>) -> Finding {
    let ratio = |fairness| {
        let of = |client| kilobytes(runs, client, (fairness, "80 %"));
        let larger = joined(&of("c1"), &of("c2"), |one, two| one.max(two) / one.min(two));
        within(&format!("larger/smaller, {fairness}"), &larger, "", 1.0, f64::INFINITY)
    };
    ratio("off").and(ratio("max-min")).and(ratio("drr"))
}
