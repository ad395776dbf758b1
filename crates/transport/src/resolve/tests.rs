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
    ruled_out: Mutex<Vec<(Name, Verdict)>>,
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

    fn rule_out(&self, name: &Name, verdict: Verdict) {
        self.ruled_out.lock().unwrap().push((name.clone(), verdict));
        self.give_up(name);
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

/// Runs the resolver against `answer` until it is idle. Returns the number of Interests, and the time.
fn run(
    resolver: &mut Resolver,
    known: &Known,
    mut answer: impl FnMut(&str) -> Vec<Data>,
) -> (u32, Instant) {
    let (mut now, mut interests) = (Instant::ZERO, 0);
    while let Some(deadline) = resolver.deadline() {
        now = now.max(deadline);
        while let Some(asked) = asked(resolver, now, known) {
            interests += 1;
            for data in answer(&asked) {
                resolver.on_data(now, &data, known);
            }
        }
    }
    (interests, now)
}

/// Forged copies of a certificate: by an unknown key each, by one unknown key, with a wrong signature, and as those that the
/// signer of the genuine one signed.
fn forgeries(of: &str, kind: usize, number: usize) -> Data {
    let content = format!("forged {number}");
    match kind {
        0 => certificate(of, &format!("/x{number}/KEY/1/i/v=1"), content.as_bytes()),
        1 => certificate(of, "/x/KEY/1/i/v=1", content.as_bytes()),
        2 => certificate(of, ROOT, b"forged"),
        _ => certificate(of, B, b"forged signature"),
    }
}

#[test]
fn genuine_copy_counts_after_forged_ones() {
    for kind in 0..4 {
        for forged in 1..=5 {
            for at_once in [true, false] {
                let (mut resolver, known) = (Resolver::default(), Known::of(ROOT));
                resolver.want(Instant::ZERO, &name(A), &known);
                let mut sent = [0; 2];
                let (interests, end) = run(&mut resolver, &known, |asked| {
                    let (place, by) = match asked {
                        A => (0, B),
                        B => (1, ROOT),
                        _ => return Vec::new(),
                    };
                    let copy = |number| forgeries(asked, kind, number);
                    let genuine = certificate(asked, by, b"");
                    sent[place] += 1;
                    match at_once {
                        true => (0..forged).map(copy).chain([genuine]).collect(),
                        // A forwarder would pass one answer for each Interest.
                        false if sent[place] <= forged => vec![copy(sent[place])],
                        false => vec![genuine],
                    }
                });
                let case = format!("kind {kind}, {forged} forged, at once: {at_once}");
                assert!(known.has(A) && known.has(B) && !known.gave_up(A), "{case}");
                // Each forged key costs its Interests as well.
                let limit = 2 * MAX_INTERESTS + 2 * forged as u32 * MAX_ATTEMPTS;
                assert!(interests <= limit, "{case}: {interests} Interests");
                assert!(end < Instant::ZERO + PATIENCE, "{case}: {end:?}");
                assert!(resolver.questions.is_empty());
            }
        }
    }
}

#[test]
fn endless_forged_copies_end_a_request() {
    for kind in 0..3 {
        let (mut resolver, known, mut number) = (Resolver::default(), Known::of(ROOT), 0);
        resolver.want(Instant::ZERO, &name(A), &known);
        let mut of_the_certificate = 0;
        let (_, end) = run(&mut resolver, &known, |asked| {
            number += 1;
            of_the_certificate += u32::from(asked == A);
            if asked == A { vec![forgeries(A, kind, number)] } else { Vec::new() }
        });
        assert!(known.gave_up(A) && !known.has(A));
        assert!(of_the_certificate <= MAX_INTERESTS, "{kind}: {of_the_certificate}");
        assert!(end <= Instant::ZERO + PATIENCE, "{kind}: {end:?}");
        if kind == 2 {
            assert_eq!(of_the_certificate, MAX_INTERESTS);
            assert!(end < Instant::from_millis(2_000), "{end:?}");
        }
    }
}

#[test]
fn copies_of_one_key_displace_no_other() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    asked(&mut resolver, now, &known);
    resolver.on_data(now, &certificate(A, B, b""), &known);
    for number in 0..3 * MAX_COPIES {
        resolver.on_data(now, &forgeries(A, 1, number), &known);
    }
    assert_eq!(resolver.questions[0].held.len(), MAX_COPIES);
    while asked(&mut resolver, now, &known).is_some() {}
    resolver.on_data(now, &certificate(B, ROOT, b""), &known);
    assert!(
        known.has(A) && resolver.questions.is_empty(),
        "no request for the forger's key is left"
    );
}

