//! Nack.
/// Reason of a network Nack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NackReason {
    /// Unspecified.
    None,
    /// The link is congested.
    Congestion,
    /// The nonce was seen before.
    Duplicate,
    /// No route.
    NoRoute,
    /// A reason that this version does not know.
    Other(u64),
}
