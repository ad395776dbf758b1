//! Who may give a forwarder commands.
//!
//! Without configured keys the face decides: a command that came by a local face is carried out if it is signed, whoever
//! signed it, and a digest that it carries is right. With keys, commands must be signed by one of them, be made while the
//! forwarder runs, at most [`GRACE`] away from its clock, and not have come before. A prefix announcement that a command
//! carries is judged like the command, except for its time.
//!
//! A key may be restricted ([`Rights`]): to routes of some prefixes, and to some commands.
//!
//! Source: NFD's wiki page "CommandAuthenticator", ndn-cxx, `security/validation-policy-signed-interest.cpp`.
//!
//! Differences: a command need not be later than the one before by the same key, since two programs that share a key
//! overtake each other, and clocks are set. Instead commands are remembered by digest. If there are too many, the command
//! whose time is farthest from now is forgotten, and the spans of time that hold all forgotten ones are refused: a command
//! is carried out at most once, whatever the clock does. Commands from before the start are refused, since earlier ones are
//! not remembered; the start is where the clock, as it is set now, was then. Signed Interests of packet format v0.2 carry no
//! signatures by keys here.
use super::announcement;
use super::answer::{Command, Refusal, is_signed};
use super::{Scope, Verb};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::{PublicKey, SignatureType, sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How far a command's time may be from the forwarder's.
pub const GRACE: Duration = Duration::from_secs(120);
/// Commands of each key that are remembered.
const REMEMBERED: usize = 1_024;
/// Spans of time that hold the forgotten commands of a key.
const SPANS: usize = 8;
/// Most keys: each is tried, and a wrong signature costs as much as a right one.
pub const MAX_KEYS: usize = 16;

/// Keys and what may be done without them.
#[derive(Clone, Debug, Default)]
pub struct AuthorityOptions {
    /// Whose commands are carried out; with none, those of all local programs. Only the first [`MAX_KEYS`] count.
    pub keys: Vec<PublicKey>,
    /// Modules whose commands local programs may give without a key nevertheless, such as `rib`.
    pub open: Vec<String>,
    /// What each key may do; without it, each key may do everything.
    pub rights: Option<Rights>,
}

/// Whether the key with a number, counted from 0, may act on a name.
type Right = dyn Fn(&Name, usize) -> bool + Send + Sync;

/// Which key may act on which name. Commands that change routes act on the prefix of the route, the others on the beginning
/// of their own names, such as `/localhost/nfd/faces/create`.
#[derive(Clone)]
pub struct Rights(Arc<Right>);

impl Rights {
    /// `may` tells whether a key, by its number in [`AuthorityOptions::keys`], may act on a name.
    pub fn new(may: impl Fn(&Name, usize) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may))
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rights")
    }
}

/// Judges commands.
#[derive(Debug)]
pub struct Authority {
    options: AuthorityOptions,
    /// For each key what came, by its time.
    seen: Vec<Seen>,
}

/// Commands by one key: their times in milliseconds and the beginnings of their digests.
#[derive(Clone, Debug, Default)]
struct Seen {
    commands: BTreeSet<(u64, [u8; 16])>,
    /// First and last time of spans in which all forgotten commands lie; in order and apart.
    forgotten: Vec<(u64, u64)>,
}

impl Authority {
    /// A judge who has seen nothing so far.
    #[must_use]
    pub fn new(mut options: AuthorityOptions) -> Self {
        options.keys.truncate(MAX_KEYS);
        let seen = vec![Seen::default(); options.keys.len()];
        Self { options, seen }
    }

