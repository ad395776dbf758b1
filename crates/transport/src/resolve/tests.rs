//! Chains that are fetched, held, forged, lost and flooded.
use super::*;
use recoup_packet::data::DataBuilder;
use recoup_packet::signature::{HmacSigner, KeyLocator};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Mutex;

const RTO: Duration = Duration::from_millis(100);

/// Trusts Data signed by a known name, and reports nothing missing that it gave up.
#[derive(Default)]
struct Known {
    known: Mutex<BTreeSet<Name>>,
    given_up: Mutex<BTreeSet<Name>>,
}

impl Known {
    fn of(anchor: &str) -> Self {
        let this = Self::default();
        this.known.lock().unwrap().insert(name(anchor));
        this
    }

    fn has(&self, uri: &str) -> bool {
        self.known.lock().unwrap().contains(&name(uri))
    }

    fn gave_up(&self, uri: &str) -> bool {
        self.given_up.lock().unwrap().contains(&name(uri))
    }
}

impl Certificates for Known {
    fn missing(&self, data: &Data) -> Option<Name> {
        let info = data.signature_info();
        let Some(KeyLocator::Name(value)) = info.key_locator else { return None };
        let signer = Name::from_value(value.to_vec().into()).unwrap();
        let has = |set: &Mutex<BTreeSet<Name>>| set.lock().unwrap().contains(&signer);
        (!has(&self.known) && !has(&self.given_up)).then_some(signer)
    }

    fn take(&self, data: &Data) -> Verdict {
        if data.content() == b"forged" {
            return Verdict::Bad("is forged");
        }
        if self.missing(data).is_some() {
            return Verdict::Pending;
        }
        if data.content() == b"forged signature" {
            return Verdict::Bad("is forged");
        }
        let info = data.signature_info();
        let Some(KeyLocator::Name(value)) = info.key_locator else { panic!() };
        let signer = Name::from_value(value.to_vec().into()).unwrap();
        if !self.known.lock().unwrap().contains(&signer) {
            return Verdict::Bad("cannot be had");
        }
        self.known.lock().unwrap().insert(data.name().clone());
        Verdict::Verified
    }

    fn give_up(&self, name: &Name) {
        self.given_up.lock().unwrap().insert(name.clone());
    }
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn certificate(of: &str, by: &str, content: &[u8]) -> Data {
    let by = name(by);
    let signer = HmacSigner::new(b"secret", KeyLocator::Name(by.value()));
    DataBuilder::new(&name(of)).content_type(ContentType::Key).build(content, &signer)
}

fn asked(resolver: &mut Resolver, now: Instant, known: &Known) -> Option<String> {
    resolver.poll(now, RTO, known).map(|interest| interest.name.to_string())
}

const A: &str = "/a/KEY/1/i/v=1";
const B: &str = "/b/KEY/1/i/v=1";
const ROOT: &str = "/root/KEY/1/self/v=1";

#[test]
fn chain_is_fetched_up_to_the_anchor() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    resolver.want(now, &name(A), &known);
    assert!(!resolver.awaits(&name(A)), "no Interest has left");
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(A));
    assert_eq!(asked(&mut resolver, now, &known), None);
    assert!(resolver.awaits(&name(A)) && resolver.on_nack(now, &name(A)));
    assert_eq!(resolver.deadline(), Some(now + RTO), "a Nack does not postpone it");
    assert!(!resolver.on_data(now, &certificate("/c/KEY/1/i/v=1", ROOT, b""), &known));
    assert!(resolver.on_data(now, &certificate(A, B, b""), &known));
    assert!(!resolver.take_news());
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(B));
    assert!(resolver.on_data(now, &certificate(B, ROOT, b""), &known));
    assert!(resolver.take_news() && known.has(A) && known.has(B));
    assert_eq!(resolver.deadline(), None);
}

#[test]
fn certificate_of_a_key_is_fetched_by_prefix() {
    let (mut resolver, known) = (Resolver::default(), Known::of(ROOT));
    resolver.want(Instant::ZERO, &name("/a/KEY/1"), &known);
    let interest = resolver.poll(Instant::ZERO, RTO, &known).unwrap();
    assert!(interest.can_be_prefix && interest.must_be_fresh);
    assert!(resolver.on_data(Instant::ZERO, &certificate(A, ROOT, b""), &known));
    assert!(known.has(A));
    resolver.want(Instant::ZERO, &name("/c/KEY/1/issuer"), &known);
    assert!(resolver.poll(Instant::ZERO, RTO, &known).unwrap().can_be_prefix);
    let certificate = certificate("/c/KEY/1/issuer/v=1", ROOT, b"");
    assert!(resolver.on_data(Instant::ZERO, &certificate, &known));
    assert!(known.has("/c/KEY/1/issuer/v=1"));
    resolver.want(Instant::ZERO, &name(B), &known);
    assert!(!resolver.poll(Instant::ZERO, RTO, &known).unwrap().can_be_prefix);
}

