//! One child process: started with its arguments, read by its output, terminated with the parent.
use crate::{Error, ErrorKind};
use recoup::reason;
use recoup_io::process::terminate;
use serde_json::Value;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time for a process to become reachable, and to end after its signal.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// A process. It ends at the latest when this value does, or when this process does.
#[derive(Debug)]
pub struct Process {
    /// Name in messages.
    name: String,
    child: Child,
    output: PathBuf,
    errors: PathBuf,
}

impl Process {
    /// Starts this program with these arguments; its output goes to files in `folder`.
    pub fn start(
        program: &Path,
        name: &str,
        words: &[String],
        folder: &Path,
    ) -> Result<Self, Error> {
        let failed = |error| {
            Error::new(
                ErrorKind::Other,
                format!("cannot start a process for {name}: {}", reason(&error)),
            )
        };
        let (output, errors) =
            (folder.join(format!("{name}.out")), folder.join(format!("{name}.err")));
        let file = |path: &PathBuf| File::create(path).map_err(failed);
        let (out, err) = (file(&output)?, file(&errors)?);
        let mut command = Command::new(program);
        command.args(words).arg(format!("--end-with={}", std::process::id()));
        command.current_dir(folder).stdin(Stdio::null()).stdout(out).stderr(err);
        // It has a session of its own from its start: Ctrl-C is for the parent, which ends it in order.
        let child = command.spawn().map_err(failed)?;
        Ok(Self { name: name.to_owned(), child, output, errors })
    }

    /// Name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for its first line: it can be reached.
    pub fn listening(&mut self) -> Result<Value, Error> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let output = std::fs::read_to_string(&self.output).unwrap_or_default();
            if let Some((line, _)) = output.split_once('\n') {
                let not_understood = |_| self.failure("printed no JSON document");
                return serde_json::from_str(line).map_err(not_understood);
            }
            if self.ended()?.is_some() {
                return Err(self.failure("ended at once"));
            }
            std::thread::sleep(LOOK);
        }
        Err(self.failure("cannot be reached"))
    }

    /// Exit status, if it has ended.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>, Error> {
        let failed =
            |error| Error::new(ErrorKind::Other, format!("{}: {}", self.name, reason(&error)));
        self.child.try_wait().map_err(failed)
    }

    /// Checks that it has not ended.
    ///
    /// # Errors
    /// If it has ended.
    pub fn check(&mut self) -> Result<(), Error> {
        match self.ended()? {
            Some(_) => Err(self.failure("has ended before its time")),
            None => Ok(()),
        }
    }

    /// The document on its standard output, the last one if there are lines of them.
    pub fn document(&self) -> Result<Value, Error> {
        let output = std::fs::read_to_string(&self.output).unwrap_or_default();
        let last = || output.lines().last().and_then(|line| serde_json::from_str(line).ok());
        serde_json::from_str(&output)
            .ok()
            .or_else(last)
            .ok_or_else(|| self.failure("printed nothing"))
    }

    /// Asks it to end, without waiting.
    pub fn ask_to_end(&self) {
        // A process that has ended already needs no signal.
        let _ = terminate(&self.child);
    }

    /// Waits until it has ended, as it was asked to.
    pub fn finish(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if self.ended()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
        Err(self.failure("does not end"))
    }

    /// The failure of this process, with its own message if it printed one.
    pub fn failure(&self, what: &str) -> Error {
        let output = std::fs::read_to_string(&self.errors).unwrap_or_default();
        let own = output.lines().rev().find_map(|line| line.strip_prefix("recoup: "));
        let text = own
            .map_or_else(|| format!("{} {what}", self.name), |own| format!("{}: {own}", self.name));
        Error::new(ErrorKind::Other, text)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
