//! `recoup ctl`: reports and changes the state of a forwarder.
mod args;
mod client;
mod face;
mod show;

pub(crate) use args::CtlArgs;
pub(crate) use show::Show;

use crate::error::{Exit, Failure};
use crate::output::{self, Stream};
use args::{CsVerb, FaceVerb, ListVerb, Noun, RouteVerb, StatusVerb, StrategyVerb, switched};
use client::Forwarder;
use face::{FaceRef, Peer, canonical};
use recoup_forwarder::strategy;
use recoup_io::face::FaceUri;
use recoup_packet::name::{Component, Name};
use recoup_transport::management::{
    CAPTURE, CHILD_INHERIT, CS_ADMIT, CS_SERVE, ChannelStatus, ControlParameters, CsInfo,
    FaceFilter, FaceStatus, FibEntry, GeneralStatus, ManagementError, RibEntry, StrategyChoice,
    Verb,
};
use recoup_transport::spec::nearest;
use recoup_transport::time::Duration;
use serde_json::{Value, json};

const STATUS: &str = "/localhost/nfd/status/general";
const CHANNELS: &str = "/localhost/nfd/faces/channels";
const FACES: &str = "/localhost/nfd/faces/list";
const FIB: &str = "/localhost/nfd/fib/list";
const RIB: &str = "/localhost/nfd/rib/list";
const STRATEGIES: &str = "/localhost/nfd/strategy-choice/list";
const CS: &str = "/localhost/nfd/cs/info";

/// Runs the command.
pub(crate) fn run(args: &CtlArgs) -> Result<(), Failure> {
    let mut forwarder = Forwarder::find(args)?;
    let out = Out { json: args.json };
    match &args.noun {
        Noun::Status(StatusVerb::Show) => out.first(&forwarder.dataset::<GeneralStatus>(STATUS)?),
        Noun::Status(StatusVerb::Report) => report(&mut forwarder, &out),
        Noun::Channel(ListVerb::List) => out.all(&forwarder.dataset::<ChannelStatus>(CHANNELS)?),
        Noun::Fib(ListVerb::List) => out.all(&forwarder.dataset::<FibEntry>(FIB)?),
        Noun::Face(verb) => on_face(&mut forwarder, &out, verb),
        Noun::Route(verb) => on_route(&mut forwarder, &out, verb),
        Noun::Cs(verb) => on_cs(&mut forwarder, &out, verb),
        Noun::Strategy(verb) => on_strategy(&mut forwarder, &out, verb),
    }
}

/// Format of the output.
struct Out {
    json: bool,
}

impl Out {
    fn one(&self, it: &impl Show) -> Result<(), Failure> {
        match self.json {
            true => output::json(&it.json(), Stream::Out),
            false => output::print(it.text().as_bytes()),
        }
    }

    fn first(&self, all: &[impl Show]) -> Result<(), Failure> {
        all.first().map_or(Ok(()), |it| self.one(it))
    }

    fn all(&self, all: &[impl Show]) -> Result<(), Failure> {
        match self.json {
            true => output::json(&documents(all), Stream::Out),
            false => output::print(text(all).as_bytes()),
        }
    }
}

fn documents(all: &[impl Show]) -> Vec<Value> {
    all.iter().map(Show::json).collect()
}

fn text(all: &[impl Show]) -> String {
    all.iter().map(Show::text).collect()
}

