//! Memory for content and listings that wait for readers, with a limit on all of it.
use crate::error::Answer;
use axum::http::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most bytes of content that wait, beside [`LEAST_BYTES`] for each reader.
const CONTENT_BYTES: u64 = 64 << 20;
/// Most bytes of content that wait for one reader.
const MOST_BYTES: u64 = 16 << 20;
/// Bytes of content that may wait for each reader.
const LEAST_BYTES: u64 = 256 << 10;
/// Longest listing, in bytes.
pub(crate) const MAX_LISTING_BYTES: u64 = 4 << 20;
/// Listings of this length that are in memory at a time.
const LISTINGS: u64 = 16;
/// Longest wait for the memory of a listing.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a permit.
const UNIT: u64 = 1 << 10;

/// The memory of a gateway.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    content: Arc<Semaphore>,
    listings: Arc<Semaphore>,
}

/// A part of it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) bytes: u64,
    permit: Option<OwnedSemaphorePermit>,
}

impl Default for Memory {
    fn default() -> Self {
        let pool = |bytes: u64| Arc::new(Semaphore::new((bytes / UNIT) as usize));
        Self { content: pool(CONTENT_BYTES), listings: pool(LISTINGS * MAX_LISTING_BYTES) }
    }
}

impl Memory {
    /// A share for content of which `wanted` bytes are read: at most half of what is free, so that further readers get some
    /// too.
    pub(crate) fn of_content(&self, wanted: u64) -> Share {
        let free = self.content.available_permits() as u64 * UNIT;
        let bytes = wanted.min(MOST_BYTES).min(free / 2);
        let permits = (bytes / UNIT) as u32;
        match Arc::clone(&self.content).try_acquire_many_owned(permits) {
            Ok(permit) if bytes > LEAST_BYTES => Share { bytes, permit: Some(permit) },
            _ => Share { bytes: LEAST_BYTES, permit: None },
        }
    }

    /// A share for the longest listing.
    pub(crate) async fn of_listing(&self) -> Result<Share, Answer> {
        let permits = (MAX_LISTING_BYTES / UNIT) as u32;
        let share = Arc::clone(&self.listings).acquire_many_owned(permits);
        match tokio::time::timeout(PATIENCE, share).await {
            Ok(Ok(permit)) => Ok(Share { bytes: MAX_LISTING_BYTES, permit: Some(permit) }),
            _ => {
                let text = "too many listings wait for their readers; try again later";
                Err(Answer::new(StatusCode::SERVICE_UNAVAILABLE, text))
            }
        }
    }
}

impl Share {
    /// Returns what is not needed for `bytes`.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        let spare = self.bytes.saturating_sub(bytes) / UNIT;
        if let Some(permit) = &mut self.permit {
            drop(permit.split(spare as usize));
            self.bytes -= spare * UNIT;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn readers_share_a_limited_memory() {
        let memory = Memory::default();
        let shares: Vec<_> = (0..1_000).map(|_| memory.of_content(u64::MAX)).collect();
        assert_eq!(shares[0].bytes, MOST_BYTES);
        let beyond: u64 = shares.iter().map(|share| share.bytes - LEAST_BYTES).sum();
        assert!(beyond <= CONTENT_BYTES, "{beyond}");
        assert!(shares.iter().all(|share| share.bytes >= LEAST_BYTES));
        drop(shares);
        assert_eq!(memory.of_content(1 << 20).bytes, 1 << 20);
        assert_eq!(memory.of_content(1).bytes, LEAST_BYTES);
    }

    #[tokio::test]
    async fn listings_wait_for_memory_and_return_it() {
        let memory = Memory::default();
        let mut shares = Vec::new();
        for _ in 0..LISTINGS {
            shares.push(memory.of_listing().await.unwrap());
        }
        assert!(memory.of_listing().now_or_never().is_none());
        for share in &mut shares {
            share.shrink(1_000);
        }
        assert!(memory.of_listing().await.is_ok());
    }
}
