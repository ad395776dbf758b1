//! Processes that belong together: children that are asked to end, and that end with their parent.
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::Child;

/// Asks a child to end (SIGTERM). One that has ended already is left alone, since nobody has waited for it.
///
/// # Errors
/// If the system refuses.
pub fn terminate(child: &Child) -> io::Result<()> {
    kill_process(Pid::from_child(child), Signal::TERM).map_err(io::Error::from)
}

/// From here on this process gets SIGTERM when the process `parent`, which has started it, ends in whatever way. Only
/// Linux can do that; elsewhere nothing happens.
///
/// # Errors
/// If the parent has ended already, or the system refuses.
pub fn end_with(parent: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{getppid, set_parent_process_death_signal};
        set_parent_process_death_signal(Some(Signal::TERM)).map_err(io::Error::from)?;
        let is_there =
            getppid().is_some_and(|pid| u32::try_from(pid.as_raw_nonzero().get()) == Ok(parent));
        if !is_there {
            return Err(io::ErrorKind::NotFound.into());
        }
    }
    let _ = parent;
    Ok(())
}

/// Makes this process one that does little and does it in time. It gets a session of its own, away from the terminal:
/// Linux shares processors between sessions first, so it need not wait for what else was started there. And it gets
/// its turn before others, where the system permits that (root, or CAP_SYS_NICE).
pub fn be_prompt() {
    // Whoever leads a session or a group already stays in it; whoever may not be urgent is as urgent as all.
    let _ = rustix::process::setsid();
    let _ = rustix::process::setpriority_process(None, PROMPT);
}

/// The priority of a prompt process, between 0 for all and -20 for the most urgent.
const PROMPT: i32 = -10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_that_is_asked_to_end_ends() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        terminate(&child).unwrap();
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_parent_that_is_none_is_refused() {
        assert!(end_with(u32::MAX).is_err());
    }
}
