//! Objects that are open, and the packets cut from them.
use super::outbox::Outbox;
use super::packet::{Origin, Packet};
use super::signature::Signatures;
use super::{Form, Library, Opened, ServeConfig, Source, SourceError};
use crate::time::Instant;
use recoup_packet::data::{ContentType, Data, DataBuilder, Template};
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::name::Name;
use recoup_packet::tlv::MAX_PACKET_SIZE;
use std::sync::Arc;

/// One version of one object.
#[derive(Debug)]
pub(super) struct Object {
    /// Its number: no two objects of a shelf ever have the same.
    id: u64,
    path: Name,
    /// The name that segment numbers follow.
    pub(super) name: Name,
    pub(super) version: Option<u64>,
    source: Box<dyn Source>,
    /// Octets of the source.
    octets: u64,
    signatures: Signatures,
    /// Octets of content in every segment but the last.
    segment_bytes: u64,
    last: u64,
    /// What its segments are like where they have no octets.
    template: Option<Arc<Template>>,
    mtime_ns: Option<u64>,
    mode: Option<u64>,
    answered: Option<(Instant, Data)>,
    opened: Instant,
    used: u64,
    ended: bool,
}

/// A segment as it goes out.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) packet: Packet,
    pub(super) content_bytes: u32,
    pub(super) signed: bool,
}

/// Octets of content in a segment of so many octets called `name`: as many as are wanted, or as a packet has room for beside
/// such a name; `None` if that is none.
fn segment_bytes(config: &ServeConfig, name: &Name, octets: u64) -> Option<u64> {
    let wanted = config.segment_bytes as u64;
    let longest = wanted.min(octets) as usize;
    let most_octets = |segment| {
        let component = config.convention.segment(segment);
        let name = name.append(component);
        let builder = DataBuilder::new(&name).freshness(config.freshness);
        builder.final_block(component).most_octets(longest, config.signer.as_ref())
    };
    if most_octets(octets.saturating_sub(1) / wanted) <= MAX_PACKET_SIZE {
        return Some(wanted);
    }
    let excess = most_octets(u64::MAX) - MAX_PACKET_SIZE;
    (longest as u64).checked_sub(excess as u64).filter(|octets| *octets > 0)
}

impl Object {
    /// `None` if its name leaves no room for content in a packet.
    fn new(
        config: &ServeConfig,
        id: u64,
        path: &Name,
        opened: Opened,
        now: Instant,
    ) -> Option<Self> {
        let mut name = config.prefix.join(path);
        if let Some(suffix) = &opened.suffix {
            name = name.join(suffix);
        }
        if let Some(version) = opened.version {
            name = name.append(config.convention.version(version));
        }
        let octets = opened.source.len();
        let segment_bytes = match config.form {
            Form::Encoded => segment_bytes(config, &name, octets)?,
            Form::Described(_) => config.segment_bytes as u64,
        };
        let last = octets.saturating_sub(1) / segment_bytes;
        let final_block = Some(config.convention.segment(last));
        let template = match config.form {
            Form::Encoded => None,
            Form::Described(shape) => {
                let content_type = ContentType::Blob;
                Some(Template::new(content_type, config.freshness, final_block, shape))
            }
        };
        Some(Self {
            id,
            path: path.clone(),
            name,
            version: opened.version,
            source: opened.source,
            octets,
            signatures: Signatures::default(),
            segment_bytes,
            last,
            template,
            mtime_ns: opened.mtime_ns,
            mode: opened.mode,
            answered: None,
            opened: now,
            used: 0,
            ended: false,
        })
    }

    /// The version has ended: it is answered no more.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// The number of the segment whose name `name` is, if the object can have such a segment.
    fn segment_named(&self, config: &ServeConfig, name: &Name) -> Option<u64> {
        if name.len() != self.name.len() + 1 || self.ended {
            return None;
        }
        config.convention.parse_segment(&name.strip_prefix(&self.name)?.next()?)
    }

    /// Cuts segment `segment`, or `None` if it lies beyond the last one. Its `name` is made if it is not given.
    pub(super) fn segment(
        &mut self,
        config: &ServeConfig,
        now: Instant,
        segment: u64,
        name: Option<&Name>,
        outbox: &mut Outbox,
    ) -> Result<Option<Cut>, SourceError> {
        if segment > self.last || self.ended {
            return Ok(None);
        }
        let offset = segment * self.segment_bytes;
        let length = (self.octets - offset).min(self.segment_bytes) as usize;
        let name = match name {
            Some(name) => name.clone(),
            None => self.name.append(config.convention.segment(segment)),
        };
        if let Some(template) = &self.template {
            let described = template.describe(name, length).ok();
            return Ok(described.map(|data| Cut {
                signed: false,
                packet: Packet::Whole(data),
                content_bytes: length as u32,
            }));
        }
        let Self { source, signatures, .. } = self;
        let builder = DataBuilder::new(&name)
            .freshness(config.freshness)
            .final_block(config.convention.segment(self.last));
        let fill = |into: &mut [u8]| source.read_at(now, offset, into);
        let pool = outbox.room(length);
        let unsigned = builder.lay_out(pool, length, fill, config.signer.as_ref())?;
        let object = self.id;
        let packet = match signatures.get(segment) {
            Some(kept) => Packet::Whole(unsigned.finish(kept)),
            None => Packet::Unsigned(unsigned, Some(Origin { object, segment })),
        };
        Ok(Some(Cut {
            signed: packet.signed_portion().is_some(),
            packet,
            content_bytes: length as u32,
        }))
    }

