//! The arena: transports judged on the same cases.
//!
//! A case is a scenario file with a table `[arena]`, in the folder `cases` or given by the user; a new case is one file.
//! The shortest completion time follows from the path of the case ([`ideal`]), unless the file gives it.
//! A run of a case with a transport has a [`score::Score`]; the scores of several seeds are summed up in a
//! [`summary::Summary`], and those of all cases in a [`standing::Standing`].
//!
//! [`random`] makes networks by kind and number, on which constants are fixed that the cases then judge.
pub mod case;
pub mod ideal;
pub mod kept;
pub mod path;
pub mod random;
pub mod score;
pub mod standing;
pub mod summary;

use case::{Case, CaseError};
use include_dir::{Dir, include_dir};

static CASES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/arena/cases");

/// Names and texts of the cases that are built in, by name.
pub fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    CASES.files().filter_map(|file| {
        let name = file.path().file_stem()?.to_str()?;
        Some((name, file.contents_utf8()?))
    })
}

/// The cases that are built in, by situation and name.
///
/// # Errors
/// If one of them is wrong, which a test rules out.
pub fn cases() -> Result<Vec<Case>, CaseError> {
    let none = |name: &str| Err(format!("{name} is not built in"));
    let mut cases =
        texts().map(|(name, text)| Case::new(name, text, &none)).collect::<Result<Vec<_>, _>>()?;
    sort(&mut cases);
    Ok(cases)
}

/// Orders cases by situation; cases of one situation by name.
pub fn sort(cases: &mut [Case]) {
    cases.sort_by(|a, b| (a.arena.situation, &a.name).cmp(&(b.arena.situation, &b.name)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use case::Kind;
    use std::collections::BTreeMap;

    /// Ideals as they were published with the cases, in s.
    const PUBLISHED: &[(&str, f64)] = &[
        ("plain", 8.75304),
        ("loss-0.1", 5.002170933),
        ("bursts", 4.654669745),
        ("on-off", 21.759933333),
        ("two-sources", 4.57788),
        ("marks", 4.45364),
        ("satellite", 12.920941505),
    ];

    #[test]
    fn ideals_follow_from_the_paths() {
        let cases = cases().unwrap_or_else(|error| panic!("{error}"));
        let known: BTreeMap<&str, f64> = PUBLISHED.iter().copied().collect();
        let found =
            cases.iter().filter_map(|case| Some((case.name.as_str(), case.terms.ideal_s()?)));
        let found: BTreeMap<&str, f64> = found.collect();
        for (name, expected) in known {
            let ideal = found.get(name).copied().unwrap_or_default();
            assert!((ideal / expected - 1.0).abs() < 1e-4, "{name}: {ideal} s, not {expected} s");
        }
    }

    #[test]
    fn other_traffic_does_not_slow_a_packet_down() {
        let cases = cases().unwrap_or_else(|error| panic!("{error}"));
        let half = cases.iter().find(|case| case.name == "half-taken");
        // 40 ms and 10,400 bits at 20 Mbit/s, although half of the link is taken.
        let base = half.and_then(|case| case.terms.base_rtt_s).unwrap_or_default();
        assert!((base - 0.04052).abs() < 1e-9, "{base}");
    }

    #[test]
    fn sharing_cases_know_their_fair_shares() {
        let cases = cases().unwrap_or_else(|error| panic!("{error}"));
        let of =
            |name: &str| match cases.iter().find(|case| case.name == name).map(|it| &it.terms.kind)
            {
                Some(Kind::Sharing { goodput, fair_share, last_arrival_s, .. }) => {
                    (goodput.round(), *fair_share, *last_arrival_s)
                }
                other => panic!("{name}: {other:?}"),
            };
        assert_eq!(of("beside-cubic"), (18_461_538.0, 0.5, 2.0));
        assert_eq!(of("beside-newreno-deep"), (9_230_769.0, 0.5, 2.0));
        assert_eq!(of("four"), (18_461_538.0, 1.0, 3.0));
        assert_eq!(of("crowd"), (92_307_692.0, 1.0, 7.5));
        assert_eq!(of("rtts"), (36_923_077.0, 1.0, 3.0));
    }

    #[test]
    fn scenario_that_is_no_case_is_explained() {
        let (_, clean) = texts().find(|(name, _)| *name == "plain").unwrap_or_default();
        let wrong = |text: &str| match Case::new("x", text, &|_| Err("none".into())) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{text}"),
        };
        let without = clean.replace("[arena]\nsituation = \"clean\"\n", "");
        assert!(wrong(&without).contains("is no case: write [arena]"), "{}", wrong(&without));
        let swept = format!("{clean}[sweep]\nfetch.loss = [\"timeout\"]\n");
        assert!(wrong(&swept).contains("no [sweep]"));
        let blind = clean.replace("[arena]\n", "[arena]\nsince = \"2 s\"\n");
        assert!(wrong(&blind).contains("goodput(bin=1s)"));
        let burst = clean.replace("queue = \"38 packets\"", "loss = \"burst(at=1s,packets=3)\"");
        assert!(wrong(&burst).contains("write arena.ideal: how much"), "{}", wrong(&burst));
    }
}
