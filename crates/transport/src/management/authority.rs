//! Authorization of management commands.
//!
//! Without configured keys the face decides: a signed command from a local face is executed, whatever its key; a
//! digest signature must be correct. With keys, commands must be signed by one of them and be made after the start of
//! the forwarder. They must be at most [`GRACE`] away from its clock, and not be replays. A prefix announcement in a
//! command is verified like the command, except for its time.
//!
//! A key may be restricted ([`Rights`]): to routes of some prefixes, and to some commands.
//!
//! Source: NFD's wiki page "CommandAuthenticator", ndn-cxx, `security/validation-policy-signed-interest.cpp`.
//!
//! Differences: a command need not be later than the one before by the same key. Two programs with one key overtake
//! each other, and clocks are set. Instead commands are remembered by digest. If there are too many, the
//! command whose time is farthest from now is forgotten. The spans of time that contain all forgotten ones are
//! rejected. A command is thus executed at most once, whatever the clock does. Commands from before the start are
//! rejected, because earlier ones are not remembered. The start is converted to the current setting of the clock.
//! Signed Interests of packet format v0.2 carry no signatures by keys here.
use super::announcement;
use super::answer::{Command, Rejection, is_signed};
use super::{Scope, Verb};
use recoup_packet::data::Data;
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::{PublicKey, sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Longest distance between a command's time and the forwarder's clock.
pub const GRACE: Duration = Duration::from_secs(120);
/// Commands of each key that are remembered.
const REMEMBERED: usize = 1_024;
/// Spans of time that hold the forgotten commands of a key.
const SPANS: usize = 8;
/// Most keys: each is tried, and a wrong signature costs as much as a correct one.
pub const MAX_KEYS: usize = 16;

/// Keys, and the commands allowed without them.
#[derive(Clone, Debug, Default)]
pub struct AuthorityOptions {
    /// Keys whose commands are executed; without any, those of all local programs. Only the first [`MAX_KEYS`] count.
    pub keys: Vec<PublicKey>,
    /// Modules whose commands local programs may send without a key, such as `rib`.
    pub open: Vec<String>,
    /// Rights of the keys; `None`: each key may do everything.
    pub rights: Option<Rights>,
}

/// Whether the key with a number, counted from 0, may act on a name.
type Right = dyn Fn(&Name, usize) -> bool + Send + Sync;

/// Rights of keys, by name. Commands that change routes act on the prefix of the route, the others on the beginning of
/// their own names, such as `/localhost/nfd/faces/create`.
#[derive(Clone)]
pub struct Rights(Arc<Right>);

impl Rights {
    /// `may` returns whether a key, by its number in [`AuthorityOptions::keys`], may act on a name.
    pub fn new(may: impl Fn(&Name, usize) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(may))
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rights")
    }
}

/// Authorizes commands.
#[derive(Debug)]
pub struct Authority {
    options: AuthorityOptions,
    /// Received commands of each key.
    seen: Vec<Seen>,
}

/// Commands of one key: their times in milliseconds and the first bytes of their digests.
#[derive(Clone, Debug, Default)]
struct Seen {
    commands: BTreeSet<(u64, [u8; 16])>,
    /// First and last time of spans that contain all forgotten commands; sorted and disjoint.
    forgotten: Vec<(u64, u64)>,
}

impl Authority {
    /// An authority without received commands.
    #[must_use]
    pub fn new(mut options: AuthorityOptions) -> Self {
        options.keys.truncate(MAX_KEYS);
        let seen = vec![Seen::default(); options.keys.len()];
        Self { options, seen }
    }

