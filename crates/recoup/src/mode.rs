//! Whether operations wait in the caller's thread, or in an `async` task: marks of the builders, which have the same options.

/// Operations wait in the caller's thread.
#[derive(Clone, Copy, Debug)]
pub enum Blocking {}

/// Operations are `async` (feature `tokio`).
#[cfg(feature = "tokio")]
#[derive(Clone, Copy, Debug)]
pub enum Async {}
