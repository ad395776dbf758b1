//! Memory for frames that several links hold for retransmission: many peers together stay below one limit.
//!
//! A link only counts what it holds. The owner of the links calls [`LinkRecovery::shed`](super::LinkRecovery::shed)
//! while the pool is full, and so decides which of them drops frames.
use super::recovery::Counters;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a held frame takes beside its own: its slot, and the allocations of packet and buffer.
const FRAME_BYTES: u64 = 160;

/// Most bytes that all links together may hold for retransmission.
#[derive(Debug)]
pub struct Pool {
    limit_bytes: u64,
    held_bytes: AtomicU64,
}

impl Pool {
    /// An empty pool with this limit.
    #[must_use]
    pub const fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, held_bytes: AtomicU64::new(0) }
    }

    /// Bytes held by all links, with what each frame takes beside its own.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }

    /// Whether the links hold more than the limit.
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.held_bytes() > self.limit_bytes
    }
}

impl Counters {
    /// Memory of the held frames, with what each takes beside its own bytes.
    #[must_use]
    pub const fn memory_bytes(&self) -> u64 {
        self.held_bytes + self.held * FRAME_BYTES
    }
}

/// Frames held by one link; charged to the pool, if there is one.
#[derive(Debug, Default)]
pub(super) struct Held {
    frames: u64,
    bytes: u64,
    pool: Option<Arc<Pool>>,
}

impl Held {
    /// Charges all held frames to this pool.
    pub(super) fn share(&mut self, pool: Arc<Pool>) {
        let (frames, bytes) = (self.frames, self.bytes);
        self.clear();
        self.pool = Some(pool);
        self.charge(frames, bytes);
    }

    /// Bytes of the held frames.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a frame.
    #[inline]
    pub(super) fn add(&mut self, bytes: u32) {
        self.charge(1, u64::from(bytes));
    }

    /// Removes a frame.
    #[inline]
    pub(super) fn sub(&mut self, bytes: u32) {
        self.discharge(1, u64::from(bytes));
    }

    /// Removes all frames.
    pub(super) fn clear(&mut self) {
        self.discharge(self.frames, self.bytes);
    }

    #[inline]
    fn charge(&mut self, frames: u64, bytes: u64) {
        (self.frames, self.bytes) = (self.frames + frames, self.bytes + bytes);
        if let Some(pool) = &self.pool {
            pool.held_bytes.fetch_add(bytes + frames * FRAME_BYTES, Ordering::Relaxed);
        }
    }

    #[inline]
    fn discharge(&mut self, frames: u64, bytes: u64) {
        (self.frames, self.bytes) = (self.frames - frames, self.bytes - bytes);
        if let Some(pool) = &self.pool {
            pool.held_bytes.fetch_sub(bytes + frames * FRAME_BYTES, Ordering::Relaxed);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pool_counts_frames_of_all_links() {
        let pool = Arc::new(Pool::new(2_000));
        let [mut one, mut other] = [Held::default(), Held::default()];
        one.add(900);
        one.share(Arc::clone(&pool));
        other.share(Arc::clone(&pool));
        other.add(700);
        assert_eq!(pool.held_bytes(), 1_600 + 2 * FRAME_BYTES);
        assert!(!pool.is_full());
        other.add(100);
        assert!(pool.is_full());
        other.sub(700);
        drop(one);
        assert_eq!((pool.held_bytes(), other.bytes()), (100 + FRAME_BYTES, 100));
        other.clear();
        assert_eq!(pool.held_bytes(), 0);
    }
}
