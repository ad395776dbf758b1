//! The transport of a fetch that names none: of `recoup fetch`, and of fetch applications in scenarios.

/// Congestion control.
pub const CONGESTION: &str = "recoup";
/// Loss detector.
pub const LOSS: &str = "rack";
/// Retransmission timer. The studies' estimators end their back-off as their sources have it.
pub const RTO: &str = "jacobson(backoff-until=progress)";
/// Which round trips are samples.
pub const SAMPLING: &str = "rfc7323";

#[cfg(test)]
mod tests {
    use crate::rto::Sampling;
    use crate::{congestion, loss, rto};

    #[test]
    fn defaults_are_names_that_their_modules_read() {
        assert!(congestion::parse(super::CONGESTION).is_ok());
        assert!(loss::parse(super::LOSS).is_ok());
        assert!(rto::parse(super::RTO).is_ok());
        assert_eq!(super::SAMPLING.parse(), Ok(Sampling::Rfc7323));
    }
}
