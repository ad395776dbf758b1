//! Applications and uplinks that come and go while a node runs.
use recoup_forwarder::face::{AppId, FaceAttributes, FaceId};
use recoup_forwarder::node::{Input, Node, Output};
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::event::Event;
use recoup_transport::time::Instant;
use std::collections::VecDeque;

/// Records the state of the uplink.
#[derive(Default)]
struct Watcher(VecDeque<Event>);

impl Application for Watcher {
    fn handle(&mut self, _: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => self.0.push_back(Event::Connected),
            AppInput::FaceDown => self.0.push_back(Event::Disconnected),
            _ => {}
        }
    }

    fn poll(&mut self, _: Instant) -> Option<AppOutput> {
        self.0.pop_front().map(|event| AppOutput::Report(Report::Event(event)))
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

fn attach(node: &mut Node) -> AppId {
    node.attach(Instant::ZERO, Box::<Watcher>::default(), Vec::new())
}

/// Notifications of the application: true if an uplink is up.
fn notified(node: &mut Node, input: Input) -> Vec<bool> {
    node.handle(Instant::ZERO, input);
    std::iter::from_fn(|| node.poll(Instant::ZERO))
        .filter_map(|output| match output {
            Output::App { report: Report::Event(Event::Connected), .. } => Some(true),
            Output::App { report: Report::Event(Event::Disconnected), .. } => Some(false),
            _ => None,
        })
        .collect()
}

#[test]
fn numbers_of_removed_applications_are_reused() {
    let mut node = Node::deterministic(0);
    let mut running = attach(&mut node);
    for _ in 0..100 {
        let next = attach(&mut node);
        assert!(next.0 < 2, "{next:?}");
        node.detach(running);
        node.detach(running);
        running = next;
    }
}

#[test]
fn applications_are_notified_of_another_uplink() {
    let mut node = Node::deterministic(0);
    attach(&mut node);
    let attributes = FaceAttributes::wire(8_800).toward_producers();
    let (first, second) = (FaceId(1), FaceId(2));
    assert_eq!(notified(&mut node, Input::FaceUp { face: first, attributes }), [true]);
    assert_eq!(notified(&mut node, Input::FaceUp { face: second, attributes }), []);
    assert_eq!(notified(&mut node, Input::FaceDown { face: first }), [false, true]);
    assert_eq!(notified(&mut node, Input::FaceUp { face: first, attributes }), [false, true]);
    assert_eq!(notified(&mut node, Input::FaceDown { face: second }), []);
    assert_eq!(notified(&mut node, Input::FaceDown { face: first }), [false]);
}
