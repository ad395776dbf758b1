//! The measurements of ns-3.37, the run that stands for each, and what deviation is accepted.
use crate::harness::{Chain, Outcome, Saturated, circle, row};
use recoup_wifi::plan::{Aggregation, MediumPlan, RateControl, Timing};
use recoup_wifi::propagation::PathLoss;
use recoup_wifi::rate::Rate;
use std::collections::BTreeMap;
use std::fmt;

/// Facts: mean and deviation of ten runs of ns-3.37 each.
const FACTS: &str = include_str!("ns3.csv");

/// A measured case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) scenario: String,
    params: BTreeMap<String, String>,
    pub(crate) written: String,
    /// Metric, mean, standard deviation.
    pub(crate) facts: Vec<(String, f64, f64)>,
}

/// Every case.
pub(crate) fn all() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in FACTS.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [scenario, written, metric, mean, sd, _] = fields[..] else {
            panic!("a line of ns3.csv is not a measurement: {line}");
        };
        let fact = (metric.to_owned(), mean.parse().unwrap(), sd.parse().unwrap());
        match cases.iter_mut().find(|case| case.scenario == scenario && case.written == written) {
            Some(case) => case.facts.push(fact),
            None => cases.push(Case {
                scenario: scenario.to_owned(),
                params: params(written),
                written: written.to_owned(),
                facts: vec![fact],
            }),
        }
    }
    cases
}

fn params(written: &str) -> BTreeMap<String, String> {
    let pairs = written.split(';').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

impl Case {
    /// One run of it here.
    pub(crate) fn run(&self, seed: u64) -> Option<Outcome> {
        let plan = self.plan()?;
        let metres = self.number("d").unwrap_or(10.0);
        match self.scenario.split('_').next()? {
            "A" => {
                let mut run = Saturated::new(plan, row(2, metres), vec![0], 1);
                run.payload = self.number("payload")? as u32;
                Some(run.run(seed))
            }
            "B" => {
                let n = self.number("n")? as usize;
                let senders = (1..=n as u32).collect();
                Some(Saturated::new(plan, circle(n, metres), senders, 0).run(seed))
            }
            "D" => Some(self.run_n(plan)?.run(seed)),
            "C" if self.scenario.starts_with("C_ow") => {
                let hops = self.number("hops")? as usize;
                let mut run = Saturated::new(plan, row(hops + 1, metres), vec![0], hops as u32);
                run.seconds = 10;
                Some(run.run(seed))
            }
            "C" | "V" => {
                let (hops, window) = (self.number("hops")?, self.number("window")?);
                let metres = self.number("d").unwrap_or_else(|| self.geometry().1);
                Some(Chain::new(plan, metres, hops as u32, window as u32).run(seed))
            }
            _ => None,
        }
    }

    /// Stations of 802.11n around an access point, or it sending to one.
    fn run_n(&self, plan: MediumPlan) -> Option<Saturated> {
        let stations = self.number("n").unwrap_or(1.0) as usize;
        let metres = self.number("d").unwrap_or(2.0);
        let is_down = self.params.get("dir")? == "down";
        let senders = if is_down { vec![0] } else { (1..=stations as u32).collect() };
        let to = u32::from(is_down);
        let mut run = Saturated::new(plan, circle(stations, metres), senders, to);
        (run.warm_up, run.seconds, run.top_up) = match self.params.get("mgr")?.as_str() {
            "minstrel" => (2, 3, 200),
            _ if self.scenario.starts_with("D_dist") => (1, 1, 200),
            _ => (1, 2, 200),
        };
        Some(run)
    }

    fn plan_n(&self) -> Option<MediumPlan> {
        let mut plan = MediumPlan::n(match self.params.get("mgr")?.as_str() {
            "minstrel" => RateControl::MinstrelHt { wide: true, short_guard: true },
            mcs => RateControl::Constant(Rate::ht(mcs.parse().ok()?, true, true)?),
        });
        if self.params.get("loss").is_some_and(|loss| loss == "friis") {
            plan.path_loss = PathLoss::Friis { frequency: 5.19e9 };
        }
        let amsdu_bytes = self.number("amsdu").unwrap_or(7_935.0) as u32;
        plan.aggregation = match self.number("ampdu") {
            Some(_) => None,
            None => Some(Aggregation { amsdu_bytes, ..Aggregation::AMPDU }),
        };
        Some(plan)
    }

    /// The plan of the medium.
    pub(crate) fn plan(&self) -> Option<MediumPlan> {
        if self.scenario.starts_with("D") {
            return self.plan_n();
        }
        let written = self.params.get("rate").map(String::as_str);
        let mbits = match written {
            Some(rate) => rate.strip_prefix("ErpOfdmRate")?.strip_suffix("Mbps")?.parse().ok()?,
            None => self.geometry().0,
        };
        let mut plan = MediumPlan::g(Rate::ofdm(mbits)?);
        let is_short = self.number("slot") == Some(9.0) || self.scenario.ends_with("slot9");
        if is_short {
            plan.timing = Timing::G_SHORT;
        }
        match self.scenario.rsplit('_').next()? {
            "nist" => plan.receiver.errors = recoup_wifi::error::ErrorModel::Nist,
            "capture" => plan.receiver.capture_db = Some(5.0),
            "rtscts" => plan.rts_bytes = Some(0),
            _ => {}
        }
        Some(plan)
    }

    /// Rate and distance that go with a scenario's name.
    fn geometry(&self) -> (u8, f64) {
        if self.scenario.contains("cs1hop24") { (24, 500.0) } else { (54, 280.0) }
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.params.get(key)?.parse().ok()
    }

    /// Whether there are hidden stations.
    fn has_hidden(&self) -> bool {
        let hops = self.number("hops").unwrap_or(0.0);
        let is_far = |limit: f64| hops > limit;
        (self.scenario.contains("cs1hop") && is_far(1.0))
            || (self.scenario.contains("cs2hop") && is_far(2.0))
    }

    /// Minstrel with A-MSDUs near the edge of coverage.
    fn stalls(&self) -> bool {
        let is_far = self.number("d").is_some_and(|metres| metres >= 40.0);
        self.scenario == "D_dist" && self.written.starts_with("mgr=minstrel;loss=logd") && is_far
    }

    /// Accepted relative deviation of a metric, if it is judged.
    pub(crate) fn tolerance(&self, metric: &str) -> Option<f64> {
        let hidden = self.has_hidden();
        match (self.scenario.split('_').next()?, metric) {
            ("A", "goodput") => Some(0.01),
            ("B", "goodput" | "fail_frac") => Some(0.03),
            ("C" | "V", "drop_retry") if hidden => Some(0.2),
            ("C" | "V", "time" | "goodput" | "rtt_mean") => Some(if hidden { 0.1 } else { 0.03 }),
            ("D", "goodput") if matches!(&*self.scenario, "D_mcs" | "D_noagg") => Some(0.02),
            // ns-3 stalls there (as its measurements show).
            ("D", "goodput") if self.stalls() => None,
            ("D", "goodput") if self.scenario.starts_with("D_dist") => Some(0.1),
            ("D", "goodput") => Some(0.03),
            _ => None,
        }
    }
}

/// One line of the table: what ns-3 measured, what runs here give.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    pub(crate) metric: String,
    pub(crate) fact: f64,
    pub(crate) fact_sd: f64,
    pub(crate) mean: f64,
    pub(crate) sd: f64,
    pub(crate) tolerance: Option<f64>,
}

