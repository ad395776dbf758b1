//! Link recovery: what a hop loses is sent again on that hop, long before the consumer would notice.
//!
//! A machine stands at each end of a link. It is told of every frame that leaves, at the time at which it really leaves,
//! and writes a [`Tag`] on it; it reads the tags of the frames that come, says which of them are duplicates, and hands
//! out what is to leave before anything else: frames once more, and frames without a packet that the two ends speak with.
//! It knows neither faces nor octets of packets: a frame is whatever its user clones.
//!
//! | text | who tells whom | source |
//! |---|---|---|
//! | `off` | nobody | |
//! | `wldr(…)` | the receiver, of gaps in the numbers ([`Wldr`]) | Carofiglio et al. 2016 |
//! | `auto(…)` | as `wldr`, once the other end has answered an offer ([`Auto`]) | |
//! | `acked(…)` | the receiver, of every frame ([`Acked`]) | NDNLPv2 reliability, as in NFD |
pub mod lean;
mod off;
pub(super) mod tag;

pub use off::Off;
pub use tag::{Ewln, Label, Notice, State, Tag};

use super::acked::{Acked, AckedSettings};
use super::auto::Auto;
use super::wldr::{Pool, Wldr, WldrSettings};
use crate::random::Rng;
use crate::spec::{self, Reader, SpecError};
use crate::time::{Duration, Instant};
use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;
use std::sync::Arc;

/// Recovers the losses of one link, at one end of it.
///
/// Holds for every implementation: `now` never goes backwards; what is kept is bounded; a frame that came whole and once
/// is delivered; after [`fire`](Self::fire), [`deadline`](Self::deadline) is later than `now` or `None`.
pub trait LinkRecovery<T>: fmt::Debug + fmt::Display + Send {
    /// A frame of that kind is about to leave for the first time; whether [`send`](Self::send) need not be asked, because
    /// it has nothing to write and nothing to hold.
    fn leaves_plain(&mut self, now: Instant, kind: FrameKind) -> bool {
        let _ = (now, kind);
        false
    }

    /// The Interest that is about to leave is a retransmission: an exchange on this path failed, or took too long.
    fn retransmits(&mut self) {}

    /// A frame leaves for the first time; what is to be written on it.
    fn send(&mut self, now: Instant, frame: &T, sending: &Sending) -> Tag;

    /// As [`send`](Self::send), if a number is all that is to be written on the frame: what nearly every frame of a link
    /// with WLDR is told. `None` if it is not, and nothing is done yet.
    fn number(&mut self, now: Instant, frame: &T, sending: &Sending) -> Option<Label> {
        let _ = (now, frame, sending);
        None
    }

    /// A frame came with a packet (or a piece of one) and nothing but a number.
    fn numbered(&mut self, now: Instant, label: Label) -> Arrival {
        self.receive(now, &Tag::label(label), true)
    }

    /// A frame came, with a packet (or a piece of one) or without; what becomes of its packet.
    fn receive(&mut self, now: Instant, tag: &Tag, carries: bool) -> Arrival;

    /// Does what is due.
    fn fire(&mut self, now: Instant);

    /// Whether [`poll`](Self::poll) has something that may leave, or [`poll_lost`](Self::poll_lost) a frame.
    fn waits(&self) -> bool;

    /// What leaves next, before everything else; its tag is made for this very moment.
    fn poll(&mut self, now: Instant) -> Option<Outgoing<T>>;

    /// The frame that left with this number did not get beyond this machine: a queue below the link was full. That is
    /// congestion, which the consumer has to hear of, and no loss of the link: it is not sent again.
    fn dropped(&mut self, label: Label) {
        let _ = label;
    }

    /// A frame that was lost and is not sent again, if somebody else is to see to it.
    fn poll_lost(&mut self) -> Option<T>;

    /// When [`fire`](Self::fire) has something to do.
    fn deadline(&self) -> Option<Instant>;

    /// Nothing can leave for now. What was learnt is kept: the neighbour may be the same afterwards.
    fn link_down(&mut self, now: Instant);

    /// Frames can leave, for the first time or again, to the same neighbour or to another one. Who `greets` need not wait for a
    /// packet to find out who is there.
    fn link_up(&mut self, now: Instant, greets: bool);

    /// Octets that the tag of a frame may take in a link header, acknowledgements left out.
    fn tag_octets(&self) -> usize;

    /// What is held for the case that it is lost counts in this pool, which other links share.
    fn share(&mut self, pool: &Arc<Pool>) {
        let _ = pool;
    }

    /// Whether both ends recover what the link loses.
    fn agreement(&self) -> Agreement;

    /// What was done so far.
    fn counters(&self) -> Counters;
}

/// Whether the two ends of a link recover what it loses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Agreement {
    /// Frames are plain: there is no recovery here, the path is too short to need it, or the other end has answered no offer
    /// and gets no more.
    #[default]
    Off,
    /// The other end was offered recovery, or gets frames with numbers, and has not answered yet.
    Offered,
    /// The other end has answered: what is lost is sent again.
    Agreed,
}

impl Agreement {
    /// The word for it.
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

/// What a packet is, as far as a link treats its loss differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A question.
    Interest,
    /// An answer, or a refusal.
    Data,
}