    /// Whether a command may be carried out. `now_millis` is the time of day and `start_millis` that of the forwarder's
    /// start by the same setting of the clock, in milliseconds since 1970.
    ///
    /// # Errors
    /// What to answer if not.
    pub fn check(
        &mut self,
        interest: &Interest,
        command: &Command,
        now_millis: u64,
        start_millis: u64,
    ) -> Result<(), Refusal> {
        if self.options.keys.is_empty() || self.is_open(command) {
            let is_right = is_signed(interest) && announces(command, interest, is_data_signed);
            return if is_right { Ok(()) } else { Err(Refusal::NOT_ALLOWED) };
        }
        let acts_on = object(command);
        let may = |key| self.options.rights.as_ref().is_none_or(|it| (it.0)(&acts_on, key));
        let by_a_key = |data: &Data| {
            let keys = self.options.keys.iter().enumerate();
            keys.filter(|(_, key)| key.signature_type() == data.signature_info().typ).any(
                |(at, key)| key.verify(data.signed_portion(), data.signature_value()) && may(at),
            )
        };
        if !announces(command, interest, by_a_key) {
            return Err(Refusal::NOT_ALLOWED);
        }
        let (Some(signature), Some(portion)) = (&interest.signature, interest.signed_portion())
        else {
            return Err(Refusal::NOT_ALLOWED);
        };
        let info = signature.info();
        let time = info.time.ok_or(Refusal::NOT_ALLOWED)?;
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        if time < start_millis || time.abs_diff(now_millis) > grace {
            return Err(Refusal::NOT_IN_TIME);
        }
        let by = |key: &PublicKey| {
            key.signature_type() == info.typ && key.verify(&portion, signature.value())
        };
        let key = self.options.keys.iter().position(by).ok_or(Refusal::NOT_ALLOWED)?;
        if !may(key) {
            return Err(Refusal::NOT_ALLOWED);
        }
        let is_new =
            self.seen.get_mut(key).is_some_and(|seen| seen.note(now_millis, time, &portion));
        if is_new { Ok(()) } else { Err(Refusal::NOT_IN_TIME) }
    }

    fn is_open(&self, command: &Command) -> bool {
        let module = Verb::words(command.verb).0;
        command.scope == Scope::Localhost && self.options.open.iter().any(|it| it == module)
    }
}

/// The name that a command acts on.
fn object(command: &Command) -> Name {
    let (module, _) = Verb::words(command.verb);
    match &command.parameters.name {
        Some(prefix) if matches!(module, "rib" | "fib") => prefix.clone(),
        _ => command.verb.name(command.scope),
    }
}

/// Whether a command that announces a prefix carries an announcement that is signed rightly; others need none.
fn announces(command: &Command, interest: &Interest, is_right: impl Fn(&Data) -> bool) -> bool {
    command.verb != Verb::RibAnnounce
        || announcement::carried(interest).is_some_and(|data| is_right(&data))
}

/// Whether Data is signed by whomever, and its digest right if it is signed by that.
fn is_data_signed(data: &Data) -> bool {
    data.signature_info().typ != SignatureType::DigestSha256
        || data.signature_value() == sha256(data.signed_portion())
}

impl Seen {
    /// Notes a command; `false` if it came before, or may have.
    fn note(&mut self, now_millis: u64, time_millis: u64, portion: &[u8]) -> bool {
        let mut beginning = [0; 16];
        beginning.iter_mut().zip(sha256(portion)).for_each(|(to, from)| *to = from);
        if self.may_be_forgotten(time_millis) || !self.commands.insert((time_millis, beginning)) {
            return false;
        }
        if self.commands.len() > REMEMBERED {
            self.forget(now_millis);
        }
        true
    }

    fn may_be_forgotten(&self, time_millis: u64) -> bool {
        self.forgotten.iter().any(|(first, last)| (*first..=*last).contains(&time_millis))
    }

    /// Forgets the command whose time is farthest from now: the last one that can be in time again.
    fn forget(&mut self, now_millis: u64) {
        let distance = |it: Option<&(u64, _)>| it.map(|(time, _)| time.abs_diff(now_millis));
        let is_past = distance(self.commands.first()) >= distance(self.commands.last());
        let farthest = if is_past { self.commands.pop_first() } else { self.commands.pop_last() };
        let Some((time, _)) = farthest.filter(|(time, _)| !self.may_be_forgotten(*time)) else {
            return;
        };
        let place = self.forgotten.partition_point(|(_, last)| *last < time);
        self.forgotten.insert(place, (time, time));
        if self.forgotten.len() > SPANS {
            self.join();
        }
    }