impl Comparison {
    /// Deviation, relative to the fact.
    pub(crate) fn deviation(&self) -> f64 {
        if self.fact == 0.0 { self.mean } else { self.mean / self.fact - 1.0 }
    }

    /// Whether the deviation is accepted; a fact that is less than one event per run is not judged.
    pub(crate) fn is_met(&self) -> Option<bool> {
        let judged = self.metric != "drop_retry" || self.fact >= 1.0;
        self.tolerance.filter(|_| judged).map(|most| self.deviation().abs() <= most)
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tolerance = self.tolerance.map_or(String::new(), |most| format!("{}", most * 100.0));
        let verdict = match self.is_met() {
            None => "",
            Some(true) => "met",
            Some(false) => "NOT MET",
        };
        let (metric, deviation) = (&self.metric, self.deviation() * 100.0);
        write!(f, "{metric:14} {:10.4} {:8.4} ", self.fact, self.fact_sd)?;
        write!(f, "{:10.4} {:8.4} {deviation:7.2} {tolerance:>3} {verdict}", self.mean, self.sd)
    }
}

/// Runs a case with seeds from 1 and compares.
pub(crate) fn compare(case: &Case, seeds: u64) -> Vec<Comparison> {
    let outcomes: Vec<Outcome> = (1..=seeds).filter_map(|seed| case.run(seed)).collect();
    let compared = case.facts.iter().filter_map(|(metric, fact, fact_sd)| {
        let values: Option<Vec<f64>> =
            outcomes.iter().map(|outcome| outcome.metric(metric)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        let (mean, sd) = moments(&values);
        let tolerance = case.tolerance(metric);
        let (metric, fact, fact_sd) = (metric.clone(), *fact, *fact_sd);
        Some(Comparison { metric, fact, fact_sd, mean, sd, tolerance })
    });
    compared.collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, if n > 1.0 { (squares / (n - 1.0)).sqrt() } else { 0.0 })
}