    /// The metadata packet, made anew once its freshness has passed: a flood of questions costs no
    /// flood of signatures.
    pub(super) fn metadata(&mut self, config: &ServeConfig, now: Instant) -> Data {
        if let Some((until, data)) = &self.answered
            && now < *until
        {
            return data.clone();
        }
        let content = Metadata {
            final_block: Some(self.last),
            segment_size: Some(self.segment_bytes),
            size: Some(self.octets),
            mode: self.mode,
            mtime_ns: self.mtime_ns,
            ..Metadata::new(self.name.clone())
        }
        .to_bytes();
        let version = config.epoch_micros.saturating_add(now.as_nanos() / 1_000);
        let name = metadata::packet_name(&config.prefix.join(&self.path), version);
        let data = DataBuilder::new(&name)
            .freshness(config.metadata_freshness)
            .final_block(config.convention.segment(0))
            .build(&content, config.signer.as_ref());
        self.answered = Some((now + config.metadata_freshness, data.clone()));
        data
    }
}

/// The objects that are open, a bounded number of them.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    objects: Vec<Object>,
    /// Place of the object that was asked for last by the name of a segment.
    recent: usize,
    clock: u64,
    opened: u64,
}

impl Shelf {
    /// Most versions open at a time.
    const PLACES: usize = 64;
    /// How long the latest version stays the latest without asking the library again.
    const RECHECK: std::time::Duration = std::time::Duration::from_millis(100);

    /// The open object that has a segment of this name, if its number is not too large, and that number.
    pub(super) fn named(
        &mut self,
        config: &ServeConfig,
        name: &Name,
    ) -> Option<(&mut Object, u64)> {
        let asked = |object: &Object| object.segment_named(config, name);
        let (place, segment) = match self.objects.get(self.recent).and_then(asked) {
            Some(segment) => (self.recent, segment),
            None => {
                let mut found = self.objects.iter().map(asked).enumerate();
                found.find_map(|(place, segment)| Some((place, segment?)))?
            }
        };
        self.recent = place;
        self.clock += 1;
        let object = self.objects.get_mut(place)?;
        object.used = self.clock;
        Some((object, segment))
    }

    /// The open version `version` of the object at `path`.
    pub(super) fn find(&mut self, path: &Name, version: Option<u64>) -> Option<&mut Object> {
        self.clock += 1;
        let clock = self.clock;
        let object = self.objects.iter_mut().find(|o| o.version == version && o.path == *path)?;
        object.used = clock;
        Some(object)
    }

    /// Keeps the signature of a segment for the next time, unless its object is gone.
    pub(super) fn keep_signature(&mut self, origin: Origin, signature: &[u8]) {
        let object = self.objects.iter_mut().find(|o| o.id == origin.object);
        if let Some(object) = object {
            object.signatures.insert(origin.segment, signature);
        }
    }

    /// The latest version of the object at `path`, opened if need be.
    pub(super) fn latest(
        &mut self,
        config: &ServeConfig,
        library: &mut dyn Library,
        path: &Name,
        now: Instant,
    ) -> Option<&mut Object> {
        self.clock += 1;
        let recent = self
            .objects
            .iter()
            .rposition(|o| o.path == *path && !o.ended && now.since(o.opened) < Self::RECHECK);
        let place = match recent {
            Some(place) => place,
            None => self.open(config, library, path, now)?,
        };
        let object = self.objects.get_mut(place)?;
        object.used = self.clock;
        Some(object)
    }

    fn open(
        &mut self,
        config: &ServeConfig,
        library: &mut dyn Library,
        path: &Name,
        now: Instant,
    ) -> Option<usize> {
        let opened = library.open(path)?;
        let known = self.objects.iter().position(|o| {
            o.path == *path && o.version == opened.version && o.octets == opened.source.len()
        });
        if let Some(place) = known {
            let object = self.objects.get_mut(place)?;
            object.opened = now;
            if !object.ended {
                return Some(place);
            }
            // The same version again after it ended: it would contradict what was served before.
            return None;
        }
        if self.objects.len() >= Self::PLACES {
            let oldest = (0..self.objects.len()).min_by_key(|i| self.objects[*i].used)?;
            self.objects.remove(oldest);
        }
        self.opened += 1;
        let object = Object::new(config, self.opened, path, opened, now)?;
        self.objects.push(object);
        Some(self.objects.len() - 1)
    }
}