    /// Makes one of the two spans that are nearest to each other.
    fn join(&mut self) {
        let gaps = self.forgotten.iter().zip(self.forgotten.iter().skip(1));
        let gaps = gaps.map(|((_, before), (behind, _))| behind - before).enumerate();
        if let Some((place, _)) = gaps.min_by_key(|(_, gap)| *gap) {
            let (_, last) = self.forgotten.remove(place + 1);
            self.forgotten.get_mut(place).into_iter().for_each(|span| span.1 = last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ControlParameters, command_interest};
    use super::*;
    use recoup_packet::interest::Uniqueness;
    use recoup_packet::signature::{DigestSigner, HmacSigner, KeyLocator, Signer};

    const START: u64 = 1_000_000;
    const NOW: u64 = 2_000_000;

    fn signer(secret: &[u8]) -> HmacSigner {
        HmacSigner::new(secret, KeyLocator::Digest(&[7; 32]))
    }

    fn made(verb: Verb, signer: &dyn Signer, time: u64, nonce: u8) -> (Interest, Command) {
        let name = Some("/a".parse().unwrap());
        let parameters = ControlParameters { name, ..ControlParameters::default() };
        let unique = Uniqueness { nonce: Some(&[nonce; 8]), time: Some(time), seq_num: None };
        let interest = command_interest(Scope::Localhost, verb, &parameters, signer, unique);
        let scope = Scope::Localhost;
        (interest, Command { scope, verb, parameters, announcement: None })
    }

    #[test]
    fn an_announcement_is_signed_by_a_key_as_its_command_is() {
        use super::super::{PrefixAnnouncement, Request, announce_command};
        let prefix = "/a".parse().unwrap();
        let expires_after = Duration::from_secs(60);
        let announcement = PrefixAnnouncement { prefix, expires_after, validity: None };
        let check = |open: &[&str], by: &dyn Signer, nonce| {
            let data = announcement.to_data(1, by);
            let unique = Uniqueness { nonce: Some(&[nonce; 8]), time: Some(NOW), seq_num: None };
            let interest = announce_command(Scope::Localhost, &data, &signer(b"one"), unique);
            let Some(Ok(Request::Command(command))) = Request::read(&interest) else {
                panic!("it is a command");
            };
            assert_eq!(command.parameters.cost, Some(2_048));
            authority(open).check(&interest, &command, NOW, START)
        };
        assert_eq!(check(&[], &signer(b"two"), 1), Ok(()));
        assert_eq!(check(&[], &signer(b"three"), 2), Err(Refusal::NOT_ALLOWED));
        assert_eq!(check(&["rib"], &signer(b"three"), 3), Ok(()));
        assert_eq!(check(&["rib"], &DigestSigner, 4), Ok(()));
    }

    fn authority(open: &[&str]) -> Authority {
        let keys = vec![PublicKey::from_hmac_secret(b"one"), PublicKey::from_hmac_secret(b"two")];
        let open = open.iter().map(|it| (*it).to_owned()).collect();
        Authority::new(AuthorityOptions { keys, open, rights: None })
    }

    fn code(authority: &mut Authority, (interest, command): &(Interest, Command)) -> u64 {
        let verdict = authority.check(interest, command, NOW, START);
        verdict.map_or_else(|refusal| refusal.code, |()| 200)
    }

    #[test]
    fn restricted_key_acts_on_its_names_only() {
        let mut options = authority(&[]).options;
        let (own, faces) = ("/a".parse().unwrap(), "/localhost/nfd/faces".parse::<Name>().unwrap());
        options.rights = Some(Rights::new(move |name, key| match key {
            0 => *name == own,
            _ => faces.is_prefix_of(name),
        }));
        let mut restricted = Authority::new(options);
        let (route, face) = (Verb::RibRegister, Verb::FaceCreate);
        for (verb, key, expected) in
            [(route, b"one", 200), (route, b"two", 403), (face, b"one", 403), (face, b"two", 200)]
        {
            let command = made(verb, &signer(key), NOW, expected as u8);
            assert_eq!(code(&mut restricted, &command), expected, "{verb:?}");
        }
    }

    #[test]
    fn without_keys_any_signature_does_and_a_wrong_digest_does_not() {
        let mut anybody = Authority::new(AuthorityOptions::default());
        assert_eq!(code(&mut anybody, &made(Verb::FibAddNextHop, &DigestSigner, 1, 1)), 200);
        let (mut interest, command) = made(Verb::FibAddNextHop, &DigestSigner, 1, 1);
        interest.parameters = Some(bytes::Bytes::from_static(b"other"));
        assert_eq!(code(&mut anybody, &(interest, command)), 403);
    }

    #[test]
    fn with_keys_only_they_may_except_where_it_is_open() {
        let mut keys = authority(&["rib"]);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &signer(b"two"), NOW, 1)), 200);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &signer(b"other"), NOW, 1)), 403);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &DigestSigner, NOW, 1)), 403);
        assert_eq!(code(&mut keys, &made(Verb::RibRegister, &DigestSigner, 1, 1)), 200);
        let (interest, command) = made(Verb::RibRegister, &DigestSigner, NOW, 1);
        let hop = Command { scope: Scope::Localhop, ..command };
        assert_eq!(code(&mut keys, &(interest, hop)), 403, "open for this machine only");
    }

    #[test]
    fn a_command_counts_once_and_in_its_time() {
        let mut keys = authority(&[]);
        let first = made(Verb::CsErase, &signer(b"one"), NOW, 1);
        assert_eq!([code(&mut keys, &first), code(&mut keys, &first)], [200, 403]);
        // Another program with the same key was a little earlier, or as early.
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW - 5, 2)), 200);
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW, 2)), 200);
        for time in [START - 1, NOW - 120_001, NOW + 120_001] {
            let (interest, command) = made(Verb::CsErase, &signer(b"one"), time, 3);
            let start = START.min(time + u64::from(time < START));
            let verdict = keys.check(&interest, &command, NOW, start);
            assert_eq!(verdict, Err(Refusal::NOT_IN_TIME), "{time}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded_and_what_is_older_is_refused() {
        let mut keys = authority(&[]);
        for step in 0..2_000 {
            let command = made(Verb::CsErase, &signer(b"one"), NOW - 2_000 + step, 1);
            assert_eq!(code(&mut keys, &command), 200);
        }
        assert_eq!(keys.seen[0].commands.len(), REMEMBERED);
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW - 1_990, 9)), 403);
    }

    /// The codes of the answers to one command after the other by the same key, at times of day in milliseconds.
    fn at(keys: &mut Authority, now: u64, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let check = |time: u64| {
            let (interest, command) = made(Verb::CsErase, &signer(b"one"), time, 1);
            let verdict = keys.check(&interest, &command, now, now.saturating_sub(600_000));
            verdict.map_or_else(|refusal| refusal.code, |()| 200)
        };
        times.into_iter().map(check).collect()
    }

    #[test]
    fn commands_are_taken_whatever_way_the_clock_is_set() {
        let mut keys = authority(&[]);
        const HOUR: u64 = 3_600_000;
        let (noon, years) = (1_800_000_000_000, 4 * 365 * 24 * HOUR);
        for now in [noon, noon + HOUR, noon - HOUR, noon + years, noon + HOUR / 2, 5, noon + 5] {
            assert_eq!(at(&mut keys, now, [now, now + 1, now]), [200, 200, 403], "{now}");
        }
        // So many that not all are remembered, with a clock that is wrong by years.
        let many = |now: u64| (0..3_000).map(move |step| now - 1_500 + step);
        for now in [noon + 2 * HOUR, noon + years + HOUR, noon + 3 * HOUR] {
            assert!(at(&mut keys, now, many(now)).iter().all(|code| *code == 200), "{now}");
            assert!(at(&mut keys, now, many(now)).iter().all(|code| *code == 403), "{now}");
            assert_eq!(at(&mut keys, now, [now + 2_000]), [200]);
        }
        for now in [noon + 2 * HOUR, noon + years + HOUR, noon + 3 * HOUR] {
            assert!(at(&mut keys, now, many(now)).iter().all(|code| *code == 403), "again: {now}");
        }
        let seen = &keys.seen[0];
        assert!(seen.commands.len() == REMEMBERED && seen.forgotten.len() <= SPANS);
    }

    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn no_command_is_carried_out_twice(
            steps in prop::collection::vec((0..200_000_u64, -40_i64..40), 1..40),
        ) {
            let mut keys = authority(&[]);
            let mut done = std::collections::BTreeSet::new();
            for (now, drift) in steps {
                let now = 10_000_000 + now;
                for number in 0..60_i64 {
                    let time = now.saturating_add_signed(number * drift);
                    let is_done = at(&mut keys, now, [time]) == [200];
                    prop_assert!(!is_done || done.insert(time), "{time} at {now}");
                }
            }
        }
    }
}
