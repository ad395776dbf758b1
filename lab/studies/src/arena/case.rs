//! A case of the arena: a scenario and the terms by which its runs are judged.
use super::ideal;
use super::path::Path;
use recoup_config::print::quoted;
use recoup_config::problem::Problems;
use recoup_lab::scenario::{Arena, FileReader, ScenarioFile};
use recoup_sim::network::{ApplicationKind, Network};
use recoup_transport::time::Instant;
use recoup_transport::transport::Transport;
use std::fmt;

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, that of its file.
    pub name: String,
    /// The scenario as text.
    pub text: String,
    /// The scenario.
    pub file: ScenarioFile,
    /// Terms of the judgement, from the file.
    pub arena: Arena,
    /// The terms by which its runs are judged.
    pub terms: Terms,
}

/// The terms by which the runs of a case are judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Consumers of the transport under test.
    pub under_test: Vec<String>,
    /// All consumers that share the link: those and their rivals.
    pub consumers: Vec<String>,
    /// When a run is cut off, in s.
    pub stop_s: f64,
    /// Round-trip time with empty queues, in s; `None` if that of the run's fastest segment is the best guess.
    pub base_rtt_s: Option<f64>,
    /// Whether all losses of the network hit the consumer under test, so that further
    /// retransmissions are spurious.
    pub losses_are_its_own: bool,
    /// The measured quantity.
    pub kind: Kind,
}

/// The measured quantity of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The time until all consumers under test are complete, with the shortest possible one, in s.
    Completion {
        /// Shortest possible time, in s.
        ideal_s: f64,
    },
    /// Shares of consumers on a link.
    Sharing {
        /// Content that the link carries, in bit/s.
        goodput: f64,
        /// Fair share of the consumers under test.
        fair_share: f64,
        /// Start of the last consumer under test, in s.
        last_arrival_s: f64,
        /// Start of the period over which goodputs are compared, in s.
        since_s: f64,
    },
}

/// Why a text is no case.
#[derive(Debug)]
pub enum CaseError {
    /// The file is no scenario.
    Scenario(String, Problems),
    /// The file is a scenario, but no case.
    Case(String, String),
}

impl fmt::Display for CaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(name, problems) => match problems.list() {
                [one] => f.write_str(&one.line(name, &[])),
                list => {
                    let first = list.first().map_or_else(String::new, |it| it.line(name, &[]));
                    write!(f, "{first}; {} more mistakes", list.len().saturating_sub(1))
                }
            },
            Self::Case(name, what) => write!(f, "{name}: {what}"),
        }
    }
}

impl std::error::Error for CaseError {}

impl Case {
    /// The case called `name` of a scenario's text; `files` reads the files that it names.
    ///
    /// # Errors
    /// If it is no scenario, or no case.
    pub fn new(name: &str, text: &str, files: FileReader<'_>) -> Result<Self, CaseError> {
        let wrong = |problems| CaseError::Scenario(name.to_owned(), problems);
        let no_case = |what: &str| CaseError::Case(name.to_owned(), what.to_owned());
        let file = ScenarioFile::parse(text, &[]).map_err(wrong)?;
        let arena = file
            .arena()
            .ok_or_else(|| no_case("is no case: write [arena] and `situation` below it"))?;
        let point = file.point(0).filter(|point| point.values.is_empty());
        let point = point
            .ok_or_else(|| no_case("a case has no [sweep]: the arena varies the transport"))?;
        let scenario = file.scenario(&point, files).map_err(wrong)?;
        let seed = file.seeds().iter().next().unwrap_or_default();
        let network = scenario.network(seed).map_err(wrong)?;
        let terms = Terms::new(arena, &network, &nominal_starts(text, arena, files))
            .map_err(|what| no_case(&what))?;
        if matches!(terms.kind, Kind::Sharing { .. }) && !records_goodput(&file) {
            return Err(no_case(
                "shares are of seconds: write tables = [\"goodput(bin=1s)\"] in [record]",
            ));
        }
        let (name, text, arena) = (name.to_owned(), text.to_owned(), arena.clone());
        Ok(Self { name, text, arena, file, terms })
    }

