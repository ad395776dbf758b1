//! Campaigns with a runner that only pretends, so that what is run, kept and repeated can be counted.
use super::stage::Shared;
use super::*;
use crate::executor::Threads;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

const TEXT: &str = r#"
seeds = "1..3"
[topology]
kind = "line"
nodes = 2
[applications.c]
kind = "fetch"
node = "n1"
object = "/x"
[applications.p]
kind = "serve"
node = "n2"
prefix = "/x"
size = "1 kB"
[sweep]
"link.delay" = ["1 ms", "2 ms"]
"#;

/// Ends at once with numbers that follow from point and seed.
#[derive(Default)]
struct Pretender {
    runs: Mutex<Vec<(String, u64)>>,
    /// Runs after which it wants to stop.
    stop_after: Option<usize>,
    /// Whether it runs differently from others.
    other: bool,
    /// Whether it runs the second point differently from others.
    other_second: bool,
}

impl Runner for Pretender {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        _: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error> {
        let mut runs = self.runs.lock().unwrap();
        if self.stop_after.is_some_and(|most| runs.len() >= most) {
            stop.store(true, Ordering::Relaxed);
            return Ok(None);
        }
        runs.push((stage.point.label(), seed));
        let delay = if stage.point.number == 0 { 1.0 } else { 2.0 };
        let differs = self.other || self.other_second && stage.point.number == 1;
        let value = delay * 10.0 + seed as f64 + f64::from(u8::from(differs)) / 8.0;
        let mut table = Table::new("window", &[("w", "", recoup_sim::record::table::Type::F64)]);
        table.push(&[recoup_sim::record::table::Cell::F64(value)]);
        let metric = Metric { name: "c.time_s".into(), unit: "s", value };
        Ok(Some(Outcome {
            digest: format!("{value}"),
            end_s: 1.0,
            metrics: vec![metric],
            tables: vec![table],
        }))
    }
}

#[derive(Default)]
struct Seen {
    last: (usize, usize),
    ended: usize,
}

impl Watch for Seen {
    fn progress(&mut self, done: usize, all: usize, _: Option<Duration>) {
        self.last = (done, all);
    }

    fn ended(&mut self, _: &Row, tables: &[Table]) {
        assert_eq!(tables.len(), 1);
        self.ended += 1;
    }
}

struct Bench {
    place: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("results")
    }

    fn run(&self, campaign: &Campaign, runner: &Pretender) -> (Seen, Result<Vec<Row>, String>) {
        let mut seen = Seen::default();
        let execution = Execution { executor: &Threads(2), is_cancelled: &|| false };
        let done = campaign.folder(&self.path(), false, Format::Csv).and_then(|mut folder| {
            campaign.run(&mut folder, execution, runner, &mut seen)?;
            let rows = campaign.points.iter().map(|stage| campaign.rows(&folder, &stage));
            Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
        });
        (seen, done.map_err(|failure| failure.to_string()))
    }
}

fn campaign(text: &str, seeds: Option<&str>) -> Campaign {
    let source = Source::built_in("test", text, &[], &[]).unwrap();
    Campaign::new(&source, seeds.map(|seeds| seeds.parse().unwrap()).as_ref()).unwrap()
}

