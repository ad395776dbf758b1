//! Memory for frames that the rings of several links share, so that many peers together do not take more than one may.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a ring may hold even if others have taken all the rest.
const LEAST_BYTES: u64 = 64 << 10;

/// Bytes that all links together may hold for the case that frames are lost, beyond `LEAST_BYTES` each.
#[derive(Debug)]
pub struct Pool {
    limit_bytes: u64,
    held_bytes: AtomicU64,
}

impl Pool {
    /// An empty pool with that limit.
    #[must_use]
    pub const fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, held_bytes: AtomicU64::new(0) }
    }

    /// Bytes that all links hold now.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

/// Bytes that one ring holds; the pool counts them, too, if there is one.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: u64,
    pool: Option<Arc<Pool>>,
}

impl Held {
    /// Whatever is held counts in this pool.
    pub(super) fn share(&mut self, pool: Arc<Pool>) {
        let bytes = self.bytes;
        self.clear();
        self.pool = Some(pool);
        self.add(bytes);
    }

    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        if let Some(pool) = &self.pool {
            pool.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn sub(&mut self, bytes: u64) {
        self.bytes -= bytes;
        if let Some(pool) = &self.pool {
            pool.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn clear(&mut self) {
        self.sub(self.bytes);
    }

    /// Whether all links hold too much, and this one more than its least share.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        let is_full = |pool: &Arc<Pool>| pool.held_bytes() > pool.limit_bytes;
        self.bytes > LEAST_BYTES && self.pool.as_ref().is_some_and(is_full)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.clear();
    }
}
