//! Link recovery: retransmits frames on the hop that lost them, before the consumer detects the loss.
//!
//! One state machine stands at each end of a link. It receives every outgoing frame at its send time and writes a
//! [`Tag`] on it. It reads the tags of incoming frames and detects duplicates. It returns frames that precede all
//! others: retransmissions, and control frames without a packet. It knows neither faces nor packets: a frame is any
//! value that its user clones.
//!
//! | text | signal | source |
//! |---|---|---|
//! | `off` | none | |
//! | `wldr(…)` | the receiver reports gaps ([`Wldr`]) | Carofiglio et al. 2016 |
//! | `auto(…)` | as `wldr`, after an answered offer ([`Auto`]) | |
//! | `acked(…)` | the receiver acknowledges each frame ([`Acked`]) | NDNLPv2 reliability, as in NFD |
pub mod lean;
mod off;
pub(super) mod tag;

pub use super::wldr::{Replaced, Sessions};
pub use off::Off;
pub use tag::{Ewln, Label, Notice, State, Tag};

use super::acked::{Acked, AckedSettings};
use super::auto::Auto;
use super::pool::Pool;
use super::wldr::{Wldr, WldrSettings};
use crate::spec::{self, Reader, SpecError};
use crate::time::{Duration, Instant};
use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;
use std::sync::Arc;

/// Recovers the losses of one link, at one end of it.
///
/// Each implementation keeps these invariants, provided that `now` never decreases. Its memory is limited. A frame
/// received intact is delivered once. After [`fire`](Self::fire), [`deadline`](Self::deadline) is later than `now` or
/// `None`.
pub trait LinkRecovery<T>: fmt::Debug + fmt::Display + Send {
    /// Whether a frame of that kind may be sent without [`send`](Self::send), because it gets no tag and is not held.
    fn leaves_plain(&mut self, now: Instant, kind: FrameKind) -> bool {
        let _ = (now, kind);
        false
    }

    /// The next Interest is a retransmission: an exchange on this path failed, or took too long.
    fn retransmits(&mut self) {}

    /// Handles the first transmission of a frame; returns its tag.
    fn send(&mut self, now: Instant, frame: &T, sending: &Sending) -> Tag;

    /// As [`send`](Self::send), if the tag is a number only: the usual case of a link with WLDR. Otherwise `None`,
    /// and nothing has changed.
    fn number(&mut self, now: Instant, frame: &T, sending: &Sending) -> Option<Label> {
        let _ = (now, frame, sending);
        None
    }

    /// Handles an incoming frame with a packet (or a fragment of one) and a number only.
    fn numbered(&mut self, now: Instant, label: Label) -> Arrival {
        self.receive(now, &Tag::label(label), true)
    }

    /// Handles an incoming frame, with a packet (or a fragment of one) or without; returns the fate of its packet.
    fn receive(&mut self, now: Instant, tag: &Tag, carries: bool) -> Arrival;

    /// Handles expired timers.
    fn fire(&mut self, now: Instant);

    /// Whether [`poll`](Self::poll) or [`poll_lost`](Self::poll_lost) has a frame.
    fn waits(&self) -> bool;

    /// The next frame to be sent, before all others. Its tag is valid at this time only.
    fn poll(&mut self, now: Instant) -> Option<Outgoing<T>>;

    /// A queue below the link was full and dropped the frame with this number. That is congestion, which the consumer
    /// has to detect, and no loss of the link: the frame is not retransmitted.
    fn dropped(&mut self, label: Label) {
        let _ = label;
    }

    /// A lost frame that is not retransmitted here, if the caller handles it.
    fn poll_lost(&mut self) -> Option<T>;

    /// Time of the next call of [`fire`](Self::fire).
    fn deadline(&self) -> Option<Instant>;

    /// The link is down. The state is kept: the neighbour may be the same afterwards.
    fn link_down(&mut self, now: Instant);

    /// The link is up, with the same neighbour or another one. An end that `greets` looks for its neighbour without
    /// waiting for a packet.
    fn link_up(&mut self, now: Instant, greets: bool);

