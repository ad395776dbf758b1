//! One object, from its name into a sink.
use crate::error::{Exit, Failure};
use crate::fetch::observer::Observer;
use crate::fetch::sink::Sink;
use crate::format;
use crate::session::Session;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::application::Report;
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError};
use recoup_transport::time::Instant;

/// A transfer under way.
struct Transfer<'a> {
    sink: &'a mut dyn Sink,
    observer: &'a mut Observer,
    /// The object's name, as far as it is known.
    object: Name,
    begun: bool,
    range: (u64, Option<u64>),
    result: Option<Result<(), Box<FetchError>>>,
}

/// Fetches what `config` describes into `sink`. Returns the object's name, with its version.
pub(crate) fn run(
    session: &mut Session,
    config: FetchConfig,
    sink: &mut dyn Sink,
    observer: &mut Observer,
) -> Result<Name, Failure> {
    let range = (config.first, config.last);
    let object = config.name.clone();
    observer.resume(config.held.iter().map(|run| run.end - run.start).sum());
    let mut transfer = Transfer { sink, observer, object, begun: false, range, result: None };
    let app = session.attach(Box::new(Fetch::new(config)), Vec::new());
    let result = transfer.drive(session, app);
    session.detach(app);
    match result {
        Ok(()) => Ok(transfer.object),
        Err(failure) => Err(transfer.abandon(failure)),
    }
}

impl Transfer<'_> {
    fn drive(
        &mut self,
        session: &mut Session,
        app: recoup_forwarder::face::AppId,
    ) -> Result<(), Failure> {
        loop {
            session.turn(app, &mut |now, output| self.take(now, output))?;
            let consumed = self.sink.flush()?;
            session.consumed(app, consumed);
            self.observer.show(session.driver.now());
            match self.result.take() {
                Some(Ok(())) => return self.finish(),
                Some(Err(error)) => return Err(self.failure(&error)),
                None => {}
            }
            if let Some(failure) = session.stop.wanted() {
                return Err(failure);
            }
        }
    }

    fn take(&mut self, now: Instant, report: Report) -> Result<(), Failure> {
        match report {
            Report::Resolved { object } => {
                self.object = *object;
                self.begin()
            }
            Report::Content { segment, content } => {
                self.begin()?;
                self.sink.content(segment, content)
            }
            Report::Event(event) => {
                self.observer.record(now, &event)?;
                match event {
                    Event::EndKnown { last } => self.end_known(last),
                    _ => Ok(()),
                }
            }
            Report::Done(result) => {
                self.result = Some(result);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self) -> Result<(), Failure> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        self.sink.begin(&self.object)
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        self.begin()?;
        let (first, wanted) = self.range;
        let until = wanted.map_or(last, |wanted| wanted.min(last));
        self.observer.set_total(until.saturating_add(1).saturating_sub(first));
        // A range beyond the end is the fetch loop's to report.
        if last < first {
            return Ok(());
        }
        self.sink.end_known(last)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.sink.finish()
    }

    fn abandon(&mut self, failure: Failure) -> Failure {
        let Some(kept) = self.sink.abandon() else {
            return failure;
        };
        match failure.advice.clone() {
            Some(advice) => failure.advise(format!("{advice}; {kept}")),
            None => failure.advise(kept),
        }
    }

    /// The exit code and the line for the end of the fetch loop.
    fn failure(&self, error: &FetchError) -> Failure {
        let text = error.to_string();
        match error {
            FetchError::NotFound(_) => {
                let failure = Failure::new(Exit::NotFound, text)
                    .advise("check the name and its version with whoever serves it");
                Failure { absent: true, ..failure }
            }
            FetchError::Refused {
                reason: NackReason::NoRoute,
                ..
            } => Failure::new(Exit::NotFound, text)
                .advise("no producer of that name is registered: start it, or check the name"),
            FetchError::Refused { .. } => Failure::new(Exit::TimedOut, text)
                .advise("the network is congested or loops: try again later, or raise --retries"),
            FetchError::NoAnswer { .. } | FetchError::NoProgress(_) => self.silence(text),
            FetchError::Untrusted { .. } => Failure::new(Exit::Verification, text)
                .advise(
                    "--verify key=FILE wants the signer's key, digest an unsigned object, auto takes both",
                ),
            FetchError::RangeBeyondEnd { .. } => {
                Failure::new(Exit::Usage, text).advise("choose another --range")
            }
            FetchError::EndMovedBack { .. } => Failure::new(Exit::Verification, text)
                .advise("the producer contradicts itself: fetch again, without --resume"),
        }
    }

    fn silence(&self, text: String) -> Failure {
        let tally = &self.observer.tally;
        if tally.disconnected {
            return Failure::new(Exit::Unreachable, format!("the connection was lost: {text}"))
                .advise("check that the forwarder or server still runs");
        }
        let failure = Failure::new(Exit::TimedOut, text);
        match tally.segments {
            0 => failure.advise("check the name, and that its producer runs and can be reached"),
            _ => failure.advise(format!(
                "{} segments ({}) had arrived before",
                tally.segments,
                format::octets(tally.content_bytes)
            )),
        }
    }
}
