//! Folders of results.
use super::super::journal::tests::row;
use super::*;

static NONE: BTreeMap<String, String> = BTreeMap::new();

fn purpose<'a>(text: &'a str, fresh: bool) -> Purpose<'a> {
    let algorithms = &NONE;
    Purpose { text, digest: text, algorithms, fresh, format: Format::Csv }
}

fn opened(path: &Path, text: &str, fresh: bool) -> Result<ResultFolder, String> {
    ResultFolder::open(path, &purpose(text, fresh)).map_err(|failure| failure.to_string())
}

const TEXT: &str = "stop = \"1 s\"\n\n[link]\ndelay = \"10 ms\"\n";

#[test]
fn other_scenario_is_rejected_with_first_difference() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("results");
    drop(opened(&path, TEXT, false).unwrap());
    drop(opened(&path, TEXT, false).unwrap());
    let error = opened(&path, &TEXT.replace("10 ms", "20 ms"), false).unwrap_err();
    assert!(error.contains("link.delay is `10 ms` there and `20 ms` here"), "{error}");
    assert!(error.contains("--fresh") && error.contains("--out"), "{error}");
}

#[test]
fn beginning_anew_removes_results_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("results");
    let mut folder = opened(&path, TEXT, false).unwrap();
    folder.journal.append(row("a", 1, 2.0), &[]).unwrap();
    folder.finish(std::iter::empty).unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    drop(folder);
    assert_eq!(opened(&path, TEXT, false).unwrap().journal.rows.len(), 1);
    let folder = opened(&path, "stop = \"2 s\"\n", true).unwrap();
    assert!(folder.journal.rows.is_empty() && !path.join("runs.csv").exists());
    assert_eq!(fs::read_to_string(path.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn run_with_a_damaged_table_is_repeated() {
    let damage: [fn(&Path); 4] = [
        |table| fs::remove_file(table).unwrap(),
        |table| fs::write(table, "").unwrap(),
        |table| fs::OpenOptions::new().write(true).open(table).unwrap().set_len(3).unwrap(),
        |table| fs::remove_dir_all(table.parent().unwrap()).unwrap(),
    ];
    for damage in damage {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("results");
        let mut folder = opened(&path, TEXT, false).unwrap();
        for seed in [1, 2] {
            folder.shelf().put_file("rtt", "a", seed, b"rtt\n0.1\n").unwrap();
        }
        for seed in [1, 2, 3] {
            let files = folder.files("a", seed).unwrap();
            assert_eq!(files.len(), usize::from(seed < 3));
            folder.journal.append(Row { files, ..row("a", seed, 2.0) }, &[]).unwrap();
        }
        drop(folder);
        assert_eq!(opened(&path, TEXT, false).unwrap().journal.rows.len(), 3);
        damage(&path.join("tables/rtt/a-1.csv"));
        let folder = opened(&path, TEXT, false).unwrap();
        assert!(folder.journal.rows.find("a", 1).unwrap().is_none());
        assert!(folder.journal.rows.find("a", 3).unwrap().is_some());
    }
}

#[test]
fn draft_replaces_regular_files_only() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    fs::write(at("file"), "before").unwrap();
    for (link, to) in [("link", "file"), ("lost", "later"), ("null", "/dev/null")] {
        std::os::unix::fs::symlink(to, at(link)).unwrap();
    }
    for name in ["link", "lost", "null"] {
        let (draft, mut file) = Draft::begin(&at(name)).unwrap();
        draft.keep(file.write_all(b"after")).unwrap();
        assert!(at(name).is_symlink(), "{name}");
    }
    assert_eq!(fs::read(at("file")).unwrap(), b"after");
    assert_eq!(fs::read(at("later")).unwrap(), b"after");
    let (draft, _) = Draft::begin(Path::new("/dev/null")).unwrap();
    draft.discard();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn other_files_are_left_alone() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("thesis.tex"), "mine").unwrap();
    for fresh in [false, true] {
        let error = opened(place.path(), TEXT, fresh).unwrap_err();
        assert!(error.contains("holds other files than results"), "{error}");
    }
    assert!(place.path().join("thesis.tex").exists());
}

#[test]
fn one_process_at_a_time_uses_a_folder() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("results");
    let first = opened(&path, TEXT, false).unwrap();
    assert!(opened(&path, TEXT, false).unwrap_err().contains("another process"));
    drop(first);
    assert!(opened(&path, TEXT, false).is_ok());
}

#[test]
fn runs_are_sorted_and_have_all_metrics() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = opened(&place.path().join("results"), TEXT, false).unwrap();
    let mut other = row("b", 1, 7.0);
    other.metrics = [("c1.time_s".into(), 7.0), ("all.jain".into(), 1.0)].into_iter().collect();
    for row in [row("a", 2, 5.0), other, row("a", 1, 6.0)] {
        folder.journal.append(row, &[]).unwrap();
    }
    let place = |point: &str| (point.to_owned(), row("b", 1, 0.0).values);
    folder.finish(|| ["b", "a"].map(place).into_iter()).unwrap();
    let text = fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "link.delay,point,seed,digest,end_s,elapsed_s,c1.time_s,all.jain");
    assert!(lines[1].starts_with("10 ms,b,1,") && lines[1].ends_with(",7,1"), "{text}");
    assert!(lines[2].starts_with("10 ms,a,1,") && lines[2].ends_with(",6,"), "{text}");
    assert_eq!(lines.len(), 4);
}

#[test]
fn run_stands_at_each_of_its_points() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = opened(&place.path().join("results"), TEXT, false).unwrap();
    for row in [row("a", 1, 5.0), row("old", 1, 6.0)] {
        folder.journal.append(row, &[]).unwrap();
    }
    let of = |value: &str| vec![("seed".to_owned(), value.to_owned())];
    let places = [("a", "x"), ("a", "y"), ("none", "y")];
    let places = places.map(|(point, value)| (point.to_owned(), of(value)));
    folder.finish(|| places.clone().into_iter()).unwrap();
    let text = fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split(',').collect::<Vec<_>>()).collect();
    assert_eq!(lines[0][..4], ["sweep.seed", "link.delay", "point", "seed"], "{text}");
    assert_eq!(lines[1][..4], ["x", "", "a", "1"], "{text}");
    assert_eq!(lines[2][..4], ["y", "", "a", "1"], "{text}");
    assert_eq!(lines[3][..4], ["", "10 ms", "old", "1"], "{text}");
}

#[test]
fn long_table_of_runs_is_made_in_pieces() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = opened(&place.path().join("results"), TEXT, false).unwrap();
    let names: Vec<_> = (0..200_000).map(|number| format!("c{number}.x")).collect();
    for seed in 0..5 {
        let metrics = names.iter().map(|name| (name.clone(), seed as f64)).collect();
        folder.journal.append(Row { metrics, ..row("a", seed, 1.0) }, &[]).unwrap();
    }
    folder.finish(|| std::iter::once(("a".to_owned(), row("a", 0, 0.0).values))).unwrap();
    let text = fs::read_to_string(folder.path().join("runs.csv")).unwrap();
    // Two rows are a piece; the heads stand once.
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0].matches("c7.x").count()), (6, 1));
    let seed = |line: &&str| line.split(',').nth(2).unwrap().parse::<u64>().unwrap();
    assert!(lines[1..].iter().map(seed).eq(0_u64..5), "{:?}", &lines[1][..40]);
}