    /// Bytes of a frame's tag in a link header, acknowledgements excluded.
    fn tag_bytes(&self) -> usize;

    /// Frames held for retransmission are charged to this pool, which other links share.
    fn share(&mut self, pool: &Arc<Pool>) {
        let _ = pool;
    }

    /// Drops the older half of the frames held for retransmission, at least one if there is any. They count as
    /// [`expired`](Counters::expired): the consumer recovers their loss.
    fn shed(&mut self) {}

    /// Asks the neighbour for its state, which it sends at once if it has recovery: a sign of life.
    fn ask(&mut self, now: Instant) {
        let _ = now;
    }

    /// Whether the neighbour has answered a question of this end, since its answers were last forgotten.
    fn answers(&self) -> bool {
        false
    }

    /// The neighbour has left questions unanswered, and may have been replaced by one without recovery.
    fn forget_answers(&mut self) {}

    /// The change, if another neighbour than before has answered since the last call.
    fn take_replaced(&mut self) -> Option<Replaced> {
        None
    }

    /// Whether both ends recover losses.
    fn agreement(&self) -> Agreement;

    /// Counters since the start.
    fn counters(&self) -> Counters;
}

/// Whether both ends of a link recover its losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Agreement {
    /// Frames are plain: recovery is off, the path is too short to need it, or the neighbour has answered no offer
    /// and gets no more.
    #[default]
    Off,
    /// The neighbour was offered recovery, or gets numbered frames, and has not answered yet.
    Offered,
    /// The neighbour has answered: losses are recovered.
    Agreed,
}

impl Agreement {
    /// Short name of the state.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Offered => "offered",
            Self::Agreed => "agreed",
        }
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Kind of a packet, where a link treats losses differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// An Interest.
    Interest,
    /// Data or a Nack.
    Data,
}

/// Properties of an outgoing frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Kind of its packet.
    pub kind: FrameKind,
    /// Bytes of the frame, without tag.
    pub bytes: u32,
    /// Lifetime of its packet; `None` if unknown.
    pub lifetime: Option<Duration>,
    /// Identifier of its packet, common to all of its frames.
    pub packet: u64,
    /// Whether it is the only frame of its packet.
    pub alone: bool,
    /// Bytes left in the frame beside its tag, for acknowledgements.
    pub free_bytes: usize,
}

/// Fate of an incoming frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its packet is delivered.
    Deliver,
    /// Its packet is a duplicate.
    Duplicate,
    /// The frame carries no packet.
    Control,
}

/// A frame that is sent before all others.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing<T> {
    /// A retransmission.
    Again {
        /// The frame.
        frame: T,
        /// The tag, in place of the first one.
        tag: Tag,
        /// Time since the first transmission, which is added to the round trip.
        waited: Duration,
    },
    /// A frame without a packet.
    Control(Tag),
    /// A frame without a packet to an end that may not support such frames. A neighbour that needs a packet gets one
    /// that every forwarder drops.
    Greeting(Tag),
}

/// Counters of one link. Every label ends in one of four ways or is held: `labelled` = `resent` + `settled` +
/// `given_up` + `expired` + `held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transmissions with a number.
    pub labelled: u64,
    /// Retransmissions of lost frames.
    pub resent: u64,
    /// Frames that the neighbour has received.
    pub settled: u64,
    /// Lost frames that were not retransmitted: too old, too often, or the neighbour is gone.
    pub given_up: u64,
    /// Frames dropped from the ring, by their lifetime or the limits, without a report of their loss.
    pub expired: u64,
    /// Frames held for retransmission.
    pub held: u64,
    /// Bytes of these frames.
    pub held_bytes: u64,
    /// Duplicate frames received.
    pub duplicates: u64,
    /// Numbers never received, although all requests for them were made.
    pub missed: u64,
    /// Frames sent without a packet.
    pub control: u64,
    /// Notices received and ignored: stale, forged, or too many.
    pub ignored: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.labelled += other.labelled;
        self.resent += other.resent;
        self.settled += other.settled;
        self.given_up += other.given_up;
        self.expired += other.expired;
        self.held += other.held;
        self.held_bytes += other.held_bytes;
        self.duplicates += other.duplicates;
        self.missed += other.missed;
        self.control += other.control;
        self.ignored += other.ignored;
    }
}

