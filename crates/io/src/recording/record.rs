//! One record: what it says, and its octets.
//!
//! Numbers are variable-length (seven bits an octet, least first); instants are nanoseconds since the record before.
use bytes::Bytes;
use recoup_forwarder::face::{AppId, FaceAttributes, FaceForm, FaceId, Marking, Recovery};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::management::{FaceDescription, FaceRefusal, Notice};
use recoup_forwarder::node::{Input, RouteChange};
use recoup_packet::name::Name;
use recoup_transport::application::AppInput;
use recoup_transport::management::{LinkType, Persistency};
use recoup_transport::queue::{Capacity, Scheduling};
use recoup_transport::time::{Duration, Instant};

const UP: u8 = 1;
const DOWN: u8 = 2;
const FRAME: u8 = 3;
const BACKLOG: u8 = 4;
const ROUTE: u8 = 5;
const CONSUMED: u8 = 6;
const POLL: u8 = 7;
const CHECK: u8 = 8;
const END: u8 = 9;
const SCHEDULE: u8 = 10;
const NOTICE: u8 = 11;
const FRAME_FROM: u8 = 12;
const OVERFLOWED: u8 = 13;

const KNOWN: u64 = 0;
const GONE: u64 = 1;
const MADE: u64 = 2;
const NOT_MADE: u64 = 3;
const CHANNELS: u64 = 4;
const TIME_OF_DAY: u64 = 5;
const STRATEGY: u64 = 6;
const NO_STRATEGY: u64 = 7;

const UPSTREAM: u64 = 1;
const LOCAL: u64 = 2;
const MULTI_ACCESS: u64 = 4;
const AD_HOC: u64 = 64;
const LOCAL_FIELDS: u64 = 128;
const PERMANENT: u64 = 8;
const RECOVERY: u64 = 16;
const LIMITS: u64 = 32;

/// One thing that a recording says.
#[derive(Clone, Debug)]
pub enum Record {
    /// The machine was told something.
    Input {
        /// When.
        now: Instant,
        /// What.
        input: Input,
    },
    /// The machine was asked what it wants, until that was nothing.
    Poll {
        /// When.
        now: Instant,
    },
    /// What the machine wanted so far.
    Check {
        /// How many things.
        outputs: u64,
        /// The digest of all of them.
        digest: [u8; 32],
        /// The recording ends here.
        end: bool,
    },
}

/// Writes records into `out`.
#[derive(Debug)]
pub(super) struct Pen<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) last: &'a mut Instant,
}