/// What recovery has to know of a frame that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// What it holds.
    pub kind: FrameKind,
    /// Octets of the frame, without tag.
    pub octets: u32,
    /// How long its packet is worth anything; `None` if nobody said.
    pub lifetime: Option<Duration>,
    /// The same for all frames of one packet.
    pub packet: u64,
    /// It is the only frame of its packet.
    pub alone: bool,
    /// Octets that are left in the frame beside its tag, for acknowledgements.
    pub room_octets: usize,
}

/// What becomes of a frame that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its packet goes on.
    Deliver,
    /// Its packet came before.
    Duplicate,
    /// It brought no packet.
    Control,
}

/// What leaves before everything else.
#[derive(Clone, Debug, PartialEq)]
pub enum Outgoing<T> {
    /// A frame, once more.
    Again {
        /// The frame.
        frame: T,
        /// To be written on it, instead of the tag that it had.
        tag: Tag,
        /// Time since it left for the first time: by this it lengthens the round trip.
        waited: Duration,
    },
    /// A frame without a packet.
    Control(Tag),
    /// The same to an end of which it is not known whether it can read frames without packets: one that needs a packet
    /// gets one that everybody discards.
    Greeting(Tag),
}

/// What was done on one link. Every label ends in one of four ways or is held: `labelled` = `resent` + `settled` +
/// `given_up` + `expired` + `held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames that left with a number, the first time or again.
    pub labelled: u64,
    /// Frames that were lost and left again.
    pub resent: u64,
    /// Frames that the neighbour asks for no more: it has them.
    pub settled: u64,
    /// Frames that were lost and did not leave again: too old, too often, or the neighbour is gone.
    pub given_up: u64,
    /// Frames that nobody asked for until their time or their room was over.
    pub expired: u64,
    /// Frames that are held for the case that they are lost.
    pub held: u64,
    /// Octets of these frames.
    pub held_octets: u64,
    /// Frames that came and had come before.
    pub duplicates: u64,
    /// Numbers that never came, although they were asked for as often as is permitted.
    pub missed: u64,
    /// Frames without a packet that left.
    pub control: u64,
    /// Notices that came and concerned nobody here: stale, forged, or too many.
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
        self.held_octets += other.held_octets;
        self.duplicates += other.duplicates;
        self.missed += other.missed;
        self.control += other.control;
        self.ignored += other.ignored;
    }
}

/// Which recovery a link has, and its parameters: plain data, from text and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// `off`
    #[default]
    Off,
    /// `auto(…)`: [`Wldr`](Self::Wldr) if the other end has it; the parameters are those of `wldr`.
    Auto(WldrSettings),
    /// `wldr(…)`
    Wldr(WldrSettings),
    /// `acked(…)`
    Acked(AckedSettings),
}

impl Recovery {
    const FAMILY: &'static [(&'static str, Reader<Self>)] = &[
        ("off", |spec| spec.finish().map(|()| Self::Off)),
        ("auto", |spec| WldrSettings::from_spec(spec).map(Self::Auto)),
        ("wldr", |spec| WldrSettings::from_spec(spec).map(Self::Wldr)),
        ("acked", |spec| AckedSettings::from_spec(spec).map(Self::Acked)),
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

    /// `auto` with the usual parameters.
    #[must_use]
    pub fn auto() -> Self {
        Self::Auto(WldrSettings::default())
    }

    /// Whether there is recovery only where the other end has it as well.
    #[must_use]
    pub fn is_auto(self) -> bool {
        matches!(self, Self::Auto(_))
    }

    /// Makes the machine for one end of a link. Its numbers are drawn from `rng`, so that no outsider guesses them.
    #[must_use]
    pub fn build<T>(self, rng: Rng) -> Box<dyn LinkRecovery<T>>
    where
        T: Clone + fmt::Debug + Send + 'static,
    {
        match self {
            Self::Off => Box::new(Off),
            Self::Auto(settings) => Box::new(Auto::new(settings, rng)),
            Self::Wldr(settings) => Box::new(Wldr::new(settings, rng)),
            Self::Acked(settings) => Box::new(Acked::new(settings)),
        }
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
            Self::Auto(settings) => settings.write(f, "auto"),
            Self::Wldr(settings) => settings.fmt(f),
            Self::Acked(settings) => settings.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_prints_what_it_reads() {
        for text in [
            "off",
            "wldr(ring=8192,octets=16777216,alpha=0.8,lifetime=1s,hold=0s,max-hold=50ms,resends=inf,kinds=both,mode=resend)",
            "wldr(ring=64,octets=100000,alpha=0.25,lifetime=400ms,hold=5ms,max-hold=80ms,resends=3,kinds=interests,mode=eln)",
            "acked(retries=3,threshold=3,idle=5ms,frames=8192,octets=16777216)",
            "auto(ring=64,octets=100000,alpha=0.25,lifetime=400ms,hold=5ms,max-hold=80ms,resends=inf,kinds=both,mode=resend)",
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

    #[test]
    fn what_cannot_be_a_recovery_is_an_error_of_one_line() {
        for (text, message) in [
            (
                "wldrr",
                "no link recovery is called `wldrr` (did you mean `wldr`?); there are: off, auto, wldr, acked",
            ),
            ("wldr(alpha=2)", "`alpha=2` of `wldr`: expected a number from 0 to 1"),
            ("wldr(ring=0)", "`ring=0` of `wldr`: expected a whole number from 1 to 65536"),
            ("wldr(mode=on)", "`mode=on` of `wldr`: expected resend or eln"),
            ("off(x=1)", "`off` has no parameter `x`; it has none"),
        ] {
            let error = text.parse::<Recovery>().unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
