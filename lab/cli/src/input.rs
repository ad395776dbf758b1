//! Parsers of input from people or other programs, for programs that try any input (`fuzz/`).
use crate::error::one_line;
use crate::rto::replay::Replay;
use crate::rto::trace::Trace;
use recoup_transport::rto;

/// Result of an estimator on a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The estimator, as requested.
    pub spec: &'static str,
    /// Part of the samples that took longer than its timeout; `None` without samples.
    pub bad_share: Option<f64>,
    /// Mean of its timeout over the latest round trip; `None` where there was none before.
    pub relative_wait: Option<f64>,
    /// Its least, mean and greatest timeout, in milliseconds; `None` without rows.
    pub rto_ms: Option<[f64; 3]>,
}

/// Reads a trace of round trips, and runs every estimator over it, as `recoup rto replay` does.
///
/// # Errors
/// The problem of the trace, in one line.
pub fn trace(bytes: &[u8]) -> Result<Vec<Replayed>, String> {
    let trace = Trace::parse(bytes).map_err(|what| one_line(&what))?;
    let replayed = |spec| {
        let replay = Replay::new(spec, rto::parse(spec).ok()?, &trace);
        let Replay { bad_share, relative_wait, rto_min_ms, rto_mean_ms, rto_max_ms, .. } = replay;
        let times = [rto_min_ms, rto_mean_ms, rto_max_ms];
        let rto_ms =
            times.iter().all(Option::is_some).then(|| times.map(Option::unwrap_or_default));
        Some(Replayed { spec, bad_share, relative_wait, rto_ms })
    };
    Ok(rto::names().filter_map(replayed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_estimator_is_run_over_a_trace() {
        let text = "segment\trtt\n0\t100\n1\t100\n2\t301\n3\t100\n";
        let all = trace(text.as_bytes()).unwrap();
        assert_eq!(all.len(), rto::names().count());
        for replayed in all {
            let [least, mean, most] = replayed.rto_ms.unwrap();
            assert!(0.0 < least && least <= mean && mean <= most, "{replayed:?}");
            assert!(replayed.relative_wait > Some(0.0) && replayed.bad_share < Some(1.0));
        }
        assert!(trace(b"segment\n1\n").unwrap_err().contains("no column `rtt`"));
        // A field in quotes may hold the ends of lines.
        let message = trace(b"segment,rtt\n0,100\n1,\"e1\n2,0\n").unwrap_err();
        assert!(message.contains("line 3: `e1 2,0`"), "{message}");
    }
}