/// Kind of link recovery, with its parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// `off`
    #[default]
    Off,
    /// `auto(…)`: [`Wldr`](Self::Wldr) if the neighbour supports it; the parameters are those of `wldr`.
    Auto(WldrSettings),
    /// `wldr(…)`
    Wldr(WldrSettings),
    /// `acked(…)`
    Acked(AckedSettings),
}

impl Recovery {
    const FAMILY: &'static [(&'static str, Reader<Self>)] = &[
        ("off", |spec| spec.finish().map(|()| Self::Off)),
        ("auto", |spec| spec.read(WldrSettings::default()).map(Self::Auto)),
        ("wldr", |spec| spec.read(WldrSettings::default()).map(Self::Wldr)),
        ("acked", |spec| spec.read(AckedSettings::default()).map(Self::Acked)),
    ];

    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::FAMILY.iter().map(|(name, _)| *name)
    }

    /// Whether nothing is recovered.
    #[must_use]
    #[inline]
    pub fn is_off(self) -> bool {
        matches!(self, Self::Off)
    }

    /// `auto` with the default parameters.
    #[must_use]
    pub fn auto() -> Self {
        Self::Auto(WldrSettings::default())
    }

    /// Whether recovery depends on the neighbour.
    #[must_use]
    pub fn is_auto(self) -> bool {
        matches!(self, Self::Auto(_))
    }

    /// Builds the state machine for one end of a link. Outsiders cannot guess its `sessions`.
    #[must_use]
    pub fn build<T>(self, sessions: impl Into<Sessions>) -> Box<dyn LinkRecovery<T>>
    where
        T: Clone + fmt::Debug + Send + 'static,
    {
        match self {
            Self::Off => Box::new(Off),
            Self::Auto(settings) => Box::new(Auto::new(settings, sessions.into())),
            Self::Wldr(settings) => Box::new(Wldr::new(settings, sessions.into())),
            Self::Acked(settings) => Box::new(Acked::new(settings)),
        }
    }
}

impl TryFrom<&str> for Recovery {
    type Error = SpecError;

    fn try_from(text: &str) -> Result<Self, SpecError> {
        text.parse()
    }
}

impl FromStr for Recovery {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        spec::parse_with(text, "link recovery", Self::FAMILY)
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Auto(settings) => spec::describe::print(f, "auto", settings),
            Self::Wldr(settings) => settings.fmt(f),
            Self::Acked(settings) => settings.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    #[test]
    fn every_kind_prints_what_it_reads() {
        for text in [
            "off",
            "wldr(ring=8192,bytes=16777216,alpha=0.8,lifetime=1s,hold=0s,max-hold=50ms,resends=inf,kinds=both,mode=resend)",
            "wldr(ring=64,bytes=100000,alpha=0.25,lifetime=400ms,hold=5ms,max-hold=80ms,resends=3,kinds=interests,mode=eln)",
            "acked(retries=3,threshold=3,idle=5ms,frames=8192,bytes=16777216)",
            "auto(ring=64,bytes=100000,alpha=0.25,lifetime=400ms,hold=5ms,max-hold=80ms,resends=inf,kinds=both,mode=resend)",
        ] {
            let recovery: Recovery = text.parse().unwrap();
            assert_eq!(recovery.to_string(), text);
            assert_eq!(recovery.build::<u8>(Rng::from_seed(1)).to_string(), text);
        }
        assert_eq!("wldr".parse(), Ok(Recovery::Wldr(WldrSettings::default())));
        assert_eq!("auto".parse(), Ok(Recovery::auto()));
        assert_eq!("acked".parse(), Ok(Recovery::Acked(AckedSettings::default())));
        assert_eq!(Recovery::names().collect::<Vec<_>>(), ["off", "auto", "wldr", "acked"]);
    }
}
