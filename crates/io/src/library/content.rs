//! Sources of content that is no file: standard input, and bytes in memory.
use crate::source::Spool;
use bytes::Bytes;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::sha256;
use recoup_transport::serve::{Identified, Identity, Source, SourceError};
use recoup_transport::time::Instant;
use std::sync::{Arc, Mutex, PoisonError};

/// A spool that outlives its library.
#[derive(Clone, Debug)]
pub(super) struct SharedSpool(pub(super) Arc<Mutex<Spool>>);

impl Source for SharedSpool {
    fn len(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn read_at(&mut self, now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let mut spool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Source::read_at(&mut *spool, now, offset, into)
    }

    fn identify(&mut self, now: Instant) -> Result<Identified, SourceError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).identify(now)
    }
}

/// Content in memory.
#[derive(Debug)]
pub(super) struct MemorySource {
    content: Bytes,
    digest: [u8; 32],
}

impl MemorySource {
    pub(super) fn new(content: Bytes) -> Self {
        Self { digest: sha256(&content), content }
    }
}

impl Source for MemorySource {
    fn len(&self) -> u64 {
        self.content.len() as u64
    }

    fn read_at(&mut self, _now: Instant, offset: u64, into: &mut [u8]) -> Result<(), SourceError> {
        let begin = usize::try_from(offset).map_err(|_| SourceError::Unreadable)?;
        let end = begin.checked_add(into.len()).ok_or(SourceError::Unreadable)?;
        into.copy_from_slice(self.content.get(begin..end).ok_or(SourceError::Unreadable)?);
        Ok(())
    }

    fn identity(&self) -> Identity {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(self.digest.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Identity(words)
    }

    fn identify(&mut self, _: Instant) -> Result<Identified, SourceError> {
        Ok(Identified::ByContent(ObjectId::of_digest(&self.digest)))
    }
}