    /// The scenario with a sweep over transports.
    pub fn with(&self, transports: &[Transport]) -> String {
        let mut text = self.text.clone();
        for transport in transports {
            let Transport { congestion, loss, rto } = transport;
            let values = [("congestion", congestion), ("loss", loss), ("rto", rto)];
            text += &format!("\n[sweep.transport.{}]\n", quoted(&transport.to_string()));
            for (key, value) in values {
                text += &format!("\"fetch.{key}\" = {}\n", quoted(value));
            }
        }
        text
    }
}

fn records_goodput(file: &ScenarioFile) -> bool {
    file.to_toml().contains("goodput(bin=1s)")
}

impl Terms {
    fn new(arena: &Arena, network: &Network, starts_s: &[f64]) -> Result<Self, String> {
        let consumer = arena.under_test.first().map_or("", String::as_str);
        let path = Path::of(network, consumer);
        let kind = match (arena.since, arena.ideal) {
            (Some(since), None) => {
                let (ours, all) = (arena.under_test.len(), arena.rivals.len());
                Kind::Sharing {
                    goodput: path.clone()?.goodput(),
                    fair_share: ours as f64 / (ours + all) as f64,
                    last_arrival_s: starts_s.iter().copied().fold(0.0, f64::max),
                    since_s: since.as_secs_f64(),
                }
            }
            (Some(_), Some(_)) => {
                return Err(
                    "has either arena.ideal (a completion time) or arena.since (sharing)".into()
                );
            }
            (None, ideal) => {
                let ideal_s = match ideal {
                    Some(ideal) => ideal.as_secs_f64(),
                    None if arena.under_test.len() > 1 => {
                        return Err(
                            "has several consumers under test: write arena.since or arena.ideal"
                                .into(),
                        );
                    }
                    None => {
                        let path =
                            path.as_ref().map_err(|why| format!("write arena.ideal: {why}"))?;
                        ideal::time_s(path)
                    }
                };
                Kind::Completion { ideal_s }
            }
        };
        let given = arena.base_rtt.map(|time| time.as_secs_f64());
        let of_path = || path.as_ref().ok().map(Path::base_rtt_s);
        let base_rtt_s = match kind {
            Kind::Completion { .. } => given.or_else(of_path),
            Kind::Sharing { .. } => given,
        };
        let stop_s = network.stop.at.since(Instant::ZERO).as_secs_f64();
        let consumers = arena.under_test.iter().chain(&arena.rivals).cloned().collect();
        Ok(Self {
            under_test: arena.under_test.clone(),
            consumers,
            stop_s,
            base_rtt_s,
            losses_are_its_own: losses_are_its_own(network),
            kind,
        })
    }

    /// The shortest possible completion time in s, of a case of completion time.
    pub fn ideal_s(&self) -> Option<f64> {
        match self.kind {
            Kind::Completion { ideal_s } => Some(ideal_s),
            Kind::Sharing { .. } => None,
        }
    }
}

/// Whether a consumer is alone, without radio, other traffic and link recovery.
fn losses_are_its_own(network: &Network) -> bool {
    let is_one = |kind: &ApplicationKind| {
        !matches!(kind, ApplicationKind::Serve(_) | ApplicationKind::Produce(_))
    };
    let others = network.applications.iter().filter(|plan| is_one(&plan.kind)).count();
    let plain = |link: &recoup_sim::network::LinkPlan| {
        [&link.forth, &link.back].iter().all(|way| way.recovery.is_off())
    };
    others == 1 && network.wifi.is_empty() && network.links.iter().all(plain)
}

/// When the consumers under test start, without the random part of `spread`.
fn nominal_starts(text: &str, arena: &Arena, files: FileReader<'_>) -> Vec<f64> {
    let none: Vec<String> =
        arena.under_test.iter().map(|name| format!("applications.{name}.spread=0 s")).collect();
    let network = || {
        let file = ScenarioFile::parse(text, &none).ok()?;
        file.scenario(&file.point(0)?, files).ok()?.network(0).ok()
    };
    let plans = network().unwrap_or_default().applications;
    let ours = plans.iter().filter(|plan| arena.under_test.contains(&plan.name));
    ours.map(|plan| plan.start.since(Instant::ZERO).as_secs_f64()).collect()
}
