//! Cases that processes can run in real time.
use super::args::{ArenaArgs, Backend};
use super::choice::Chosen;
use crate::emulate;
use crate::error::Failure;
use crate::output;
use recoup_sim::network::{ApplicationKind, Network};
use recoup_studies::arena::case::Kind;
use recoup_studies::arena::path::Path;

/// Fastest link in bit/s that processes on two cores carry without being late.
const FASTEST: f64 = 200e6;
/// Longest ideal time in s of a case on sockets.
const LONGEST_S: f64 = 60.0;

/// The cases that can run in the chosen mode. A named case that cannot run is an error.
pub(super) fn possible(chosen: Vec<Chosen>, args: &ArenaArgs) -> Result<Vec<Chosen>, Failure> {
    if args.backend == Backend::Simulated {
        return Ok(chosen);
    }
    let (mut possible, mut left_out) = (Vec::new(), 0);
    for it in chosen {
        match fitness(&it) {
            Ok(()) => possible.push(it),
            Err(why) if args.wanted.contains(&it.case.name) => {
                let message = format!("{} cannot run on sockets: {why}", it.case.name);
                return Err(Failure::usage(message)
                    .advise("`recoup arena --list` lists the cases that can"));
            }
            Err(_) => left_out += 1,
        }
    }
    if possible.is_empty() {
        return Err(Failure::usage("none of these cases can run on sockets")
            .advise("`recoup arena --list` lists those that can"));
    }
    if left_out > 0 && !args.quiet {
        output::eprint(&format!("{left_out} cases are left out, which cannot run on sockets"));
    }
    Ok(possible)
}

/// Whether a case can run on sockets.
///
/// # Errors
/// Why it cannot, as the end of a sentence.
pub(super) fn fitness(chosen: &Chosen) -> Result<(), String> {
    let terms = &chosen.case.terms;
    let ideal_s = match terms.kind {
        Kind::Completion { ideal_s } => ideal_s,
        Kind::Sharing { .. } => return Err("it has several consumers".into()),
    };
    if ideal_s > LONGEST_S {
        return Err(format!("it takes more than {LONGEST_S} s"));
    }
    let network = network(chosen)?;
    let is_fetch = |kind: &ApplicationKind| matches!(kind, ApplicationKind::Fetch(_));
    if network.applications.iter().filter(|plan| is_fetch(&plan.kind)).count() != 1 {
        return Err("it has several consumers".into());
    }
    let path = Path::of(&network, terms.under_test.first().map_or("", String::as_str))?;
    if path.rate() > FASTEST {
        return Err(format!("its link is faster than {} Mbit/s", FASTEST / 1e6));
    }
    emulate::can_run(&network)
}

fn network(chosen: &Chosen) -> Result<Network, String> {
    let source = chosen.source(&[]).map_err(|failure| failure.to_string())?;
    let point = source.file.point(0).ok_or("it has no points")?;
    let scenario = source.scenario(&point).map_err(|failure| failure.to_string())?;
    let seed = source.file.seeds().iter().next().unwrap_or_default();
    scenario.network(seed).map_err(|problems| problems.to_string())
}
