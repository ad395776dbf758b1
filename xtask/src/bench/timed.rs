//! Child processes with a deadline. Each leads a process group that is killed as a whole at the
//! deadline, so that no benchmark waits for ever for a peer.
//!
//! A terminal signals only the group of this process, so that SIGINT and SIGTERM are passed on: each watch kills its group.

use crate::chore::{Outcome, spelled};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two looks at signals.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// SIGINT or SIGTERM has arrived.
static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Without it the children outlive an interrupted benchmark, and nothing else.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
});

/// Kills the children of this process and ends it with an error, unless the benchmark ends `within` this time.
pub(crate) fn limit_benchmark(name: &'static str, within: Duration) {
    LazyLock::force(&INTERRUPTED);
    std::thread::spawn(move || {
        std::thread::sleep(within);
        eprintln!("bench {name} did not end within {within:?}: its processes are killed");
        INTERRUPTED.store(true, Ordering::Relaxed);
        // Each watch has looked once when this has passed.
        std::thread::sleep(SIGNAL_CHECK + SIGNAL_CHECK / 2);
        std::process::exit(1);
    });
}

/// A child process and its group. Both end with their owner.
pub(crate) struct Timed {
    child: Child,
    group: Pid,
    name: String,
    watch: Option<Watch>,
    /// The leader was waited for: its number may be another process's.
    is_reaped: bool,
}

/// A thread that kills the group when the deadline has passed, or at a signal.
struct Watch {
    within: Option<Duration>,
    stop: mpsc::Sender<()>,
    thread: JoinHandle<bool>,
}

impl Timed {
    /// Starts a command that must have ended `within` this time.
    pub(crate) fn spawn(command: &mut Command, within: Duration) -> io::Result<Self> {
        use std::os::unix::process::CommandExt;
        LazyLock::force(&INTERRUPTED);
        let name = spelled(command);
        let child = command.process_group(0).spawn()?;
        let group = Pid::from_child(&child);
        let mut timed = Self { child, group, name, watch: None, is_reaped: false };
        timed.limit(Some(within))?;
        Ok(timed)
    }

    /// The number of the child.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The child's standard output, if that is a pipe. It ends when the group is killed.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Sets another deadline: `within` this time from now, or none.
    ///
    /// # Errors
    /// If the deadline so far has passed.
    pub(crate) fn limit(&mut self, within: Option<Duration>) -> io::Result<()> {
        self.release()?;
        self.watch = Some(Watch::begin(self.group, within)?);
        Ok(())
    }

    /// The exit status, if it has ended.
    ///
    /// # Errors
    /// If the deadline has passed.
    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if self.is_reaped {
            return self.child.try_wait();
        }
        match waitid(WaitId::Pid(self.group), options)? {
            None => Ok(None),
            Some(_) => self.conclude().map(Some),
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the deadline has passed.
    pub(crate) fn wait(&mut self) -> io::Result<ExitStatus> {
        if self.is_reaped {
            return self.child.wait();
        }
        // It stays a zombie, so that its number is not another process's while the watch may kill it.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(error) = waitid(WaitId::Pid(self.group), options) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        self.conclude()
    }

    /// Reads its standard output to the end, and waits.
    ///
    /// # Errors
    /// If the deadline has passed, or the output cannot be read.
    pub(crate) fn wait_with_output(mut self) -> io::Result<Output> {
        let mut stdout = Vec::new();
        if let Some(mut pipe) = self.take_stdout() {
            io::Read::read_to_end(&mut pipe, &mut stdout)?;
        }
        Ok(Output { status: self.wait()?, stdout, stderr: Vec::new() })
    }

    /// Kills the group (SIGKILL).
    pub(crate) fn kill(&mut self) {
        if !self.is_reaped {
            let _ = self.conclude();
        }
    }

    /// Ends what is left of the group, and reaps the leader.
    fn conclude(&mut self) -> io::Result<ExitStatus> {
        let in_time = self.release();
        let _ = kill_process_group(self.group, Signal::KILL);
        let status = self.child.wait()?;
        self.is_reaped = true;
        in_time.map(|()| status)
    }

    /// Ends the watch.
    fn release(&mut self) -> io::Result<()> {
        let Some(Watch { within, stop, thread }) = self.watch.take() else {
            return Ok(());
        };
        drop(stop);
        match thread.join() {
            Ok(true) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!(
                    "{} did not end within {:?}: its process group was killed",
                    self.name,
                    within.unwrap_or_default()
                ),
            )),
            _ => Ok(()),
        }
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Watch {
    fn begin(group: Pid, within: Option<Duration>) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let deadline = within.map(|within| Instant::now() + within);
        let watch = move || watch(group, &stopped, deadline);
        let thread = std::thread::Builder::new().name("deadline".into()).spawn(watch)?;
        Ok(Self { within, stop, thread })
    }
}

