//! `--wait`: patience with a producer that is not there yet, or that restarts.
use super::args::FetchArgs;
use crate::error::Failure;
use crate::output;
use crate::value;
use recoup::local;
use recoup::options::Retries;
use recoup::uplink::Uplink;
use recoup_transport::rto::Rto;
use std::time::{Duration, Instant};

/// Time between two searches for a producer on this machine.
const SEARCH_EVERY: Duration = Duration::from_millis(300);
/// Longest retransmission timeout of a timer whose `max` is not given: a producer that is back is asked so soon.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Retransmits segments until the time is over, without a limit of retries.
pub(super) fn apply(args: &mut FetchArgs) {
    let Some(wait) = args.wait else {
        return;
    };
    (args.options.retries, args.options.no_progress) = (Retries(None), wait);
    if args.max_rto.is_none() && takes_max(args.options.rto.text()) {
        args.max_rto = Some(LONGEST_TIMEOUT);
    }
}

/// The timer `spec` has a parameter `max`, which `spec` does not give and which may be [`LONGEST_TIMEOUT`].
fn takes_max(spec: &str) -> bool {
    let max = format!("{}ns", LONGEST_TIMEOUT.as_nanos());
    value::with_parameter(spec, "max", &max).is_ok_and(|spec| spec.parse::<Rto>().is_ok())
}

/// The face to use. Without a forwarder, that of the producer on this machine, once there is one.
pub(super) fn toward(args: &FetchArgs) -> Result<Uplink, Failure> {
    let uplink = Uplink::find(args.face.as_ref())?;
    let begun = Instant::now();
    let mut is_reported = args.quiet;
    while uplink.is_direct && args.wait.is_some_and(|wait| begun.elapsed() < wait) {
        if let Some(uri) = local::served_face(&args.name)? {
            return Ok(uplink.by(uri));
        }
        if !std::mem::replace(&mut is_reported, true) {
            output::eprint(&format!("waiting for a producer of {} on this machine", args.name));
        }
        std::thread::sleep(SEARCH_EVERY);
    }
    Ok(Uplink::toward(args.face.as_ref(), &args.name)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup::FetchOptions;

    #[test]
    fn wait_caps_timers_without_a_limit() {
        let default = FetchOptions::default().rto.to_string();
        for spec in [&default, "rfc6298", "jacobson(k=8)", "reconsidered(min=adaptive)"] {
            assert!(takes_max(spec), "{spec}");
        }
        for spec in ["jacobson(max=30s)", "rfc6298(min=5s)", "constant(rto=9s)", "no such timer"] {
            assert!(!takes_max(spec), "{spec}");
        }
    }
}
