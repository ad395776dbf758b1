//! Whether a version goes on although its source changed.
//!
//! The time of change of a file also moves when its permissions or links change, and a copy that
//! takes its place has another identity and perhaps the same content. So a version whose source
//! changed is compared with the source that took its place:
//!
//! - Version, time and length must be the same.
//! - Each segment that was served is laid out from the new source and signed. Its signature must be
//!   the kept one; signatures cover content and name, and a signer repeats them.
//!
//! If all are the same, every segment that ever left is one of the new content, and the version means
//! the new content from then on. If a signature was forgotten (more than 65,536 segments were served)
//! or differs, the version does not go on.
//!
//! At most [`STEP`] segments are compared at an instant, while Interests for the object wait.
use super::Opened;
use super::object::{Object, lay_out};
use super::source::{Identity, Source, SourceError};
use super::{Context, Missing};
use crate::event::Event;
use crate::time::{Duration, Instant};

/// Segments compared at one instant.
const STEP: usize = 128;
/// Time between two steps.
pub(super) const PACE: Duration = Duration::from_millis(1);

/// Whether an object is answered for.
#[derive(Debug)]
pub(super) enum State {
    /// Its content is there, as far as is known.
    Serving,
    /// Its content may have changed: it is compared with the content that took its place.
    Comparing {
        /// The source to compare with, once it is open.
        renewal: Option<Renewal>,
        /// Its own source changed; otherwise the library only offers other content.
        has_changed: bool,
    },
    /// Its content is gone: it is answered no more.
    Ended,
}

/// A source that may take the place of another.
#[derive(Debug)]
pub(super) struct Renewal {
    source: Box<dyn Source>,
    identity: Identity,
    /// The slot of the next signature to compare.
    next: usize,
}

/// How far a comparison came.
enum Step {
    Same,
    Unfinished,
    Different,
}

impl Object {
    /// Its source is not what it was.
    pub(super) fn mark_changed(&mut self) {
        match self.state {
            State::Serving => self.state = State::Comparing { renewal: None, has_changed: true },
            State::Comparing { ref mut has_changed, .. } => *has_changed = true,
            State::Ended => {}
        }
    }

    /// The library offers other content under its version.
    pub(super) fn compare_with(&mut self, opened: Opened) {
        if matches!(self.state, State::Serving) {
            self.state = State::Comparing { renewal: self.renewal(opened), has_changed: false };
        }
    }

    /// Decides whether the object is answered for; goes on with a comparison.
    ///
    /// # Errors
    /// [`Missing::Unknown`] if the object is answered no more, [`Missing::Until`] if that is not
    /// decided yet.
    pub(super) fn decide(&mut self, context: &mut Context<'_>) -> Result<(), Missing> {
        let State::Comparing { renewal, .. } = &mut self.state else {
            let is_ended = matches!(self.state, State::Ended);
            return if is_ended { Err(Missing::Unknown) } else { Ok(()) };
        };
        if self.stepped == Some(context.now) {
            return Err(later(context.now));
        }
        self.stepped = Some(context.now);
        let renewal = renewal.take().or_else(|| {
            let opened = context.library.open(&self.path)?;
            self.renewal(opened)
        });
        let Some(mut renewal) = renewal else {
            return self.stop_comparing(context);
        };
        match self.compare(context, &mut renewal) {
            Ok(Step::Same) => {
                self.source = renewal.source;
                self.identity = renewal.identity;
                self.state = State::Serving;
                Ok(())
            }
            Ok(Step::Different) | Err(SourceError::Unreadable) => self.stop_comparing(context),
            Ok(Step::Unfinished) => self.wait(Some(renewal), later(context.now)),
            Err(SourceError::Unsettled { until }) => {
                self.wait(Some(renewal), Missing::Until(until))
            }
            Err(SourceError::Changed) => self.wait(None, later(context.now)),
        }
    }

    /// The version has ended: it is answered no more.
    pub(super) fn end(&mut self, context: &mut Context<'_>) -> Missing {
        if !matches!(self.state, State::Ended) {
            self.state = State::Ended;
            context.outbox.report(Event::SourceEnded);
        }
        Missing::Unknown
    }

    fn wait(&mut self, next: Option<Renewal>, until: Missing) -> Result<(), Missing> {
        if let State::Comparing { renewal, .. } = &mut self.state {
            *renewal = next;
        }
        Err(until)
    }

    /// The content differs, or that it does not differ cannot be shown.
    fn stop_comparing(&mut self, context: &mut Context<'_>) -> Result<(), Missing> {
        let has_changed = matches!(self.state, State::Comparing { has_changed: true, .. });
        if has_changed || self.source.check(context.now).is_err() {
            return Err(self.end(context));
        }
        self.is_past = true;
        self.state = State::Serving;
        Ok(())
    }

    /// What was opened, if it may be the same content in another state.
    fn renewal(&self, opened: Opened) -> Option<Renewal> {
        let identity = opened.source.identity();
        let may_be_same = !self.is_past
            && opened.version == self.offered
            && opened.mtime_ns == self.mtime_ns
            && opened.source.len() == self.octets
            && identity != self.identity
            && self.signatures.are_complete();
        may_be_same.then_some(Renewal { source: opened.source, identity, next: 0 })
    }

    fn compare(
        &self,
        context: &mut Context<'_>,
        renewal: &mut Renewal,
    ) -> Result<Step, SourceError> {
        let (config, now) = (context.config, context.now);
        let (mut kept, mut unsigned, mut next) = (Vec::new(), Vec::new(), renewal.next);
        for (slot, segment, signature) in self.signatures.kept_from(renewal.next).take(STEP) {
            let name = self.name.append(config.convention.segment(segment));
            let span = self.span(segment);
            let source = renewal.source.as_mut();
            let pool = context.outbox.room(span.1);
            unsigned.push(lay_out(config, now, &name, self.last, span, source, pool)?);
            kept.push(signature);
            next = slot + 1;
        }
        let portions: Vec<_> = unsigned.iter().map(|packet| packet.signed_portion()).collect();
        let made = config.signer.sign_many(&portions);
        renewal.source.check(now)?;
        if !made.iter().zip(&kept).all(|(made, kept)| made == kept) {
            return Ok(Step::Different);
        }
        renewal.next = next;
        Ok(if kept.len() < STEP { Step::Same } else { Step::Unfinished })
    }
}

/// When to try again what cannot be decided now.
pub(super) fn later(now: Instant) -> Missing {
    Missing::Until(now + PACE)
}
