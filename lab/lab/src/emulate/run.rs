//! Runs scenarios as processes on this machine: starts the network and its applications, waits for the fetches, ends
//! everything, and returns the metrics of simulated runs.
use super::document::Task;
use super::metric;
use super::net::{Net, NetOptions};
use super::plan::{ConsumerPart, Plan, ProducerPart};
use super::process::Process;
use crate::campaign::{Outcome, Runner, Stage};
use crate::folder::Shelf;
use crate::{Error, ErrorKind};
use recoup_transport::random::Rng;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at the fetches.
const LOOK: Duration = Duration::from_millis(10);

/// Runs scenarios as processes.
#[derive(Debug)]
pub struct Processes {
    /// The command `recoup`.
    pub program: PathBuf,
}

impl Runner for Processes {
    fn run(
        &self,
        stage: &Stage,
        seed: u64,
        _: Option<&Shelf>,
        stop: &AtomicBool,
    ) -> Result<Option<Outcome>, Error> {
        let wrong = |what: String| Error::usage(format!("it cannot run on sockets: {what}"));
        let network =
            stage.scenario()?.network(seed).map_err(|problems| wrong(problems.to_string()))?;
        let plan = Plan::new(&network).map_err(wrong)?;
        let mut standing = Standing::build(&self.program, &plan, seed)?;
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

/// A network that stands with its applications. Fields are dropped in their order: applications end first.
struct Standing<'a> {
    program: PathBuf,
    plan: &'a Plan,
    consumers: Vec<Process>,
    producers: Vec<Process>,
    /// Files of applications.
    folder: PathBuf,
    net: Net<'a>,
}

impl<'a> Standing<'a> {
    /// Starts everything but the fetches.
    fn build(program: &Path, plan: &'a Plan, seed: u64) -> Result<Self, Error> {
        let net = Net::build(program, plan, NetOptions { seed, ..NetOptions::default() })?;
        let folder = net.make_folder("applications")?;
        let program = program.to_owned();
        let mut standing =
            Self { program, plan, consumers: Vec::new(), producers: Vec::new(), folder, net };
        for part in &plan.producers {
            standing.start_producer(part, seed)?;
        }
        Ok(standing)
    }

    fn start_producer(&mut self, part: &ProducerPart, seed: u64) -> Result<(), Error> {
        let path = self.content(part);
        // Producers of one name serve equal content.
        let rng = Rng::from_seed(seed).substream(&part.plan.prefix.to_string());
        fill(&path, part.plan.size_bytes, rng)
            .map_err(|error| Error::file("write", path.display(), &error))?;
        let task = Task::serve(part, path, self.net.door(part.node));
        let mut process = self.start(&part.name, &task)?;
        process.listening()?;
        self.producers.push(process);
        Ok(())
    }

    /// Starts a process with its document.
    fn start(&self, name: &str, task: &Task) -> Result<Process, Error> {
        let path = self.folder.join(format!("{name}.json"));
        let failed = |error: std::io::Error| Error::file("write", path.display(), &error);
        let text = serde_json::to_vec(task).map_err(|error| failed(error.into()))?;
        std::fs::write(&path, text).map_err(failed)?;
        let words = ["process".to_owned(), path.display().to_string()];
        Process::start(&self.program, name, &words, &self.folder)
    }

    /// Starts the fetches, each at its time, and waits until all have ended; `false` if the flag stopped it.
    fn fetch(&mut self, stop: &AtomicBool) -> Result<bool, Error> {
        let begun = Instant::now();
        let plan = self.plan;
        let mut waiting: Vec<&ConsumerPart> = plan.consumers.iter().collect();
        waiting.sort_by_key(|part| std::cmp::Reverse(part.start));
        loop {
            while let Some(part) = waiting.pop_if(|part| part.start <= begun.elapsed()) {
                let task = Task::fetch(part, self.copy(part), self.net.door(part.node));
                let process = self.start(&part.name, &task.map_err(Error::usage)?)?;
                self.consumers.push(process);
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

    /// The run's time is over: unfinished fetches keep their content, as in a simulation that stops.
    fn cut_off(&mut self) -> Result<(), Error> {
        self.consumers.iter().for_each(Process::ask_to_end);
        self.consumers.iter_mut().try_for_each(Process::finish)
    }

    /// Whether all fetches have ended. Nothing else may have.
    fn are_done(&mut self) -> Result<bool, Error> {
        self.net.check()?;
        self.producers.iter_mut().try_for_each(Process::check)?;
        let mut done = true;
        for process in &mut self.consumers {
            match process.ended()? {
                // It gave up, which is a result.
                Some(status) if status.code() == Some(ErrorKind::TimedOut as i32) => {}
                Some(status) if !status.success() => {
                    let document = process.document();
                    let message =
                        document.as_ref().ok().and_then(|it| it["error"]["message"].as_str());
                    return Err(process.failure(message.unwrap_or("failed")));
                }
                ended => done &= ended.is_some(),
            }
        }
        Ok(done)
    }

    /// Ends everything; what came of it.
    fn finish(mut self) -> Result<Vec<recoup_sim::metric::Metric>, Error> {
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
        self.producers.iter().for_each(Process::ask_to_end);
        self.producers.iter_mut().try_for_each(Process::finish)?;
        let (links, _) = self.net.finish()?;
        metric::links(&links, &mut metrics);
        Ok(metrics)
    }

    /// Compares the received content with the served one.
    fn compare(&self, part: &ConsumerPart) -> Result<(), Error> {
        let is_it = |it: &&ProducerPart| it.plan.prefix == part.plan.object;
        let is_part = part.plan.first > 0 || part.plan.last.is_some();
        let Some(producer) = self.plan.producers.iter().find(is_it).filter(|_| !is_part) else {
            return Ok(());
        };
        let (served, fetched) = (self.content(producer), self.copy(part));
        match are_equal(&served, &fetched) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message =
                    format!("{}: the received bytes differ from the sent ones", part.name);
                Err(Error::new(ErrorKind::Verification, message))
            }
            Err(error) => Err(Error::file("read", fetched.display(), &error)),
        }
    }

    fn content(&self, part: &ProducerPart) -> PathBuf {
        self.folder.join(format!("{}.content", part.name))
    }

    fn copy(&self, part: &ConsumerPart) -> PathBuf {
        self.folder.join(format!("{}.copy", part.name))
    }
}

/// Bytes that differ everywhere, so that a misplaced segment shows.
fn fill(path: &Path, size: u64, mut rng: Rng) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut left = size;
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
    fn files_are_compared_byte_by_byte() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fill(&path("a"), 100_003, Rng::from_seed(1)).unwrap();
        fill(&path("b"), 100_003, Rng::from_seed(1)).unwrap();
        assert!(are_equal(&path("a"), &path("b")).unwrap());
        let mut content = std::fs::read(path("a")).unwrap();
        assert_eq!(content.len(), 100_003);
        content[100_000] ^= 1;
        std::fs::write(path("b"), &content).unwrap();
        assert!(!are_equal(&path("a"), &path("b")).unwrap());
        std::fs::write(path("b"), &content[..100_000]).unwrap();
        assert!(!are_equal(&path("a"), &path("b")).unwrap());
    }
}
