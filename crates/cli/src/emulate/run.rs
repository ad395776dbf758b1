//! Runs networks as processes on this machine: starts what a plan names, waits for its fetches, ends everything, and
//! tells what came of it in the words of simulated runs.
use super::metric;
use super::plan::{ConsumerPart, Part, Plan, ProducerPart};
use super::process::Process;
use super::text;
use crate::error::{Exit, Failure};
use crate::sim::campaign::{Outcome, Runner, Stage};
use crate::sim::folder::Shelf;
use recoup_transport::random::Rng;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Any port of this machine that is free.
const ANYWHERE: &str = "udp://127.0.0.1:0";
/// Time between two looks at the fetches.
const LOOK: Duration = Duration::from_millis(10);

/// Runs scenarios as processes.
#[derive(Debug)]
pub(crate) struct Processes;

impl Runner for Processes {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        _: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Failure> {
        let wrong = |what: String| Failure::usage(format!("it cannot run on sockets: {what}"));
        let network =
            stage.scenario.network(seed).map_err(|problems| wrong(problems.to_string()))?;
        let plan = Plan::new(&network).map_err(wrong)?;
        let mut standing = Standing::build(&plan, seed)?;
        let begun = Instant::now();
        if !standing.fetch(stop)? {
            return Ok(None);
        }
        let end_s = begun.elapsed().as_secs_f64();
        let metrics = standing.finish()?;
        Ok(Some(Outcome { digest: "measured".into(), end_s, metrics, tables: Vec::new() }))
    }

    fn repeats(&self) -> bool {
        false
    }
}

/// A network that stands. Fields are dropped in their order: the processes end before their folder goes.
struct Standing<'a> {
    plan: &'a Plan,
    consumers: Vec<Process>,
    producers: Vec<Process>,
    links: Vec<Process>,
    nodes: Vec<Process>,
    folder: TempDir,
}

impl<'a> Standing<'a> {
    /// Starts everything but the fetches.
    fn build(plan: &'a Plan, seed: u64) -> Result<Self, Failure> {
        let folder = tempfile::Builder::new().prefix("recoup-").tempdir();
        let folder = folder.map_err(|error| {
            Failure::file("make a folder in", std::env::temp_dir().display(), &error)
        })?;
        let (consumers, producers, links, nodes) = Default::default();
        let mut standing = Self { plan, consumers, producers, links, nodes, folder };
        let mut places = Places::default();
        for part in &plan.order {
            match part {
                Part::Link(link) => standing.start_link(*link, seed, &mut places)?,
                Part::Node(node) => standing.start_node(*node, &mut places)?,
            }
        }
        for part in &plan.producers {
            standing.start_producer(part, seed)?;
        }
        Ok(standing)
    }

    fn start_link(&mut self, link: usize, seed: u64, places: &mut Places) -> Result<(), Failure> {
        let Some(part) = self.plan.links.get(link) else { return Ok(()) };
        let file = self.write(&format!("link-{link}.toml"), text::link(part).as_bytes())?;
        let far = places.of_node(part.answers);
        let seed = Rng::from_seed(seed).substream(&part.name).next_u64();
        let (file, seed) = (format!("--file={}", file.display()), format!("--seed={seed}"));
        let words = ["link", "--json", &file, &seed, "--between", ANYWHERE, &far].map(String::from);
        let mut process = Process::start(&format!("link-{link}"), &words, self.folder.path())?;
        let face = string(&process.listening()?["face"]);
        places.links.push((link, face));
        self.links.push(process);
        Ok(())
    }

