//! Random faults, each for a while. Several may overlap.

use super::Soak;
use super::fetches::Fetches;
use super::flood;
use super::network::{Network, Role};
use super::random::Random;
use crate::chore::Outcome;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Faults at a time.
const MOST_AT_A_TIME: usize = 3;

/// Ends a fault.
type End<'a> = Box<dyn FnOnce() -> Outcome + 'a>;

/// A fault that may begin.
struct Fault<'a> {
    /// Its kind and its place, with which no other fault overlaps.
    name: String,
    /// Longest time, in milliseconds.
    longest: u64,
    /// Begins it for a time; `None` if there is nothing to disturb.
    begin: Box<dyn FnOnce(Duration) -> Option<End<'a>> + 'a>,
}

fn fault<'a>(
    name: impl Into<String>,
    longest: u64,
    begin: impl FnOnce(Duration) -> Option<End<'a>> + 'a,
) -> Fault<'a> {
    Fault { name: name.into(), longest, begin: Box::new(begin) }
}

/// Injects faults until the soak is over, then ends all. Returns their number.
pub(super) fn inject(soak: &Soak, network: &Network, fetches: &Fetches, random: &Random) -> u64 {
    let mut current: Vec<(Instant, String, End)> = Vec::new();
    let mut count = 0;
    let end = |(_, name, end): (Instant, String, End)| {
        soak.log(&format!("end of {name}"));
        end().unwrap_or_else(|reason| soak.fail(reason));
    };
    while !soak.is_over() {
        let now = Instant::now();
        current.extract_if(.., |it| it.0 <= now).for_each(end);
        let Fault { name, longest, begin } = draw(network, fetches, random);
        let time = random.millis(100, longest);
        if current.len() < MOST_AT_A_TIME
            && current.iter().all(|it| it.1 != name)
            && let Some(end) = begin(time)
        {
            count += 1;
            soak.log(&format!("fault {name} for {} ms", time.as_millis()));
            current.push((now + time, name, end));
        }
        soak.sleep(random.millis(200, 2_000));
    }
    current.into_iter().for_each(end);
    count
}

/// Any fault.
fn draw<'a>(network: &'a Network, fetches: &'a Fetches<'a>, random: &'a Random) -> Fault<'a> {
    let nothing = || -> Option<End<'a>> { Some(Box::new(|| Ok(()))) };
    let at = random.below(2);
    let link = &network.links[at].impairment;
    let share = |share: &AtomicU32, most| {
        share.store(1 + random.below(most) as u32, Ordering::Relaxed);
    };
    let heal = |shares: [&'a AtomicU32; 2]| -> Option<End<'a>> {
        Some(Box::new(move || {
            shares.iter().for_each(|share| share.store(0, Ordering::Relaxed));
            Ok(())
        }))
    };
    match random.below(14) {
        // A forwarder or a server is killed (SIGKILL), and starts again later.
        0 => {
            let role = *random.one(&Role::KILLED);
            fault(format!("at {}", role.name()), 5_000, move |_| {
                network.kill(role);
                Some(Box::new(move || network.spawn(role)))
            })
        }
        // A process is stopped (SIGSTOP), and continues later.
        1 | 2 => {
            let role = *random.one(&Role::ALL);
            fault(format!("at {}", role.name()), 5_000, move |_| {
                network.stop(role, true);
                Some(Box::new(move || {
                    network.stop(role, false);
                    Ok(())
                }))
            })
        }
        // A fetch is killed. It is repeated with what its journal has.
        3 => fault("a fetch is killed", 100, move |_| fetches.kill(random).then(nothing).flatten()),
        // A fetch is stopped, and continues later.
        4 => fault("a fetch is stopped", 5_000, move |_| {
            let id = fetches.any(random).filter(|id| fetches.stop(*id))?;
            Some(Box::new(move || {
                fetches.proceed(id);
                Ok(())
            }))
        }),
        5 => fault("the disk of downloads is full", 3_000, move |_| {
            fetches.exempt(4);
            network.fill_disk(true);
            Some(Box::new(move || {
                network.fill_disk(false);
                Ok(())
            }))
        }),
        6 => fault("the loopback interface is down", 3_000, move |_| {
            let begun = network.set_interface(false);
            Some(Box::new(move || begun.and_then(|()| network.set_interface(true))))
        }),
        7 => fault("the time of day jumps", 100, move |_| {
            network.jump(random).then(nothing).flatten()
        }),
        // Interests with random names, malformed packets and forged Data arrive at full speed.
        8 => fault("a flood", 5_000, move |time| {
            flood::start(time, random.stream(random.next()));
            nothing()
        }),
        // A link loses a share of its datagrams.
        9 | 10 => fault(format!("losses at link {at}"), 10_000, move |_| {
            share(&link.lost, 2_000);
            heal([&link.lost; 2])
        }),
        // A link changes bytes of datagrams, as an attacker on the path does.
        11 => fault(format!("changes at link {at}"), 10_000, move |_| {
            fetches.exempt(5);
            share(&link.changed, 200);
            heal([&link.changed; 2])
        }),
        _ => fault(format!("duplicates and disorder at link {at}"), 10_000, move |_| {
            share(&link.duplicated, 1_000);
            share(&link.reordered, 2_000);
            heal([&link.duplicated, &link.reordered])
        }),
    }
}
