//! `[arena]`: how a scenario is judged as a case of `recoup arena`. It changes no run.
//!
//! The transport under test is that of `[fetch]`: every fetch application that names no congestion control of its own
//! takes it. The other fetches are rivals or preparation.
use recoup_config::fields::Fields;
use recoup_config::form::{INTERVAL, Maybe, OneOf};
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::{Table, Tree, Value};
use recoup_transport::time::Duration;

/// How a case is judged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arena {
    /// The situation of the path.
    pub situation: Situation,
    /// Shortest possible completion time; `None` if it follows from the path.
    pub ideal: Option<Duration>,
    /// Round-trip time with empty queues; `None` if it follows from the path.
    pub base_rtt: Option<Duration>,
    /// Start of the period over which goodputs are compared, which ends with the run. A case that has it is one of
    /// sharing a link; the others are judged by their completion time.
    pub since: Option<Duration>,
    /// Fetch applications that take their transport from `[fetch]`, in the order of the file.
    pub under_test: Vec<String>,
    /// The other fetch applications.
    pub rivals: Vec<String>,
}

/// The situation of a case; the order is that of listings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Situation {
    /// A path of its own that loses nothing but by full queues.
    #[default]
    Clean,
    /// An object of few windows.
    Short,
    /// Packets are lost at random.
    RandomLoss,
    /// Packets overtake each other.
    Reordering,
    /// The delay varies from packet to packet, and the order stays.
    Jitter,
    /// Other traffic, a changing rate or congestion marks.
    Congestion,
    /// Several consumers share a link.
    Sharing,
    /// Caches or several producers answer.
    Sources,
    /// Radio links.
    Radio,
    /// Consumers or producers move.
    Mobility,
}

impl Situation {
    /// Every situation with its word in files.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("clean", Self::Clean),
        ("short", Self::Short),
        ("random-loss", Self::RandomLoss),
        ("reordering", Self::Reordering),
        ("jitter", Self::Jitter),
        ("congestion", Self::Congestion),
        ("sharing", Self::Sharing),
        ("sources", Self::Sources),
        ("radio", Self::Radio),
        ("mobility", Self::Mobility),
    ];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, own)| *own == self).map_or("", |(word, _)| word)
    }
}

/// Reads the table; `applications` is the table beside it.
pub(crate) fn read(
    given: &Table,
    path: &str,
    origin: Origin,
    applications: Option<&Table>,
    problems: &mut Problems,
) -> (Arena, Table) {
    let mut arena = Arena::default();
    let mut fields = Fields::new(given, path, origin, false, problems);
    fields.required("situation", &mut arena.situation, OneOf(Situation::ALL));
    fields.field("ideal", &mut arena.ideal, Maybe(INTERVAL));
    fields.field("base-rtt", &mut arena.base_rtt, Maybe(INTERVAL));
    fields.field("since", &mut arena.since, Maybe(INTERVAL));
    let normal = fields.finish();
    for (name, table) in applications.into_iter().flat_map(fetches) {
        let list = match table.get("congestion") {
            None => &mut arena.under_test,
            Some(_) => &mut arena.rivals,
        };
        list.push(name.to_owned());
    }
    if arena.under_test.is_empty() {
        let what =
            "needs a fetch application without `congestion`, which takes the transport under test";
        problems.add(origin, path, what);
    }
    (arena, normal)
}

fn fetches(applications: &Table) -> impl Iterator<Item = (&str, &Table)> {
    let is_fetch = |table: &Table| matches!(table.get("kind"), Some(Tree { value: Value::Text(kind), .. }) if kind == "fetch");
    applications.entries().iter().filter_map(move |entry| match &entry.tree.value {
        Value::Table(table) if is_fetch(table) => Some((entry.key.as_str(), table)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScenarioFile;

    const FILE: &str = "[topology]\nlinks = [\"c-p\"]\n[applications.c1]\nkind = \"fetch\"\nnode = \"c\"\nobject = \"/f\"\n\
        [applications.c2]\nkind = \"fetch\"\nnode = \"c\"\nobject = \"/f\"\ncongestion = \"newreno\"\n\
        [applications.p]\nkind = \"serve\"\nnode = \"p\"\nprefix = \"/f\"\nsize = \"1 MB\"\n";

    fn parse(arena: &str) -> Result<ScenarioFile, String> {
        let text = format!("{FILE}[arena]\n{arena}");
        ScenarioFile::parse(&text, &[]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn fetches_without_congestion_are_under_test() {
        let file = parse("situation = \"sharing\"\nsince = \"12 s\"\n").unwrap();
        let arena = file.arena().unwrap();
        assert_eq!(arena.situation, Situation::Sharing);
        assert_eq!(arena.since, Some(Duration::from_secs(12)));
        assert_eq!(
            (arena.under_test.as_slice(), arena.rivals.as_slice()),
            (&["c1".to_owned()][..], &["c2".to_owned()][..])
        );
        assert!(ScenarioFile::parse(FILE, &[]).unwrap().arena().is_none());
    }

    #[test]
    fn a_judgement_changes_no_identity() {
        let plain = ScenarioFile::parse(FILE, &[]).unwrap();
        let file = parse("situation = \"clean\"\nideal = \"2 s\"\n").unwrap();
        assert_eq!(plain.base(), file.base());
        assert!(file.to_toml().contains("ideal = \"2 s\""), "{}", file.to_toml());
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        for (arena, piece) in [
            ("situation = \"clear\"\n", "arena.situation: `clear` is none"),
            ("ideal = \"2 s\"\n", "arena.situation: is missing"),
            ("situation = \"clean\"\nideal = 2\n", "arena.ideal"),
            ("situation = \"clean\"\nidea = \"2 s\"\n", "arena.idea: is not known"),
        ] {
            let problems = parse(arena).unwrap_err();
            assert!(problems.contains(piece) && problems.contains(':'), "{problems}");
        }
        let alone = "[topology]\nlinks = [\"c-p\"]\n[arena]\nsituation = \"clean\"\n";
        let problems = ScenarioFile::parse(alone, &[]).unwrap_err().to_string();
        assert!(problems.contains("needs a fetch application"), "{problems}");
    }
}
