//! Every case of the arena runs: on a small object, for a short time.
use recoup_lab::scenario::ScenarioFile;
use recoup_sim::metric::Metrics;
use recoup_sim::simulation::{Cause, Simulation};
use recoup_sim::statistic::mean;
use recoup_studies::arena::case::{Case, Kind};
use recoup_studies::arena::random::KINDS;
use recoup_studies::arena::score::{Goodputs, Score};
use recoup_studies::arena::{cases, texts};
use recoup_transport::time::{Duration, Instant};

/// Runs a case: fetches of fifty segments, or until two seconds after the last arrival.
fn run(case: &Case, text: &str) -> Score {
    let mut settings: Vec<String> =
        case.terms.under_test.iter().map(|name| format!("applications.{name}.last=49")).collect();
    if let Kind::Sharing { last_arrival_s, .. } = case.terms.kind {
        settings = vec![format!("stop={} s", last_arrival_s + 2.0)];
    }
    let file = ScenarioFile::parse(text, &settings).unwrap_or_else(|error| panic!("{error}"));
    let scenario = file.scenario(&file.point(0).unwrap(), &|_| Err(String::new())).unwrap();
    let network = scenario.network(1).unwrap();
    let mut metrics = Metrics::new(&network, scenario.record().detail());
    let mut simulation = Simulation::new(network, 1).unwrap();
    let end = Instant::ZERO + Duration::from_secs(700);
    let ended =
        simulation.run_until(end, &mut [&mut metrics]).unwrap_or_else(|| panic!("{}", case.name));
    assert!(!matches!(ended.cause, Cause::Unbalanced(_)), "{}", case.name);
    let summary = metrics.finish(ended.at);
    let mut goodputs = Goodputs::new();
    for name in &case.terms.consumers {
        let rate = summary.get(&format!("{name}.goodput_bps")).unwrap_or_default();
        goodputs.insert(name.clone(), (0..case.terms.stop_s as u64).map(|at| (at, rate)).collect());
    }
    Score::new(&case.terms, &|name| summary.get(name), &goodputs)
}

#[test]
fn every_case_runs_at_a_small_scale() {
    let cases = cases().unwrap_or_else(|error| panic!("{error}"));
    assert!(cases.len() > 30, "{}", cases.len());
    for case in &cases {
        let text = texts().find(|(name, _)| *name == case.name).map_or("", |(_, text)| text);
        let score = run(case, text);
        assert!(score.completed && score.factor.is_finite(), "{}: {score:?}", case.name);
        assert!(score.queueing_ms.is_some(), "{}: {score:?}", case.name);
        let is_sharing = matches!(case.terms.kind, Kind::Sharing { .. });
        assert_eq!(
            score.sharing.is_some_and(|it| it.utilisation > 0.2),
            is_sharing,
            "{}",
            case.name
        );
    }
}

#[test]
fn random_networks_run_alike_each_time() {
    for kind in KINDS {
        let score = |number| {
            let (name, text) = kind.case(number);
            let case = Case::new(&name, &text, &|_| Err(String::new())).unwrap();
            run(&case, &text)
        };
        let scores: Vec<Score> = (1..=3).map(score).collect();
        assert_eq!(scores, (1..=3).map(score).collect::<Vec<_>>(), "{}", kind.word);
        let factors: Vec<f64> = scores.iter().map(|it| it.factor).collect();
        assert!(mean(&factors).is_some_and(f64::is_finite), "{}: {factors:?}", kind.word);
        assert!(scores.iter().all(|it| it.completed), "{}: {scores:?}", kind.word);
    }
}
