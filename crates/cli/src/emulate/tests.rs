//! The command reads what the emulator starts its processes with.
use crate::command::{Cli, Command};
use crate::forward::config::ForwardConfig;
use crate::link::plan::LinkPlan;
use clap::Parser;
use recoup_lab::emulate::plan::Plan;
use recoup_lab::emulate::text::{End, fetch, fetch_options, link, node, serve};
use recoup_lab::scenario::ScenarioFile;
use recoup_studies::study::Scale;
use recoup_studies::yang2016::YANG2016;

fn plan() -> Plan {
    let experiments = YANG2016.experiments(Scale::Paper);
    let experiment = experiments.iter().find(|it| it.name == "dumbbell").unwrap();
    let file = ScenarioFile::parse(&experiment.scenario, &[]).unwrap();
    let scenario = file.scenario(&file.points()[0], &|name| experiment.file(name)).unwrap();
    Plan::new(&scenario.network(1).unwrap()).unwrap()
}

#[test]
fn a_link_reads_its_file_as_what_was_planned() {
    let mut part = plan().links.remove(2);
    let [forth, back] = &mut part.ways;
    forth.channel.loss = "bernoulli(p=0.01)".into();
    forth.channel.reorder = true;
    (forth.channel.rate_bits, forth.channel.queue_packets) = (0, None);
    forth.channel.queue_octets = Some(7_000);
    (back.channel.queue_packets, back.channel.queue_octets) = (Some(32), Some(64_000));
    let read = LinkPlan::parse("l", &link(&part)).unwrap();
    let [forth, back] = part.ways;
    assert_eq!((read.forth, read.back), (forth.channel, back.channel));
}

#[test]
fn a_forwarder_reads_its_configuration() {
    let mut plan = plan();
    plan.links[2].ways[0].channel.recovery = "wldr".into();
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
        let config = ForwardConfig::parse("n", &text).unwrap();
        assert_eq!((config.faces.len(), config.faces[0].local), (ends.len(), Some(ends[0].local)));
        assert_eq!(config.routes.len(), plan.nodes[number].routes.len());
        config.node(1).unwrap();
    }
}

#[test]
fn fetch_receives_its_options_as_a_document() {
    let mut plan = plan();
    let fetched = &mut plan.consumers[0].plan;
    fetched.options.loss = "smart".parse().unwrap();
    fetched.options.cancel_on_timeout = true;
    (fetched.first, fetched.last) = (3, Some(9));
    let fetched = fetched.clone();
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("c.json");
    std::fs::write(&document, fetch_options(&plan.consumers[0]).unwrap()).unwrap();
    let path = document.display().to_string();
    let words = fetch(&plan.consumers[0], "/tmp/a b", "unix:///tmp/c", &path);
    let Command::Fetch(args) = read(&words).command else { panic!() };
    let range = args.range.unwrap();
    assert_eq!((args.name, range.begin, range.end), (fetched.object, 3, Some(10)));
    let options = crate::fetch::plan::document(&args.options_json.unwrap()).unwrap();
    assert_eq!(options, fetched.options);
    plan.consumers[0].plan.options.leaves_holes = true;
    assert!(fetch_options(&plan.consumers[0]).unwrap_err().contains("`leaves-holes`"));
}

#[test]
fn document_with_an_unknown_option_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("c.json");
    std::fs::write(&document, "{\"cancel-on-timeuot\": true}").unwrap();
    let failure = crate::fetch::plan::document(&document).unwrap_err();
    assert!(failure.message.contains("unknown field `cancel-on-timeuot`"), "{failure:?}");
}

#[test]
fn serve_reads_its_command_line() {
    let plan = plan();
    assert!(matches!(
        read(&serve(&plan.producers[0], "/tmp/file", "unix:///tmp/p")).command,
        Command::Serve(_)
    ));
}

fn read(words: &[String]) -> Cli {
    let all = std::iter::once("recoup").chain(words.iter().map(String::as_str));
    Cli::try_parse_from(all).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}
