//! Plan of a link, from its file and the command line.
use super::args::LinkArgs;
use super::way::{Turn, Way};
use crate::config::{self, Section};
use crate::error::{Exit, Failure, reason};
use recoup_channel::channel::ChannelError;
use recoup_channel::layer::PairLayer;
use recoup_channel::link::LinkOptions;
use recoup_channel::model::loss::{Loss, with_trace_files};
use recoup_channel::model::trace::Trace;
use recoup_config::form;
use recoup_config::problem::{Origin, Problem, Problems};
use recoup_config::tree::{Table, Tree, Value};
use recoup_transport::random::Rng;
use recoup_transport::spec::{SpecError, Spelled};
use recoup_transport::time::Instant;
use std::sync::Arc;

/// Both directions of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkPlan {
    /// Toward the far end.
    pub forth: LinkOptions,
    /// Toward the near end.
    pub back: LinkOptions,
    /// Scheduled changes.
    events: Vec<Event>,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    at: Instant,
    until: Option<Instant>,
    what: What,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Other properties, on top of those in force.
    To(Table),
    /// Nothing is carried forth, back.
    Outage { forth: bool, back: bool },
}

/// Reads the properties of a link onto those of both directions.
fn channels(
    given: &Table,
    path: &str,
    origin: Origin,
    (forth, back): (&mut LinkOptions, &mut LinkOptions),
    problems: &mut Problems,
) {
    let layer = PairLayer::of_table(given, path, origin, problems);
    layer.forth.put_on(forth);
    layer.back.put_on(back);
}

/// The changes of a direction, in the order of time.
type Schedule = Vec<(Instant, Turn)>;

impl LinkPlan {
    /// The plan that the options describe: the file first, the command line on top.
    pub(crate) fn new(args: &LinkArgs) -> Result<Self, Failure> {
        let mut plan = match &args.file {
            None => Self::default(),
            Some(path) => Self::parse(&path.display().to_string(), &config::read(path)?)?,
        };
        plan.lay(args)?;
        plan.check()
    }

    /// Reads the text of the file called `file`.
    pub(crate) fn parse(file: &str, text: &str) -> Result<Self, Failure> {
        config::parse(file, text, |whole| {
            let mut plan = Self::default();
            let Self { forth, back, events } = &mut plan;
            whole.foreign("link", |table, path, origin, problems| {
                channels(table, path, origin, (forth, back), problems);
            });
            whole.list("event", |one| events.extend(read_event(one)));
            plan.events.sort_by_key(|event| event.at);
            plan
        })
    }

    /// Puts the options of the command line on top.
    fn lay(&mut self, args: &LinkArgs) -> Result<(), Failure> {
        let mut problems = Problems::default();
        let (forth, back) = args.layers();
        let both = (&mut self.forth, &mut self.back);
        channels(&table(forth), "", Origin::Unknown, both, &mut problems);
        let mut aside = LinkOptions::default();
        let mut table_back = Table::default();
        for (key, value) in back {
            table_back.insert(&key, Value::text(value).into());
        }
        let only_back = (&mut aside, &mut self.back);
        channels(&table_back, "back", Origin::Unknown, only_back, &mut problems);
        match problems.list().first() {
            None => Ok(()),
            Some(Problem { key, what, .. }) => {
                let option = key.replace('.', "-");
                Err(Failure::usage(format!("--{option}: {what}")))
            }
        }
    }

    /// Rejects properties that only simulated links have.
    fn check(self) -> Result<Self, Failure> {
        for plan in [&self.forth, &self.back] {
            if plan.marking.0.is_some() {
                let message = "a link between sockets changes no packets: it has no `marking`";
                return Err(Failure::usage(message));
            }
            if plan.scheduler.0.is_some() {
                let message = "a link between sockets knows no flows: it has no `scheduler`";
                return Err(Failure::usage(message));
            }
            if !plan.recovery.is_off() {
                let message = "a link between sockets resends nothing: `recovery` is for the nodes at its ends";
                return Err(Failure::usage(message));
            }
        }
        Ok(self)
    }