fn report(forwarder: &mut Forwarder, out: &Out) -> Result<(), Failure> {
    let status = forwarder.dataset::<GeneralStatus>(STATUS)?;
    let channels = forwarder.dataset::<ChannelStatus>(CHANNELS)?;
    let faces = forwarder.dataset::<FaceStatus>(FACES)?;
    let fib = forwarder.dataset::<FibEntry>(FIB)?;
    let rib = forwarder.dataset::<RibEntry>(RIB)?;
    let cs = forwarder.dataset::<CsInfo>(CS)?;
    let strategies = forwarder.dataset::<StrategyChoice>(STRATEGIES)?;
    if out.json {
        let document = json!({
            "status": documents(&status).pop(),
            "channels": documents(&channels),
            "faces": documents(&faces),
            "fib": documents(&fib),
            "rib": documents(&rib),
            "cs": documents(&cs).pop(),
            "strategies": documents(&strategies),
        });
        return output::json(&document, Stream::Out);
    }
    let parts = [
        ("General status", text(&status)),
        ("Channels", text(&channels)),
        ("Faces", text(&faces)),
        ("FIB", text(&fib)),
        ("RIB", text(&rib)),
        ("Content store", text(&cs)),
        ("Strategy choices", text(&strategies)),
    ];
    let parts = parts.map(|(title, text)| format!("{title}:\n{text}"));
    output::print(parts.concat().as_bytes())
}

// --- faces ------------------------------------------------------------------------------------------

fn on_face(forwarder: &mut Forwarder, out: &Out, verb: &FaceVerb) -> Result<(), Failure> {
    match verb {
        FaceVerb::List { remote: None, local: None, scheme: None } => {
            out.all(&forwarder.dataset::<FaceStatus>(FACES)?)
        }
        FaceVerb::List { remote, local, scheme } => {
            let filter = FaceFilter {
                uri: remote.clone(),
                local_uri: local.clone(),
                uri_scheme: scheme.clone(),
                ..FaceFilter::default()
            };
            out.all(&query(forwarder, filter)?)
        }
        FaceVerb::Show { face } => {
            let found = query(forwarder, filter(face)?)?;
            if found.is_empty() {
                return Err(no_such(face));
            }
            out.first(&found)
        }
        FaceVerb::Create { uri, local, settings } => {
            let (uri, local_uri) = (canonical(uri)?, local.as_ref().map(ToString::to_string));
            let wish = settings.parameters();
            let create = ControlParameters {
                uri: Some(uri.clone()),
                local_uri: local_uri.clone(),
                ..wish.clone()
            };
            match forwarder.try_command(Verb::FaceCreate, create)? {
                Ok(done) => out.one(&done),
                Err(ManagementError::Rejected { code: 409, .. }) => {
                    let there = FaceFilter { local_uri, ..leads_to(uri) };
                    let there = query(forwarder, there)?.first().map(|it| it.profile.face_id);
                    out.one(
                        &forwarder.command(
                            Verb::FaceUpdate,
                            ControlParameters { face_id: there, ..wish },
                        )?,
                    )
                }
                Err(error) => Err(client::rejected(Verb::FaceCreate, &error)),
            }
        }
        FaceVerb::Update { face, settings } => {
            let face_id = Some(number(forwarder, face)?.ok_or_else(|| no_such(face))?);
            let wish = ControlParameters { face_id, ..settings.parameters() };
            out.one(&forwarder.command(Verb::FaceUpdate, wish)?)
        }
        FaceVerb::Destroy { face } => {
            let face_id = Some(number(forwarder, face)?.ok_or_else(|| no_such(face))?);
            let wish = ControlParameters { face_id, ..ControlParameters::default() };
            out.one(&forwarder.command(Verb::FaceDestroy, wish)?)
        }
        FaceVerb::Down { face } => switch(forwarder, out, face, Verb::FaceDown),
        FaceVerb::Up { face } => switch(forwarder, out, face, Verb::FaceUp),
        FaceVerb::Lost { face, name } => {
            let face_id = Some(number(forwarder, face)?.ok_or_else(|| no_such(face))?);
            let name = Some(name.clone());
            let wish = ControlParameters { face_id, name, ..ControlParameters::default() };
            out.one(&forwarder.command(Verb::FaceLost, wish)?)
        }
        FaceVerb::Events => forwarder.watch(&mut |event| match out.json {
            true => output::json_line(&event.json()),
            false => output::print(event.text().as_bytes()),
        }),
    }
}