impl Pen<'_> {
    /// Writes an input; `false` if it is of a kind that no recording holds.
    pub(super) fn input(&mut self, now: Instant, input: &Input) -> bool {
        match input {
            Input::FaceUp { face, attributes } => return self.up(now, *face, attributes),
            Input::FaceDown { face } => self.begin(DOWN, now, *face),
            Input::Frame { face, frame } => {
                self.begin(FRAME, now, *face);
                self.octets(frame);
            }
            Input::FrameFrom { face, sender, frame } => {
                self.begin(FRAME_FROM, now, *face);
                self.number(*sender);
                self.octets(frame);
            }
            Input::Backlog { face, octets } => {
                self.begin(BACKLOG, now, *face);
                self.number(*octets);
            }
            Input::Overflowed { face, frame } => {
                self.begin(OVERFLOWED, now, *face);
                self.octets(frame);
            }
            Input::Route(RouteChange { prefix, face, cost }) => {
                self.begin(ROUTE, now, *face);
                self.octets(prefix.value());
                self.option(*cost);
            }
            Input::App { app, input } => {
                let AppInput::Consumed { bytes } = **input else {
                    return false;
                };
                self.begin(CONSUMED, now, FaceId(app.0));
                self.number(bytes);
            }
            Input::Schedule { face, scheduling } => {
                self.begin(SCHEDULE, now, *face);
                self.scheduling(scheduling);
            }
            Input::Notice(notice) => {
                self.begin(NOTICE, now, FaceId(0));
                self.notice(notice);
            }
            Input::Packet { .. } | Input::Ready { .. } | Input::Busy { .. } | Input::Handed(_) => {
                return false;
            }
        }
        true
    }

    pub(super) fn poll(&mut self, now: Instant) {
        self.out.push(POLL);
        self.time(now);
    }

    pub(super) fn check(&mut self, outputs: u64, digest: &[u8; 32], end: bool) {
        self.out.push(if end { END } else { CHECK });
        self.number(outputs);
        self.out.extend(digest);
    }

    fn up(&mut self, now: Instant, face: FaceId, attributes: &FaceAttributes) -> bool {
        let FaceForm::Wire { mtu } = attributes.form else {
            return false;
        };
        self.begin(UP, now, face);
        self.number(mtu as u64);
        self.option(attributes.receive_budget);
        let flags = [
            (attributes.upstream, UPSTREAM),
            (attributes.local, LOCAL),
            (attributes.link_type == LinkType::MultiAccess, MULTI_ACCESS),
            (attributes.link_type == LinkType::AdHoc, AD_HOC),
            (attributes.permanent, PERMANENT),
            (attributes.local_fields, LOCAL_FIELDS),
            (!attributes.recovery.is_off(), RECOVERY),
            (attributes.limits.is_some(), LIMITS),
        ];
        self.number(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| flag).sum());
        self.marking(attributes.marking);
        if !attributes.recovery.is_off() {
            self.octets(attributes.recovery.to_string().as_bytes());
        }
        if let Some(FaceLimits { pending, fair, rate }) = attributes.limits {
            self.option(pending.map(|pending| pending as u64));
            self.number(u64::from(fair));
            self.option(rate);
        }
        true
    }

    fn scheduling(&mut self, scheduling: &Scheduling) {
        let Scheduling { discipline, capacity } = scheduling;
        self.octets(discipline.to_string().as_bytes());
        self.option(capacity.sending_bits);
        self.option(capacity.receiving_bits);
        self.number(u64::from(capacity.overhead_octets));
        self.number(capacity.other_sending_bits);
        self.number(capacity.other_receiving_bits);
    }

    fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::FaceKnown { face, description } => {
                self.numbers([KNOWN, u64::from(face.0)]);
                self.description(description);
            }
            Notice::FaceGone { face } => self.numbers([GONE, u64::from(face.0)]),
            Notice::FaceMade { ticket, outcome: Ok(face) } => {
                self.numbers([MADE, *ticket, u64::from(face.0)]);
            }
            Notice::FaceMade { ticket, outcome: Err(why) } => {
                let place = FaceRefusal::ALL.iter().position(|it| it == why);
                self.numbers([NOT_MADE, *ticket, place.unwrap_or_default() as u64]);
            }
            Notice::Channels(channels) => {
                self.numbers([CHANNELS, channels.len() as u64]);
                channels.iter().for_each(|uri| self.octets(uri.as_bytes()));
            }
            Notice::TimeOfDay { micros } => self.numbers([TIME_OF_DAY, *micros]),
            Notice::Strategy { prefix, text: Some(text) } => {
                self.numbers([STRATEGY]);
                self.octets(prefix.value());
                self.octets(text.as_bytes());
            }
            Notice::Strategy { prefix, text: None } => {
                self.numbers([NO_STRATEGY]);
                self.octets(prefix.value());
            }
        }
    }

    fn description(&mut self, description: &FaceDescription) {
        let FaceDescription { uri, local_uri, persistency, local, link_type, .. } = description;
        let FaceDescription { mtu, marking, reliable, local_fields, .. } = description;
        self.octets(uri.as_bytes());
        self.octets(local_uri.as_bytes());
        self.numbers([*persistency as u64, u64::from(*local), *link_type as u64, *mtu]);
        self.numbers([u64::from(*reliable), u64::from(*local_fields)]);
        self.marking(*marking);
    }

    fn marking(&mut self, marking: Option<Marking>) {
        self.option(marking.map(|marking| marking.threshold_octets));
        self.number(marking.map_or(0, |marking| nanos(marking.interval)));
    }

    fn numbers<const N: usize>(&mut self, numbers: [u64; N]) {
        numbers.into_iter().for_each(|number| self.number(number));
    }

    fn begin(&mut self, tag: u8, now: Instant, face: FaceId) {
        self.out.push(tag);
        self.time(now);
        self.number(u64::from(face.0));
    }

    fn time(&mut self, now: Instant) {
        self.number(nanos(now.since(*self.last)));
        *self.last = now;
    }

    fn octets(&mut self, octets: &[u8]) {
        self.number(octets.len() as u64);
        self.out.extend(octets);
    }

    /// 0 for none, or one more than the number; the largest number counts as the second largest.
    fn option(&mut self, number: Option<u64>) {
        self.number(number.map_or(0, |number| number.saturating_add(1)));
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.out.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.out.push(number as u8);
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads the records of a block; `None` where they cannot be right.
#[derive(Debug)]
pub(super) struct Eye<'a> {
    pub(super) block: &'a mut Bytes,
    pub(super) last: &'a mut Instant,
}

