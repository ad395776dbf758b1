//! Stopping on a signal: the loop wakes up, ends its work, and reports the rest.
use crate::error::{Exit, Failure};
use recoup_io::waker::Waker;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The wish to stop. A second Ctrl-C ends the process at once.
#[derive(Clone, Debug)]
pub struct Stop {
    signal: Arc<AtomicUsize>,
    /// Whether there was a signal.
    flag: Arc<AtomicBool>,
}

impl Stop {
    /// Takes over SIGINT, SIGTERM and SIGHUP, for a loop that looks here from time to time.
    pub fn polled() -> Result<Self, Failure> {
        Self::with(None, true)
    }

    /// Takes over SIGINT and SIGTERM, for a daemon that reads its configuration again after SIGHUP; all wake the driver.
    pub fn reloading(waker: &Waker) -> Result<(Self, Hangup), Failure> {
        Ok((Self::with(Some(waker), false)?, Self::heed_hangup(waker)?))
    }

    /// The failure of an error: that of the signal, if the error is a cancellation.
    pub fn failure(&self, error: recoup::Error) -> Failure {
        match self.wanted().filter(|_| error.is_cancelled()) {
            Some(failure) => Failure { advice: error.remedy().map(str::to_owned), ..failure },
            None => error.into(),
        }
    }

    fn with(waker: Option<&Waker>, ends_with_terminal: bool) -> Result<Self, Failure> {
        let this = Self { signal: Arc::default(), flag: Arc::default() };
        this.register(waker).map_err(deaf)?;
        if ends_with_terminal {
            this.register_hangup().map_err(deaf)?;
        }
        Ok(this)
    }

    /// A flag that is set by the first signal.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// The failure of an operation that the flag may have ended.
    pub(crate) fn end(&self, failure: Failure) -> Failure {
        match self.wanted().filter(|_| failure.exit == Exit::Cancelled) {
            Some(wanted) => Failure { advice: failure.advice, ..wanted },
            None => failure,
        }
    }

    /// Takes over SIGHUP as well; it wakes the driver.
    fn heed_hangup(waker: &Waker) -> Result<Hangup, Failure> {
        let wanted = Arc::new(AtomicBool::new(false));
        let register = || {
            flag::register(SIGHUP, Arc::clone(&wanted))?;
            low_level::pipe::register(SIGHUP, waker.stream()?)
        };
        register().map_err(deaf)?;
        Ok(Hangup { wanted })
    }

    /// The failure that a command ends with because of a signal, if there was one.
    pub fn wanted(&self) -> Option<Failure> {
        let number = self.signal.load(Ordering::Relaxed) as i32;
        let message = match number {
            0 => return None,
            SIGTERM => "terminated",
            SIGHUP => "the terminal is gone",
            _ => "interrupted",
        };
        Some(Failure::signal(number, message))
    }
}

/// The wish that a configuration is read again.
#[derive(Debug)]
pub struct Hangup {
    wanted: Arc<AtomicBool>,
}

impl Hangup {
    /// Whether a hangup came since the last call.
    pub fn take(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) && self.wanted.swap(false, Ordering::Relaxed)
    }
}

/// Whether this process was started with SIGHUP ignored.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

/// Whether this process was started with SIGHUP ignored: `nohup` leaves it no terminal to write to.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn ignores_hangup() -> bool {
    use std::io::IsTerminal;
    !io::stderr().is_terminal()
}

fn deaf(error: io::Error) -> Failure {
    Failure::new(Exit::Other, format!("cannot listen to signals: {error}"))
}

impl Stop {
    /// Takes over SIGHUP, the signal of a closed terminal. A process that was started with SIGHUP ignored (`nohup`) still
    /// ignores it. A second SIGHUP does not end the process at once: the system and a shell may send one each.
    fn register_hangup(&self) -> io::Result<()> {
        match ignores_hangup() {
            true => Ok(()),
            false => self.register_signal(SIGHUP),
        }
    }

    fn register(&self, waker: Option<&Waker>) -> io::Result<()> {
        // A file that may not grow is an error of its writer, and no end of the process.
        flag::register(SIGXFSZ, Arc::default())?;
        let second = Arc::new(AtomicBool::new(false));
        for (number, code) in [(SIGINT, 130), (SIGTERM, 143)] {
            // In this order: the first signal arms the exit that the second one takes.
            flag::register_conditional_shutdown(number, code, Arc::clone(&second))?;
            flag::register(number, Arc::clone(&second))?;
            self.register_signal(number)?;
            if let Some(waker) = waker {
                low_level::pipe::register(number, waker.stream()?)?;
            }
        }
        Ok(())
    }

    fn register_signal(&self, number: i32) -> io::Result<()> {
        flag::register_usize(number, Arc::clone(&self.signal), number as usize)?;
        flag::register(number, Arc::clone(&self.flag)).map(drop)
    }
}