/// Whether the deadline passed, so that the group was killed.
fn watch(group: Pid, stopped: &mpsc::Receiver<()>, deadline: Option<Instant>) -> bool {
    loop {
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let wait = left.map_or(SIGNAL_CHECK, |left| left.min(SIGNAL_CHECK));
        if !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
            return false;
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            let _ = kill_process_group(group, Signal::KILL);
            // The other watches look, too, before this process ends.
            std::thread::sleep(2 * SIGNAL_CHECK);
            std::process::exit(130);
        }
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            // A leader that ended in time and was not waited for yet did not miss its deadline.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            let has_ended = matches!(waitid(WaitId::Pid(group), options), Ok(Some(_)));
            let _ = kill_process_group(group, Signal::KILL);
            return !has_ended;
        }
    }
}

/// Runs a command within a time and returns its standard output.
pub(crate) fn capture(command: &mut Command, within: Duration) -> Outcome<String> {
    command.stdout(Stdio::piped());
    let child = Timed::spawn(command, within);
    let output = child.and_then(Timed::wait_with_output).map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{} failed ({})", spelled(command), output.status)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A shell that starts another process, prints its number, and never ends.
    fn endless() -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
        shell
    }

    /// Neither gone nor waiting to be reaped by init.
    fn is_running(id: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    }

    #[track_caller]
    fn assert_ends(id: &str) {
        let begun = Instant::now();
        while is_running(id) {
            assert!(begun.elapsed() < Duration::from_secs(5), "{id} is still running");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_deadline_ends_the_whole_group() {
        let child = Timed::spawn(&mut endless(), Duration::from_millis(200)).unwrap();
        let error = child.wait_with_output().unwrap_err().to_string();
        assert!(error.contains("sh -c") && error.contains("did not end within 200ms"), "{error}");
    }

    #[test]
    fn ended_child_may_be_awaited_late() {
        let mut child =
            Timed::spawn(&mut Command::new("true"), Duration::from_millis(200)).unwrap();
        std::thread::sleep(Duration::from_millis(400));
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn descendants_end_with_their_owner() {
        let mut child = Timed::spawn(&mut endless(), Duration::from_secs(60)).unwrap();
        let mut line = String::new();
        let mut output = io::BufReader::new(child.take_stdout().unwrap());
        io::BufRead::read_line(&mut output, &mut line).unwrap();
        let descendant = line.trim().to_owned();
        assert!(is_running(&descendant));
        drop(child);
        assert_ends(&descendant);
    }

    #[test]
    fn a_command_in_time_is_not_disturbed() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 1000 >/dev/null & echo $!"]);
        let printed = capture(&mut shell, Duration::from_secs(60)).unwrap();
        assert_ends(printed.trim());
        let mut wrong = Command::new("false");
        assert!(capture(&mut wrong, Duration::from_secs(60)).unwrap_err().contains("failed"));
        let mut child =
            Timed::spawn(Command::new("sleep").arg("0.05"), Duration::from_secs(60)).unwrap();
        assert!(child.try_wait().unwrap().is_none());
        child.limit(None).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(child.try_wait().unwrap().is_some());
        assert!(child.wait_with_output().unwrap().status.success());
    }
}
