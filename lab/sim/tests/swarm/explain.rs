//! Explanation of a seed: its plan and its last events.
use crate::plan::plan;
use crate::run;
use recoup_forwarder::packet::Packet;
use recoup_sim::observe::{Observation, Observer};
use recoup_transport::application::Report;
use recoup_transport::time::Instant;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Number of observations printed; `RECOUP_SWARM_LAST` overrides it.
const LAST: usize = 60;

/// Runs something and returns what it panicked with.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "it panicked without a word".to_owned())
    })
}

/// Runs a seed, prints its plan and the last events, and panics if an invariant fails.
pub(crate) fn replay(seed: u64) {
    print(seed);
    println!("{:#?}", run::check(seed));
}

/// Prints the plan of a seed, and the last events.
pub(crate) fn print(seed: u64) {
    let swarmed = plan(seed);
    let network = &swarmed.network;
    println!("seed {seed}, gentle: {}, {:?}", swarmed.is_gentle, network.stop);
    network.nodes.iter().enumerate().for_each(|(number, node)| println!("{number}: {node:?}"));
    network.links.iter().enumerate().for_each(|(number, link)| println!("{number}: {link:?}"));
    network.routes.iter().for_each(|route| println!("{route:?}"));
    network.strategies.iter().for_each(|strategy| println!("{strategy:?}"));
    let applications = network.applications.iter().enumerate();
    applications.for_each(|(number, application)| println!("{number}: {application:?}"));
    network.faults.iter().for_each(|(at, fault)| println!("{at}: {fault:?}"));
    let last = Rc::new(RefCell::new(VecDeque::new()));
    let most = crate::setting("RECOUP_SWARM_LAST").map_or(LAST, |text| text.parse().unwrap());
    let mut witness = Witness { last: Rc::clone(&last), most };
    let outcome = caught(|| run::run(&swarmed, seed, &mut witness));
    for line in last.borrow().iter() {
        println!("{line}");
    }
    println!("{outcome:#?}");
}

/// Remembers what happened last.
struct Witness {
    last: Rc<RefCell<VecDeque<String>>>,
    most: usize,
}

impl Observer for Witness {
    fn on(&mut self, now: Instant, observation: &Observation<'_>) {
        let mut last = self.last.borrow_mut();
        if last.len() >= self.most {
            last.pop_front();
        }
        last.push_back(format!("{now}: {}", line(observation)));
    }
}

fn line(observation: &Observation<'_>) -> String {
    let packet = |what, link: &dyn Debug, direction: &dyn Debug, it: &Packet| {
        let (kind, name, hash) = (it.kind(), it.name(), it.hop.name_hash);
        let tokens = it.trace().ids();
        format!("{what} {link:?} {direction:?} {kind:?} {name} ({hash:x}) {tokens:?}")
    };
    match observation {
        Observation::Sent { link, direction, packet: it } => packet("sent", link, direction, it),
        Observation::Arrived { link, direction, packet: it } => {
            packet("arrived", link, direction, it)
        }
        Observation::Doubled { link, direction, packet: it } => {
            packet("doubled", link, direction, it)
        }
        Observation::Lost { link, direction, packet: it, reason } => {
            packet("lost", link, direction, it) + &format!(" {reason:?}")
        }
        Observation::Application { application, report: Report::Content { segment, content } } => {
            format!("{application:?} content of segment {segment}: {} bytes", content.len())
        }
        other => format!("{other:?}"),
    }
}
