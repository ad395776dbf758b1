//! Links that send again what they lose.
use crate::line::{Notes, add, channel, fetch, line, run, serve};
use recoup_sim::network::LinkOptions;
use recoup_sim::simulation::Ended;

/// A fetch over two links, of which the first loses five packets of a hundred each way.
fn fetched(recovery: &str, loss: &str, segments: u64) -> (Notes, Ended) {
    let lossy = LinkOptions {
        loss: loss.parse().unwrap(),
        recovery: recovery.parse().unwrap(),
        ..channel(10_000_000, 5)
    };
    let clean = channel(100_000_000, 10);
    let mut network = line(&[(lossy.clone(), lossy), (clean.clone(), clean)]);
    add(&mut network, "consumer", 0, fetch(40));
    add(&mut network, "producer", 2, serve(segments));
    run(&network, 3)
}

#[test]
fn link_recovery_spares_the_consumer_timeouts() {
    let segments = 2_000;
    // The consumer retransmits after 60 s, so that an unrecovered loss takes as long.
    let (clean, ended) = fetched("off", "none", segments);
    assert_eq!((clean.got.len() as u64, clean.timeouts), (segments, 0));
    let free_s = ended.at.as_secs_f64();
    for recovery in ["wldr", "acked"] {
        for loss in ["bernoulli(p=0.05)", "gilbert-elliott(p=0.01,r=0.3333)"] {
            let (notes, ended) = fetched(recovery, loss, segments);
            assert_eq!(notes.got.len() as u64, segments);
            // The first window leaves before the ends know each other, and is not recovered.
            assert!(notes.timeouts <= 6, "{recovery}, {loss}: {} timeouts", notes.timeouts);
            if notes.timeouts == 0 {
                let time_s = ended.at.as_secs_f64();
                assert!(time_s < 1.35 * free_s, "{recovery}, {loss}: {time_s} s, {free_s} s");
            }
        }
    }
}

#[test]
fn without_recovery_each_loss_is_the_consumers() {
    let (notes, _) = fetched("off", "bernoulli(p=0.05)", 200);
    assert!((8..40).contains(&notes.timeouts), "{}", notes.timeouts);
}

#[test]
fn recovery_without_loss_costs_little_time() {
    let time = |recovery| fetched(recovery, "none", 2_000).1.at.as_secs_f64();
    let (with, without) = (time("wldr"), time("off"));
    // 16 bytes on 1,250, and a probe now and then.
    assert!(with < 1.02 * without, "{with} s, {without} s");
}
