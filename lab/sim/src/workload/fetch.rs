//! A fetch: the loop of `recoup fetch`, set up from a plan.
use crate::network::FetchPlan;
use recoup_packet::signature::NoVerifier;
use recoup_transport::fetch::{Fetch, FetchConfig};
use recoup_transport::random::Rng;

pub(super) fn make(plan: &FetchPlan, rng: &Rng) -> Result<Fetch, String> {
    let FetchPlan { object, first, last, options } = plan;
    if let Some(last) = last.filter(|last| last < first) {
        return Err(format!("`last={last}` comes before `first={first}`"));
    }
    let whole = FetchConfig::new(object.clone(), options.clone(), rng.clone());
    let verifier = Box::new(NoVerifier);
    Ok(Fetch::new(FetchConfig { first: *first, last: *last, verifier, ..whole }))
}
