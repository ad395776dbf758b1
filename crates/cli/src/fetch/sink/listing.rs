//! Listings in memory, all of which share one limit.
//!
//! A listing has a share from its first Interest until its last entry is read. A share begins as large as the longest
//! listing, because nobody knows the length yet, and shrinks as soon as the length is known. A share never grows. So no
//! producer makes all listings together exceed the limit, whatever it sends.
use super::Sink;
use crate::error::{Exit, Failure};
use bytes::Bytes;
use recoup_packet::name::Name;
use std::cell::Cell;
use std::rc::Rc;

/// Longest listing, in bytes.
const MAX_LISTING_BYTES: usize = 16 << 20;
/// Limit of all listings that are open or in flight, in bytes.
const MAX_LISTINGS_BYTES: usize = 64 << 20;
/// Most bytes of content in a packet of the usual size (NDN packet format 0.3).
const MAX_PACKET_BYTES: u64 = 8_800;

/// The memory for listings.
#[derive(Debug, Default)]
pub(crate) struct ListingPool {
    /// Bytes of all shares.
    taken: Rc<Cell<usize>>,
}

/// The share of one listing; dropping it returns the share.
#[derive(Debug)]
pub(crate) struct ListingShare {
    taken: Rc<Cell<usize>>,
    bytes: usize,
}

impl ListingPool {
    /// Whether there is a share for one more listing.
    pub(crate) fn has_room(&self) -> bool {
        self.taken.get() + MAX_LISTING_BYTES <= MAX_LISTINGS_BYTES
    }

    /// A share for the longest listing; `None` if there is none.
    pub(crate) fn reserve(&self) -> Option<ListingShare> {
        let bytes = MAX_LISTING_BYTES;
        self.has_room().then(|| {
            self.taken.set(self.taken.get() + bytes);
            ListingShare { taken: Rc::clone(&self.taken), bytes }
        })
    }
}

impl ListingShare {
    /// Gives back what exceeds `bytes`.
    fn shrink(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.taken.set(self.taken.get() - (self.bytes - bytes));
        self.bytes = bytes;
    }
}

impl Drop for ListingShare {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

/// A listing that is being fetched, in order.
#[derive(Debug)]
pub(crate) struct ListingSink {
    /// The folder's name.
    name: Name,
    content: Vec<u8>,
    share: ListingShare,
    /// Bytes since the last wake-up.
    taken: u64,
}

impl ListingSink {
    /// The listing of the folder `name`.
    pub(crate) fn new(name: Name, share: ListingShare) -> Self {
        Self { name, content: Vec::new(), share, taken: 0 }
    }
}

impl Sink for ListingSink {
    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        if object.components().any(|component| component.is_keyword(b"ls")) {
            return Ok(());
        }
        let message = format!("{} is not a folder", self.name);
        Err(Failure::new(Exit::Other, message).advise("fetch it without -r").of_entry())
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        let most = last.saturating_add(1).saturating_mul(MAX_PACKET_BYTES);
        self.share.shrink(usize::try_from(most).unwrap_or(usize::MAX));
        Ok(())
    }

    fn content(&mut self, _segment: u64, content: Bytes) -> Result<(), Failure> {
        if self.content.len() + content.len() > self.share.bytes {
            let (name, most) = (&self.name, self.share.bytes);
            let (exit, message) = match most {
                MAX_LISTING_BYTES => {
                    (Exit::Other, format!("the listing of {name} is longer than {most} bytes"))
                }
                _ => (
                    Exit::Verification,
                    format!("the listing of {name} does not end where its producer said"),
                ),
            };
            return Err(Failure::new(exit, message).of_entry());
        }
        self.content.extend_from_slice(&content);
        self.taken += content.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        Ok(std::mem::take(&mut self.taken))
    }

    fn into_listing(self: Box<Self>) -> Option<(Bytes, ListingShare)> {
        let Self { mut content, mut share, .. } = *self;
        content.shrink_to_fit();
        share.shrink(content.len());
        Some((content.into(), share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sink(pool: &ListingPool) -> Box<ListingSink> {
        Box::new(ListingSink::new("/a".parse().unwrap(), pool.reserve().unwrap()))
    }

    #[test]
    fn all_listings_together_stay_within_the_limit() {
        let pool = ListingPool::default();
        let mut kept = Vec::new();
        while pool.has_room() {
            let mut sink = sink(&pool);
            sink.content(0, Bytes::from(vec![7; 5 << 20])).unwrap();
            kept.push(sink.into_listing().unwrap());
        }
        assert!(pool.reserve().is_none());
        let bytes: usize = kept.iter().map(|(content, _)| content.len()).sum();
        assert_eq!((bytes, pool.taken.get()), (50 << 20, 50 << 20));
        drop(kept);
        assert_eq!(pool.taken.get(), 0);
    }

    #[test]
    fn known_end_makes_room_for_others() {
        let pool = ListingPool::default();
        let mut sinks = Vec::new();
        for _ in 0..100 {
            let mut sink = sink(&pool);
            sink.end_known(0).unwrap();
            sinks.push(sink);
        }
        assert_eq!(pool.taken.get(), 100 * 8_800);
        let mut sink = sinks.pop().unwrap();
        sink.end_known(u64::MAX).unwrap();
        let failure = sink.content(0, Bytes::from(vec![7; 8_801])).unwrap_err();
        assert_eq!((failure.exit, failure.of_entry), (Exit::Verification, true));
    }

    #[test]
    fn longest_listing_is_the_limit_of_one() {
        let pool = ListingPool::default();
        let mut sink = sink(&pool);
        sink.content(0, Bytes::from(vec![7; MAX_LISTING_BYTES])).unwrap();
        let failure = sink.content(1, Bytes::from_static(b"x")).unwrap_err();
        assert_eq!((failure.exit, failure.of_entry), (Exit::Other, true));
    }

    #[test]
    fn file_is_no_folder() {
        let pool = ListingPool::default();
        let object = |uri: &str| uri.parse::<Name>().unwrap();
        assert!(sink(&pool).begin(&object("/a/32=ls/v=7")).is_ok());
        let failure = sink(&pool).begin(&object("/a/v=7")).unwrap_err();
        assert!(failure.message.contains("not a folder") && failure.of_entry);
    }
}
