//! An open object, and its packets.
use super::outbox::Answer;
use super::packet::{Origin, Packet};
use super::renewal::State;
use super::signature::Signatures;
use super::source::{Identified, Identity, Opened, Source, SourceError};
use super::{Context, Form, ServeConfig};
use crate::event::Event;
use crate::time::Instant;
use bytes::BytesMut;
use recoup_packet::data::{ContentType, Data, DataBuilder, Template, Unsigned};
use recoup_packet::manifest::{self, DIGEST_BYTES, GROUP, SEGMENTS};
use recoup_packet::metadata::{self, Metadata};
use recoup_packet::name::{Component, Name};
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::{DigestSigner, Encrypter, Signer, sha256, sha256_many};
use recoup_packet::tlv::MAX_PACKET_SIZE;
use std::sync::Arc;

/// One version of one object.
#[derive(Debug)]
pub(super) struct Object {
    /// Number of the object, unique on its shelf.
    pub(super) id: u64,
    pub(super) path: Name,
    /// The name that segment numbers follow.
    pub(super) name: Name,
    /// The version in that name.
    pub(super) version: Option<u64>,
    /// The version that the library assigned.
    pub(super) offered: Option<u64>,
    pub(super) source: Box<dyn Source>,
    /// State of the content of its source.
    pub(super) identity: Identity,
    /// How its source identified the content.
    pub(super) identified: Identified,
    /// The identifier that its packets carry.
    object_id: Option<ObjectId>,
    /// Bytes of the source.
    pub(super) bytes: u64,
    pub(super) signatures: Signatures,
    /// Bytes of content in every segment but the last.
    segment_bytes: u64,
    /// Number of the last segment.
    pub(super) last: u64,
    /// Shape of segments in described form.
    template: Option<Arc<Template>>,
    pub(super) mtime_ns: Option<u64>,
    mode: Option<u64>,
    answered: Option<(Instant, Data)>,
    /// Time at which the library last offered it.
    pub(super) opened: Instant,
    /// Time of the last use, by the clock of its shelf.
    pub(super) used: u64,
    pub(super) state: State,
    /// The library offers other content under its version; its own content still exists.
    pub(super) is_past: bool,
    /// Time of the last comparison with another source.
    pub(super) stepped: Option<Instant>,
}

/// Bytes of content in a segment called `name`, of an object of `bytes` bytes: the configured number, or as many as
/// fit a packet with such a name. `None` if none fits.
fn segment_bytes(
    config: &ServeConfig,
    name: &Name,
    bytes: u64,
    id: Option<ObjectId>,
) -> Option<u64> {
    let fitting = |bytes: u64| match &config.encrypter {
        Some(encrypter) => encrypter.fitting(bytes as usize).map(|bytes| bytes as u64),
        None => Some(bytes),
    };
    let wanted = fitting(config.segment_bytes as u64)?;
    let longest = encoded_len(config, wanted.min(bytes) as usize);
    let max_bytes = |segment| {
        let component = config.convention.segment(segment);
        let name = name.append(component);
        let builder = DataBuilder::new(&name).freshness(config.freshness).object_id(id);
        builder.final_block(component).max_len(longest, config.signer.as_ref())
    };
    if max_bytes(bytes.saturating_sub(1) / wanted) <= MAX_PACKET_SIZE {
        return Some(wanted);
    }
    let excess = max_bytes(u64::MAX) - MAX_PACKET_SIZE;
    (longest as u64).checked_sub(excess as u64).and_then(fitting).filter(|bytes| *bytes > 0)
}

/// Length of so many bytes of content as they are sent, in bytes.
pub(super) fn encoded_len(config: &ServeConfig, bytes: usize) -> usize {
    config.encrypter.as_ref().map_or(bytes, |encrypter| encrypter.encrypted_len(bytes))
}