/// Declares the faces to a peer down or up.
fn switch(forwarder: &mut Forwarder, out: &Out, to: &Peer, verb: Verb) -> Result<(), Failure> {
    let faces = match to {
        Peer::Face(face) => vec![number(forwarder, face)?.ok_or_else(|| no_such(face))?],
        Peer::Host(host) => {
            let mut all = forwarder.dataset::<FaceStatus>(FACES)?;
            all.retain(|face| to.is_at(&face.profile.uri));
            if all.is_empty() {
                let failure = Failure::new(Exit::NotFound, format!("no face leads to {host}"));
                return Err(failure.advise("`recoup ctl face list` has those that are there"));
            }
            all.iter().map(|face| face.profile.face_id).collect()
        }
    };
    for face in faces {
        let wish = ControlParameters { face_id: Some(face), ..ControlParameters::default() };
        out.one(&forwarder.command(verb, wish)?)?;
    }
    Ok(())
}

fn leads_to(uri: String) -> FaceFilter {
    FaceFilter { uri: Some(uri), ..FaceFilter::default() }
}

fn query(forwarder: &mut Forwarder, filter: FaceFilter) -> Result<Vec<FaceStatus>, Failure> {
    let words = ["localhost", "nfd", "faces", "query"].map(|it| Component::generic(it.as_bytes()));
    let filter = filter.to_bytes();
    forwarder.dataset_by(words.into_iter().chain([Component::generic(&filter)]).collect())
}

/// The number of a face, if it exists.
fn number(forwarder: &mut Forwarder, face: &FaceRef) -> Result<Option<u64>, Failure> {
    let found = query(forwarder, filter(face)?)?;
    Ok(found.first().map(|face| face.profile.face_id))
}

/// The dataset filter for a face.
fn filter(face: &FaceRef) -> Result<FaceFilter, Failure> {
    Ok(match face {
        FaceRef::Number(number) => FaceFilter { face_id: Some(*number), ..Default::default() },
        FaceRef::Uri(uri) => leads_to(canonical(uri)?),
        FaceRef::Text(uri) => leads_to(uri.clone()),
    })
}

fn no_such(face: &FaceRef) -> Failure {
    let failure = match face {
        FaceRef::Number(number) => format!("there is no face {number}"),
        FaceRef::Uri(uri) => format!("no face leads to {uri}"),
        FaceRef::Text(uri) => format!("no face leads to {uri}"),
    };
    Failure::new(Exit::NotFound, failure).advise("`recoup ctl face list` has those that are there")
}

/// The number of the face with this URI; opens it if it does not exist.
fn number_or_open(forwarder: &mut Forwarder, face: &FaceRef) -> Result<u64, Failure> {
    if let Some(number) = number(forwarder, face)? {
        return Ok(number);
    }
    let FaceRef::Uri(uri) = face else {
        return Err(no_such(face));
    };
    open(forwarder, uri)?.map_or_else(|| Err(no_such(face)), Ok)
}

fn open(forwarder: &mut Forwarder, uri: &FaceUri) -> Result<Option<u64>, Failure> {
    let wish = ControlParameters { uri: Some(canonical(uri)?), ..ControlParameters::default() };
    match forwarder.try_command(Verb::FaceCreate, wish)? {
        Ok(done) => Ok(done.face_id),
        // Another client opened it first.
        Err(ManagementError::Rejected { code: 409, .. }) => {
            number(forwarder, &FaceRef::Uri(uri.clone()))
        }
        Err(error) => Err(Failure::new(Exit::Other, format!("cannot open {uri}: {error}"))),
    }
}

// --- routes -----------------------------------------------------------------------------------------