    fn start_node(&mut self, node: usize, places: &mut Places) -> Result<(), Failure> {
        let Some(part) = self.plan.nodes.get(node) else { return Ok(()) };
        let mut listen = vec![self.door(node)];
        listen.extend(part.answers.then(|| ANYWHERE.to_owned()));
        let asks = |link: usize| self.plan.links.get(link).is_some_and(|link| link.asks == node);
        let faces: Vec<_> = places.links.iter().filter(|(link, _)| asks(*link)).cloned().collect();
        let config = text::node(part, &self.plan.links, &listen, &faces);
        let file = self.write(&format!("node-{node}.toml"), config.as_bytes())?;
        let words =
            ["forward", "--json", &format!("--config={}", file.display())].map(String::from);
        let mut process = Process::start(&format!("node-{node}"), &words, self.folder.path())?;
        let heard = process.listening()?;
        let all = heard["faces"].as_array().into_iter().flatten().map(string);
        places.nodes.extend(all.filter(|uri| uri.starts_with("udp")).map(|uri| (node, uri)));
        self.nodes.push(process);
        Ok(())
    }

    fn start_producer(&mut self, part: &ProducerPart, seed: u64) -> Result<(), Failure> {
        let path = self.content(part);
        // Who serves the same name serves the same content.
        let rng = Rng::from_seed(seed).substream(&part.plan.prefix.to_string());
        fill(&path, part.plan.size_octets, rng)
            .map_err(|error| Failure::file("write", path.display(), &error))?;
        let words = text::serve(part, &path.display().to_string(), &self.door(part.node));
        let mut process = Process::start(&part.name, &words, self.folder.path())?;
        process.listening()?;
        self.producers.push(process);
        Ok(())
    }

