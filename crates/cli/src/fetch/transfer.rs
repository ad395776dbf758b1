//! Objects, each from its name into its sink.
use crate::error::{Exit, Failure};
use crate::fetch::observer::Observer;
use crate::fetch::sink::Sink;
use crate::format;
use crate::session::Session;
use recoup::tally::Tally;
use recoup::transfer::{fetch_error, reject_folder};
use recoup_forwarder::face::AppId;
use recoup_packet::name::Name;
use recoup_transport::application::{AppInput, Report};
use recoup_transport::event::Event;
use recoup_transport::fetch::{Fetch, FetchConfig, FetchError};
use recoup_transport::time::{Duration, Instant};
use recoup_trust::access::EncryptedContent;

/// Fetches what `config` describes into `sink`. Returns the object's name, with its version, and the sink.
pub(crate) fn run(
    session: &mut Session,
    config: FetchConfig,
    sink: Box<dyn Sink>,
    observer: &mut Observer,
    max_size: Option<u64>,
) -> Result<(Name, Box<dyn Sink>), Failure> {
    observer.resume(config.held.iter().map(|run| run.end - run.start).sum());
    let mut transfers = Transfers::new(session, observer, max_size);
    transfers.start(config, sink);
    transfers.reject_folders();
    let ended = transfers.next()?;
    Ok((ended.object?, ended.sink))
}

/// Objects in transfer over one session.
pub(crate) struct Transfers<'a> {
    session: &'a mut Session,
    /// Observer of the events.
    pub observer: &'a mut Observer,
    active: Vec<Transfer>,
    /// The smoothed round trip of the latest that had one.
    srtt: Option<Duration>,
    size: Size,
}

/// How much content all transfers have together.
struct Size {
    bytes: u64,
    /// As much as the user permits (`--max-size`).
    most: Option<u64>,
}

impl Size {
    fn add(&mut self, bytes: u64) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.most.filter(|most| self.bytes > *most) {
            None => Ok(()),
            Some(most) => {
                let message =
                    format!("the content is larger than --max-size permits ({most} bytes)");
                Err(Failure::new(Exit::Condition, message)
                    .advise("permit more if the producer may send as much")
                    .permanent())
            }
        }
    }
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

/// A transfer in progress.
struct Transfer {
    app: AppId,
    /// A folder's listing is not what the user wants.
    rejects_folders: bool,
    /// The face toward producers.
    face: Option<String>,
    sink: Box<dyn Sink>,
    tally: Tally,
    /// The object's name, as far as it is known.
    object: Name,
    begun: bool,
    range: (u64, Option<u64>),
    /// How it ended, once it has.
    result: Option<Result<(), Failure>>,
}

impl<'a> Transfers<'a> {
    /// None so far.
    /// All content together may have `max_size` bytes, what was there before included.
    pub(crate) fn new(
        session: &'a mut Session,
        observer: &'a mut Observer,
        max_size: Option<u64>,
    ) -> Self {
        let size = Size { bytes: 0, most: max_size };
        Self { session, observer, active: Vec::new(), srtt: None, size }
    }

    /// The user's wish to stop, if there is one.
    pub(crate) fn check_stop(&self) -> Result<(), Failure> {
        self.session.stop.wanted().map_or(Ok(()), Err)
    }

    /// Number of transfers.
    pub(crate) fn len(&self) -> usize {
        self.active.len()
    }

