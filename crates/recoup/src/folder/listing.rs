//! Listings in memory, all of which share one limit.
//!
//! A listing has a share from its first Interest until its last entry is read. A share begins as large as the longest
//! listing, because the length is not known yet, and shrinks as soon as the length is known. A share never grows. So no
//! producer makes all listings together exceed the limit, whatever it sends.
use crate::error::{Error, ErrorKind, Result};
use bytes::Bytes;
use recoup_packet::name::Name;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Longest listing, in bytes.
pub(crate) const MAX_LISTING_BYTES: usize = 16 << 20;
/// Limit of all listings that are open or in flight, in bytes.
const MAX_LISTINGS_BYTES: usize = 64 << 20;
/// Most bytes of content in a packet of the usual size (NDN packet format 0.3).
const MAX_PACKET_BYTES: u64 = 8_800;

/// The memory for listings.
#[derive(Debug, Default)]
pub(super) struct Pool {
    /// Bytes of all shares.
    taken: Arc<AtomicUsize>,
}

/// The share of one listing; dropping it returns the share.
#[derive(Debug)]
pub(super) struct Share {
    taken: Arc<AtomicUsize>,
    bytes: usize,
}

impl Pool {
    /// Whether there is a share for one more listing.
    pub(super) fn has_room(&self) -> bool {
        self.taken.load(Ordering::Relaxed) + MAX_LISTING_BYTES <= MAX_LISTINGS_BYTES
    }

    /// A share for the longest listing; `None` if there is none.
    pub(super) fn reserve(&self) -> Option<Share> {
        let bytes = MAX_LISTING_BYTES;
        self.has_room().then(|| {
            self.taken.fetch_add(bytes, Ordering::Relaxed);
            Share { taken: Arc::clone(&self.taken), bytes }
        })
    }
}

impl Share {
    /// Returns the part of the share beyond `bytes`.
    fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

/// A listing that arrives, in order.
#[derive(Debug)]
pub(crate) struct ListingBuffer {
    /// The folder's name.
    name: Name,
    content: Vec<u8>,
    share: Share,
}

impl ListingBuffer {
    pub(super) fn new(name: Name, share: Share) -> Self {
        Self { name, content: Vec::new(), share }
    }

    /// The object is known.
    ///
    /// # Errors
    /// If the object is no listing.
    pub(crate) fn begin(&mut self, object: &Name) -> Result<()> {
        if object.components().any(|component| component.is_keyword(b"ls")) {
            return Ok(());
        }
        let message = format!("{} is not a folder", self.name);
        let remedy = "fetch it as a file, without -r";
        Err(Error::new(ErrorKind::Other, message).with_remedy(remedy).of_entry())
    }

    /// The last segment is known: what the listing cannot take any more is free for others.
    pub(crate) fn end_known(&mut self, last: u64) {
        let most = last.saturating_add(1).saturating_mul(MAX_PACKET_BYTES);
        self.share.shrink(usize::try_from(most).unwrap_or(usize::MAX));
    }

    /// Content of the next segment.
    ///
    /// # Errors
    /// The listing is longer than it may be.
    pub(crate) fn content(&mut self, content: &[u8]) -> Result<()> {
        if self.content.len() + content.len() > self.share.bytes {
            let (name, most) = (&self.name, self.share.bytes);
            let (kind, message) = match most {
                MAX_LISTING_BYTES => {
                    (ErrorKind::Other, format!("the listing of {name} is longer than {most} bytes"))
                }
                _ => (
                    ErrorKind::Verification,
                    format!(
                        "the listing of {name} does not have the length that its producer announced"
                    ),
                ),
            };
            return Err(Error::new(kind, message).of_entry());
        }
        self.content.extend_from_slice(content);
        Ok(())
    }

    /// The whole listing, with its share.
    pub(super) fn into_parts(self) -> (Bytes, Share) {
        let Self { mut content, mut share, .. } = self;
        content.shrink_to_fit();
        share.shrink(content.len());
        (content.into(), share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(pool: &Pool) -> ListingBuffer {
        ListingBuffer::new("/a".parse().unwrap(), pool.reserve().unwrap())
    }

    fn taken(pool: &Pool) -> usize {
        pool.taken.load(Ordering::Relaxed)
    }

    #[test]
    fn all_listings_together_stay_within_the_limit() {
        let pool = Pool::default();
        let mut kept = Vec::new();
        while pool.has_room() {
            let mut buffer = buffer(&pool);
            buffer.content(&vec![7; 5 << 20]).unwrap();
            kept.push(buffer.into_parts());
        }
        assert!(pool.reserve().is_none());
        let bytes: usize = kept.iter().map(|(content, _)| content.len()).sum();
        assert_eq!((bytes, taken(&pool)), (50 << 20, 50 << 20));
        drop(kept);
        assert_eq!(taken(&pool), 0);
    }

    #[test]
    fn known_end_makes_space_for_others() {
        let pool = Pool::default();
        let mut buffers = Vec::new();
        for _ in 0..100 {
            let mut buffer = buffer(&pool);
            buffer.end_known(0);
            buffers.push(buffer);
        }
        assert_eq!(taken(&pool), 100 * 8_800);
        let mut buffer = buffers.pop().unwrap();
        buffer.end_known(u64::MAX);
        let error = buffer.content(&vec![7; 8_801]).unwrap_err();
        assert!(error.is_unverified() && error.concerns_entry());
    }

    #[test]
    fn longest_listing_is_the_limit_of_one() {
        let pool = Pool::default();
        let mut buffer = buffer(&pool);
        buffer.content(&vec![7; MAX_LISTING_BYTES]).unwrap();
        let error = buffer.content(b"x").unwrap_err();
        assert!(error.kind() == ErrorKind::Other && error.concerns_entry());
    }

    #[test]
    fn file_is_no_folder() {
        let pool = Pool::default();
        let object = |uri: &str| uri.parse::<Name>().unwrap();
        assert!(buffer(&pool).begin(&object("/a/32=ls/v=7")).is_ok());
        let error = buffer(&pool).begin(&object("/a/v=7")).unwrap_err();
        assert!(error.message().contains("not a folder") && error.concerns_entry());
    }
}
