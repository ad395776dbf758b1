//! Traces, logs, events and starts: what happens over time.
use super::*;

fn with_files(
    text: &str,
    files: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Network, String> {
    let file = ScenarioFile::parse(text, &[]).map_err(|problems| problems.to_string())?;
    let scenario = file.scenario(&file.point(0).unwrap(), files);
    scenario.and_then(|it| it.network(1)).map_err(|problems| problems.to_string())
}

#[test]
fn links_follow_traces_in_files() {
    let text = LINE
        .replace("rate = \"5 Mbit/s\"", "rate = \"trace(file=lte.up)\"")
        .replace("back = { loss", "back = { delay = \"trace(file=d.txt)\", loss")
        + "[[event]]\nat = \"1 s\"\nfor = \"1 s\"\nchange = \"r1-r2\"\nto = { rate = \"1 Mbit/s\" }\n";
    let files = |name: &str| match name {
        "lte.up" => Ok("0\n1\n2\n".to_owned()),
        "d.txt" => Ok("0 30\n5 40\n".to_owned()),
        other => Err(format!("no {other}")),
    };
    let network = with_files(&text, &files).unwrap();
    let middle = &network.links[1].forth;
    assert!(middle.rate_trace.as_ref().is_some_and(|it| it.trace().is_some()));
    assert_eq!(middle.rate_bits, 3 * 1504 * 8 * 500);
    let back = &network.links[2].back;
    assert_eq!((back.delay, back.rate_trace.is_some()), (Duration::from_millis(30), false));
    let rates = network.faults.iter().filter_map(|(_, fault)| match fault {
        Fault::Change(_, Direction::Forth, plan) => {
            Some((plan.rate_bits, plan.rate_trace.is_some()))
        }
        _ => None,
    });
    assert_eq!(rates.collect::<Vec<_>>(), [(1_000_000, false), (middle.rate_bits, true)]);
    let damaged = |_: &str| Ok("0\n1\nx\n".to_owned());
    let error = with_files(&text, &damaged).unwrap_err();
    assert!(error.contains("links.r1-r2.rate: lte.up:3: `x` is no time"), "{error}");
    assert!(error.contains("d.txt:1: has one column"), "{error}");
    assert!(with_files(&text, &no_files).unwrap_err().contains("lte.up: there are no files"));
}

#[test]
fn a_log_gives_contents_and_times() {
    let text = with(
        "[applications.r]\nkind = \"request\"\nnode = \"consumer\"\nprefix = \"/file\"\n\
         popularity = \"trace(file=log.csv)\"\n",
    );
    let log = |_: &str| Ok("10.5 a\n10.5 b\n12 a\n".to_owned());
    let plan = |text: &str| {
        let network = with_files(text, &log).unwrap();
        let ApplicationKind::Request(plan) = &network.applications[2].kind else { panic!() };
        plan.clone()
    };
    let second = Duration::from_millis(1_500);
    assert_eq!(plan(&text).arrival, Arrival::Batches(vec![(Duration::ZERO, 2), (second, 1)]));
    assert_eq!(plan(&text).contents, 2);
    let paced = plan(&(text.clone() + "arrival = \"constant(rate=5)\"\n"));
    assert_eq!(paced.arrival, Arrival::Constant(5.0));
    let few = with_files(&(text.clone() + "contents = 1\n"), &log).unwrap_err();
    assert!(few.contains("requests content 2 of 1"), "{few}");
    let damaged = with_files(&text, &|_| Ok("1 a\n0 b\n".to_owned())).unwrap_err();
    assert!(damaged.contains("log.csv:2: 0 s comes before"), "{damaged}");
}

#[test]
fn a_log_gives_lengths_of_contents() {
    let text = with(
        "[applications.p2]\nkind = \"produce\"\nnode = \"producer\"\nprefix = \"/v\"\n\
         content = \"trace(file=log.csv,most=2000B)\"\n",
    );
    let log = |_: &str| Ok("1 a 300\n2 b 4000\n".to_owned());
    let network = with_files(&text, &log).unwrap();
    let ApplicationKind::Produce(plan) = &network.applications[2].kind else { panic!() };
    let bytes = |name: &str| plan.content.of(&name.parse().unwrap());
    assert_eq!((bytes("/v/1"), bytes("/v/2"), bytes("/v/3")), (300, 2_000, 1_024));
    let long = with_files(&text.replace(",most=2000B", ""), &|_| Ok("1 a 9000\n".to_owned()));
    assert!(long.as_ref().unwrap_err().contains("log.csv:1: 9000 B do not fit"), "{long:?}");
    let none = with_files(&text, &|_| Ok("1 a\n".to_owned())).unwrap_err();
    assert!(none.contains("log.csv:1: has no length"), "{none}");
    let unread = with_files(&text, &no_files).unwrap_err();
    assert!(unread.contains("applications.p2.content: log.csv: there are no files"), "{unread}");
    let typo = with_files(&text.replace("trace(", "trase("), &log).unwrap_err();
    assert!(typo.contains("trase"), "{typo}");
}

#[test]
fn overlapping_changes_end_one_by_one() {
    let event = |at: u64, lasting: &str, to: &str| {
        format!("[[event]]\nat = \"{at} s\"\n{lasting}change = \"r1-r2\"\nto = {{ {to} }}\n")
    };
    let text = with(
        &[
            event(1, "", "rate = \"4 Mbit/s\""),
            event(2, "for = \"4 s\"\n", "rate = \"3 Mbit/s\", forth = { delay = \"1 ms\" }"),
            event(3, "for = \"1 s\"\n", "rate = \"2 Mbit/s\""),
            event(4, "", "delay = \"7 ms\""),
        ]
        .concat(),
    );
    let network = network(&text);
    let forth = network.faults.iter().filter_map(|(at, fault)| match fault {
        Fault::Change(_, Direction::Forth, plan) => {
            Some((at.as_secs_f64() as u64, plan.rate_bits / 1_000_000, plan.delay.as_millis()))
        }
        _ => None,
    });
    let expected = [(1, 4, 10), (2, 3, 1), (3, 2, 1), (4, 3, 7), (6, 4, 7)];
    assert_eq!(forth.collect::<Vec<_>>(), expected);
}

/// Thousands of everything: a walk over all for each would take hours.
#[test]
fn cost_grows_with_the_sum_not_the_product() {
    let count = 2_000;
    let mut text = String::from("stop = \"9 s\"\n[topology]\nkind = \"line\"\n");
    text += &format!("nodes = {count}\n[routing]\npaths = \"none\"\n");
    for number in 1..count {
        let next = number + 1;
        text += &format!("[links.n{number}-n{next}]\nrate = \"{number} kbit/s\"\n");
    }
    for number in 1..count {
        text += &format!(
            "[[event]]\nat = \"{number} us\"\nchange = \"n1-n2\"\nto = {{ delay = \"{number} us\" }}\n"
        );
    }
    let network = network(&text);
    assert_eq!(network.links[count - 2].forth.rate_bits, 1_000 * (count as u64 - 1));
    assert_eq!(network.faults.len(), 2 * (count - 1));
    let simulation = recoup_sim::simulation::Simulation::with_silent_nodes(network, 1).unwrap();
    assert_eq!(simulation.network().nodes.len(), count);
}

/// Results of a scenario with one consumer and one producer on a node or on two, in both orders.
fn both_orders(consumer: &str, producer: &str) -> [recoup_sim::run::Results; 2] {
    let head = "stop = \"9 s\"\n[topology]\nlinks = [\"a-b\"]\n";
    let consumer =
        format!("[applications.c]\nkind = \"fetch\"\nobject = \"/file\"\nnode = \"{consumer}\"\n");
    let producer = format!(
        "[applications.p]\nkind = \"serve\"\nprefix = \"/file\"\nsize = \"1 MiB\"\nnode = \"{producer}\"\n"
    );
    [[&consumer, &producer], [&producer, &consumer]].map(|order| {
        let network = network(&format!("{head}{}{}", order[0], order[1]));
        let mut run =
            recoup_sim::run::Run::new(network, 1, recoup_sim::metric::Detail::default(), &[])
                .unwrap();
        run.run_until(Instant::MAX, None);
        run.finish().unwrap().unwrap()
    })
}

#[test]
fn order_of_declaration_decides_nothing() {
    for (consumer, producer) in [("a", "b"), ("a", "a")] {
        let results = both_orders(consumer, producer);
        let [first, second] = results.each_ref().map(|it| &it.metrics);
        assert_eq!(first.get("all.drops_no_route"), Some(0.0), "{consumer} {producer}");
        for metric in ["c.completed", "c.interests", "c.time_s", "c.nacks", "c.retransmissions"] {
            assert_eq!(first.get(metric), second.get(metric), "{metric}: {consumer} {producer}");
        }
    }
}
