//! Interests that are renewed while they are pending, and sent when the transmission before them expires.
use crate::bench::question;
use crate::tester::{Mode, Probe, Tester};
use recoup_forwarder::options::NodeConfig;
use recoup_transport::application::AppOutput;
use recoup_transport::time::Duration;
use std::sync::Arc;

/// A consumer at node 0, a producer at node 1.
struct Stand {
    tester: Tester,
    consumer: Probe,
    producer: Probe,
}

impl Stand {
    fn new(suppression: &str, mode: Mode, delay_ms: u64) -> Self {
        let mut tester = Tester::new(2, |_| {
            NodeConfig::deterministic(0).with(|it| it.suppression = suppression.parse().unwrap())
        });
        tester.link(0, 1, delay_ms);
        tester.route(0, "/", 1);
        let (consumer, producer) = (Probe::default(), Probe::new(mode));
        tester.attach(0, &consumer, &[]);
        tester.attach(1, &producer, &["/p"]);
        Self { tester, consumer, producer }
    }

    /// The consumer sends an Interest with a lifetime of 90 ms.
    fn ask(&mut self, at: u64, nonce: u32) {
        self.tester.run(at);
        let mut interest = question("/p/a", nonce);
        interest.lifetime = Some(Duration::from_millis(90));
        self.consumer.put(AppOutput::Interest(Arc::new(interest)));
    }
}

#[test]
fn renewed_interest_is_sent_when_the_earlier_expires() {
    let mut stand = Stand::new("ccnd", Mode::Silence, 10);
    stand.ask(0, 1);
    stand.ask(40, 2);
    stand.ask(90, 3);
    stand.tester.run(1_000);
    assert_eq!(stand.producer.received(), ["10 ms: interest /p/a", "135 ms: interest /p/a"]);
    let asked = stand.producer.asked();
    let nonces: Vec<_> = asked.iter().map(|(interest, _)| interest.nonce).collect();
    assert_eq!(nonces, [Some(1), Some(3)]);
    // The third one is remembered from 90 to 215 ms.
    assert_eq!(asked[1].0.lifetime, Some(Duration::from_millis(90)));
    assert_eq!(stand.tester.node(0).counters().unsatisfied, 1);
}

#[test]
fn interest_without_renewal_is_sent_once() {
    let mut stand = Stand::new("ccnd", Mode::Silence, 10);
    stand.ask(0, 1);
    stand.tester.run(1_000);
    assert_eq!(stand.producer.asked().len(), 1);
}

#[test]
fn late_data_is_delivered_within_the_step() {
    for (suppression, late) in [("ccnd", true), ("strict", false)] {
        let mut stand = Stand::new(suppression, Mode::Answer, 60);
        stand.ask(0, 1);
        stand.tester.run(1_000);
        let received = stand.consumer.received();
        assert_eq!(received.contains(&"120 ms: data /p/a".to_owned()), late, "{suppression}");
    }
}