#[test]
fn unanswered_certificate_is_given_up() {
    let (mut resolver, known, mut now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    let mut interests = 0;
    while let Some(deadline) = resolver.deadline() {
        now = now.max(deadline);
        interests += u32::from(asked(&mut resolver, now, &known).is_some());
    }
    assert_eq!(interests, MAX_ATTEMPTS);
    assert_eq!(now, Instant::ZERO + RTO * 31, "each waits twice as long");
    assert!(known.gave_up(A) && resolver.take_news());
}

#[test]
fn forged_certificates_cost_attempts_only() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    for _ in 0..MAX_ATTEMPTS {
        assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(A));
        assert!(resolver.on_data(now, &certificate(A, ROOT, b"forged"), &known));
    }
    assert_eq!(asked(&mut resolver, now, &known), None);
    assert!(known.gave_up(A) && !known.has(A));
}

#[test]
fn forged_certificate_that_waits_costs_an_attempt() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(A));
    assert!(resolver.on_data(now, &certificate(A, B, b"forged signature"), &known));
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(B));
    assert!(resolver.on_data(now, &certificate(B, ROOT, b""), &known));
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(A));
    assert!(resolver.on_data(now, &certificate(A, B, b""), &known));
    assert!(known.has(A) && !known.gave_up(A));
}

#[test]
fn dependents_of_a_lost_certificate_are_given_up() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    asked(&mut resolver, now, &known);
    resolver.on_data(now, &certificate(A, B, b""), &known);
    assert_eq!(asked(&mut resolver, now + PATIENCE, &known), None);
    assert!(known.gave_up(A) && known.gave_up(B) && resolver.deadline().is_none());
}

#[test]
fn circle_and_endless_chain_are_given_up() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    asked(&mut resolver, now, &known);
    resolver.on_data(now, &certificate(A, B, b""), &known);
    asked(&mut resolver, now, &known);
    resolver.on_data(now, &certificate(B, A, b""), &known);
    assert!(known.gave_up(A) && known.gave_up(B) && resolver.deadline().is_none());

    let key = |depth: u32| format!("/k/KEY/{depth}/i/v=1");
    resolver.want(now, &name(&key(0)), &known);
    let mut depth = 0;
    while asked(&mut resolver, now, &known) == Some(key(depth)) {
        resolver.on_data(now, &certificate(&key(depth), &key(depth + 1), b""), &known);
        depth += 1;
    }
    assert_eq!(depth, MAX_DEPTH);
    assert!(known.gave_up(&key(0)) && resolver.deadline().is_none());
}

fn flood(resolver: &mut Resolver, now: Instant, known: &Known, numbers: Range<usize>) {
    for number in numbers {
        resolver.want(now, &name(&format!("/{number}/KEY/1/i/v=1")), known);
    }
    while asked(resolver, now, known).is_some() {}
    assert!(resolver.questions.len() <= MAX_QUESTIONS && resolver.queue.len() <= MAX_QUEUED);
}

#[test]
fn flood_of_key_names_delays_a_certificate_only() {
    let (mut resolver, known, mut now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    flood(&mut resolver, now, &known, 0..100);
    resolver.want(now, &name(A), &known);
    assert_eq!(asked(&mut resolver, now, &known), None, "all places are taken");
    let mut round = 1;
    while !resolver.awaits(&name(A)) {
        assert!(round < 4, "one key signs all genuine packets");
        now += RTO;
        // The flood comes first each time.
        flood(&mut resolver, now, &known, 100 * round..100 * (round + 1));
        resolver.want(now, &name(A), &known);
        round += 1;
    }
    assert!(known.given_up.lock().unwrap().is_empty());
    assert!(resolver.on_data(now, &certificate(A, B, b""), &known));
    flood(&mut resolver, now, &known, 400..500);
    assert!(resolver.awaits(&name(B)), "a chain that has an answer has a place");
    assert!(resolver.on_data(now, &certificate(B, ROOT, b""), &known));
    assert!(known.has(A) && known.has(B));
}

#[test]
fn queue_is_bounded_and_drops_rare_names() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    flood(&mut resolver, now, &known, 0..MAX_QUESTIONS);
    resolver.want(now, &name(A), &known);
    resolver.want(now, &name(A), &known);
    flood(&mut resolver, now, &known, MAX_QUESTIONS..2 * MAX_QUEUED + MAX_QUESTIONS);
    assert_eq!(resolver.queue.len(), MAX_QUEUED);
    assert_eq!(resolver.queue.front().map(|it| &it.name), Some(&name(A)));
}
