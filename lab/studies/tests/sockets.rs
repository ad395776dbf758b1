//! Each study has a part that runs on processes, and its scenarios can be read.
use recoup_lab::scenario::ScenarioFile;
use recoup_studies::study::Scale;

#[test]
fn every_study_runs_on_processes() {
    for study in recoup_studies::all() {
        for scale in [Scale::Smoke, Scale::Check] {
            let sockets = study.sockets(scale).unwrap_or_else(|| panic!("{}", study.key()));
            for experiment in &sockets.experiments {
                let file = ScenarioFile::parse(&experiment.scenario, &[])
                    .unwrap_or_else(|problems| panic!("{}: {problems:?}", experiment.name));
                let points: Vec<_> = file.points().collect();
                for point in &points {
                    let network = file
                        .scenario(point, &|name| experiment.file(name))
                        .and_then(|scenario| scenario.network(1));
                    assert!(network.is_ok(), "{}: {}", experiment.name, point.label());
                }
                let has = |axis: &str, value: &str| {
                    let pair = (axis.to_owned(), value.to_owned());
                    points.iter().any(|it| it.values.contains(&pair))
                };
                let own = sockets.terms.contests.iter();
                for contest in own.filter(|it| it.experiment == experiment.name) {
                    assert!(has(&contest.axis, &contest.ours), "{contest:?}");
                    assert!(has(&contest.axis, &contest.theirs), "{contest:?}");
                    let mut expected = contest.expected.iter();
                    assert!(expected.all(|(axis, value)| has(axis, value)), "{contest:?}");
                }
            }
        }
    }
}