    /// Checks whether a command may be executed. `now_millis` is the time of day. `start_millis` is that of the
    /// forwarder's start, by the current setting of the clock. Both are milliseconds since 1970.
    ///
    /// # Errors
    /// The answer to a command that may not.
    pub fn check(
        &mut self,
        interest: &Interest,
        command: &Command,
        now_millis: u64,
        start_millis: u64,
    ) -> Result<(), Rejection> {
        if self.options.keys.is_empty() || self.is_open(command) {
            let is_right = is_signed(interest) && announces(command, interest, is_data_signed);
            return if is_right { Ok(()) } else { Err(Rejection::NOT_ALLOWED) };
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
            return Err(Rejection::NOT_ALLOWED);
        }
        let (Some(signature), Some(portion)) = (&interest.signature, interest.signed_portion())
        else {
            return Err(Rejection::NOT_ALLOWED);
        };
        let info = signature.info();
        let time = info.time.ok_or(Rejection::NOT_ALLOWED)?;
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        if time < start_millis || time.abs_diff(now_millis) > grace {
            return Err(Rejection::NOT_IN_TIME);
        }
        let by = |key: &PublicKey| {
            key.signature_type() == info.typ && key.verify(&portion, signature.value())
        };
        let key = self.options.keys.iter().position(by).ok_or(Rejection::NOT_ALLOWED)?;
        if !may(key) {
            return Err(Rejection::NOT_ALLOWED);
        }
        let is_new =
            self.seen.get_mut(key).is_some_and(|seen| seen.note(now_millis, time, &portion));
        if is_new { Ok(()) } else { Err(Rejection::NOT_IN_TIME) }
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

/// Whether the announcement in a command, if it needs one, is correctly signed.
fn announces(command: &Command, interest: &Interest, is_right: impl Fn(&Data) -> bool) -> bool {
    command.verb != Verb::RibAnnounce
        || announcement::carried(interest).is_some_and(|data| is_right(&data))
}

/// Whether Data is signed; a digest signature is verified.
fn is_data_signed(data: &Data) -> bool {
    !data.has_digest() || data.signature_value() == sha256(data.signed_portion())
}

impl Seen {
    /// Records a command; `false` for a replay, or a possible one.
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

    /// Joins the two nearest spans.
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
    fn announcement_is_authorized_like_its_command() {
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
        assert_eq!(check(&[], &signer(b"three"), 2), Err(Rejection::NOT_ALLOWED));
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
        verdict.map_or_else(|rejection| rejection.code, |()| 200)
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
    fn any_signature_is_accepted_without_keys() {
        let mut anybody = Authority::new(AuthorityOptions::default());
        assert_eq!(code(&mut anybody, &made(Verb::FibAddNextHop, &DigestSigner, 1, 1)), 200);
        let (mut interest, command) = made(Verb::FibAddNextHop, &DigestSigner, 1, 1);
        interest.parameters = Some(bytes::Bytes::from_static(b"other"));
        assert_eq!(code(&mut anybody, &(interest, command)), 403);
    }

    #[test]
    fn keys_are_required_except_for_open_modules() {
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
    fn command_is_executed_once_and_in_time() {
        let mut keys = authority(&[]);
        let first = made(Verb::CsErase, &signer(b"one"), NOW, 1);
        assert_eq!([code(&mut keys, &first), code(&mut keys, &first)], [200, 403]);
        // Another program with the same key was slightly earlier, or as early.
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW - 5, 2)), 200);
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW, 2)), 200);
        for time in [START - 1, NOW - 120_001, NOW + 120_001] {
            let (interest, command) = made(Verb::CsErase, &signer(b"one"), time, 3);
            let start = START.min(time + u64::from(time < START));
            let verdict = keys.check(&interest, &command, NOW, start);
            assert_eq!(verdict, Err(Rejection::NOT_IN_TIME), "{time}");
        }
    }

    #[test]
    fn forgotten_commands_are_rejected() {
        let mut keys = authority(&[]);
        for step in 0..2_000 {
            let command = made(Verb::CsErase, &signer(b"one"), NOW - 2_000 + step, 1);
            assert_eq!(code(&mut keys, &command), 200);
        }
        assert_eq!(keys.seen[0].commands.len(), REMEMBERED);
        assert_eq!(code(&mut keys, &made(Verb::CsErase, &signer(b"one"), NOW - 1_990, 9)), 403);
    }

    /// Status codes of one command after the other by the same key, at these times of day in milliseconds.
    fn at(keys: &mut Authority, now: u64, times: impl IntoIterator<Item = u64>) -> Vec<u64> {
        let check = |time: u64| {
            let (interest, command) = made(Verb::CsErase, &signer(b"one"), time, 1);
            let verdict = keys.check(&interest, &command, now, now.saturating_sub(600_000));
            verdict.map_or_else(|rejection| rejection.code, |()| 200)
        };
        times.into_iter().map(check).collect()
    }

    #[test]
    fn commands_are_accepted_after_clock_changes() {
        let mut keys = authority(&[]);
        const HOUR: u64 = 3_600_000;
        let (noon, years) = (1_800_000_000_000, 4 * 365 * 24 * HOUR);
        for now in [noon, noon + HOUR, noon - HOUR, noon + years, noon + HOUR / 2, 5, noon + 5] {
            assert_eq!(at(&mut keys, now, [now, now + 1, now]), [200, 200, 403], "{now}");
        }
        // More commands than are remembered, with a clock that is wrong by years.
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
