//! The time of a driver: its clock, and how long it waits for sockets.
use super::busy_poll::BusyPoll;
use super::coalesce::Coalescer;
use super::{DriverOptions, Sockets};
use crate::clock::Clock;
use recoup_transport::time::{Duration, Instant, TimeOfDay};
use std::io;

/// A process that has not run for longer was stopped.
const LONGEST_LAG: Duration = Duration::from_secs(1);

/// Clock and waiting times of a driver.
#[derive(Debug)]
pub(super) struct Timing {
    pub(super) clock: Clock,
    /// The calendar clock, as the machine knows it.
    pub(super) calendar: TimeOfDay,
    /// The latest time that was passed to the machine.
    pub(super) machine_time: Instant,
    /// Time of the last look at the clock in a turn.
    seen: Instant,
    pub(super) leaves_stops_out: bool,
    pub(super) longest_wait: Option<Duration>,
    pub(super) coalesce: Coalescer,
    pub(super) busy_poll: BusyPoll,
    tuned: bool,
}

impl Timing {
    pub(super) fn new(options: &DriverOptions) -> Self {
        let clock = Clock::new();
        Self {
            clock,
            calendar: clock.time_of_day(),
            machine_time: Instant::ZERO,
            seen: Instant::ZERO,
            leaves_stops_out: options.leaves_stops_out,
            longest_wait: None,
            coalesce: Coalescer::new(options.coalesce),
            busy_poll: BusyPoll::new(options.busy_poll),
            tuned: false,
        }
    }

    /// Sets, at the first call, how late timers of this thread may fire.
    pub(super) fn tune(&mut self, slack: Duration) {
        if !std::mem::replace(&mut self.tuned, true) {
            #[cfg(target_os = "linux")]
            {
                let slack = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX);
                // Without it timers are some 50 µs late, which is all that is lost.
                let _ = rustix::thread::set_current_timer_slack(slack.try_into().ok());
            }
            #[cfg(not(target_os = "linux"))]
            let _ = slack;
        }
    }

    /// The time now. If the process did not run since the time that was seen last, that span is left out: a deadline has not
    /// passed as long as nothing could arrive before it.
    pub(super) fn see(&mut self) -> Instant {
        self.leave_out(self.clock.now().since(self.seen));
        self.seen = self.clock.now();
        self.seen
    }

    fn leave_out(&mut self, span: Duration) {
        if self.leaves_stops_out && span > LONGEST_LAG {
            self.clock.leave_out(span);
        }
    }

    /// Waits until a socket is ready; a stop of the process meanwhile is left out.
    pub(super) fn wait(
        &mut self,
        timeout: Option<Duration>,
        sockets: &mut Sockets,
    ) -> io::Result<()> {
        let began = self.see();
        let waited = self.await_ready(timeout, sockets);
        if timeout.is_some_and(|timeout| self.clock.now() > began + timeout + LONGEST_LAG) {
            self.leave_out(self.clock.now().since(began));
        }
        self.seen = self.clock.now();
        waited
    }

    /// Waits, after looking again for a moment where that has paid.
    fn await_ready(&mut self, timeout: Option<Duration>, sockets: &mut Sockets) -> io::Result<()> {
        if self.busy_poll.is_off() || timeout == Some(Duration::ZERO) {
            return sockets.poll(timeout);
        }
        let began = self.clock.now();
        let look = self.busy_poll.look(self.coalesce.is_fruitless()).unwrap_or_default();
        let until = began + timeout.map_or(look, |timeout| timeout.min(look));
        while sockets.ready.is_empty() && self.clock.now() < until {
            sockets.poll(Some(Duration::ZERO))?;
            // The peer may need this processor.
            std::thread::yield_now();
        }
        if sockets.ready.is_empty() {
            sockets.poll(timeout.map(|timeout| (began + timeout).since(self.clock.now())))?;
        }
        self.busy_poll.note(self.clock.now().since(began), !sockets.ready.is_empty());
        Ok(())
    }

    /// Puts off looking, if that collects packets, but not beyond the deadline.
    pub(super) fn coalesce(&self, deadline: Option<Instant>) {
        if let Some(pause) = self.coalesce.pause() {
            let left = deadline.map_or(pause, |deadline| deadline.since(self.clock.now()));
            std::thread::sleep(pause.min(left));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_running_is_left_out() {
        for leaves_stops_out in [true, false] {
            let options = DriverOptions { leaves_stops_out, ..DriverOptions::default() };
            let mut timing = Timing::new(&options);
            let before = timing.see();
            timing.seen = before;
            // As if the process had been stopped for a minute.
            timing.clock = timing.clock.earlier(Duration::from_secs(60));
            let passed = timing.see().since(before);
            assert_eq!(passed < Duration::from_secs(50), leaves_stops_out, "{passed:?}");
            assert!(timing.see() >= before);
        }
    }
}
