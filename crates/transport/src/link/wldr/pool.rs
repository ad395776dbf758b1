//! Memory for frames that the rings of several links share: many peers together stay below one limit.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that a ring may hold even if the pool is exhausted.
const LEAST_BYTES: u64 = 64 << 10;

/// Most bytes that all links together may hold for retransmission, beyond `LEAST_BYTES` each.
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

    /// Bytes held by all links.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes.load(Ordering::Relaxed)
    }
}

/// Bytes held by one ring; charged to the pool, if there is one.
#[derive(Debug, Default)]
pub(super) struct Held {
    bytes: u64,
    pool: Option<Arc<Pool>>,
}

impl Held {
    /// Charges all held bytes to this pool.
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

    /// Whether all links exceed the limit, and this one its least share.
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