fn on_route(forwarder: &mut Forwarder, out: &Out, verb: &RouteVerb) -> Result<(), Failure> {
    match verb {
        RouteVerb::List { nexthop, origin } => {
            let face = |it| number(forwarder, it)?.ok_or_else(|| no_such(it));
            let face = nexthop.as_ref().map(face).transpose()?;
            let mut entries = forwarder.dataset::<RibEntry>(RIB)?;
            for entry in &mut entries {
                entry.routes.retain(|route| {
                    face.is_none_or(|face| route.face_id == face)
                        && origin.is_none_or(|origin| route.origin == origin.0)
                });
            }
            entries.retain(|entry| !entry.routes.is_empty());
            out.all(&entries)
        }
        RouteVerb::Show { prefix } => {
            let mut entries = forwarder.dataset::<RibEntry>(RIB)?;
            entries.retain(|entry| entry.name == *prefix);
            if entries.is_empty() {
                let failure = format!("there is no route for {prefix}");
                return Err(Failure::new(Exit::NotFound, failure));
            }
            out.all(&entries)
        }
        RouteVerb::Add { prefix, nexthop, cost, origin, no_inherit, capture, expires } => {
            let inherit = if *no_inherit { 0 } else { CHILD_INHERIT };
            let wish = ControlParameters {
                name: Some(prefix.clone()),
                face_id: Some(number_or_open(forwarder, nexthop)?),
                origin: Some(origin.0),
                cost: Some(*cost),
                flags: Some(inherit + if *capture { CAPTURE } else { 0 }),
                expiration_period: expires.map(Duration::from_millis),
                ..ControlParameters::default()
            };
            out.one(&forwarder.command(Verb::RibRegister, wish)?)
        }
        RouteVerb::Remove { prefix, nexthop, origin } => {
            let face_id = number(forwarder, nexthop)?.ok_or_else(|| no_such(nexthop))?;
            // A forwarder reports the removal of a route that was never there as done.
            let entries = forwarder.dataset::<RibEntry>(RIB)?;
            let of_prefix = entries.iter().filter(|entry| entry.name == *prefix);
            let mut routes = of_prefix.flat_map(|entry| &entry.routes);
            if !routes.any(|route| (route.face_id, route.origin) == (face_id, origin.0)) {
                let origin = show::origin(origin.0);
                let message =
                    format!("there is no route of origin {origin} for {prefix} by face {face_id}");
                return Err(Failure::new(Exit::NotFound, message)
                    .advise("`recoup ctl route list` has those that are there"));
            }
            let wish = ControlParameters {
                name: Some(prefix.clone()),
                face_id: Some(face_id),
                origin: Some(origin.0),
                ..ControlParameters::default()
            };
            out.one(&forwarder.command(Verb::RibUnregister, wish)?)
        }
    }
}

// --- content store and strategies -------------------------------------------------------------------

fn on_cs(forwarder: &mut Forwarder, out: &Out, verb: &CsVerb) -> Result<(), Failure> {
    match verb {
        CsVerb::Info => out.first(&forwarder.dataset::<CsInfo>(CS)?),
        CsVerb::Config { capacity, admit, serve } => {
            let (flags, mask) = switched(&[(CS_ADMIT, *admit), (CS_SERVE, *serve)]);
            let wish = ControlParameters { capacity: *capacity, flags, mask, ..Default::default() };
            out.one(&forwarder.command(Verb::CsConfig, wish)?)
        }
        CsVerb::Erase { prefix, count } => {
            let (mut erased, mut more) = (0, true);
            while more {
                let wish = ControlParameters {
                    name: Some(prefix.clone()),
                    count: count.map(|count| count.saturating_sub(erased)),
                    ..ControlParameters::default()
                };
                let done = forwarder.command(Verb::CsErase, wish)?;
                let now = done.count.unwrap_or_default();
                erased = now.saturating_add(erased);
                // A forwarder that limits the packets of one command reports the limit.
                more = done.capacity.is_some() && now > 0 && count.is_none_or(|it| erased < it);
            }
            let (name, count) = (Some(prefix.clone()), Some(erased));
            out.one(&ControlParameters { name, count, ..ControlParameters::default() })
        }
    }
}