    /// The two directions as machines.
    pub(crate) fn ways(&self, seed: u64) -> Result<(Way, Way), Failure> {
        let rng = Rng::from_seed(seed).substream("link");
        let (forth, back) = self.schedules();
        let way = |plan: &LinkOptions, mut schedule: Schedule, rng| {
            for (_, turn) in &mut schedule {
                if let Turn::Change(plan) = turn {
                    **plan = with_lists(plan)?;
                }
            }
            let failed = |error: ChannelError| Failure::new(Exit::Usage, error.to_string());
            Way::new(&with_lists(plan)?, schedule, rng).map_err(failed)
        };
        Ok((
            way(&self.forth, forth, rng.substream("forth"))?,
            way(&self.back, back, rng.substream("back"))?,
        ))
    }

    fn schedules(&self) -> (Schedule, Schedule) {
        let (mut forth, mut back) = (self.forth.clone(), self.back.clone());
        let mut schedules = (Schedule::new(), Schedule::new());
        let mut add = |at, turns: (Option<Turn>, Option<Turn>)| {
            schedules.0.extend(turns.0.map(|turn| (at, turn)));
            schedules.1.extend(turns.1.map(|turn| (at, turn)));
        };
        for Event { at, until, what } in &self.events {
            match what {
                What::To(table) => {
                    let before = (forth.clone(), back.clone());
                    lay_table(table, &mut forth, &mut back);
                    let change = |plan: &LinkOptions| Some(Turn::Change(Box::new(plan.clone())));
                    add(*at, (change(&forth), change(&back)));
                    if let Some(until) = until {
                        (forth, back) = before;
                        add(*until, (change(&forth), change(&back)));
                    }
                }
                What::Outage { forth, back } => {
                    let turn = |out| {
                        (forth.then_some(Turn::Outage(out)), back.then_some(Turn::Outage(out)))
                    };
                    add(*at, turn(true));
                    if let Some(until) = until {
                        add(*until, turn(false));
                    }
                }
            }
        }
        schedules.0.sort_by_key(|(at, _)| *at);
        schedules.1.sort_by_key(|(at, _)| *at);
        schedules
    }
}

/// The plan with the content of the files that it names.
fn with_lists(plan: &LinkOptions) -> Result<LinkOptions, Failure> {
    let read = |name: &str| std::fs::read_to_string(name).map_err(|error| reason(&error));
    let list = |loss: &Spelled<Loss>| {
        let text = with_trace_files(loss.text(), &read).map_err(Failure::usage)?;
        text.parse().map_err(|error: SpecError| Failure::usage(error.to_string()))
    };
    let (loss, duplicate) = (list(&plan.loss)?, list(&plan.duplicate)?);
    let mut plan = LinkOptions { loss, duplicate, ..plan.clone() };
    plan.read_traces(trace, trace)?;
    Ok(plan)
}

/// The trace in a file.
fn trace<T: Trace>(name: &str) -> Result<Arc<T>, Failure> {
    let text = std::fs::read_to_string(name);
    let text = text.map_err(|error| Failure::usage(format!("{name}: {}", reason(&error))))?;
    let trace = T::parse(&text).map_err(|error| Failure::usage(format!("{name}:{error}")))?;
    Ok(Arc::new(trace))
}

fn lay_table(table: &Table, forth: &mut LinkOptions, back: &mut LinkOptions) {
    let both = (forth, back);
    channels(table, "to", Origin::Unknown, both, &mut Problems::default());
}

fn table(values: Vec<(String, String)>) -> Table {
    let mut table = Table::default();
    for (key, value) in values {
        let value = match value.as_str() {
            "true" => Value::Truth(true),
            _ => Value::Text(value),
        };
        table.insert(&key, Tree { value, origin: Origin::Unknown });
    }
    table
}

