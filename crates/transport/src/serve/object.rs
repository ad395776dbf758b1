//! Objects that are open, and the packets cut from them.
use super::packet::{Origin, Packet};
use super::signature::Signatures;
use super::{Library, Opened, ServeConfig, Source, SourceError};
use crate::time::Instant;
use bytes::BytesMut;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::name::Name;

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
    signatures: Signatures,
    last: u64,
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

impl Object {
    fn new(config: &ServeConfig, id: u64, path: &Name, opened: Opened, now: Instant) -> Self {
        let mut name = config.prefix.join(path);
        if let Some(suffix) = &opened.suffix {
            name = name.join(suffix);
        }
        if let Some(version) = opened.version {
            name = name.append(config.convention.version(version));
        }
        let last = opened.source.len().saturating_sub(1) / config.segment_bytes as u64;
        Self {
            id,
            path: path.clone(),
            name,
            version: opened.version,
            source: opened.source,
            signatures: Signatures::default(),
            last,
            mtime_ns: opened.mtime_ns,
            mode: opened.mode,
            answered: None,
            opened: now,
            used: 0,
            ended: false,
        }
    }

    /// The version has ended: it is answered no more.
    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    /// Cuts segment `segment`, or `None` if it lies beyond the last one.
    pub(super) fn segment(
        &mut self,
        config: &ServeConfig,
        now: Instant,
        segment: u64,
        pool: &mut BytesMut,
    ) -> Result<Option<Cut>, SourceError> {
        if segment > self.last || self.ended {
            return Ok(None);
        }
        let Self { source, signatures, .. } = self;
        let offset = segment * config.segment_bytes as u64;
        let length = (source.len() - offset).min(config.segment_bytes as u64) as usize;
        let name = self.name.append(config.convention.segment(segment));
        let builder = DataBuilder::new(&name)
            .freshness(config.freshness)
            .final_block(config.convention.segment(self.last));
        let fill = |into: &mut [u8]| source.read_at(now, offset, into);
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
            segment_size: Some(config.segment_bytes as u64),
            size: Some(self.source.len()),
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
    clock: u64,
    opened: u64,
}

impl Shelf {
    /// Most versions open at a time.
    const PLACES: usize = 64;
    /// How long the latest version stays the latest without asking the library again.
    const RECHECK: std::time::Duration = std::time::Duration::from_millis(100);

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
            o.path == *path && o.version == opened.version && o.source.len() == opened.source.len()
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
        let object = Object::new(config, self.opened, path, opened, now);
        self.objects.push(object);
        Some(self.objects.len() - 1)
    }
}