#[test]
fn every_point_runs_with_every_seed() {
    let (bench, runner) = (Bench::new(), Pretender::default());
    let (seen, rows) = bench.run(&campaign(TEXT, None), &runner);
    let rows = rows.unwrap();
    assert_eq!((seen.last, seen.ended, rows.len()), ((6, 6), 6, 6));
    let times: Vec<_> = rows.iter().map(|row| row.metric("c.time_s").unwrap()).collect();
    assert_eq!(times, [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
    let csv = fs::read_to_string(bench.path().join("runs.csv")).unwrap();
    assert_eq!(csv.lines().count(), 7);
    assert!(csv.lines().nth(6).unwrap().starts_with("2 ms,"), "{csv}");
    let tables = fs::read_dir(bench.path().join("tables/window")).unwrap();
    assert_eq!(tables.count(), 6);
}

#[test]
fn what_is_there_is_not_run_again() {
    let bench = Bench::new();
    bench.run(&campaign(TEXT, Some("1..2")), &Pretender::default()).1.unwrap();
    let runner = Pretender::default();
    let (seen, rows) = bench.run(&campaign(TEXT, Some("1..4")), &runner);
    assert_eq!((rows.unwrap().len(), seen.ended, seen.last), (8, 4, (8, 8)));
    assert!(runner.runs.lock().unwrap().iter().all(|(_, seed)| *seed > 2));
    let more = TEXT.replace("\"1 ms\", \"2 ms\"", "\"1 ms\", \"2 ms\", \"3 ms\"");
    let runner = Pretender::default();
    let (_, rows) = bench.run(&campaign(&more, Some("1..2")), &runner);
    assert_eq!(rows.unwrap().len(), 6);
    let runs = runner.runs.into_inner().unwrap();
    assert!(runs.iter().all(|(label, _)| label == "link.delay=3 ms"), "{runs:?}");
    assert_eq!(runs.len(), 2);
}

#[test]
fn each_point_comes_before_the_next_seed() {
    let (bench, campaign) = (Bench::new(), campaign(TEXT, Some("1..2")));
    let folder = campaign.folder(&bench.path(), false, Format::Csv).unwrap();
    let order = campaign.missing(&folder).into_iter().map(|task| (task.seed, task.stage));
    assert!(order.eq([(1, 0), (1, 1), (2, 0), (2, 1)]));
}

#[test]
fn what_was_done_when_it_stopped_is_kept() {
    let bench = Bench::new();
    let stopped = Pretender { stop_after: Some(3), ..Pretender::default() };
    let (seen, _) = bench.run(&campaign(TEXT, None), &stopped);
    assert_eq!(seen.ended, 3);
    let rest = Pretender::default();
    let (seen, rows) = bench.run(&campaign(TEXT, None), &rest);
    assert_eq!((seen.ended, rows.unwrap().len()), (3, 6));
}

#[test]
fn another_scenario_is_rejected_but_another_title_accepted() {
    let bench = Bench::new();
    bench.run(&campaign(TEXT, None), &Pretender::default()).1.unwrap();
    let titled = format!("title = \"Another\"\n{TEXT}");
    assert!(bench.run(&campaign(&titled, None), &Pretender::default()).1.is_ok());
    let other = TEXT.replace("1 kB", "2 kB");
    let error = bench.run(&campaign(&other, None), &Pretender::default()).1.unwrap_err();
    assert!(error.contains("applications.p.size is `1 kB` there and `2 kB` here"), "{error}");
}

#[test]
fn results_of_another_program_resume_if_equal() {
    let bench = Bench::new();
    bench.run(&campaign(TEXT, Some("1")), &Pretender::default()).1.unwrap();
    let versions = bench.path().join("versions.json");
    let foreign = || {
        let text = fs::read_to_string(&versions).unwrap();
        let build = digest::of_program().unwrap();
        fs::write(&versions, text.replace(&build, "0123456789abcdef")).unwrap();
    };
    foreign();
    let alike = Pretender::default();
    assert!(bench.run(&campaign(TEXT, Some("1..2")), &alike).1.is_ok());
    assert_eq!(alike.runs.into_inner().unwrap().len(), 3, "one was repeated");
    foreign();
    let other = Pretender { other: true, ..Pretender::default() };
    let error = bench.run(&campaign(TEXT, Some("1..3")), &other).1.unwrap_err();
    assert!(error.contains("another recoup, which ran seed 1 differently"), "{error}");
}

#[test]
fn comparison_with_another_program_is_counted_and_ends() {
    let bench = Bench::new();
    let path = bench.path();
    let campaign = campaign(TEXT, Some("1..3"));
    let repeated = std::cell::Cell::new(0);
    let goes_on = |is_cancelled: &dyn Fn() -> bool, runner: &Pretender| {
        let execution = Execution { executor: &Threads(2), is_cancelled };
        repeated.set(0);
        campaign.goes_on(&path, execution, runner, &|runs| repeated.set(runs))
    };
    let runner = Pretender::default();
    bench.run(&campaign, &runner).1.unwrap();
    assert!(goes_on(&|| false, &runner).unwrap());
    assert_eq!(repeated.get(), 0, "of this program");
    let versions = path.join("versions.json");
    let text = fs::read_to_string(&versions).unwrap();
    fs::write(&versions, text.replace(&digest::of_program().unwrap(), "0123456789abcdef")).unwrap();
    let runner = Pretender::default();
    let stopped = goes_on(&|| true, &runner).unwrap_err();
    assert_eq!((stopped.kind(), repeated.get()), (ErrorKind::Cancelled, 2), "one of each point");
    assert!(goes_on(&|| false, &runner).unwrap());
    let other = Pretender { other_second: true, ..Pretender::default() };
    assert!(!goes_on(&|| false, &other).unwrap());
    assert_eq!(other.runs.into_inner().unwrap().len(), 2);
}

#[test]
fn changed_points_are_replaced_where_wanted() {
    let bench = Bench::new();
    bench.run(&campaign(TEXT, Some("1..2")), &Pretender::default()).1.unwrap();
    let versions = bench.path().join("versions.json");
    let text = fs::read_to_string(&versions).unwrap();
    fs::write(&versions, text.replace(&digest::of_program().unwrap(), "0123456789abcdef")).unwrap();
    let other = Pretender { other_second: true, ..Pretender::default() };
    let mut campaign = campaign(TEXT, Some("1..2"));
    campaign.replaces_changed_points = true;
    let rows = bench.run(&campaign, &other).1.unwrap();
    let second: Vec<_> = rows.iter().filter_map(|row| row.metric("c.time_s")).collect();
    // 10 + seed at the first point; 20 + seed and an eighth at the second.
    assert_eq!(second, [11.0, 12.0, 21.125, 22.125]);
    // One run of each point was tried, two were made anew.
    assert_eq!(other.runs.into_inner().unwrap().len(), 4);
}

#[test]
fn equal_points_run_once() {
    let text = TEXT.replace("\"1 ms\", \"2 ms\"", "\"1 ms\", \"0.001 s\"");
    let (bench, runner) = (Bench::new(), Pretender::default());
    let rows = bench.run(&campaign(&text, Some("1")), &runner).1.unwrap();
    assert_eq!((rows.len(), runner.runs.into_inner().unwrap().len()), (2, 1));
}

#[test]
fn remaining_time_follows_from_costs() {
    let task = |stage| Task { stage, seed: 1 };
    let mut ledger = Ledger::new([task(0), task(0), task(1)].into_iter(), 2, 1);
    assert_eq!(ledger.left(), None);
    ledger.note(task(0), 2.0);
    // One more of point 0 for 2 s, one of point 1 for as much.
    assert!((ledger.left().unwrap().as_secs_f64() - 4.0).abs() < 1e-9);
    ledger.note(task(1), 10.0);
    assert!((ledger.left().unwrap().as_secs_f64() - 2.0).abs() < 1e-9);
}

fn shared(share: &str) -> Campaign {
    Campaign { share: Some(share.parse().unwrap()), ..campaign(TEXT, None) }
}

#[test]
fn shares_are_disjoint_and_complete() {
    let bench = Bench::new();
    let folder = campaign(TEXT, None).folder(&bench.path(), false, Format::Csv).unwrap();
    let tasks = |share: &str| shared(share).missing(&folder);
    let mut all = [tasks("1/4"), tasks("2/4"), tasks("3/4"), tasks("4/4")].concat();
    assert_eq!([shared("1/4").runs(), shared("4/4").runs()], [2, 1]);
    all.sort_by_key(|task| (task.seed, task.stage));
    assert_eq!(all, campaign(TEXT, None).missing(&folder));
    for wrong in ["0/4", "5/4", "4", "a/b", "1/0", ""] {
        assert!(wrong.parse::<Share>().is_err(), "{wrong}");
    }
}

#[test]
fn shares_are_merged_with_their_records() {
    let (one, other, whole) = (Bench::new(), Bench::new(), Bench::new());
    one.run(&shared("1/2"), &Pretender::default()).1.unwrap();
    other.run(&shared("2/2"), &Pretender::default()).1.unwrap();
    let campaign = campaign(TEXT, None);
    let mut folder = campaign.folder(&whole.path(), false, Format::Csv).unwrap();
    assert_eq!(campaign.merge(&mut folder, &one.path()).unwrap(), 3);
    assert_eq!(campaign.merge(&mut folder, &other.path()).unwrap(), 3);
    assert_eq!(campaign.merge(&mut folder, &other.path()).unwrap(), 0);
    assert_eq!(folder.journal.rows.units.get("c.time_s").map(String::as_str), Some("s"));
    drop(folder);
    let (seen, rows) = whole.run(&campaign, &Pretender::default());
    assert_eq!((seen.ended, rows.unwrap().len()), (0, 6));
    assert_eq!(fs::read_dir(whole.path().join("tables/window")).unwrap().count(), 6);
}

#[test]
fn run_with_two_digests_is_not_merged() {
    let (one, other) = (Bench::new(), Bench::new());
    let campaign = campaign(TEXT, None);
    one.run(&campaign, &Pretender::default()).1.unwrap();
    let different = Pretender { other: true, ..Pretender::default() };
    other.run(&campaign, &different).1.unwrap();
    let mut folder = campaign.folder(&one.path(), false, Format::Csv).unwrap();
    let error = campaign.merge(&mut folder, &other.path()).unwrap_err().to_string();
    assert!(error.contains("seed 1 at link.delay=1 ms ran in two ways: 11 and 11.125"), "{error}");
    let foreign = Bench::new();
    let text = TEXT.replace("1 kB", "2 kB");
    foreign.run(&self::campaign(&text, None), &Pretender::default()).1.unwrap();
    let error = campaign.merge(&mut folder, &foreign.path()).unwrap_err().to_string();
    assert!(error.contains("another scenario"), "{error}");
    let error = campaign.merge(&mut folder, foreign.place.path()).unwrap_err().to_string();
    assert!(error.contains("holds no results"), "{error}");
}

/// The scenario with an algorithm of that name, which this process registers.
fn with_registered(name: &'static str) -> String {
    use recoup_transport::congestion::{Congestion, Fixed};
    Congestion::register(name, |spec| {
        spec.finish()?;
        Ok(Congestion::custom(Fixed::new(4.0)))
    });
    TEXT.replace("[sweep]", &format!("[fetch]\ncongestion = \"{name}\"\n[sweep]"))
}

#[test]
fn version_of_an_algorithm_is_identity() {
    let text = with_registered("versioned-window");
    let key = |version: &str| {
        recoup_core::spec::family::set_version("versioned-window", version);
        let campaign = campaign(&text, None);
        (campaign.points.get(0).unwrap().key, campaign.digest)
    };
    let (first, second) = (key("1"), key("2"));
    assert!(first.0 != second.0 && first.1 != second.1);
    assert_eq!(key("1"), first);
    assert!(campaign(TEXT, None).points.get(0).unwrap().registered.is_empty());
}

#[test]
fn registered_algorithm_repeats_a_run_of_each_point() {
    let (bench, text) = (Bench::new(), with_registered("reading-window"));
    recoup_core::spec::family::set_version("reading-window", "1");
    bench.run(&campaign(&text, None), &Pretender::default()).1.unwrap();
    let runner = Pretender::default();
    let (seen, rows) = bench.run(&campaign(&text, None), &runner);
    assert_eq!((rows.unwrap().len(), seen.ended), (6, 0));
    let runs = runner.runs.into_inner().unwrap();
    let of = |label: &str| runs.iter().filter(|(point, _)| point == label).count();
    assert_eq!((of("link.delay=1 ms"), of("link.delay=2 ms"), runs.len()), (1, 1, 2));
    // The second point reads what has changed: no old result is returned, and the error names the point.
    let runner = Pretender { other_second: true, ..Pretender::default() };
    let error = bench.run(&campaign(&text, None), &runner).1.unwrap_err();
    for part in ["`reading-window` of the same version", "at link.delay=2 ms", "--fresh"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn points_keep_no_scenario() {
    let campaign = campaign(TEXT, None);
    let [first, second] = [0, 1].map(|place| campaign.points.get(place).unwrap());
    let delay = |stage: &Stage| {
        let network = stage.scenario().unwrap().network(1).unwrap();
        network.links[0].forth.delay.as_millis()
    };
    assert_eq!((delay(&first), delay(&second)), (1, 2));
}

#[test]
fn changed_file_of_a_scenario_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("up.txt"), "1 1\n").unwrap();
    let delays = (1..=Shared::MOST + 1).map(|delay| format!("\"{delay} ms\"")).collect::<Vec<_>>();
    let text = TEXT.replace("[sweep]", "[link]\nrate = \"trace(file=up.txt)\"\n[sweep]");
    let text = text.replace("\"1 ms\", \"2 ms\"", &delays.join(", "));
    let given = crate::source::Given::beside("trace.toml", place.path(), text);
    let source = Source::scenario_in(given, &[]).unwrap();
    let campaign = Campaign::new(&source, None).unwrap();
    fs::write(place.path().join("up.txt"), "1 2\n").unwrap();
    let points: Vec<_> = campaign.points.iter().collect();
    let (last, first) = points.split_last().unwrap();
    assert!(
        first.iter().all(|point| point.scenario().is_ok()),
        "the first points share what was read"
    );
    let error = last.scenario().unwrap_err().to_string();
    assert!(error.contains("that trace.toml names has changed"), "{error}");
}

fn source(text: &str, settings: &[&str]) -> Source {
    let settings: Vec<_> = settings.iter().map(|it| (*it).to_owned()).collect();
    Source::built_in("test", text, &[], &settings).unwrap()
}

fn recorded(bench: &Bench, source: &Source, seeds: &str) -> Option<Campaign> {
    Campaign::recorded(source, Some(&seeds.parse().unwrap()), &bench.path())
}

#[test]
fn recorded_points_are_those_that_were_checked() {
    let (bench, source) = (Bench::new(), source(TEXT, &[]));
    let seeds = "1..3".parse().unwrap();
    let made = Campaign::in_folder(&source, Some(&seeds), &bench.path()).unwrap();
    assert!(recorded(&bench, &source, "1..3").is_none());
    bench.run(&made, &Pretender::default()).1.unwrap();
    let again = recorded(&bench, &source, "1..4").unwrap();
    assert_eq!((again.points.keys(), &again.digest), (made.points.keys(), &made.digest));
    assert_eq!((&again.text, &again.warnings), (&made.text, &made.warnings));
    let labels = |it: &Campaign| it.points.iter().map(|it| it.point.label()).collect::<Vec<_>>();
    assert_eq!(labels(&again), labels(&made));
    let (seen, rows) = bench.run(&again, &Pretender::default());
    assert_eq!((seen.ended, rows.unwrap().len()), (2, 8));
}

#[test]
fn record_of_anything_else_is_not_used() {
    let (bench, same) = (Bench::new(), source(TEXT, &[]));
    bench.run(&campaign(TEXT, None), &Pretender::default()).1.unwrap();
    assert!(recorded(&bench, &same, "1").is_some());
    assert!(recorded(&bench, &same, "2").is_none(), "another first seed has another network");
    let others = [
        (TEXT.replace("1 kB", "2 kB"), vec![]),
        (TEXT.replace("\"2 ms\"]", "\"3 ms\"]"), vec![]),
        (TEXT.replace("\"2 ms\"]", "\"2 ms\", \"3 ms\"]"), vec![]),
        (TEXT.to_owned(), vec!["link.rate=1Mbit/s"]),
    ];
    for (text, settings) in others {
        assert!(recorded(&bench, &source(&text, &settings), "1").is_none(), "{text}");
    }
    let wrong = source(&format!("{TEXT}\"applications.c.node\" = [\"n1\", \"n9\"]"), &[]);
    let error = Campaign::in_folder(&wrong, None, &bench.path()).unwrap_err().to_string();
    assert!(error.contains("n9"), "{error}");
    // Another program, and damage of any kind.
    let path = bench.path().join(folder::RECORD);
    let whole = fs::read_to_string(&path).unwrap();
    let program = whole.find("digest\":\"").unwrap() + 9;
    let key = whole.find('\n').unwrap() + 1;
    let flipped = |at: usize| {
        let digit = if whole.as_bytes()[at] == b'0' { "1" } else { "0" };
        [&whole[..at], digit, &whole[at + 1..]].concat()
    };
    let damaged = [
        flipped(program),
        flipped(key),
        flipped(whole.len() - 2),
        whole[..whole.len() - 17].to_owned(),
        format!("{whole}0123456789abcdef\n"),
        whole[..key / 2].to_owned(),
        String::new(),
    ];
    for text in damaged {
        fs::write(&path, &text).unwrap();
        assert!(recorded(&bench, &same, "1").is_none(), "{text}");
    }
    fs::write(&path, &whole).unwrap();
    assert!(recorded(&bench, &same, "1").is_some());
}

#[test]
fn changed_file_makes_a_record_void() {
    let bench = Bench::new();
    let file = bench.place.path().join("up.txt");
    fs::write(&file, "1 1\n").unwrap();
    let text = TEXT.replace("[sweep]", "[link]\nrate = \"trace(file=up.txt)\"\n[sweep]");
    let given = crate::source::Given::beside("trace.toml", bench.place.path(), text);
    let source = Source::scenario_in(given, &[]).unwrap();
    let made = Campaign::new(&source, None).unwrap();
    bench.run(&made, &Pretender::default()).1.unwrap();
    assert!(recorded(&bench, &source, "1").is_some());
    fs::write(&file, "1 2\n").unwrap();
    assert!(recorded(&bench, &source, "1").is_none());
    fs::remove_file(&file).unwrap();
    assert!(recorded(&bench, &source, "1").is_none());
}

#[test]
fn registered_algorithm_is_never_recorded() {
    let (bench, text) = (Bench::new(), with_registered("recorded-window"));
    bench.run(&campaign(&text, None), &Pretender::default()).1.unwrap();
    assert!(recorded(&bench, &source(&text, &[]), "1").is_some(), "it is part of the program");
    recoup_core::spec::family::set_version("recorded-window", "1");
    assert!(recorded(&bench, &source(&text, &[]), "1").is_none());
    let bench = Bench::new();
    bench.run(&campaign(&text, None), &Pretender::default()).1.unwrap();
    assert!(!bench.path().join(folder::RECORD).exists());
}

#[test]
fn part_of_the_points_is_not_recorded() {
    let (bench, mut part) = (Bench::new(), campaign(TEXT, None));
    part.points.retain(|stage| stage.point.number == 0);
    bench.run(&part, &Pretender::default()).1.unwrap();
    assert!(!bench.path().join(folder::RECORD).exists());
    part = campaign(TEXT, None);
    part.points.retain(|stage| stage.point.number == 1);
    assert_eq!(part.points.get(0).unwrap().point.label(), "link.delay=2 ms");
    bench.run(&part, &Pretender::default()).1.unwrap();
    assert!(!bench.path().join(folder::RECORD).exists());
}

#[test]
fn tables_are_written_again_only_where_they_differ() {
    let (bench, campaign) = (Bench::new(), campaign(TEXT, Some("1..2")));
    let path = bench.path().join("runs.csv");
    let run = |campaign: &Campaign| {
        bench.run(campaign, &Pretender::default()).1.unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let whole = run(&campaign);
    // A table that is written again has another file behind its name.
    let link = bench.place.path().join("link");
    fs::hard_link(&path, &link).unwrap();
    let is_same = || std::os::unix::fs::MetadataExt::nlink(&fs::metadata(&link).unwrap()) == 2;
    assert!(run(&campaign) == whole && is_same());
    let damage: [fn(&std::path::Path); 3] = [
        |table| fs::remove_file(table).unwrap(),
        |table| fs::write(table, "").unwrap(),
        |table| fs::write(table, fs::read_to_string(table).unwrap().replace("12", "13")).unwrap(),
    ];
    for damage in damage {
        damage(&path);
        assert_eq!(run(&campaign), whole);
    }
    // A changed journal is another table.
    let journal = bench.path().join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"end_s\":1.0", "\"end_s\":2.0")).unwrap();
    let changed = run(&campaign);
    assert!(changed != whole && run(&self::campaign(TEXT, Some("1..3"))).lines().count() == 7);
}