    /// Begins one. Returns its number, which may be given to another one when it has ended.
    ///
    /// Its timer begins with the round trip of one that has ended, by the same face (RFC 9040, temporal sharing).
    pub(crate) fn start(&mut self, mut config: FetchConfig, sink: Box<dyn Sink>) -> AppId {
        let (object, range) = (config.name.clone(), (config.first, config.last));
        // The face has answered before: the first answer for a name may take as long as any.
        config.first_answer = config.first_answer.filter(|_| self.srtt.is_none());
        let mut fetch = Fetch::new(config);
        if let Some(srtt) = self.srtt {
            fetch.expect_rtt(self.session.driver.now(), srtt);
        }
        let app = self.session.attach(Box::new(fetch), Vec::new());
        let tally = Tally::default();
        self.active.push(Transfer {
            app,
            rejects_folders: false,
            face: self.session.upstream_uri(),
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
    /// Error that ends all transfers: a signal, an unreachable face, a full disk. Received content is kept.
    pub(crate) fn next(&mut self) -> Result<Ended, Failure> {
        loop {
            // Several may have ended at once.
            if let Some(place) = self.active.iter().position(|it| it.result.is_some()) {
                return Ok(self.conclude(place));
            }
            if let Err(failure) = self.turn() {
                let kept = self.abandon(&failure);
                return Err(advised(failure, kept));
            }
        }
    }

    /// One wake-up, unless it is time to stop.
    fn turn(&mut self) -> Result<(), Failure> {
        let Self { session, observer, active, size, .. } = self;
        if let Some(failure) = session.stop.wanted() {
            return Err(failure);
        }
        session.turn_all(&mut |now, app, report| {
            let transfer = active.iter_mut().find(|transfer| transfer.app == app);
            transfer.map_or(Ok(()), |transfer| transfer.take(now, report, observer, size))
        })?;
        for transfer in &mut *active {
            let flushed = transfer.sink.flush();
            let bytes = transfer.unless_ended(flushed)?;
            if bytes > 0 {
                session.deliver(transfer.app, AppInput::Consumed { bytes });
            }
        }
        observer.show(session.driver.now(), active.iter().map(|transfer| &transfer.tally));
        Ok(())
    }

    fn conclude(&mut self, place: usize) -> Ended {
        let mut transfer = self.release(place);
        self.share();
        let result = transfer.result.take().unwrap_or(Ok(()));
        let result = result.and_then(|()| transfer.sink.finish());
        let object = match result {
            Ok(()) => Ok(transfer.object),
            Err(failure) => {
                let kept = transfer.sink.abandon(&failure);
                Err(advised(failure, kept))
            }
        };
        Ended { app: transfer.app, sink: transfer.sink, object }
    }

    /// Ends all transfers because of a failure. Returns advice about them.
    pub(crate) fn abandon(&mut self, failure: &Failure) -> Option<String> {
        let mut kept = Vec::new();
        while !self.active.is_empty() {
            kept.extend(self.release(0).sink.abandon(failure));
        }
        match kept.len() {
            0 | 1 => kept.pop(),
            many => Some(format!(
                "what arrived of {many} files is kept: the same command with --resume goes on"
            )),
        }
    }

    /// Restricts the transfers to files: they fail if their name is that of a folder.
    fn reject_folders(&mut self) {
        self.active.iter_mut().for_each(|transfer| transfer.rejects_folders = true);
    }

    fn release(&mut self, place: usize) -> Transfer {
        let transfer = self.active.remove(place);
        self.session.detach(transfer.app);
        self.observer.tally.add(&transfer.tally);
        self.srtt = transfer.tally.srtt.or(self.srtt);
        transfer
    }

    /// They share what the face can hold.
    fn share(&mut self) {
        let among = self.active.len() as u64;
        for transfer in &self.active {
            self.session.deliver(transfer.app, AppInput::Shared { among });
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
    /// Takes a report, unless it has ended.
    fn take(
        &mut self,
        now: Instant,
        report: Report,
        observer: &mut Observer,
        size: &mut Size,
    ) -> Result<(), Failure> {
        if self.result.is_some() {
            return Ok(());
        }
        let taken = self.take_in(now, report, observer, size);
        self.unless_ended(taken)
    }

    /// A failure that concerns an entry of a folder ends this transfer and no other.
    fn unless_ended<T: Default>(&mut self, taken: Result<T, Failure>) -> Result<T, Failure> {
        match taken {
            Err(failure) if failure.of_entry => {
                self.result = Some(Err(failure));
                Ok(T::default())
            }
            taken => taken,
        }
    }

    fn take_in(
        &mut self,
        now: Instant,
        report: Report,
        observer: &mut Observer,
        size: &mut Size,
    ) -> Result<(), Failure> {
        match report {
            Report::Resolved { object, metadata } => {
                if self.rejects_folders {
                    reject_folder(&self.object, &object)?;
                }
                self.object = *object;
                self.begin(size, observer)?;
                metadata.iter().for_each(|metadata| self.sink.describe(metadata));
                Ok(())
            }
            Report::Content { segment, content } => {
                self.begin(size, observer)?;
                size.add(content.len() as u64)?;
                observer.make_way(now);
                if segment == self.range.0 {
                    observer.is_encrypted |= EncryptedContent::is_in(&content);
                }
                self.sink.content(segment, content)
            }
            Report::Kept => {
                self.sink.keep();
                Ok(())
            }
            Report::Identified(id) => {
                self.begin(size, observer)?;
                self.sink.identified(id)
            }
            Report::Event(event) => {
                self.tally.record(now, &event);
                observer.record(now, &event, self.tally.started)?;
                match event {
                    Event::EndKnown { last } => {
                        self.begin(size, observer)?;
                        self.end_known(last, observer)
                    }
                    Event::Unverified { .. } => {
                        self.begin(size, observer)?;
                        self.sink.unverified();
                        Ok(())
                    }
                    _ => Ok(()),
                }
            }
            Report::Done(result) => {
                self.result = Some(result.map_err(|error| self.failure(&error)));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, size: &mut Size, observer: &mut Observer) -> Result<(), Failure> {
        if self.begun {
            return Ok(());
        }
        self.begun = true;
        self.sink.begin(&self.object)?;
        let held = self.sink.held_bytes();
        observer.held_bytes = observer.held_bytes.saturating_add(held);
        observer.is_kept = self.sink.is_kept();
        if self.sink.holds_unverified() {
            observer.held_not_verified = observer.held_not_verified.saturating_add(held);
        }
        size.add(held)
    }

    fn end_known(&mut self, last: u64, observer: &mut Observer) -> Result<(), Failure> {
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
        let (tally, face) = (&self.tally, self.face.as_deref());
        let failure = Failure::from(fetch_error(error, tally, face));
        let is_silence = matches!(error, FetchError::NoAnswer { .. } | FetchError::NoProgress(_));
        match error {
            FetchError::RangeBeyondEnd { .. } => failure.advise("choose another --range"),
            _ if is_silence && failure.exit == Exit::TimedOut && tally.segments > 0 => failure
                .advise(format!(
                    "{} segments ({}) had arrived before",
                    tally.segments,
                    format::bytes(tally.content_bytes)
                )),
            _ => failure,
        }
    }
}
