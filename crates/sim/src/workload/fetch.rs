//! A fetch: the loop of `recoup fetch`, set up from a plan.
use crate::network::FetchPlan;
use recoup_transport::fetch::{Fetch, FetchConfig};
use recoup_transport::random::Rng;
use recoup_transport::{congestion, loss, rto};

pub(super) fn make(plan: &FetchPlan, rng: &Rng) -> Result<Fetch, String> {
    let rto = rto::parse(&plan.rto).map_err(|error| error.to_string())?;
    let congestion = congestion::parse(&plan.congestion).map_err(|error| error.to_string())?;
    let mut config = FetchConfig::new(plan.object.clone(), rto, congestion, rng.clone());
    // Nobody forges packets in a simulation: the verifier stays the one that looks at nothing.
    config.loss = loss::parse(&plan.loss).map_err(|error| error.to_string())?;
    config.discover = plan.discover;
    config.sampling = plan.sampling.parse().map_err(|error| format!("{error}"))?;
    config.react_to_marks = plan.react_to_marks;
    config.lifetime = plan.lifetime;
    config.retries = plan.retries;
    config.no_progress = plan.no_progress;
    config.rto_check = plan.rto_check;
    for (key, value) in &plan.options {
        set(&mut config, key, value)?;
    }
    if let Some(last) = config.last.filter(|last| *last < config.first) {
        return Err(format!("`last={last}` comes before `first={}`", config.first));
    }
    Ok(Fetch::new(config))
}

/// The options that have no field in the plan.
const OPTIONS: &str =
    "first, last, must-be-fresh, cancel-on-timeout, flow-nonce, leaves-holes, follows-faces";

fn set(config: &mut FetchConfig, key: &str, value: &str) -> Result<(), String> {
    let wrong = |expected| format!("`{key}={value}`: expected {expected}");
    let number = || value.parse().map_err(|_| wrong("the number of a segment"));
    let switch = || value.parse().map_err(|_| wrong("true or false"));
    match key {
        "first" => config.first = number()?,
        "last" => config.last = Some(number()?),
        "must-be-fresh" => config.must_be_fresh = switch()?,
        "cancel-on-timeout" => config.cancel_on_timeout = switch()?,
        "leaves-holes" => config.leaves_holes = switch()?,
        "follows-faces" => config.follows_faces = switch()?,
        "flow-nonce" => config.flow_nonce = switch()?,
        _ => return Err(format!("a fetch has no option `{key}`; it has: {OPTIONS}")),
    }
    Ok(())
}
