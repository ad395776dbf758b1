//! The command reads what the emulator starts its processes with.
use crate::process;
use recoup_cli::input;
use recoup_lab::emulate::document::Task;
use recoup_lab::emulate::plan::Plan;
use recoup_lab::emulate::text::{End, link, node};
use recoup_lab::scenario::ScenarioFile;
use recoup_studies::study::Scale;
use recoup_studies::yang2016::YANG2016;
use recoup_transport::fetch::Retries;
use recoup_transport::queue::QueueLimit;

fn plan() -> Plan {
    let experiments = YANG2016.experiments(Scale::Paper);
    let experiment = experiments.iter().find(|it| it.name == "dumbbell").unwrap();
    let file = ScenarioFile::parse(&experiment.scenario, &[]).unwrap();
    let scenario = file.scenario(&file.point(0).unwrap(), &|name| experiment.file(name)).unwrap();
    Plan::new(&scenario.network(1).unwrap()).unwrap()
}

#[test]
fn link_reads_its_planned_file() {
    let mut part = plan().links.remove(2);
    let [forth, back] = &mut part.ways;
    forth.channel.loss = "bernoulli(p=0.01)".parse().unwrap();
    forth.channel.reorder = true;
    (forth.channel.rate_bits, forth.channel.queue) = (0, QueueLimit::of_bytes(7_000));
    back.channel.queue = QueueLimit { packets: Some(32), bytes: Some(64_000) };
    let read = input::link(&link(&part)).unwrap();
    let [forth, back] = part.ways;
    assert_eq!(read, (forth.channel, back.channel));
}

#[test]
fn a_forwarder_reads_its_configuration() {
    let mut plan = plan();
    plan.links[2].ways[0].channel.recovery = "wldr".parse().unwrap();
    for number in plan.nodes.keys() {
        let end = |(link, ..): (usize, _, _)| End {
            link,
            uri: "udp://127.0.0.1:7".into(),
            local: "127.0.0.1:8".parse().unwrap(),
        };
        let ends: Vec<_> = plan.links_of(*number).map(end).collect();
        let text = node(&plan, *number, &["udp://127.0.0.1:0".into()], &ends);
        let sends = plan.links[2].ways[0].from == *number;
        assert_eq!(text.contains("recovery = \"wldr\""), sends, "{text}");
        let config = input::configuration(&text).unwrap();
        assert_eq!((config.faces.len(), config.faces[0]), (ends.len(), Some(ends[0].local)));
        assert_eq!(config.routes, plan.nodes[number].routes.len());
    }
}

#[test]
fn applications_receive_one_document() {
    let mut plan = plan();
    let fetched = &mut plan.consumers[0].plan;
    fetched.options.loss = "smart".parse().unwrap();
    fetched.options.retries = Retries(Some(3));
    (fetched.first, fetched.last) = (3, Some(9));
    let fetched = fetched.clone();
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("c.json");
    let passed = |task: &Task| {
        std::fs::write(&document, serde_json::to_vec(task).unwrap()).unwrap();
        process::read(&document).unwrap()
    };
    let face = || "unix:///tmp/c".to_owned();
    let task = Task::fetch(&plan.consumers[0], "/tmp/a b".into(), face()).unwrap();
    let Task::Fetch(read) = passed(&task) else { panic!() };
    let args = process::fetch_args(*read).unwrap();
    let range = args.range.unwrap();
    assert_eq!((args.name, range.begin, range.end), (fetched.object, 3, Some(10)));
    assert_eq!(args.options, fetched.options);
    let task = Task::serve(&plan.producers[0], "/tmp/file".into(), face());
    assert_eq!(passed(&task), task);
    plan.consumers[0].plan.options.leaves_holes = true;
    let error = Task::fetch(&plan.consumers[0], "/tmp/a".into(), face()).unwrap_err();
    assert!(error.contains("`leaves-holes`"));
}

#[test]
fn document_with_an_unknown_option_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("c.json");
    let text =
        r#"{"serve": {"name": "/a", "path": "a", "face": "unix:///a", "options": {"sgin": "k"}}}"#;
    std::fs::write(&document, text).unwrap();
    let failure = process::read(&document).unwrap_err();
    assert!(failure.message.contains("unknown field `sgin`"), "{failure:?}");
}
