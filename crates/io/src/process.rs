//! Processes that belong together: children that are asked to end, and that end with their parent.
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_current_process_group, kill_process,
    kill_process_group, waitid,
};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Time between two looks at a group that was asked to end.
const LOOK: Duration = Duration::from_millis(2);

/// A command with all processes that it starts, unless a process leaves the group. All of it ends at the latest when
/// this value
/// does.
#[derive(Debug)]
pub struct Group {
    /// Not waited for before the end: until then its number is the group's.
    leader: Child,
}

impl Group {
    /// Starts a command as the first of its group.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let leader = command.process_group(0).spawn()?;
        Ok(Self { leader })
    }

    /// Exit code of the command, if it has ended, as a shell reports it: its own code, or 128 and
    /// the number of the signal.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn code(&self) -> io::Result<Option<u8>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(Pid::from_child(&self.leader)), options)?;
        Ok(status.map(|status| {
            let signal = status.terminating_signal().map(|signal| 128 + signal);
            let code = status.exit_status().or(signal).and_then(|code| u8::try_from(code).ok());
            code.unwrap_or(u8::MAX)
        }))
    }

    /// Ends everything in the group: first by asking (SIGTERM); what is left after `patience` is killed.
    pub fn end(self, patience: Duration) {
        let begun = Instant::now();
        // All processes have ended.
        let _ = kill_process_group(Pid::from_child(&self.leader), Signal::TERM);
        while matches!(self.code(), Ok(None)) && begun.elapsed() < patience {
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.leader), Signal::KILL);
        let _ = self.leader.wait();
    }
}

/// Sends SIGTERM to a child. A child that has ended is not signalled: it is still unreaped, so its
/// number is not reused.
///
/// # Errors
/// If the system call fails.
pub fn terminate(child: &Child) -> io::Result<()> {
    kill_process(Pid::from_child(child), Signal::TERM).map_err(io::Error::from)
}

/// From here on this process gets SIGTERM when the process `parent`, which has started it, ends in whatever way. Only
/// Linux can do that; elsewhere nothing happens.
///
/// # Errors
/// If the parent has ended already, or the system call fails.
pub fn end_with(parent: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::set_parent_process_death_signal;
        set_parent_process_death_signal(Some(Signal::TERM)).map_err(io::Error::from)?;
        if !is_child_of(parent) {
            return Err(io::ErrorKind::NotFound.into());
        }
    }
    let _ = parent;
    Ok(())
}

/// Whether the process `parent` has started this one, and is there.
#[must_use]
pub fn is_child_of(parent: u32) -> bool {
    let now = rustix::process::getppid();
    now.is_some_and(|pid| u32::try_from(pid.as_raw_nonzero().get()) == Ok(parent))
}

/// Exit code of a process as a shell reports it: its own code, or 128 and the number of the signal.
#[must_use]
pub fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Ends everything in the group of this process, itself included: first by asking (SIGTERM), which this process has to
/// outlive; when `child` has ended or `patience` is over, what is left is killed.
pub fn end_own_group(child: &mut Child, patience: Duration) -> ! {
    let begun = Instant::now();
    let _ = kill_current_process_group(Signal::TERM);
    while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < patience {
        std::thread::sleep(LOOK);
    }
    let _ = kill_current_process_group(Signal::KILL);
    std::process::abort()
}

/// Gives this process, which does little work, a processor in time. It gets a session of its own, away from the
/// terminal:
/// Linux shares processors between sessions first, so it need not wait for what else was started there. And it gets
/// its turn before others, where the system permits that (root, or CAP_SYS_NICE).
pub fn be_prompt() {
    // A session or group leader stays one; without the privilege the priority stays normal.
    let _ = rustix::process::setsid();
    let _ = rustix::process::setpriority_process(None, PROMPT);
}

/// The priority of a prompt process, between 0 for all and -20 for the most urgent.
const PROMPT: i32 = -10;

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Group {
        Group::start(Command::new("sh").args(["-c", text])).unwrap()
    }

    fn code(group: &Group) -> u8 {
        loop {
            if let Some(code) = group.code().unwrap() {
                return code;
            }
            std::thread::sleep(LOOK);
        }
    }

    #[test]
    fn exit_code_can_be_read_repeatedly() {
        let group = shell("exit 7");
        assert_eq!([code(&group), code(&group)], [7, 7]);
        assert_eq!(code(&shell("kill -TERM $$")), 128 + 15);
        assert_eq!(shell("sleep 60").code().unwrap(), None);
    }

    #[test]
    fn group_ends_with_surviving_processes() {
        // A surviving process holds the pipe open.
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let group = shell(&format!("sleep 600 > '{}' & exit 0", pipe.display()));
        let mut left = std::fs::File::open(&pipe).unwrap();
        assert_eq!(code(&group), 0);
        group.end(Duration::from_secs(5));
        assert_eq!(std::io::Read::read(&mut left, &mut [0]).unwrap(), 0);
        let deaf = shell("trap '' TERM; sleep 600; sleep 600");
        deaf.end(Duration::from_millis(20));
    }

    #[test]
    fn terminated_child_ends() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        terminate(&child).unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn exit_code_includes_the_signal() {
        let code = |text| code_of(Command::new("sh").args(["-c", text]).status().unwrap());
        assert_eq!([code("exit 0"), code("exit 7"), code("kill -KILL $$")], [0, 7, 128 + 9]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn wrong_parent_is_an_error() {
        assert!(end_with(u32::MAX).is_err());
    }
}
