//! `recoup explain`: why a segment was late, from a folder of results.
//!
//! Results hold the scenario and the seed, and a run with the same seed is the same to the last event. So nothing need be
//! recorded beforehand: the run is made again with one segment followed, and its digest says that it is the same run.
mod args;
mod kept;
mod show;

pub(crate) use args::ExplainArgs;

use crate::error::{Exit, Failure};
use crate::output::{self, Stream};
use args::parse_wanted;
use kept::{Chosen, Kept};
use recoup_sim::network::{ApplicationId, ApplicationKind, ApplicationPlan, Network};
use recoup_sim::timeline::{Timeline, Wanted};
use recoup_sim::world::{Digest, World};
use show::Story;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let wanted = parse_wanted(&args.segment)?;
    let kept = Kept::open(&args.result, args.files.as_deref())?;
    let chosen = kept.choose(&args.at, args.seed)?;
    let mut network = kept.network(&chosen)?;
    let application = consumer(&network, args.application.as_deref(), &wanted)?;
    let mut digest = match network.follow_transmissions {
        true => Digest::new(),
        false => Digest::without_traces(),
    };
    network.follow_transmissions = true;
    let mut timeline = Timeline::new(&network, application, wanted);
    let plan = network.applications[application.0 as usize].clone();
    let mut world = World::new(network, chosen.row.seed)
        .map_err(|error| Failure::new(Exit::Other, error.to_string()))?;
    world.run(&mut [&mut digest, &mut timeline]);
    is_the_same(&chosen, &digest, &kept)?;
    let story = Story::new(&chosen, &plan, &timeline).ok_or_else(|| unasked(args, &plan))?;
    match args.json {
        true => output::json(&story, Stream::Out),
        false => output::print(story.to_string().as_bytes()),
    }
}

/// The consumer that is meant: the one of that name, or the only one that may want this.
fn consumer(
    network: &Network,
    name: Option<&str>,
    wanted: &Wanted,
) -> Result<ApplicationId, Failure> {
    let all = network.applications.iter().enumerate();
    let fits = |plan: &ApplicationPlan| match name {
        Some(name) => may_want(plan, None) && plan.name == name,
        None => may_want(plan, Some(wanted)),
    };
    let found: Vec<_> = all.filter(|(_, plan)| fits(plan)).collect();
    let names = |plans: Vec<&ApplicationPlan>| {
        plans.iter().take(10).map(|plan| plan.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    match (found.as_slice(), name) {
        ([(number, _)], _) => Ok(ApplicationId(*number as u32)),
        ([], Some(name)) => {
            let consumers = network.applications.iter().filter(|plan| may_want(plan, None));
            Err(Failure::usage(format!("no consumer is called {name}"))
                .advise(format!("there is {}", names(consumers.collect()))))
        }
        ([], None) => Err(Failure::usage("no consumer asks for that")),
        (several, _) => Err(Failure::usage(format!("{} consumers ask for that", several.len()))
            .advise(format!(
                "choose one with --application: {}",
                names(several.iter().map(|(_, plan)| *plan).collect())
            ))),
    }
}

/// Whether an application is a consumer, which may ask for that.
fn may_want(plan: &ApplicationPlan, wanted: Option<&Wanted>) -> bool {
    let below = |prefixes: &[recoup_packet::name::Name]| match wanted {
        Some(Wanted::Content(name)) => prefixes.iter().any(|prefix| prefix.is_prefix_of(name)),
        _ => true,
    };
    match &plan.kind {
        ApplicationKind::Fetch(fetch) => below(std::slice::from_ref(&fetch.object)),
        ApplicationKind::Request(request) => below(&request.prefixes),
        _ => false,
    }
}

/// What was run again must be what was kept.
fn is_the_same(chosen: &Chosen<'_>, digest: &Digest, kept: &Kept) -> Result<(), Failure> {
    if chosen.row.digest == format!("{:016x}", digest.value()) {
        return Ok(());
    }
    let (place, seed) = (kept.folder.display(), chosen.row.seed);
    let message = format!("seed {seed} does not run as the results in {place} say that it did");
    Err(Failure::new(Exit::Local, message)
        .advise("another recoup made them, or they were measured on processes: simulate it anew"))
}

fn unasked(args: &ExplainArgs, plan: &ApplicationPlan) -> Failure {
    Failure::usage(format!("{} never asked for {}", plan.name, args.segment))
        .advise("segments count from 0; a name is that of a Data packet")
}
