//! Why a segment was late: the run is made again with one segment followed.
//!
//! Results hold the scenario and the seed, and a run with the same seed is the same to the last event. So nothing need be
//! recorded beforehand; the digest proves that the run is the same.
mod kept;
mod show;

pub use kept::{Chosen, Kept};
pub use show::Story;

use crate::folder::Draft;
use crate::page::{self, Extent};
use crate::{Error, ErrorKind};
use recoup_sim::film::{Film, MOST_EVENTS};
use recoup_sim::network::{ApplicationId, ApplicationKind, ApplicationPlan, Network};
use recoup_sim::observe::Observer;
use recoup_sim::simulation::{Digest, Simulation};
use recoup_sim::timeline::{Slowest, Timeline, Wanted};
use std::io::{self, BufWriter};
use std::path::Path;

/// Makes a run again and follows what a consumer wanted: the consumer called `application`, or the only one that may
/// have requested it. `None` if it never did; the name is that of the consumer.
///
/// # Errors
/// If there is no such consumer, or the run is not the one that was kept.
pub fn explain(
    kept: &Kept,
    chosen: &Chosen,
    application: Option<&str>,
    wanted: Wanted,
) -> Result<(String, Option<Story>), Error> {
    let network = kept.network(chosen)?;
    let application = consumer(&network, application, &wanted)?;
    let plan = plan(&network, application);
    let mut timeline = Timeline::new(&network, application, wanted);
    repeat(kept, chosen, network, &mut [&mut timeline])?;
    let story = Story::new(chosen, &plan, &timeline);
    Ok((plan.name, story))
}

/// Makes a run twice: finds the `most` slowest segments of a consumer, and follows them. The slowest comes first, and one that
/// never arrived before all others. The name is that of the consumer.
///
/// # Errors
/// As [`explain`].
pub fn explain_slowest(
    kept: &Kept,
    chosen: &Chosen,
    application: Option<&str>,
    most: usize,
) -> Result<(String, Vec<Story>), Error> {
    let network = kept.network(chosen)?;
    let application = consumer(&network, application, &Wanted::Segment(0))?;
    let plan = plan(&network, application);
    let mut slowest = Slowest::new(application, most);
    repeat(kept, chosen, network, &mut [&mut slowest])?;

    let network = kept.network(chosen)?;
    let segments = slowest.segments().into_iter().map(Wanted::Segment);
    let mut timelines: Vec<_> =
        segments.map(|wanted| Timeline::new(&network, application, wanted)).collect();
    let mut observers: Vec<_> = timelines.iter_mut().map(|it| it as &mut dyn Observer).collect();
    repeat(kept, chosen, network, &mut observers)?;
    let stories = timelines.iter().filter_map(|timeline| Story::new(chosen, &plan, timeline));
    Ok((plan.name.clone(), stories.collect()))
}

/// Makes a run again and writes a page in which one watches it ([`crate::page`]).
///
/// # Errors
/// If the file cannot be written, or the run is not the one that was kept.
pub fn page(kept: &Kept, chosen: &Chosen, path: &Path) -> Result<Extent, Error> {
    let network = kept.network(chosen)?;
    let (draft, file) = Draft::begin(path)?;
    let mut film = Film::new(&followed(&network), MOST_EVENTS);
    let repeated = repeat(kept, chosen, network.clone(), &mut [&mut film]);
    let label = [chosen.stage.point.label(), format!("seed {}", chosen.row.seed)];
    let run = label.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(", ");
    let out = BufWriter::new(file);
    end(&draft, repeated, || page::write(&network, &film, kept.title(), &run, out))?;
    Ok(Extent::of(&film))
}

/// The network of a run that is repeated: with transmissions followed, whether it was made so or not.
fn followed(network: &Network) -> Network {
    Network { follow_transmissions: true, ..network.clone() }
}

/// Keeps a file if the run was repeated and the file is written.
fn end<T>(
    draft: &Draft,
    repeated: Result<(), Error>,
    write: impl FnOnce() -> io::Result<T>,
) -> Result<(), Error> {
    match repeated {
        Ok(()) => draft.keep(write()),
        Err(error) => {
            draft.discard();
            Err(error)
        }
    }
}

fn plan(network: &Network, application: ApplicationId) -> ApplicationPlan {
    network.applications[application.0 as usize].clone()
}

/// Makes the run again with these observers, and checks that it is the one that was kept.
fn repeat(
    kept: &Kept,
    chosen: &Chosen,
    mut network: Network,
    observers: &mut [&mut dyn Observer],
) -> Result<(), Error> {
    let mut digest = match network.follow_transmissions {
        true => Digest::new(),
        false => Digest::without_traces(),
    };
    network.follow_transmissions = true;
    let mut simulation = Simulation::new(network, chosen.row.seed)
        .map_err(|error| Error::new(ErrorKind::Other, error.to_string()))?;
    let mut all: Vec<&mut dyn Observer> = vec![&mut digest];
    all.extend(observers.iter_mut().map(|it| &mut **it as &mut dyn Observer));
    simulation.run(&mut all);
    is_the_same(chosen, &digest, kept)
}

/// The selected consumer: the one of that name, or the only candidate.
fn consumer(
    network: &Network,
    name: Option<&str>,
    wanted: &Wanted,
) -> Result<ApplicationId, Error> {
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
            Err(Error::usage(format!("no consumer is called {name}"))
                .with_remedy(format!("there is {}", names(consumers.collect()))))
        }
        ([], None) => Err(Error::usage("no consumer requests it")),
        (several, _) => Err(Error::usage(format!("{} consumers request it", several.len()))
            .with_remedy(format!(
                "choose one with --application: {}",
                names(several.iter().map(|(_, plan)| *plan).collect())
            ))),
    }
}

/// Whether an application is a consumer that may request it.
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

/// Checks that the repeated run equals the kept one.
fn is_the_same(chosen: &Chosen, digest: &Digest, kept: &Kept) -> Result<(), Error> {
    if chosen.row.digest == format!("{:016x}", digest.value()) {
        return Ok(());
    }
    let (place, seed) = (kept.folder.display(), chosen.row.seed);
    let message = format!("seed {seed} does not reproduce the results in {place}");
    Err(Error::new(ErrorKind::Local, message).with_remedy(
        "another recoup made them, or they were measured on processes: simulate it anew",
    ))
}
