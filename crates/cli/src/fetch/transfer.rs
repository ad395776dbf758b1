//! Objects, each from its name into its sink.
use crate::error::{Exit, Failure};
use crate::fetch::observer::Observer;
use crate::fetch::sink::Sink;
use crate::format;
use crate::session::Session;
use crate::tally::Tally;
use recoup_forwarder::face::AppId;
use recoup_packet::nack::NackReason;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, Report};
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError};
use recoup_transport::rto::RttSample;
use recoup_transport::time::{Duration, Instant};

/// Fetches what `config` describes into `sink`. Returns the object's name, with its version, and the sink.
pub(crate) fn run(
    session: &mut Session,
    config: FetchConfig,
    sink: Box<dyn Sink>,
    observer: &mut Observer,
) -> Result<(Name, Box<dyn Sink>), Failure> {
    observer.resume(config.held.iter().map(|run| run.end - run.start).sum());
    let mut transfers = Transfers::new(session, observer);
    transfers.start(config, sink);
    let ended = transfers.next()?;
    Ok((ended.object?, ended.sink))
}

/// Objects under way over one session.
pub(crate) struct Transfers<'a> {
    session: &'a mut Session,
    /// Who watches.
    pub observer: &'a mut Observer,
    under_way: Vec<Transfer>,
    /// The smoothed round trip of the latest that had one.
    srtt: Option<Duration>,
}

/// A transfer that is over.
pub(crate) struct Ended {
    /// The number that it was given.
    pub app: AppId,
    /// Where the content is.
    pub sink: Box<dyn Sink>,
    /// The object's name, with its version.
    pub object: Result<Name, Failure>,
}

/// A transfer under way.
struct Transfer {
    app: AppId,
    sink: Box<dyn Sink>,
    tally: Tally,
    /// The object's name, as far as it is known.
    object: Name,
    begun: bool,
    range: (u64, Option<u64>),
    result: Option<Result<(), Box<FetchError>>>,
}

impl<'a> Transfers<'a> {
    /// None so far.
    pub(crate) fn new(session: &'a mut Session, observer: &'a mut Observer) -> Self {
        Self { session, observer, under_way: Vec::new(), srtt: None }
    }

    /// How many are under way.
    pub(crate) fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Begins one. Returns its number, which may be given to another one when it has ended.
    ///
    /// Its timer begins with the round trip of one that has ended, by the same face (RFC 9040, temporal sharing).
    pub(crate) fn start(&mut self, mut config: FetchConfig, sink: Box<dyn Sink>) -> AppId {
        if let Some(srtt) = self.srtt {
            let now = self.session.driver.now();
            config.rto.on_sample(now, &RttSample::new(config.first, srtt));
        }
        let (object, range) = (config.name.clone(), (config.first, config.last));
        let app = self.session.attach(Box::new(Fetch::new(config)), Vec::new());
        let tally = Tally::default();
        self.under_way.push(Transfer {
            app,
            sink,
            tally,
            object,
            begun: false,
            range,
            result: None,
        });
        self.share();
        app
    }

    /// Goes on with all until one has ended.
    ///
    /// # Errors
    /// What ends all of them: a wish to stop, nobody at the face, a disk that is full. What arrived is kept.
    pub(crate) fn next(&mut self) -> Result<Ended, Failure> {
        loop {
            // Several may have ended at once.
            if let Some(place) = self.under_way.iter().position(|it| it.result.is_some()) {
                return Ok(self.conclude(place));
            }
            if let Err(failure) = self.turn() {
                let kept = self.abandon();
                return Err(advised(failure, kept));
            }
        }
    }

    /// One wake-up, unless it is time to stop.
    fn turn(&mut self) -> Result<(), Failure> {
        let Self { session, observer, under_way, .. } = self;
        if let Some(failure) = session.stop.wanted() {
            return Err(failure);
        }
        session.turn_all(&mut |now, app, report| {
            let transfer = under_way.iter_mut().find(|transfer| transfer.app == app);
            transfer.map_or(Ok(()), |transfer| transfer.take(now, report, observer))
        })?;
        for transfer in &mut *under_way {
            let bytes = transfer.sink.flush()?;
            if bytes > 0 {
                session.tell(transfer.app, AppInput::Consumed { bytes });
            }
        }
        observer.show(session.driver.now(), under_way.iter().map(|transfer| &transfer.tally));
        Ok(())
    }

    fn conclude(&mut self, place: usize) -> Ended {
        let mut transfer = self.release(place);
        self.share();
        let result = match transfer.result.take() {
            Some(Err(error)) => Err(transfer.failure(&error)),
            _ => transfer.sink.finish(),
        };
        let object = match result {
            Ok(()) => Ok(transfer.object),
            Err(failure) => Err(advised(failure, transfer.sink.abandon())),
        };
        Ended { app: transfer.app, sink: transfer.sink, object }
    }

    /// Ends all that are under way. Returns what can be done about them.
    pub(crate) fn abandon(&mut self) -> Option<String> {
        let mut kept = Vec::new();
        while !self.under_way.is_empty() {
            kept.extend(self.release(0).sink.abandon());
        }
        match kept.len() {
            0 | 1 => kept.pop(),
            many => Some(format!(
                "what arrived of {many} files is kept: the same command with --resume goes on"
            )),
        }
    }

    fn release(&mut self, place: usize) -> Transfer {
        let transfer = self.under_way.remove(place);
        self.session.detach(transfer.app);
        self.observer.tally.add(&transfer.tally);
        self.srtt = transfer.tally.srtt.or(self.srtt);
        transfer
    }

    /// They share what the face can hold.
    fn share(&mut self) {
        let among = self.under_way.len() as u64;
        for transfer in &self.under_way {
            self.session.tell(transfer.app, AppInput::Shared { among });
        }
    }
}

fn advised(failure: Failure, kept: Option<String>) -> Failure {
    match (failure.advice.clone(), kept) {
        (_, None) => failure,
        (None, Some(kept)) => failure.advise(kept),
        (Some(advice), Some(kept)) => failure.advise(format!("{advice}; {kept}")),
    }
}

impl Transfer {
    fn take(
        &mut self,
        now: Instant,
        report: Report,
        observer: &mut Observer,
    ) -> Result<(), Failure> {
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
                self.tally.record(now, &event);
                observer.record(now, &event, self.tally.started)?;
                match event {
                    Event::EndKnown { last } => self.end_known(last, observer),
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

    fn end_known(&mut self, last: u64, observer: &mut Observer) -> Result<(), Failure> {
        self.begin()?;
        let (first, wanted) = self.range;
        let until = wanted.map_or(last, |wanted| wanted.min(last));
        observer.set_total(until.saturating_add(1).saturating_sub(first));
        // A range beyond the end is the fetch loop's to report.
        if last < first {
            return Ok(());
        }
        self.sink.end_known(last)
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
        let tally = &self.tally;
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
