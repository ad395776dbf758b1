//! Journals.
use super::*;

pub(crate) fn row(point: &str, seed: u64, time_s: f64) -> Row {
    Row {
        point: point.into(),
        seed,
        values: vec![("link.delay".into(), "10 ms".into())],
        digest: format!("{seed:016x}"),
        end_s: 1.5,
        elapsed_s: 0.25,
        metrics: [("c1.time_s".into(), time_s)].into_iter().collect(),
        files: BTreeMap::new(),
    }
}

fn all(rows: &Rows) -> Vec<Row> {
    rows.iter().map(Result::unwrap).collect()
}

/// The rows of a journal that is opened again, which are those of `journal`.
fn again(path: &Path, journal: &Journal) -> Rows {
    let again = Rows::open(path).unwrap();
    assert_eq!((all(&again), &again.units), (all(&journal.rows), &journal.rows.units));
    assert_eq!(again.by_point(), journal.rows.by_point());
    again
}

fn metric() -> Vec<Metric> {
    vec![Metric { name: "c1.time_s".into(), unit: "s", value: 1.0 }]
}

#[test]
fn what_was_written_is_there_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::open(&path, &|_| true).unwrap();
    // Not every number survives being written with few digits.
    let time = 0.1 + 0.2;
    journal.append(row("a", 1, time), &metric()).unwrap();
    journal.append(row("a", 2, 1e-300), &metric()).unwrap();
    let again = again(&path, &journal);
    let found = again.find("a", 1).unwrap().and_then(|row| row.metric("c1.time_s"));
    assert_eq!(found, Some(time));
    assert_eq!(again.units.get("c1.time_s").map(String::as_str), Some("s"));
    let is_there = |point, seed| again.find(point, seed).unwrap().is_some();
    assert!(is_there("a", 2) && !is_there("b", 1) && !is_there("a", 3));
}

#[test]
fn forgotten_point_is_gone_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::open(&path, &|_| true).unwrap();
    for (point, seed) in [("a", 1), ("b", 1), ("a", 2)] {
        journal.append(row(point, seed, 1.0), &metric()).unwrap();
    }
    journal.forget("a").unwrap();
    journal.append(row("a", 3, 3.0), &metric()).unwrap();
    let left = all(&again(&path, &journal)).into_iter().map(|row| (row.point, row.seed));
    assert!(left.eq([("b".to_owned(), 1), ("a".to_owned(), 3)]));
}

#[test]
fn truncated_line_is_ignored_at_any_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::open(&path, &|_| true).unwrap();
    journal.append(row("a", 1, 1.0), &metric()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    journal.append(row("a", 2, 2.0), &metric()).unwrap();
    let both = std::fs::read(&path).unwrap();
    for end in whole.len()..both.len() {
        std::fs::write(&path, &both[..end]).unwrap();
        let mut cut = Journal::open(&path, &|_| true).unwrap();
        assert_eq!(cut.rows.len(), 1, "{end}");
        cut.append(row("a", 3, 3.0), &metric()).unwrap();
        assert_eq!(Journal::open(&path, &|_| true).unwrap().rows.len(), 2, "{end}");
    }
}

/// A journal of so many runs with a hundred metrics each.
fn many(path: &Path, runs: u64) -> Journal {
    let mut journal = Journal::open(path, &|_| true).unwrap();
    for seed in 0..runs {
        let metric = |number: u32| (format!("consumer{number}.goodput_mean_bps"), 0.5);
        let metrics = (0..100).map(metric).collect();
        journal.append(Row { metrics, ..row("a", seed, 1.0) }, &[]).unwrap();
    }
    journal
}

#[test]
fn runs_share_the_names_of_their_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = many(&path, 50);
    let is_shared = |rows: &Rows| {
        let (_, first) = &rows.changes[0];
        all(rows).iter().all(|row| Arc::ptr_eq(row.metrics.names(), first))
    };
    assert!(is_shared(&journal.rows) && is_shared(&again(&path, &journal)));
    // Names stand in the file once, and values take a few bytes each.
    let name = b"consumer7.goodput_mean_bps";
    let count = |text: &[u8]| text.windows(name.len()).filter(|it| it == name).count();
    let text = fs::read(&path).unwrap();
    assert_eq!(count(&text), 1);
    assert!(text.len() < 50 * 100 * 8, "{}", text.len());
    journal.retain(&|row| row.seed >= 25).unwrap();
    assert_eq!((count(&fs::read(&path).unwrap()), journal.rows.len()), (1, 25));
    again(&path, &journal);
}

#[test]
fn equal_names_are_in_memory_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let mut journal = Journal::open(&path, &|_| true).unwrap();
    for seed in 0..8 {
        let names = ["c1.time_s", "c1.lost"].into_iter().skip(seed % 2);
        let metrics = names.map(|name| (name.to_owned(), seed as f64)).collect();
        journal.append(Row { metrics, ..row("a", seed as u64, 1.0) }, &[]).unwrap();
    }
    for rows in [&journal.rows, &again(&path, &journal)] {
        let names = |at: usize| &rows.changes[at].1;
        assert_eq!(rows.changes.len(), 8);
        assert!((2..8).all(|at| Arc::ptr_eq(names(at), names(at % 2))));
    }
    let last = journal.rows.find("a", 6).unwrap().unwrap();
    assert_eq!((last.metric("c1.time_s"), last.metric("c1.lost")), (Some(6.0), Some(6.0)));
}

#[test]
fn journal_of_earlier_versions_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let line = |seed: u64| {
        format!(
            r#"{{"run":{{"point":"a","seed":{seed},"values":[["link.delay","10 ms"]],"digest":"{seed:016x}","#
        ) + r#""end_s":1.5,"elapsed_s":0.25,"metrics":[["c1.time_s",7.5]]}}"#
            + "\n"
    };
    let units = "{\"units\":{\"c1.time_s\":\"s\"}}\n";
    fs::write(&path, format!("{units}{}{}", line(1), line(2))).unwrap();
    let mut journal = Journal::open(&path, &|_| true).unwrap();
    journal.append(row("a", 3, 7.5), &metric()).unwrap();
    let mut other = row("a", 4, 7.5);
    other.metrics = [("c1.lost".into(), 1.0)].into_iter().collect();
    journal.append(other, &[]).unwrap();
    journal.append(row("a", 5, 7.5), &metric()).unwrap();
    let again = again(&path, &journal);
    let mut same = all(&again);
    same.retain(|row| row.seed != 4);
    assert_eq!(same, [1, 2, 3, 5].map(|seed| row("a", seed, 7.5)));
    let other = again.find("a", 4).unwrap().unwrap();
    assert_eq!(other.metric("c1.lost"), Some(1.0));
}

#[test]
fn non_journal_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    std::fs::write(&path, "{}\n").unwrap();
    let failure = Journal::open(&path, &|_| true).unwrap_err().to_string();
    assert!(failure.contains("jsonl:1:") && failure.contains("--fresh"), "{failure}");
}
