//! A consumer of contents that are not one object: the requests of a [`Source`], by the machinery of a fetch.
//!
//! Window, timers, loss detection, Nacks and marks are those of a [`Fetch`](super::Fetch). There is no discovery, no
//! certificate is fetched, and content is not kept in order.
use super::config::{Control, FetchConfig, ReceiveBuffer};
use super::macroflow::Macroflow;
use super::segment::{Transfer, earlier};
use super::source::Source;
use super::{Arrival, FetchOptions};
use crate::application::{AppInput, AppOutput, Application, Report};
use crate::random::Rng;
use crate::time::Instant;
use recoup_packet::name::Name;
use recoup_packet::signature::NoVerifier;
use std::collections::VecDeque;
use std::sync::Arc;

/// The application. It ends once its source is exhausted and each request is answered or given up.
pub struct Consumer<S: Source> {
    control: Control,
    transfer: Transfer<S>,
    buffer: ReceiveBuffer,
    arrivals: Vec<Arrival>,
    reports: VecDeque<Report>,
    has_begun: bool,
    is_done: bool,
}

impl<S: Source> Consumer<S> {
    /// A consumer that begins when it is first polled. Faces that come and go have no effect: each request ends by its
    /// timers. Neither have the options of naming, discovery, verification and progress. `rng` is the source of nonces.
    pub fn new(source: S, options: FetchOptions, rng: Rng) -> Self {
        let verifier = Box::new(NoVerifier);
        let config = FetchConfig { verifier, ..FetchConfig::new(Name::root(), options, rng) };
        let macroflow = Macroflow::new(&config);
        let control = Control::new(config, &macroflow, Instant::ZERO);
        let transfer = Transfer::new(&control, source, false, Instant::ZERO);
        let (arrivals, reports) = (Vec::new(), VecDeque::new());
        let (buffer, has_begun, is_done) = (ReceiveBuffer::default(), false, false);
        Self { control, transfer, buffer, arrivals, reports, has_begun, is_done }
    }

    fn limit(&mut self) {
        self.control.congestion.set_receive_bytes(self.buffer.share());
    }

    /// Does what is due, and returns one output.
    fn advance(&mut self, now: Instant) -> Option<AppOutput> {
        let Self { control, transfer, reports, .. } = self;
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if !arrivals.is_empty() {
            transfer.on_arrivals(control, &mut arrivals, reports);
            arrivals.clear();
        }
        self.arrivals = arrivals;
        if transfer.deadline(control).is_some_and(|due| due <= now) {
            transfer.fire(control, now, &|_| false, reports);
        }
        if let Some((interest, rto, fields)) = transfer.next_interest(control, now, reports) {
            let interest = Arc::new(control.finish(interest, rto));
            return Some(match fields {
                None => AppOutput::Interest(interest),
                Some(fields) => AppOutput::InterestWith { interest, fields },
            });
        }
        if reports.is_empty() && transfer.conclusion().is_some() {
            self.is_done = true;
            reports.push_back(Report::Done(Ok(())));
        }
        reports.pop_front().map(AppOutput::Report)
    }
}

impl<S: Source> Application for Consumer<S> {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            _ if self.is_done => {}
            AppInput::Data { data, congestion_mark, beside } => {
                let keeps_fields = self.control.announces > 0;
                self.arrivals.push(Arrival::new(now, data, congestion_mark, beside, keeps_fields));
            }
            AppInput::Nack { interest, reason } => {
                let Self { control, transfer, reports, .. } = self;
                transfer.on_nack(control, now, &interest, reason, reports);
            }
            AppInput::Held { interest } => {
                self.transfer.on_held(now, &interest, &mut self.reports);
            }
            AppInput::FaceUp { receive_budget } => {
                self.buffer.bytes = receive_budget;
                self.limit();
            }
            AppInput::Shared { among } => {
                self.buffer.among = among;
                self.limit();
            }
            AppInput::FaceDown
            | AppInput::Interest { .. }
            | AppInput::Consumed { .. }
            | AppInput::TimeOfDay(_) => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        self.has_begun = true;
        match self.reports.pop_front() {
            Some(report) => Some(AppOutput::Report(report)),
            None if self.is_done => None,
            None => self.advance(now),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        if self.is_done {
            return None;
        }
        if !self.has_begun {
            return Some(Instant::ZERO);
        }
        earlier(self.transfer.deadline(&self.control), self.transfer.next_due())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::Beside;
    use crate::congestion::{Congestion, Fixed};
    use crate::event::Event;
    use crate::loss::{Loss, Timeout};
    use crate::rto::{Constant, Rto};
    use crate::time::Duration;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::DigestSigner;

    /// Contents `/0`, `/1`, …, without end.
    #[derive(Debug)]
    struct Numbers;

    impl Source for Numbers {
        const ORDERED: bool = false;
        const SPAN: u64 = 4;

        fn name(&mut self, number: u64) -> Name {
            format!("/{number}").parse().expect("a name")
        }

        fn answered(&self, name: &Name) -> Option<u64> {
            std::str::from_utf8(name.last()?.value()).ok()?.parse().ok()
        }

        fn upcoming(&mut self, _: u64, _: usize, _: Option<u64>) -> Vec<Name> {
            Vec::new()
        }
    }

    /// Names of the Interests sent at `now`, and the requests given up.
    fn drain(consumer: &mut Consumer<Numbers>, now: Instant) -> (Vec<String>, Vec<u64>) {
        let (mut sent, mut left_out) = (Vec::new(), Vec::new());
        while let Some(output) = consumer.poll(now) {
            match output {
                AppOutput::Interest(interest) => sent.push(interest.name.to_string()),
                AppOutput::Report(Report::Event(Event::LeftOut { segment })) => {
                    left_out.push(segment);
                }
                _ => {}
            }
        }
        (sent, left_out)
    }

    #[test]
    fn unanswered_request_does_not_stall_the_others() {
        let congestion = Congestion::from(Fixed::new(2.0)).into();
        let rto = Rto::from(Constant::new(Duration::from_secs(3_600))).into();
        let loss = Loss::from(Timeout).into();
        let options = FetchOptions { congestion, rto, loss, ..FetchOptions::default() };
        let mut consumer = Consumer::new(Numbers, options, Rng::from_seed(1));
        assert_eq!(consumer.deadline(), Some(Instant::ZERO), "it has not begun");
        assert_eq!(drain(&mut consumer, Instant::ZERO).0, ["/0", "/1"]);
        let (mut sent, mut left_out) = (Vec::new(), Vec::new());
        for number in 1..100 {
            let data = DataBuilder::new(&Numbers.name(number)).build(b"", &DigestSigner);
            let (now, beside) = (Instant::from_millis(number), Beside::default());
            consumer.handle(now, AppInput::Data { data, congestion_mark: 0, beside });
            let (also_sent, also_left_out) = drain(&mut consumer, now);
            sent.extend(also_sent);
            left_out.extend(also_left_out);
        }
        assert_eq!(left_out, [0], "the lowest one leaves the full scoreboard");
        let expected: Vec<String> = (2..=101).map(|number| format!("/{number}")).collect();
        assert_eq!(sent, expected);
    }
}
