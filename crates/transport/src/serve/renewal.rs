//! Decision whether a version continues although its source changed.
//!
//! The change time of a file also moves when its permissions or links change. A copy that replaces a file has another
//! identity and perhaps the same content. A version whose source changed is therefore compared with the new source:
//!
//! - Version, time and length must be equal.
//! - If the sources identify their content by digests, equal digests prove that the content is the same. Different
//!   digests prove that the content differs. Without digests:
//! - Each segment served before is encoded from the new source and signed. Its signature must equal the kept one;
//!   signatures cover content and name, and a signer is deterministic.
//!
//! If all are equal, every segment sent so far is one of the new content, and the version identifies the new content
//! from then on. If a signature was forgotten (more than 65,536 segments were served) or differs, the version ends.
//!
//! At most [`STEP`] segments are compared at an instant, while Interests for the object wait.
use super::Opened;
use super::object::{Object, encode_segment, encoded_len};
use super::source::{Identified, Identity, Source, SourceError};
use super::{Context, Missing};
use crate::event::Event;
use crate::time::{Duration, Instant};

/// Segments compared at one instant.
const STEP: usize = 128;
/// Time between two steps.
pub(super) const PACE: Duration = Duration::from_millis(1);

/// Whether an object answers Interests.
#[derive(Debug)]
pub(super) enum State {
    /// The content exists, as far as is known.
    Serving,
    /// The content may have changed: it is compared with the new content.
    Comparing {
        /// The new source, once it is open.
        renewal: Option<Renewal>,
        /// The object's own source changed; otherwise the library only offers other content.
        has_changed: bool,
    },
    /// The content is gone: the object no longer answers.
    Ended,
}

/// A source that may replace another.
#[derive(Debug)]
pub(super) struct Renewal {
    source: Box<dyn Source>,
    identity: Identity,
    /// The slot of the next signature to compare.
    next: usize,
}

/// Progress of a comparison.
enum Step {
    Same,
    Unfinished,
    Different,
}

impl Object {
    /// Records a change of the source.
    pub(super) fn mark_changed(&mut self) {
        match self.state {
            State::Serving => self.state = State::Comparing { renewal: None, has_changed: true },
            State::Comparing { ref mut has_changed, .. } => *has_changed = true,
            State::Ended => {}
        }
    }

    /// Begins a comparison: the library offers other content under its version.
    pub(super) fn compare_with(&mut self, opened: Opened) {
        if matches!(self.state, State::Serving) {
            self.state = State::Comparing { renewal: self.renewal(opened), has_changed: false };
        }
    }

    /// Decides whether the object answers; continues a comparison.
    ///
    /// # Errors
    /// [`Missing::Unknown`] if the object no longer answers, [`Missing::Until`] if the decision is pending.
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

    /// Ends the version: it no longer answers.
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

    /// The content differs, or its equality cannot be shown.
    fn stop_comparing(&mut self, context: &mut Context<'_>) -> Result<(), Missing> {
        let has_changed = matches!(self.state, State::Comparing { has_changed: true, .. });
        if has_changed || self.source.check(context.now).is_err() {
            return Err(self.end(context));
        }
        self.is_past = true;
        self.state = State::Serving;
        Ok(())
    }

    /// A comparison with the opened source, if it may have the same content in another state.
    fn renewal(&self, opened: Opened) -> Option<Renewal> {
        let identity = opened.source.identity();
        let may_be_same = !self.is_past
            && opened.version == self.offered
            && opened.mtime_ns == self.mtime_ns
            && opened.source.len() == self.bytes
            && identity != self.identity
            && (self.signatures.are_complete()
                || matches!(self.identified, Identified::ByContent(_)));
        may_be_same.then_some(Renewal { source: opened.source, identity, next: 0 })
    }

    fn compare(
        &self,
        context: &mut Context<'_>,
        renewal: &mut Renewal,
    ) -> Result<Step, SourceError> {
        let (config, now) = (context.config, context.now);
        if let Identified::ByContent(before) = self.identified
            && let Identified::ByContent(id) = renewal.source.identify(now)?
        {
            renewal.source.check(now)?;
            return Ok(if id == before { Step::Same } else { Step::Different });
        }
        if !self.signatures.are_complete() {
            return Ok(Step::Different);
        }
        let (mut kept, mut unsigned, mut next) = (Vec::new(), Vec::new(), renewal.next);
        for (slot, segment, signature) in self.signatures.kept_from(renewal.next).take(STEP) {
            let name = self.name.append(config.convention.segment(segment));
            let span = self.span(segment);
            let source = renewal.source.as_mut();
            let pool = context.outbox.buffer(encoded_len(config, span.1));
            unsigned.push(encode_segment(config, now, &name, self.frame(), span, source, pool)?);
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

/// Time of the next attempt at a pending decision.
pub(super) fn later(now: Instant) -> Missing {
    Missing::Until(now + PACE)
}