#[test]
fn interest_after_a_rejected_answer_must_be_fresh() {
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    assert!(!resolver.poll(now, RTO, &known).unwrap().must_be_fresh);
    resolver.on_data(now, &certificate(A, ROOT, b"forged"), &known);
    assert!(resolver.poll(now, RTO, &known).unwrap().must_be_fresh);
}

#[test]
fn copy_without_its_signer_is_dropped() {
    let (mut resolver, known) = (Resolver::default(), Known::of(ROOT));
    resolver.want(Instant::ZERO, &name(A), &known);
    let (_, end) = run(&mut resolver, &known, |asked| match asked {
        A => vec![certificate(A, B, b"")],
        _ => Vec::new(),
    });
    assert!(known.gave_up(A) && known.gave_up(B));
    assert!(end < Instant::ZERO + PATIENCE, "{end:?}");
}

#[test]
fn circle_is_rejected_as_such() {
    let (mut resolver, known) = (Resolver::default(), Known::of(ROOT));
    resolver.want(Instant::ZERO, &name(A), &known);
    let (_, end) = run(&mut resolver, &known, |asked| match asked {
        A => vec![certificate(A, B, b"")],
        _ => vec![certificate(B, A, b"")],
    });
    assert_eq!(known.ruled_out.lock().unwrap()[0], (name(B), CIRCLE));
    assert!(known.gave_up(A) && end < Instant::from_millis(4_000), "{end:?}");
}

#[test]
fn endless_chain_is_given_up() {
    let (mut resolver, known) = (Resolver::default(), Known::of(ROOT));
    let key = |depth: u32| format!("/k/KEY/{depth}/i/v=1");
    resolver.want(Instant::ZERO, &name(&key(0)), &known);
    let mut deepest = 0;
    let (_, end) = run(&mut resolver, &known, |asked| {
        let depth = name(asked).get(2).unwrap().to_string().parse::<u32>().unwrap();
        deepest = deepest.max(depth);
        vec![certificate(&key(depth), &key(depth + 1), b"")]
    });
    assert_eq!(deepest, MAX_DEPTH - 1);
    assert!(known.gave_up(&key(0)) && end <= Instant::ZERO + PATIENCE, "{end:?}");
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

#[test]
fn no_interest_leaves_for_a_local_name() {
    for (object, wanted, leaves) in [
        ("/a", "/localhost/nfd/KEY/1/i/v=1", false),
        ("/a", "/localhop/nfd/KEY/1/i/v=1", false),
        ("/a", "/localhost/nfd/faces/create/h/t/KEY/%16%03%1b%01%00/%17%00", false),
        ("/a", "/repo/delete/h/t/KEY/%16%03%1b%01%00/%17%00", false),
        ("/", "/localhost/CK/1", false),
        ("/localhost/app", "/localhost/nfd/KEY/1", false),
        ("/localhost/app", "/localhost/app/32=manifest/50=%00", true),
        ("/localhost/app", "/a/KEY/1/i/v=1", true),
    ] {
        let (mut resolver, now) = (Resolver::of(name(object)), Instant::ZERO);
        let known = Known::of(ROOT);
        resolver.want(now, &name(wanted), &known);
        resolver.want_ahead(now, &name(wanted), &known);
        assert_eq!(asked(&mut resolver, now, &known).is_some(), leaves, "{object} {wanted}");
        assert_eq!(resolver.take_news(), !leaves, "it is given up at once");
    }
    // The signer of a certificate is named by a stranger, too.
    let (mut resolver, known, now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    assert_eq!(asked(&mut resolver, now, &known).as_deref(), Some(A));
    let local = "/localhost/nfd/KEY/1/i/v=1";
    resolver.on_data(now, &certificate(A, local, b""), &known);
    assert_eq!(asked(&mut resolver, now, &known), None);
    assert!(known.given_up.lock().unwrap().contains(&name(local)));
}

#[test]
fn timeouts_of_segments_do_not_prolong_a_request() {
    let (mut resolver, known, mut now) = (Resolver::default(), Known::of(ROOT), Instant::ZERO);
    resolver.want(now, &name(A), &known);
    let mut rto = RTO;
    while let Some(deadline) = resolver.deadline() {
        now = now.max(deadline);
        resolver.poll(now, rto, &known);
        rto *= 2;
    }
    assert_eq!(now, Instant::ZERO + RTO * 31);
}