    /// Starts the fetches, each at its time, and waits until all have ended; `false` if the flag told to stop.
    fn fetch(&mut self, stop: &AtomicBool) -> Result<bool, Failure> {
        let begun = Instant::now();
        let plan = self.plan;
        let mut waiting: Vec<&ConsumerPart> = plan.consumers.iter().collect();
        waiting.sort_by_key(|part| std::cmp::Reverse(part.start));
        loop {
            while let Some(part) = waiting.pop_if(|part| part.start <= begun.elapsed()) {
                let copy = self.copy(part).display().to_string();
                let words =
                    text::fetch(part, &copy, &self.door(part.node)).map_err(Failure::usage)?;
                self.consumers.push(Process::start(&part.name, &words, self.folder.path())?);
            }
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if self.are_done()? && waiting.is_empty() {
                return Ok(true);
            }
            if begun.elapsed() > plan.at_most {
                return self.cut_off().map(|()| true);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The run's time is over: whoever still fetches keeps what it has, as in a simulation that stops.
    fn cut_off(&mut self) -> Result<(), Failure> {
        self.consumers.iter().for_each(Process::ask_to_end);
        self.consumers.iter_mut().try_for_each(Process::finish)
    }

    /// Whether all fetches have ended. Nothing else may have.
    fn are_done(&mut self) -> Result<bool, Failure> {
        for process in self.nodes.iter_mut().chain(&mut self.links).chain(&mut self.producers) {
            if process.ended()?.is_some() {
                return Err(process.failure("has ended before its time"));
            }
        }
        let mut done = true;
        for process in &mut self.consumers {
            match process.ended()? {
                // It gave up, which is a result.
                Some(status) if status.code() == Some(Exit::TimedOut as i32) => {}
                Some(status) if !status.success() => {
                    let document = process.document();
                    let said = document.as_ref().map(|it| string(&it["error"]["message"]));
                    return Err(process.failure(&said.unwrap_or_else(|_| "failed".into())));
                }
                ended => done &= ended.is_some(),
            }
        }
        Ok(done)
    }

    /// Ends everything; what came of it.
    fn finish(mut self) -> Result<Vec<recoup_sim::metric::Metric>, Failure> {
        let mut metrics = Vec::new();
        for part in &self.plan.consumers {
            let process = self.consumers.iter().find(|process| process.name() == part.name);
            let Some(process) = process else { continue };
            let document = process.document()?;
            metric::consumer(part, &document, &mut metrics);
            if metric::is_complete(&document) {
                self.compare(part)?;
            }
        }
        metric::all(&self.plan.consumers, &mut metrics);
        let mut links = Vec::new();
        for (processes, is_link) in
            [(&mut self.producers, false), (&mut self.links, true), (&mut self.nodes, false)]
        {
            processes.iter().for_each(Process::ask_to_end);
            for process in processes {
                process.finish()?;
                links.extend(is_link.then(|| process.document()).transpose()?);
            }
        }
        metric::links(&links, &mut metrics);
        Ok(metrics)
    }

    /// What arrived is what was served.
    fn compare(&self, part: &ConsumerPart) -> Result<(), Failure> {
        let is_it = |it: &&ProducerPart| it.plan.prefix == part.plan.object;
        let is_part =
            part.plan.options.iter().any(|(key, _)| ["first", "last"].contains(&key.as_str()));
        let Some(producer) = self.plan.producers.iter().find(is_it).filter(|_| !is_part) else {
            return Ok(());
        };
        let (served, fetched) = (self.content(producer), self.copy(part));
        match are_equal(&served, &fetched) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message = format!("{}: other octets arrived than were sent", part.name);
                Err(Failure::new(Exit::Verification, message))
            }
            Err(error) => Err(Failure::file("read", fetched.display(), &error)),
        }
    }

    /// Where applications of a node reach their forwarder.
    fn door(&self, node: usize) -> String {
        format!("unix://{}", self.folder.path().join(format!("node-{node}.sock")).display())
    }

    fn content(&self, part: &ProducerPart) -> PathBuf {
        self.folder.path().join(format!("{}.content", part.name))
    }

    fn copy(&self, part: &ConsumerPart) -> PathBuf {
        self.folder.path().join(format!("{}.copy", part.name))
    }

    fn write(&self, name: &str, octets: &[u8]) -> Result<PathBuf, Failure> {
        let path = self.folder.path().join(name);
        std::fs::write(&path, octets)
            .map_err(|error| Failure::file("write", path.display(), &error))?;
        Ok(path)
    }
}

/// Where others can be reached, as they said.
#[derive(Default)]
struct Places {
    /// Near ends of links.
    links: Vec<(usize, String)>,
    /// Forwarders, for links.
    nodes: Vec<(usize, String)>,
}

impl Places {
    fn of_node(&self, node: usize) -> String {
        let found = self.nodes.iter().find(|(other, _)| *other == node);
        found.map(|(_, uri)| uri.clone()).unwrap_or_default()
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Octets that differ everywhere, so that a misplaced segment shows.
fn fill(path: &Path, octets: u64, mut rng: Rng) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut left = octets;
    while left > 0 {
        let word = rng.next_u64().to_le_bytes();
        let length = left.min(8);
        file.write_all(word.get(..length as usize).unwrap_or_default())?;
        left -= length;
    }
    file.flush()
}

fn are_equal(one: &Path, other: &Path) -> std::io::Result<bool> {
    let (mut one, mut other) =
        (BufReader::new(File::open(one)?), BufReader::new(File::open(other)?));
    loop {
        let (ours, theirs) = (one.fill_buf()?, other.fill_buf()?);
        let both = ours.len().min(theirs.len());
        if both == 0 {
            return Ok(ours.len() == theirs.len());
        }
        if ours.get(..both) != theirs.get(..both) {
            return Ok(false);
        }
        one.consume(both);
        other.consume(both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_compared_octet_by_octet() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fill(&path("a"), 100_003, Rng::from_seed(1)).unwrap();
        fill(&path("b"), 100_003, Rng::from_seed(1)).unwrap();
        assert!(are_equal(&path("a"), &path("b")).unwrap());
        let mut octets = std::fs::read(path("a")).unwrap();
        assert_eq!(octets.len(), 100_003);
        octets[100_000] ^= 1;
        std::fs::write(path("b"), &octets).unwrap();
        assert!(!are_equal(&path("a"), &path("b")).unwrap());
        std::fs::write(path("b"), &octets[..100_000]).unwrap();
        assert!(!are_equal(&path("a"), &path("b")).unwrap());
    }
}
