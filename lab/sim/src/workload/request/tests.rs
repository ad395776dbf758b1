//! Requests, their timeouts and their ends, with literal times.
use super::*;
use crate::network::{PacketShape, Pending, Popularity, ProducePlan};
use crate::workload::Produce;
use recoup_packet::data::{ContentType, SignatureShape, Template};
use recoup_packet::interest::Interest;
use recoup_packet::nack::NackReason;
use recoup_transport::application::{AppInput, AppOutput, Application, Beside, Report, ReturnPath};
use recoup_transport::event::Event;
use recoup_transport::time::Duration;
use std::sync::Arc;

fn plan(arrival: Arrival) -> RequestPlan {
    RequestPlan {
        prefixes: vec!["/a".parse().unwrap(), "/b".parse().unwrap()],
        contents: 10,
        popularity: Popularity::Sequential,
        arrival,
        requests: Some(3),
        rto: None,
        retries: Some(2),
        lifetime: Duration::from_secs(1),
        rto_scan: None,
        pending: None,
    }
}

fn make(plan: &RequestPlan) -> Consumer<Catalogue> {
    super::make(plan, &Rng::from_seed(1), &mut Tables::default()).unwrap()
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// Outputs at `now`: names of Interests, and events in short.
fn drain(request: &mut Consumer<Catalogue>, now: Instant) -> Vec<String> {
    let mut outputs = Vec::new();
    while let Some(output) = request.poll(now) {
        outputs.push(match output {
            AppOutput::Interest(interest) => interest.name.to_string(),
            AppOutput::Report(Report::Event(Event::Sent { segment, transmissions, .. })) => {
                format!("sent {segment}.{transmissions}")
            }
            AppOutput::Report(Report::Event(Event::Received { segment, .. })) => {
                format!("received {segment}")
            }
            AppOutput::Report(Report::Event(Event::TimedOut { segment })) => {
                format!("late {segment}")
            }
            AppOutput::Report(Report::Event(Event::Nacked { segment, .. })) => {
                format!("nacked {}", segment.unwrap())
            }
            AppOutput::Report(Report::Event(Event::Duplicate)) => "duplicate".into(),
            AppOutput::Report(Report::Event(Event::LeftOut { segment })) => {
                format!("left out {segment}")
            }
            AppOutput::Report(Report::Done(_)) => "done".into(),
            _ => continue,
        });
    }
    outputs
}

fn data(name: &str) -> AppInput {
    let mut produce = Produce::new(&ProducePlan {
        prefix: Name::root(),
        content: 100.into(),
        freshness: Duration::ZERO,
        packet: PacketShape::Digest,
    })
    .unwrap();
    let interest = Arc::new(Interest::new(name.parse().unwrap()));
    produce.handle(at(0), AppInput::Interest { interest, path: ReturnPath(0) });
    match produce.poll(at(0)) {
        Some(AppOutput::Data { data, .. }) => {
            AppInput::Data { data, congestion_mark: 0, beside: Beside::default() }
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn contents_are_requested_until_all_are_answered() {
    let mut request = make(&plan(Arrival::Constant(10.0)));
    assert_eq!(drain(&mut request, at(5)), ["/b/1", "sent 0.1"]);
    assert_eq!(request.deadline(), Some(at(105)));
    assert_eq!(drain(&mut request, at(105)), ["/a/2", "sent 1.1"]);
    request.handle(at(110), data("/b/1"));
    assert_eq!(drain(&mut request, at(110)), ["received 0"]);
    assert_eq!(drain(&mut request, at(205)), ["/b/3", "sent 2.1"]);
    for name in ["/a/2", "/b/2", "/b/x", "/b/3/4", "/b/3"] {
        request.handle(at(210), data(name));
    }
    assert_eq!(
        drain(&mut request, at(210)),
        ["received 1", "duplicate", "duplicate", "duplicate", "received 2", "done"]
    );
    assert_eq!(request.deadline(), None);
}

#[test]
fn without_an_estimator_nothing_is_retransmitted() {
    let mut request = make(&plan(Arrival::Batches(vec![(Duration::ZERO, 2)])));
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1", "/a/2", "sent 1.1"]);
    assert_eq!(request.deadline(), Some(at(1_000)));
    assert_eq!(
        drain(&mut request, at(1_000)),
        ["late 0", "left out 0", "late 1", "left out 1", "done"]
    );
}

#[test]
fn timeout_retransmits_until_the_retries_end() {
    let rto = "constant(rto=100ms)".parse().ok();
    let requests = Some(1);
    let mut request = make(&RequestPlan { rto, requests, ..plan(Arrival::Constant(1.0)) });
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1"]);
    for (millis, outputs) in [
        (100, vec!["/b/1", "late 0", "sent 0.2"]),
        (200, vec!["/b/1", "late 0", "sent 0.3"]),
        (300, vec!["late 0", "left out 0", "done"]),
    ] {
        assert_eq!(request.deadline(), Some(at(millis)));
        assert_eq!(drain(&mut request, at(millis)), outputs);
    }
}

#[test]
fn one_packet_answers_all_that_wait_for_it() {
    let contents = 1;
    let mut request =
        make(&RequestPlan { contents, ..plan(Arrival::Batches(vec![(Duration::ZERO, 3)])) });
    let asked = drain(&mut request, at(0));
    assert_eq!(asked.iter().filter(|outputs| *outputs == "/b/1").count(), 3);
    request.handle(at(10), data("/b/1"));
    assert_eq!(drain(&mut request, at(10)), ["received 2", "received 1", "received 0", "done"]);
}

#[test]
fn a_window_permits_so_many_at_a_time() {
    let window = Arrival::Window(Box::new("fixed(window=2)".parse().unwrap()));
    let mut request = make(&plan(window));
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1", "/a/2", "sent 1.1"]);
    request.handle(at(10), data("/a/2"));
    assert_eq!(drain(&mut request, at(10)), ["/b/3", "received 1", "sent 2.1"]);
    request.handle(at(20), data("/b/1"));
    request.handle(at(20), data("/b/3"));
    assert_eq!(drain(&mut request, at(20)), ["received 0", "received 2", "done"]);
}

#[test]
fn nack_ends_or_repeats_a_request() {
    let nack = || {
        let interest = Arc::new(Interest::new("/b/1".parse().unwrap()));
        AppInput::Nack { interest, reason: NackReason::NoRoute }
    };
    let mut once = make(&RequestPlan { requests: Some(1), ..plan(Arrival::Constant(1.0)) });
    drain(&mut once, at(0));
    once.handle(at(10), nack());
    assert_eq!(drain(&mut once, at(10)), ["nacked 0"]);
    assert_eq!(once.deadline(), Some(at(60)), "the wait after a Nack");
    assert_eq!(drain(&mut once, at(60)), ["left out 0", "done"]);
    let rto = "constant(rto=100ms)".parse().ok();
    let mut again = make(&RequestPlan { rto, requests: Some(1), ..plan(Arrival::Constant(1.0)) });
    drain(&mut again, at(0));
    again.handle(at(10), nack());
    assert_eq!(drain(&mut again, at(10)), ["nacked 0"]);
    assert_eq!(drain(&mut again, at(60)), ["/b/1", "sent 0.2"]);
}

#[test]
fn application_nack_ends_all_requests_for_content() {
    let nack = |name: &str| {
        let shape = SignatureShape::Digest;
        let template = Template::new(ContentType::Nack, Duration::ZERO, None, shape);
        let data = template.describe(name.parse().unwrap(), 0).unwrap();
        AppInput::Data { data, congestion_mark: 0, beside: Beside::default() }
    };
    for rto in ["none", "constant(rto=1s)"] {
        let arrival = Arrival::Batches(vec![(Duration::ZERO, 3)]);
        let mut request =
            make(&RequestPlan { contents: 1, rto: rto.parse().ok(), ..plan(arrival) });
        drain(&mut request, at(0));
        request.handle(at(10), nack("/b/1"));
        let mut outputs = drain(&mut request, at(10));
        outputs.sort();
        assert_eq!(outputs, ["done", "nacked 0", "nacked 1", "nacked 2"], "{rto}");
    }
}

#[test]
fn requests_for_one_content_expire_alone() {
    let contents = 1;
    let mut request = make(&RequestPlan { contents, ..plan(Arrival::Constant(10.0)) });
    for millis in [0, 100, 200] {
        drain(&mut request, at(millis));
    }
    assert_eq!(drain(&mut request, at(1_000)), ["late 0", "left out 0"]);
    assert_eq!(drain(&mut request, at(1_100)), ["late 1", "left out 1"]);
    request.handle(at(1_150), data("/b/1"));
    assert_eq!(drain(&mut request, at(1_150)), ["received 2", "done"]);
}

#[test]
fn plan_with_unknown_algorithms_is_rejected() {
    let wrong = |plan: RequestPlan| {
        let made = super::make(&plan, &Rng::from_seed(1), &mut Tables::default());
        made.err().expect("an error")
    };
    let arrival = || Arrival::Constant(1.0);
    assert!(wrong(RequestPlan { prefixes: Vec::new(), ..plan(arrival()) }).contains("prefix"));
    assert!(wrong(plan(Arrival::Constant(0.0))).contains("per second"));
}

#[test]
fn scanned_timers_follow_the_present_timeout() {
    let rto = "nikzad2022(global-backoff=true)".parse().ok();
    let scan = RequestPlan {
        rto,
        rto_scan: Some(Duration::from_millis(50)),
        retries: None,
        ..plan(Arrival::Batches(vec![(Duration::ZERO, 2)]))
    };
    let requests = Some(2);
    let mut request = make(&RequestPlan { requests, ..scan });
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1", "/a/2", "sent 1.1"]);
    // At first 3 s; one sample of 20 ms makes that 20 + 4 * 10 ms.
    request.handle(at(20), data("/b/1"));
    assert_eq!(drain(&mut request, at(20)), ["received 0"]);
    assert_eq!(request.deadline(), Some(at(50)));
    assert_eq!(drain(&mut request, at(50)), [""; 0]);
    assert_eq!(request.deadline(), Some(at(100)));
    assert_eq!(drain(&mut request, at(100)), ["/a/2", "late 1", "sent 1.2"]);
    // The factor of two is shared: 120 ms.
    for millis in [150, 200] {
        assert_eq!(drain(&mut request, at(millis)), [""; 0], "{millis}");
    }
    assert_eq!(drain(&mut request, at(250)), ["/a/2", "late 1", "sent 1.3"]);
}

#[test]
fn request_joins_one_that_is_pending() {
    let contents = 1;
    let arrival = Arrival::Window(Box::new("fixed(window=2)".parse().unwrap()));
    let joined =
        RequestPlan { contents, requests: Some(5), pending: Some(Pending::Join), ..plan(arrival) };
    let mut request = make(&joined);
    // Three of five join; the last one is an Interest in any case.
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1", "/b/1", "sent 1.1"]);
    request.handle(at(10), data("/b/1"));
    assert_eq!(drain(&mut request, at(10)), ["received 1", "received 0", "done"]);

    let mut asked = make(&RequestPlan { pending: None, ..joined });
    assert_eq!(drain(&mut asked, at(0)).len(), 4);
    asked.handle(at(10), data("/b/1"));
    assert!(drain(&mut asked, at(10)).contains(&"sent 2.1".into()));
}

#[test]
fn endless_requests_for_pending_contents_end() {
    let arrival = Arrival::Window(Box::new("fixed(window=2)".parse().unwrap()));
    let pending = Some(Pending::Join);
    let mut request = make(&RequestPlan { contents: 1, requests: None, pending, ..plan(arrival) });
    assert_eq!(drain(&mut request, at(0)), ["/b/1", "sent 0.1", "/b/1", "sent 1.1"]);
}