impl Eye<'_> {
    pub(super) fn record(&mut self) -> Option<Record> {
        let tag = self.octet()?;
        match tag {
            POLL => return Some(Record::Poll { now: self.time()? }),
            CHECK | END => {
                let outputs = self.number()?;
                let digest = self.take(32)?.as_ref().try_into().ok()?;
                return Some(Record::Check { outputs, digest, end: tag == END });
            }
            _ => {}
        }
        let now = self.time()?;
        let face = FaceId(u32::try_from(self.number()?).ok()?);
        let input = match tag {
            UP => Input::FaceUp { face, attributes: self.attributes()? },
            DOWN => Input::FaceDown { face },
            FRAME => Input::Frame { face, frame: self.octets()? },
            FRAME_FROM => Input::FrameFrom { face, sender: self.number()?, frame: self.octets()? },
            BACKLOG => Input::Backlog { face, octets: self.number()? },
            OVERFLOWED => Input::Overflowed { face, frame: self.octets()? },
            ROUTE => {
                let prefix = self.name()?;
                Input::Route(RouteChange { prefix, face, cost: self.option()? })
            }
            NOTICE => Input::from(self.notice()?),
            SCHEDULE => Input::Schedule { face, scheduling: Box::new(self.scheduling()?) },
            CONSUMED => {
                let input = Box::new(AppInput::Consumed { bytes: self.number()? });
                Input::App { app: AppId(face.0), input }
            }
            _ => return None,
        };
        Some(Record::Input { now, input })
    }

    fn scheduling(&mut self) -> Option<Scheduling> {
        let text = self.octets()?;
        let capacity = Capacity {
            sending_bits: self.option()?,
            receiving_bits: self.option()?,
            overhead_octets: u32::try_from(self.number()?).ok()?,
            other_sending_bits: self.number()?,
            other_receiving_bits: self.number()?,
        };
        let discipline = std::str::from_utf8(&text).ok()?.parse().ok()?;
        Some(Scheduling { discipline, capacity })
    }

    fn notice(&mut self) -> Option<Notice> {
        Some(match self.number()? {
            KNOWN => Notice::FaceKnown { face: self.face()?, description: self.description()? },
            GONE => Notice::FaceGone { face: self.face()? },
            MADE => Notice::FaceMade { ticket: self.number()?, outcome: Ok(self.face()?) },
            NOT_MADE => {
                let ticket = self.number()?;
                let place = usize::try_from(self.number()?).ok()?;
                Notice::FaceMade { ticket, outcome: Err(*FaceRefusal::ALL.get(place)?) }
            }
            CHANNELS => {
                let count = self.number()?;
                Notice::Channels((0..count).map(|_| self.text()).collect::<Option<_>>()?)
            }
            TIME_OF_DAY => Notice::TimeOfDay { micros: self.number()? },
            STRATEGY => Notice::Strategy { prefix: self.name()?, text: Some(self.text()?) },
            NO_STRATEGY => Notice::Strategy { prefix: self.name()?, text: None },
            _ => return None,
        })
    }

    fn description(&mut self) -> Option<FaceDescription> {
        Some(FaceDescription {
            uri: self.text()?,
            local_uri: self.text()?,
            persistency: Persistency::from_number(self.number()?)?,
            local: self.number()? != 0,
            link_type: LinkType::from_number(self.number()?),
            mtu: self.number()?,
            reliable: self.number()? != 0,
            local_fields: self.number()? != 0,
            marking: self.marking()?,
        })
    }

    fn marking(&mut self) -> Option<Option<Marking>> {
        let (threshold, interval) = (self.option()?, Duration::from_nanos(self.number()?));
        Some(threshold.map(|threshold_octets| Marking { threshold_octets, interval }))
    }

    fn face(&mut self) -> Option<FaceId> {
        Some(FaceId(u32::try_from(self.number()?).ok()?))
    }

    fn name(&mut self) -> Option<Name> {
        Name::from_value(self.octets()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(&self.octets()?).ok().map(str::to_owned)
    }

    fn attributes(&mut self) -> Option<FaceAttributes> {
        let mtu = usize::try_from(self.number()?).ok()?;
        let receive_budget = self.option()?;
        let flags = self.number()?;
        let marking = self.marking()?;
        let recovery = match flags & RECOVERY {
            0 => Recovery::Off,
            _ => std::str::from_utf8(&self.octets()?).ok()?.parse().ok()?,
        };
        let limits = if flags & LIMITS == 0 { None } else { Some(self.limits()?) };
        Some(FaceAttributes {
            receive_budget,
            upstream: flags & UPSTREAM != 0,
            local: flags & LOCAL != 0,
            link_type: match flags & (MULTI_ACCESS | AD_HOC) {
                0 => LinkType::PointToPoint,
                MULTI_ACCESS => LinkType::MultiAccess,
                _ => LinkType::AdHoc,
            },
            permanent: flags & PERMANENT != 0,
            local_fields: flags & LOCAL_FIELDS != 0,
            marking,
            recovery,
            limits,
            ..FaceAttributes::wire(mtu)
        })
    }

    fn limits(&mut self) -> Option<FaceLimits> {
        let pending = match self.option()? {
            Some(pending) => Some(usize::try_from(pending).ok()?),
            None => None,
        };
        Some(FaceLimits { pending, fair: self.number()? != 0, rate: self.option()? })
    }

    fn time(&mut self) -> Option<Instant> {
        let at = self.last.as_nanos().checked_add(self.number()?)?;
        *self.last = Instant::from_nanos(at);
        Some(*self.last)
    }

    fn octets(&mut self) -> Option<Bytes> {
        let len = usize::try_from(self.number()?).ok()?;
        self.take(len)
    }

    fn take(&mut self, len: usize) -> Option<Bytes> {
        (len <= self.block.len()).then(|| self.block.split_to(len))
    }

    fn octet(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn option(&mut self) -> Option<Option<u64>> {
        Some(self.number()?.checked_sub(1))
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let octet = self.octet()?;
            let bits = u64::from(octet & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if octet & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}