fn on_strategy(forwarder: &mut Forwarder, out: &Out, verb: &StrategyVerb) -> Result<(), Failure> {
    match verb {
        StrategyVerb::List => {
            let choices = forwarder.dataset::<StrategyChoice>(STRATEGIES)?;
            if !out.json {
                let names = strategy::names().collect::<Vec<_>>().join(", ");
                output::eprint(&format!("strategies of `recoup forward`: {names}"));
            }
            out.all(&choices)
        }
        StrategyVerb::Show { prefix } => {
            let choices = forwarder.dataset::<StrategyChoice>(STRATEGIES)?;
            let counts = choices.into_iter().filter(|choice| choice.name.is_prefix_of(prefix));
            let longest = counts.max_by_key(|choice| choice.name.len());
            out.all(&longest.into_iter().collect::<Vec<_>>())
        }
        StrategyVerb::Set { prefix, strategy: given } => {
            let name = Some(prefix.clone());
            let strategy = Some(strategy_name(given)?);
            let wish = ControlParameters { name, strategy, ..ControlParameters::default() };
            match forwarder.try_command(Verb::StrategySet, wish)? {
                Ok(done) => out.one(&done),
                Err(error) => {
                    let failure = client::rejected(Verb::StrategySet, &error);
                    Err(match error {
                        ManagementError::Rejected { code: 404, .. } => failure.advise(known(given)),
                        _ => failure,
                    })
                }
            }
        }
        StrategyVerb::Unset { prefix } => {
            let choices = forwarder.dataset::<StrategyChoice>(STRATEGIES)?;
            if !choices.iter().any(|choice| choice.name == *prefix) {
                let message = format!("no strategy is chosen for {prefix} itself");
                return Err(Failure::new(Exit::NotFound, message)
                    .advise("`recoup ctl strategy list` has the choices"));
            }
            let name = Some(prefix.clone());
            let wish = ControlParameters { name, ..ControlParameters::default() };
            out.one(&forwarder.command(Verb::StrategyUnset, wish)?)
        }
    }
}

/// Advice if a forwarder does not know the strategy `given`.
fn known(given: &str) -> String {
    let word = given.split(['(', '/']).rfind(|it| !it.is_empty() && !it.contains(['=', '~']));
    let near = word.and_then(|word| nearest(word, strategy::names()));
    let near = near.map_or_else(String::new, |name| format!("did you mean {name}? "));
    let names = strategy::names().collect::<Vec<_>>().join(", ");
    format!("{near}`recoup forward` has: {names}")
}

/// The name of a strategy from its last component, with parameters as in a configuration.
fn strategy_name(text: &str) -> Result<Name, Failure> {
    if text.starts_with('/') {
        return text.parse().map_err(|error| Failure::usage(format!("{text}: {error}")));
    }
    let (name, parameters) = text.split_once('(').unwrap_or((text, ""));
    let parameters = parameters.trim_end_matches(')').split(',').filter(|it| !it.is_empty());
    let parameters: Vec<String> = parameters.map(|it| it.trim().replacen('=', "~", 1)).collect();
    let words = ["localhost", "nfd", "strategy", name].into_iter();
    let words = words.chain(parameters.iter().map(String::as_str));
    Ok(words.map(|word| Component::generic(word.as_bytes())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use args::{OriginArg, Switch};

    #[test]
    fn an_origin_is_a_name_or_a_number() {
        assert_eq!("nlsr".parse(), Ok(OriginArg(128)));
        assert_eq!("77".parse(), Ok(OriginArg(77)));
        assert!("unknown".parse::<OriginArg>().unwrap_err().contains("static"));
    }

    #[test]
    fn strategy_has_a_full_or_short_name() {
        let name = |text| strategy_name(text).unwrap().to_string();
        assert_eq!(name("best-route"), "/localhost/nfd/strategy/best-route");
        assert_eq!(name("multipath(split=cost)"), "/localhost/nfd/strategy/multipath/split~cost");
        assert_eq!(name("/x/v=3"), "/x/v=3");
    }

    #[test]
    fn only_what_is_switched_is_in_the_mask() {
        assert_eq!(switched(&[(1, None), (2, None)]), (None, None));
        let both = switched(&[(1, Some(Switch::Off)), (2, Some(Switch::On)), (4, None)]);
        assert_eq!(both, (Some(2), Some(3)));
    }
}
