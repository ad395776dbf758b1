//! Random faults, each for a while. Several may overlap.

use super::Soak;
use super::fetches::Fetches;
use super::flood;
use super::network::{Network, Role};
use super::random::Random;
use super::relay::Impairment;
use crate::chore::Outcome;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Faults at a time.
const MOST_AT_A_TIME: usize = 3;

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// A forwarder or a server is killed (SIGKILL), and starts again later.
    Kill(Role),
    /// A process is stopped (SIGSTOP), and continues later.
    Stop(Role),
    /// A fetch is killed. It is repeated with what its journal has.
    KillFetch,
    /// A fetch is stopped, and continues later.
    StopFetch(u32),
    /// The disk of the downloads is full.
    FullDisk,
    /// The loopback interface is down.
    InterfaceDown,
    /// The time of day jumps.
    ClockJump,
    /// Interests with random names, malformed packets and forged Data arrive at full speed.
    Flood,
    /// A link loses a share of its datagrams.
    Loss(usize),
    /// A link changes bytes of datagrams, as an attacker on the path does.
    Changes(usize),
    /// A link duplicates and reorders datagrams.
    Disorder(usize),
}

/// A fault, and its end.
struct Current {
    fault: Fault,
    time: Duration,
    until: Instant,
}

/// Injects faults until the soak is over, then ends all. Returns their number.
pub(super) fn inject(soak: &Soak, network: &Network, fetches: &Fetches, random: Random) -> u64 {
    let mut current: Vec<Current> = Vec::new();
    let mut count = 0;
    while !soak.is_over() {
        let now = Instant::now();
        end_all(soak, network, fetches, current.extract_if(.., |it| it.until <= now));
        let fault = choose(fetches, &random);
        let time = random.millis(100, longest(fault));
        let next = Current { fault, time, until: now + time };
        let is_possible = current.len() < MOST_AT_A_TIME
            && current.iter().all(|it| !excludes(it.fault, fault))
            && begin(soak, network, fetches, &next, &random);
        if is_possible {
            count += 1;
            soak.log(&format!("fault {fault:?} for {} ms", time.as_millis()));
            current.push(next);
        }
        soak.sleep(random.millis(200, 2_000));
    }
    end_all(soak, network, fetches, current);
    count
}

fn end_all(
    soak: &Soak,
    network: &Network,
    fetches: &Fetches,
    faults: impl IntoIterator<Item = Current>,
) {
    for Current { fault, .. } in faults {
        soak.log(&format!("end of {fault:?}"));
        if let Err(reason) = end(network, fetches, fault) {
            soak.fail(reason);
        }
    }
}

fn choose(fetches: &Fetches, random: &Random) -> Fault {
    match random.below(14) {
        0 => Fault::Kill(*random.one(&Role::KILLED)),
        1 | 2 => Fault::Stop(*random.one(&Role::ALL)),
        3 => Fault::KillFetch,
        4 => Fault::StopFetch(fetches.any(random).unwrap_or_default()),
        5 => Fault::FullDisk,
        6 => Fault::InterfaceDown,
        7 => Fault::ClockJump,
        8 => Fault::Flood,
        9 | 10 => Fault::Loss(random.below(2)),
        11 => Fault::Changes(random.below(2)),
        _ => Fault::Disorder(random.below(2)),
    }
}

/// Whether a fault cannot begin during another one.
fn excludes(current: Fault, fault: Fault) -> bool {
    let process = |fault| match fault {
        Fault::Kill(role) | Fault::Stop(role) => Some(role),
        _ => None,
    };
    current == fault || process(current).is_some_and(|role| process(fault) == Some(role))
}

/// Longest time of a fault, in milliseconds.
fn longest(fault: Fault) -> u64 {
    match fault {
        Fault::InterfaceDown | Fault::FullDisk => 3_000,
        Fault::Loss(_) | Fault::Changes(_) | Fault::Disorder(_) => 10_000,
        _ => 5_000,
    }
}

/// Begins a fault for a time. Returns whether there was anything to disturb.
fn begin(
    soak: &Soak,
    network: &Network,
    fetches: &Fetches,
    current: &Current,
    random: &Random,
) -> bool {
    let set = |share: &AtomicU32, most: usize| {
        share.store(1 + random.below(most) as u32, Ordering::Relaxed);
    };
    let link = |link: usize| -> &Impairment { &network.links[link].impairment };
    match current.fault {
        Fault::Kill(role) => network.kill(role),
        Fault::Stop(role) => network.stop(role, true),
        Fault::KillFetch => return fetches.kill(random),
        Fault::StopFetch(id) => return fetches.stop(id),
        Fault::FullDisk => {
            fetches.exempt(4);
            network.fill_disk(true);
        }
        Fault::InterfaceDown => {
            if let Err(reason) = network.set_interface(false) {
                soak.fail(reason);
            }
        }
        Fault::ClockJump => {
            network.jump(random);
            return network.clock.is_some();
        }
        Fault::Flood => flood::start(current.time, random.stream(random.next())),
        Fault::Loss(at) => set(&link(at).lost, 2_000),
        Fault::Changes(at) => {
            fetches.exempt(5);
            set(&link(at).changed, 200);
        }
        Fault::Disorder(at) => {
            set(&link(at).duplicated, 1_000);
            set(&link(at).reordered, 2_000);
        }
    }
    true
}

/// Ends a fault.
fn end(network: &Network, fetches: &Fetches, fault: Fault) -> Outcome {
    let heal = |share: &AtomicU32| share.store(0, Ordering::Relaxed);
    let link = |link: usize| -> &Impairment { &network.links[link].impairment };
    match fault {
        Fault::Kill(role) => return network.spawn(role),
        Fault::InterfaceDown => return network.set_interface(true),
        Fault::Stop(role) => network.stop(role, false),
        Fault::StopFetch(id) => fetches.proceed(id),
        Fault::FullDisk => network.fill_disk(false),
        Fault::Loss(at) => heal(&link(at).lost),
        Fault::Changes(at) => heal(&link(at).changed),
        Fault::Disorder(at) => {
            heal(&link(at).duplicated);
            heal(&link(at).reordered);
        }
        Fault::KillFetch | Fault::ClockJump | Fault::Flood => {}
    }
    Ok(())
}