/// The identifier that packets carry. That of encrypted content is encrypted as well: a digest of the content would let
/// anyone confirm a guess.
fn published(config: &ServeConfig, path: &Name, identified: Identified) -> Option<ObjectId> {
    let id = identified.id()?;
    Some(match &config.encrypter {
        Some(encrypter) => encrypted_id(encrypter.as_ref(), &config.prefix.join(path), id),
        None => id,
    })
}

fn encrypted_id(encrypter: &dyn Encrypter, name: &Name, id: ObjectId) -> ObjectId {
    let mut encrypted = vec![0; encrypter.encrypted_len(id.bytes().len())];
    encrypter.encrypt(name, id.bytes(), &mut encrypted);
    ObjectId::of_digest(&sha256(&encrypted))
}

impl Object {
    /// `None` if its name leaves no space for content in a packet.
    pub(super) fn new(
        context: &Context<'_>,
        id: u64,
        path: &Name,
        (opened, identified): (Opened, Identified),
        version: Option<u64>,
    ) -> Option<Self> {
        let config = context.config;
        let object_id = published(config, path, identified);
        let mut name = config.prefix.join(path);
        if let Some(suffix) = &opened.suffix {
            name = name.join(suffix);
        }
        if let Some(version) = version {
            name = name.append(config.convention.version(version));
        }
        let bytes = opened.source.len();
        let segment_bytes = match config.form {
            Form::Encoded => segment_bytes(config, &name, bytes, object_id)?,
            Form::Described(_) => config.segment_bytes as u64,
        };
        let last = bytes.saturating_sub(1) / segment_bytes;
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
            version,
            offered: opened.version,
            identity: opened.source.identity(),
            identified,
            object_id,
            source: opened.source,
            bytes,
            signatures: Signatures::new(last.saturating_add(1), config.signer.max_signature_len()),
            segment_bytes,
            last,
            template,
            mtime_ns: opened.mtime_ns,
            mode: opened.mode,
            answered: None,
            opened: context.now,
            used: 0,
            state: State::Serving,
            is_past: false,
            stepped: None,
        })
    }

    /// Whether the library offers this object, as far as is known.
    pub(super) fn is_latest(&self) -> bool {
        !self.is_past && !matches!(self.state, State::Ended)
    }

    /// The object with the least rank leaves the shelf first.
    pub(super) fn eviction_rank(&self) -> (bool, u64) {
        (!matches!(self.state, State::Ended), self.used)
    }

    /// Whether a source has the content of this object, in the same state.
    pub(super) fn is_of(&self, opened: &Opened) -> bool {
        self.bytes == opened.source.len() && self.identity == opened.source.identity()
    }

    /// The state that its version identifies after it has left the shelf.
    pub(super) fn lasting_identity(&self) -> Option<Identity> {
        matches!(self.state, State::Serving).then_some(self.identity)
    }

    /// Whether all bytes read so far are of one content. If not, the object has to be compared.
    pub(super) fn check(&mut self, now: Instant) -> bool {
        let is_unchanged = self.source.check(now).is_ok();
        if !is_unchanged {
            self.mark_changed();
        }
        is_unchanged
    }

    pub(super) fn keep_signature(&mut self, segment: u64, signature: &[u8]) {
        self.signatures.insert(segment, signature);
    }

    /// The segment number in `name`, if the object can have such a segment.
    pub(super) fn segment_named(&self, config: &ServeConfig, name: &Name) -> Option<u64> {
        if name.len() != self.name.len() + 1 || matches!(self.state, State::Ended) {
            return None;
        }
        config.convention.parse_segment(&name.strip_prefix(&self.name)?.next()?)
    }

    /// Offset and length of a segment's content, in bytes.
    pub(super) fn span(&self, segment: u64) -> (u64, usize) {
        let offset = segment.saturating_mul(self.segment_bytes);
        (offset, self.bytes.saturating_sub(offset).min(self.segment_bytes) as usize)
    }

    /// Encodes segment `segment`, or `None` beyond the last one. Its `name` is built if it is not given.
    pub(super) fn segment(
        &mut self,
        context: &mut Context<'_>,
        segment: u64,
        name: Option<&Name>,
    ) -> Result<Option<Answer>, SourceError> {
        let (config, now) = (context.config, context.now);
        if segment > self.last {
            return Ok(None);
        }
        let span = self.span(segment);
        let name = match name {
            Some(name) => name.clone(),
            None => self.name.append(config.convention.segment(segment)),
        };
        if let Some(template) = &self.template {
            let described = template.describe(name, span.1).ok();
            return Ok(described.map(|data| served(None, Packet::Whole(data), span.1)));
        }
        let frame = self.frame();
        let (source, pool) =
            (self.source.as_mut(), context.outbox.buffer(encoded_len(config, span.1)));
        let unsigned = encode_segment(config, now, &name, frame, span, source, pool)?;
        let packet = match self.signatures.get(segment) {
            Some(kept) => Packet::Whole(unsigned.finish(kept)),
            None => Packet::Unsigned(unsigned, Some(Origin { object: self.id, segment })),
        };
        Ok(Some(served(Some(self.id), packet, span.1)))
    }

    /// The manifest with this number, or `None` if it would list no segment. The first of a group lists the others.
    pub(super) fn manifest(
        &mut self,
        context: &mut Context<'_>,
        number: u64,
    ) -> Result<Option<Answer>, SourceError> {
        let last = self.last / SEGMENTS;
        if number > last || self.template.is_some() {
            return Ok(None);
        }
        let (first, author) = (manifest::first_of_group(number), context.config.author());
        let has_groups = self.has_groups(context.config);
        let data = if !has_groups {
            let content = self.digests(context, number)?;
            self.list(context.config, number, &content, author)
        } else if number > first {
            let content = self.digests(context, number)?;
            self.list(context.config, number, &content, &DigestSigner)
        } else {
            let mut content = self.digests(context, number)?;
            for other in first + 1..=last.min(first + GROUP - 1) {
                let digests = self.digests(context, other)?;
                let list = self.list(context.config, other, &digests, &DigestSigner);
                content.extend_from_slice(list.signature_value());
            }
            self.list(context.config, number, &content, author)
        };
        // The first list of the next group needs the digests of all its segments. Computing all of them at once would
        // delay other answers.
        if has_groups && number + GROUP <= last {
            let _ = self.digests(context, number + GROUP);
        }
        let (object, packet) = (Some(self.id), Packet::Whole(data));
        Ok(Some(Answer { object, packet, event: Event::ServedMetadata }))
    }

    /// Whether a manifest of this object can hold the digests of its group.
    fn has_groups(&self, config: &ServeConfig) -> bool {
        let name = manifest::name(&self.name, u64::MAX);
        let most = (SEGMENTS + GROUP - 1) as usize * DIGEST_BYTES;
        let builder = self.list_builder(config, &name);
        builder.max_len(most, config.author()) <= MAX_PACKET_SIZE
    }

    /// Number of the last segment and identifier, as each segment states them.
    pub(super) fn frame(&self) -> (u64, Option<ObjectId>) {
        (self.last, self.object_id)
    }

    fn list_builder<'a>(&self, config: &ServeConfig, name: &'a Name) -> DataBuilder<'a> {
        DataBuilder::new(name)
            .content_type(ContentType::Manifest)
            .freshness(config.freshness)
            .final_block(Component::segment(self.last / SEGMENTS))
            .object_id(self.object_id)
    }

    fn list(&self, config: &ServeConfig, number: u64, content: &[u8], signer: &dyn Signer) -> Data {
        let name = manifest::name(&self.name, number);
        self.list_builder(config, &name).build(content, signer)
    }

    /// The digests of the segments of a manifest. Missing ones are computed from the content, and kept.
    fn digests(&mut self, context: &mut Context<'_>, number: u64) -> Result<Vec<u8>, SourceError> {
        let (config, now) = (context.config, context.now);
        let first = number * SEGMENTS;
        let last = self.last.min(first + SEGMENTS - 1);
        let mut made = Vec::new();
        for start in (first..=last).step_by(MANIFEST_BATCH) {
            let batch = start..=last.min(start + MANIFEST_BATCH as u64 - 1);
            let mut unsigned = Vec::new();
            for segment in batch.filter(|segment| self.signatures.get(*segment).is_none()) {
                let name = self.name.append(config.convention.segment(segment));
                let span = self.span(segment);
                let frame = self.frame();
                let (source, pool) =
                    (self.source.as_mut(), context.outbox.buffer(encoded_len(config, span.1)));
                let packet = encode_segment(config, now, &name, frame, span, source, pool)?;
                unsigned.push((segment, packet));
            }
            let portions: Vec<&[u8]> = unsigned.iter().map(|(_, it)| it.signed_portion()).collect();
            let mut digests = Vec::new();
            sha256_many(&portions, &mut digests);
            made.extend(unsigned.iter().map(|(segment, _)| *segment).zip(digests));
        }
        // Digests of content that has changed are not kept.
        self.source.check(now)?;
        let mut content = Vec::with_capacity((last - first + 1) as usize * DIGEST_BYTES);
        let mut made = made.into_iter().peekable();
        for segment in first..=last {
            match made.next_if(|(it, _)| *it == segment) {
                Some((_, digest)) => {
                    content.extend_from_slice(&digest);
                    self.signatures.insert(segment, &digest);
                }
                None => content.extend_from_slice(self.signatures.get(segment).unwrap_or_default()),
            }
        }
        Ok(content)
    }

    /// The metadata packet. It is signed again only after its freshness period, so that a flood of Interests causes no flood
    /// of signatures.
    pub(super) fn metadata(&mut self, config: &ServeConfig, now: Instant) -> Data {
        if let Some((until, data)) = &self.answered
            && now < *until
        {
            return data.clone();
        }
        let content = Metadata {
            final_block: Some(self.last),
            segment_size: Some(self.segment_bytes),
            size: Some(self.bytes),
            mode: self.mode,
            mtime_ns: self.mtime_ns,
            object_id: self.object_id,
            ..Metadata::new(self.name.clone())
        }
        .to_bytes();
        let version = config.epoch_micros.saturating_add(now.as_nanos() / 1_000);
        let name = metadata::packet_name(&config.prefix.join(&self.path), version);
        let data = DataBuilder::new(&name)
            .freshness(config.metadata_freshness)
            .final_block(config.convention.segment(0))
            .build(&content, config.author());
        self.answered = Some((now + config.metadata_freshness, data.clone()));
        data
    }
}

