//! The invariants of the default congestion control, on random networks: no call breaks one, and each finds a wrong rule.
mod watch;

use recoup_lab::scenario::ScenarioFile;
use recoup_sim::simulation::Simulation;
use recoup_studies::arena::path::Path;
use recoup_studies::arena::random::Kind;
use recoup_transport::congestion::Congestion;
use std::cell::Cell;
use watch::{FOUND, Found, Mutant, Watched};

thread_local! {
    /// The rule of the next simulation.
    static MUTANT: Cell<Mutant> = const { Cell::new(Mutant::None) };
}

/// Simulates the network of that number, with the share of Data that it loses at random; 0 for a policer.
fn watched(kind: &str, number: u64, mutant: Mutant) -> (Found, f64) {
    Congestion::register("watched", |spec| {
        spec.finish()?;
        Ok(Congestion::custom(Watched::new(MUTANT.get())))
    });
    MUTANT.set(mutant);
    let (name, text) = Kind::named(kind).unwrap().case(number);
    let settings = ["fetch.congestion=watched".to_owned()];
    let file = ScenarioFile::parse(&text, &settings).unwrap_or_else(|error| panic!("{error}"));
    let under_test = &file.arena().unwrap().under_test[0];
    let scenario = file.scenario(&file.point(0).unwrap(), &|_| Err(String::new())).unwrap();
    let network = scenario.network(1).unwrap();
    let path = Path::of(&network, under_test);
    let (base, loss) = path.map_or((f64::INFINITY, 0.0), |path| (path.base_rtt_s(), path.loss));
    FOUND.set((base, Found::default()));
    Simulation::new(network, 1).unwrap().run(&mut []);
    let (_, found) = FOUND.take();
    println!("{name}: {found:?}");
    assert!(found.steps > 100, "{name}");
    (found, loss)
}

/// The invariants that a simulation broke, as at the head of `congestion/recoup.rs`: `a` to `e`.
fn broken(found: &Found, loss: f64) -> String {
    let later = found.later.0 as f64 / found.later.1.max(1) as f64;
    let checks = [
        ('a', found.widest > 1.0 + 1e-9),
        ('b', found.vain > 0),
        ('c', found.unprobed > 32.0),
        ('d', found.unexplained > 1e-9),
        ('e', found.wasted > loss + 0.4 || later > loss + 0.2),
    ];
    checks.iter().filter(|(_, broken)| *broken).map(|(letter, _)| *letter).collect()
}

#[test]
fn each_step_keeps_the_invariants() {
    let kinds = [("paths", 20), ("jitter", 10), ("policers", 8), ("outages", 4), ("rivals", 8)];
    let mut steps = 0;
    for (kind, count) in kinds {
        for number in 1..=count {
            let (found, loss) = watched(kind, number, Mutant::None);
            assert_eq!(broken(&found, loss), "", "{kind}={number}");
            steps += found.steps;
        }
    }
    println!("{steps} steps");
    assert!(steps > 500_000, "{steps}");
}

#[test]
fn each_invariant_finds_a_wrong_rule() {
    for (letter, kind, number, mutant) in [
        ('a', "paths", 8, Mutant::Thrice),
        ('b', "paths", 6, Mutant::Deaf),
        ('c', "rivals", 1, Mutant::Kept),
        ('d', "paths", 2, Mutant::Blind),
        ('e', "policers", 2, Mutant::Deaf),
    ] {
        let (found, loss) = watched(kind, number, mutant);
        assert!(broken(&found, loss).contains(letter), "({letter}): {mutant:?} on {kind}={number}");
    }
}