fn read_event(one: &mut Section<'_>) -> Option<Event> {
    let at = one.required("at", "\"10 s\"", form::instant);
    let until = one.value("for", form::instant);
    let mut what = None;
    one.foreign("to", |table, path, origin, problems| {
        let (mut forth, mut back) = Default::default();
        channels(table, path, origin, (&mut forth, &mut back), problems);
        what = Some(What::To(table.clone()));
    });
    let outage = one.value("outage", |tree| match config::text(tree)?.as_str() {
        "both" => Ok(What::Outage { forth: true, back: true }),
        "forth" => Ok(What::Outage { forth: true, back: false }),
        "back" => Ok(What::Outage { forth: false, back: true }),
        other => Err(format!("`{other}` is no direction; write both, forth or back")),
    });
    if one.gives("to") == one.gives("outage") {
        one.problem("at", "name one event: to = { … } or outage = \"both\"");
    }
    let at = at?;
    let until = until.map(|lasting| at + lasting.since(Instant::ZERO));
    Some(Event { at, until, what: what.or(outage)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::time::Duration;

    const FILE: &str = "[link]\nrate = \"10 Mbit/s\"\nback = { rate = \"1 Mbit/s\" }\n\
        [[event]]\nat = \"5 s\"\nfor = \"2 s\"\nto = { delay = \"50 ms\" }\n\
        [[event]]\nat = \"1 s\"\nfor = \"500 ms\"\noutage = \"forth\"\n";

    #[test]
    fn file_schedules_changes() {
        let plan = LinkPlan::parse("l.toml", FILE).unwrap();
        assert_eq!((plan.forth.rate_bits, plan.back.rate_bits), (10_000_000, 1_000_000));
        let (forth, back) = plan.schedules();
        let times = |schedule: &Schedule| -> Vec<u64> {
            schedule.iter().map(|(at, _)| at.as_nanos() / 1_000_000).collect()
        };
        assert_eq!((times(&forth), times(&back)), (vec![1000, 1500, 5000, 7000], vec![5000, 7000]));
        let Some((_, Turn::Change(slow))) = back.first() else { panic!() };
        assert_eq!((slow.delay, slow.rate_bits), (Duration::from_millis(50), 1_000_000));
        let Some((_, Turn::Change(again))) = back.last() else { panic!() };
        assert_eq!(**again, plan.back);
        plan.ways(1).unwrap();
    }

    #[test]
    fn losses_may_be_listed_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("lift.txt");
        let text = format!("[link]\nloss = \"trace(file={})\"\n", list.display());
        let plan = LinkPlan::parse("l.toml", &text).unwrap();
        assert!(plan.ways(1).unwrap_err().to_string().contains("lift.txt: "));
        std::fs::write(&list, "3\n5-7\n").unwrap();
        assert_eq!(with_lists(&plan.forth).unwrap().loss.text(), "trace(packets=3 5-7)");
        plan.ways(1).unwrap();
    }

    #[test]
    fn rates_and_delays_follow_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lte.up");
        let text = format!("[link]\nback = {{ rate = \"trace(file={})\" }}\n", file.display());
        let plan = LinkPlan::parse("l.toml", &text).unwrap();
        assert!(plan.ways(1).unwrap_err().to_string().contains("lte.up: "));
        std::fs::write(&file, "0\n5\n10\n").unwrap();
        let read = with_lists(&plan.back).unwrap();
        assert_eq!((read.rate_bits, plan.forth.rate_bits), (3 * 1504 * 8 * 100, 0));
        plan.ways(1).unwrap();
        std::fs::write(&file, "0\nx\n").unwrap();
        assert!(plan.ways(1).unwrap_err().to_string().contains("lte.up:2: `x` is no time"));
    }

    #[test]
    fn keys_of_nodes_are_rejected() {
        let wrong = |key: &str| {
            let plan = LinkPlan::parse("l.toml", &format!("[link]\n{key}\n")).unwrap();
            plan.check().unwrap_err().to_string()
        };
        assert!(wrong("marking = \"codel\"").contains("`marking`"));
        assert!(wrong("recovery = \"wldr\"").contains("`recovery`"));
    }

    #[test]
    fn errors_have_their_line() {
        let wrong = |text: &str| LinkPlan::parse("l.toml", text).unwrap_err().to_string();
        assert!(wrong("[link]\nrat = 1\n").starts_with("l.toml:2:1: link.rat: is not known here"));
        assert!(wrong("[[event]]\nat = \"1 s\"\n").contains("name one event"));
        let both = "[[event]]\nat = \"1 s\"\noutage = \"up\"\n";
        assert!(wrong(both).contains("l.toml:3:10: event.1.outage: `up` is no direction"));
        assert!(wrong("[[event]]\nat = \"1 s\"\nto = { rate = 3 }\n").contains("event.1.to.rate"));
    }
}
