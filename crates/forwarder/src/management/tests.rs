//! The management alone, with a view of a node that does not exist.
use super::*;
use crate::order::FaceDescription;
use recoup_packet::interest::Uniqueness;
use recoup_packet::signature::DigestSigner;
use recoup_transport::management::{LinkType, Persistency, parse_response, register_command};
use std::sync::Arc;

const APP: FaceId = FaceId(1);
const GONE: FaceId = FaceId(9);

/// A view with face 1, and this many next hops.
struct Fake {
    next_hops: usize,
}

impl View for Fake {
    fn is_up(&self, face: FaceId) -> bool {
        face == APP
    }
    fn is_next_hop(&self, _: &Name, _: FaceId) -> bool {
        false
    }
    fn prefixes(&self) -> usize {
        self.next_hops
    }
    fn next_hops(&self) -> usize {
        self.next_hops
    }
    fn has_strategy(&self, _: &Name) -> bool {
        false
    }
    fn strategies(&self) -> usize {
        1
    }
    fn pending(&self) -> usize {
        0
    }
    fn measurements(&self) -> usize {
        0
    }
    fn carried(&self, _: FaceId) -> FaceCounters {
        FaceCounters { in_data: 5, ..FaceCounters::default() }
    }
    fn fib_entries(&self) -> Vec<FibEntry> {
        Vec::new()
    }
    fn strategy_choices(&self) -> Vec<StrategyChoice> {
        Vec::new()
    }
    fn cs_info(&self) -> CsInfo {
        CsInfo { capacity: 0, flags: 0, entries: 0, hits: 0, misses: 0 }
    }
    fn counters(&self) -> NodeCounters {
        NodeCounters::default()
    }
}

fn management(options: ManagementOptions) -> Management {
    let mut management = Management::new(&options);
    management.notice(Instant::ZERO, Notice::TimeOfDay { micros: 1 << 50 }, &Fake { next_hops: 0 });
    management
}

fn request(management: &mut Management, ingress: FaceId, interest: Interest) {
    let (interest, path) = (Arc::new(interest), ReturnPath(7));
    management.request(ManagementRequest { interest, ingress, path });
}

fn effects(management: &mut Management) -> Vec<Effect> {
    std::iter::from_fn(|| management.poll()).collect()
}

fn code(effect: &Effect) -> u64 {
    match effect {
        Effect::Answer { data, .. } => match parse_response(data) {
            Ok(_) => 200,
            Err(error) => panic!("{error}"),
        },
        other => panic!("{other:?}"),
    }
}

fn register(prefix: &str) -> Interest {
    let name = Some(prefix.parse().unwrap());
    let parameters = ControlParameters { name, ..ControlParameters::default() };
    let unique = Uniqueness { nonce: Some(&[7; 8]), time: Some((1 << 50) / 1_000), seq_num: None };
    register_command(Scope::Localhost, &parameters, &DigestSigner, unique)
}

#[test]
fn face_events_answer_the_interests_that_wait() {
    let mut management = management(ManagementOptions::default());
    let interest = Interest::new("/localhost/nfd/faces/events".parse().unwrap());
    request(&mut management, APP, interest);
    assert!(management.step(Instant::ZERO, &Fake { next_hops: 0 }));
    assert!(effects(&mut management).is_empty());
    let description = FaceDescription {
        uri: "udp4://192.0.2.1:6363".into(),
        local_uri: "udp4://192.0.2.2:6363".into(),
        persistency: Persistency::Permanent,
        local: false,
        link_type: LinkType::PointToPoint,
        mtu: 1_200,
        marking: None,
        reliable: false,
        local_fields: false,
    };
    let notice = Notice::FaceKnown { face: FaceId(2), description };
    management.notice(Instant::ZERO, notice, &Fake { next_hops: 0 });
    assert!(matches!(effects(&mut management)[..], [Effect::Answer { .. }]));
    let statuses: Vec<_> = management.face_statuses(&Fake { next_hops: 0 }).collect();
    assert_eq!((statuses.len(), statuses[0].counters.in_data), (2, 5));
}
