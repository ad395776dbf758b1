//! Contests for people and for programs: what one way of doing it needs of what the other needs.
use super::table::{difference, mean, point};
use recoup_sim::statistic::Estimate;
use recoup_studies::contest::{Duel, interval};
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::fmt;

/// The contests of a comparison; nothing if there are none.
pub(super) fn table(f: &mut fmt::Formatter<'_>, duels: &[Duel]) -> fmt::Result {
    let mut contest = None;
    for duel in duels {
        if contest != Some(&duel.contest) {
            contest = Some(&duel.contest);
            head(f, duel)?;
        }
        let shown = |cell: Option<Estimate>| mean(cell, "");
        let text = format!(
            "  {:<56}{:>16}{:>16}{:>16}{:>16}{:>9}  {}",
            point(&duel.point),
            shown(duel.ours.real),
            shown(duel.theirs.real),
            shown(duel.ratio.real),
            shown(duel.ratio.simulated),
            difference(&duel.ratio),
            verdict(duel)
        );
        writeln!(f, "{}", text.trim_end())?;
    }
    Ok(())
}

fn head(f: &mut fmt::Formatter<'_>, duel: &Duel) -> fmt::Result {
    let (contest, unit) = (&duel.contest, &duel.contest.quantity.unit);
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let title = format!("{}: {}{unit}", contest.experiment, contest.quantity.label);
    let (ours, theirs) = (&contest.ours, &contest.theirs);
    writeln!(f, "\n{title:<58}{ours:>16}{theirs:>16}{:>16}{:>16}", "quotient", "simulated")
}

/// How a duel ended: as it has to, or on which side of 1.
fn verdict(duel: &Duel) -> &'static str {
    match (duel.is_expected, duel.outcome()) {
        (true, Some(Ordering::Less)) => "less: holds",
        (true, Some(_)) => "FAILS",
        (false, Some(Ordering::Less)) => "less",
        (false, Some(Ordering::Greater)) => "more",
        (false, Some(Ordering::Equal)) => "the same",
        (_, None) => "undecided",
    }
}

/// A duel as a document.
pub(super) fn document(duel: &Duel) -> Value {
    let contest = &duel.contest;
    let side = |ours: Option<Estimate>, theirs: Option<Estimate>, ratio: Option<Estimate>| {
        json!({
            &contest.ours: ours.map(|it| it.mean), &contest.theirs: theirs.map(|it| it.mean),
            "ratio": ratio.map(|it| it.mean), "ci95": interval(ratio), "runs": ratio.map(|it| it.count),
        })
    };
    json!({
        "experiment": contest.experiment, "values": duel.point, "place": contest.place,
        "metric": contest.quantity.metric, "unit": contest.quantity.unit,
        "ours": contest.ours, "theirs": contest.theirs,
        "sockets": side(duel.ours.real, duel.theirs.real, duel.ratio.real),
        "simulated": side(duel.ours.simulated, duel.theirs.simulated, duel.ratio.simulated),
        "difference": duel.ratio.difference(), "expected": duel.is_expected, "holds": duel.holds(),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use recoup_studies::compare::{Cell, Quantity};
    use recoup_studies::contest::Contest;
    use std::collections::BTreeMap;

    /// Time as a quantity.
    pub(crate) fn time() -> Quantity {
        let (metric, label, unit) = ("time_s".into(), "time".into(), "s".into());
        Quantity { metric, label, unit, factor: 1.0 }
    }

    /// A duel whose real quotients are these.
    pub(crate) fn duel(ratios: &[f64], is_expected: bool) -> Duel {
        let estimate = |values: &[f64]| Estimate::of(values, 0.95);
        let (ours, theirs) = (estimate(&[9.0, 9.0]), estimate(&[10.0, 10.0]));
        let word = str::to_owned;
        let contest = Contest {
            experiment: word("repair"),
            axis: word("version"),
            ours: word("Smart"),
            theirs: word("Simple1"),
            place: word("c1"),
            quantity: time(),
            expected: Vec::new(),
        };
        Duel {
            contest,
            point: BTreeMap::from([("loss".into(), "2 %".into())]),
            ours: Cell { simulated: ours, real: ours },
            theirs: Cell { simulated: theirs, real: theirs },
            ratio: Cell { simulated: estimate(&[0.9, 0.9]), real: estimate(ratios) },
            is_expected,
        }
    }

    struct Shown<'a>(&'a [Duel]);

    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            table(f, self.0)
        }
    }

    #[test]
    fn line_has_both_sides_and_their_quotient() {
        let duels =
            [duel(&[0.899, 0.901], true), duel(&[1.2, 1.21], true), duel(&[1.2, 1.21], false)];
        let text = Shown(&duels).to_string();
        for piece in ["repair: time (s)", "Simple1", "loss 2 %", "less: holds", "FAILS", "more"] {
            assert!(text.contains(piece), "{piece}: {text}");
        }
        assert_eq!(text.matches("quotient").count(), 1);
        assert_eq!(verdict(&duel(&[0.5], true)), "undecided");
        assert_eq!(Shown(&[]).to_string(), "");
    }

    #[test]
    fn a_document_has_the_interval_of_the_quotient() {
        let it = document(&duel(&[0.8, 1.0], true));
        assert_eq!((&it["holds"], &it["sockets"]["runs"]), (&Value::Null, &2.into()));
        assert!(it["sockets"]["ci95"][0].as_f64().unwrap() < 0.0);
        assert_eq!(it["simulated"]["Smart"], 9.0);
    }
}
