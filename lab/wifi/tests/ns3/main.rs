//! The 802.11 medium against measurements that are not ours: frame by frame, curve by curve, and in the
//! cases that run quickly. `--example ns3` compares all cases.
mod case;
mod conservation;
mod fades;
mod harness;
mod infrastructure;
mod replay;

use recoup_wifi::error::ErrorModel;
use recoup_wifi::rate::Rate;

fn check(scenario: &str, seeds: u64) {
    let cases: Vec<_> = case::all()
        .into_iter()
        .filter(|case| format!("{} {}", case.scenario, case.written).contains(scenario))
        .collect();
    assert!(!cases.is_empty(), "there is no case {scenario}");
    for case in cases {
        for line in case::compare(&case, seeds) {
            assert_ne!(line.is_met(), Some(false), "{} {}: {line}", case.scenario, case.written);
        }
    }
}

#[test]
fn the_error_models_give_the_measured_rates() {
    let facts = include_str!("error_models.csv");
    for line in facts.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let model: ErrorModel = fields[0].parse().unwrap();
        let rate: Rate = fields[1].parse().unwrap();
        let [bytes, db, expected]: [f64; 3] = [2, 3, 4].map(|n| fields[n].parse().unwrap());
        let snr = libm::pow(10.0, db / 10.0);
        let found = 1.0 - model.success(rate, snr, bytes as u64 * 8);
        let close =
            (found - expected).abs() <= 2e-5 + 2e-3 * expected.min(1.0 - expected).max(1e-6);
        assert!(close, "{line}: {found}");
    }
}

#[test]
fn one_sender_has_ns3_goodput_at_two_slots() {
    check("A_g rate=ErpOfdmRate54Mbps;payload=1472", 1);
    check("A_g_slot9 rate=ErpOfdmRate6Mbps;payload=200", 1);
}

#[test]
fn sender_at_the_edge_has_ns3_goodput() {
    check("A_dist54 rate=ErpOfdmRate54Mbps;payload=1472;d=380", 2);
}

#[test]
fn senders_collide_as_in_ns3() {
    check("B_r5 n=2;", 3);
    check("B_r5 n=10;", 2);
}

#[test]
fn open_chains_take_the_time_of_ns3() {
    check("C_rr_allCS54 rate=ErpOfdmRate54Mbps;d=150;hops=2;window=16", 2);
    check("C_rr_allCS54 rate=ErpOfdmRate54Mbps;d=150;hops=3;window=1", 1);
}

#[test]
fn hidden_chains_lose_as_in_ns3() {
    check("C_rr_cs1hop24 rate=ErpOfdmRate24Mbps;d=500;hops=5;window=16", 2);
    check("C_ow_cs1hop24 rate=ErpOfdmRate24Mbps;d=500;hops=5", 3);
}

#[test]
fn aggregates_have_the_goodput_of_ns3() {
    check("D_mcs mgr=0;dir=up;amsdu=0", 1);
    check("D_mcs mgr=7;dir=up;amsdu=0", 1);
    check("D_mcs mgr=7;dir=up;amsdu=7935", 1);
    check("D_noagg mgr=4", 1);
}