/// Segments read together for a manifest.
const MANIFEST_BATCH: usize = 32;

/// The packet of the segment `name` of an object with this [frame](Object::frame), whose content is `span` (offset and
/// length) of `source`.
pub(super) fn encode_segment(
    config: &ServeConfig,
    now: Instant,
    name: &Name,
    (last, object_id): (u64, Option<ObjectId>),
    (offset, length): (u64, usize),
    source: &mut dyn Source,
    pool: &mut BytesMut,
) -> Result<Unsigned, SourceError> {
    let final_block = config.convention.segment(last);
    let builder = DataBuilder::new(name).freshness(config.freshness).final_block(final_block);
    let builder = builder.object_id(object_id);
    let Some(encrypter) = &config.encrypter else {
        let fill = |into: &mut [u8]| source.read_at(now, offset, into);
        return builder.lay_out(pool, length, fill, config.signer.as_ref());
    };
    let mut content = vec![0; length];
    source.read_at(now, offset, &mut content)?;
    let fill = |into: &mut [u8]| {
        encrypter.encrypt(name, &content, into);
        Ok(())
    };
    builder.lay_out(pool, encoded_len(config, length), fill, config.signer.as_ref())
}

/// A segment as an answer; of `object`, if its source was read.
fn served(object: Option<u64>, packet: Packet, content_bytes: usize) -> Answer {
    let signed = packet.signed_portion().is_some();
    let event = Event::Served { content_bytes: content_bytes as u32, signed };
    Answer { object, packet, event }
}
