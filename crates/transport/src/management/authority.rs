//! Authorization of management commands.
//!
//! Each command is a signed Interest with a time and a nonce. The time is that of a moment after the start of the forwarder, at
//! most [`GRACE`] away from its clock. A command is executed once.
//!
//! Without configured keys the face decides: such a command from a local face is executed, whatever its key; a
//! digest signature must be correct. With keys, commands must be signed by one of them. A prefix announcement in a
//! command is verified like the command, except for its time.
//!
//! A key may be restricted ([`Rights`]): to routes of some prefixes, and to some commands.
//!
//! A command of packet format v0.2 is all in its name. Each program that sends names of others can therefore be led to
//! send a command: a browser, a gateway, a consumer that follows key locators. Such a command is rejected, unless
//! [`AuthorityOptions::takes_v0_2`] allows such commands to register names for the face on which they arrive.
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
use super::answer::{Command, Rejection};
use super::proof::Proof;
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
    /// Commands of packet format v0.2 may register and unregister names for their own face, where no key is required.
    pub takes_v0_2: bool,
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
    /// Received commands that needed no key.
    of_anybody: Seen,
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
        Self { options, seen, of_anybody: Seen::default() }
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
        let proof = Proof::of(interest).ok_or(Rejection::NOT_ALLOWED)?;
        if proof.is_in_name && !self.lets_v0_2(command) {
            return Err(Rejection::V0_2);
        }
        let time = proof.time.ok_or(Rejection::NOT_UNIQUE)?;
        let grace = u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX);
        if time < start_millis || time.abs_diff(now_millis) > grace {
            return Err(Rejection::NOT_IN_TIME);
        }
        let signer = self.signer(interest, command, &proof).ok_or(Rejection::NOT_ALLOWED)?;
        let seen = match signer {
            SignedBy::Anybody => Some(&mut self.of_anybody),
            SignedBy::Key(key) => self.seen.get_mut(key),
        };
        let is_new = seen.is_some_and(|seen| seen.note(now_millis, time, &proof.portion));
        if is_new { Ok(()) } else { Err(Rejection::NOT_IN_TIME) }
    }

    /// Signer of a command; `None` if that signer may not give the command.
    fn signer(&self, interest: &Interest, command: &Command, proof: &Proof) -> Option<SignedBy> {
        if self.options.keys.is_empty() || self.is_open(command) {
            let is_right = proof.is_intact() && announces(command, interest, is_data_signed);
            return is_right.then_some(SignedBy::Anybody);
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
            return None;
        }
        let key = self.options.keys.iter().position(|key| proof.is_by(key))?;
        may(key).then_some(SignedBy::Key(key))
    }

    /// Whether a command with its signature in its name may be executed: it changes routes of its own face only.
    fn lets_v0_2(&self, command: &Command) -> bool {
        let is_own = command.parameters.face_id.is_none_or(|face| face == 0);
        self.options.takes_v0_2
            && is_own
            && matches!(command.verb, Verb::RibRegister | Verb::RibUnregister)
    }

    fn is_open(&self, command: &Command) -> bool {
        let module = Verb::words(command.verb).0;
        command.scope == Scope::Localhost && self.options.open.iter().any(|it| it == module)
    }
}

/// The signer of a command.
#[derive(Clone, Copy, Debug)]
enum SignedBy {
    /// A local program, where no key is required.
    Anybody,
    /// A configured key, by its number.
    Key(usize),
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
        Authority::new(AuthorityOptions { keys, open, ..AuthorityOptions::default() })
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
        let verb = Verb::FibAddNextHop;
        assert_eq!(code(&mut anybody, &made(verb, &DigestSigner, NOW, 1)), 200);
        assert_eq!(code(&mut anybody, &made(verb, &signer(b"unknown"), NOW, 1)), 200);
        let (mut interest, command) = made(verb, &DigestSigner, NOW, 2);
        interest.parameters = Some(bytes::Bytes::from_static(b"other"));
        assert_eq!(code(&mut anybody, &(interest, command)), 403);
    }

    #[test]
    fn command_without_keys_is_fresh_and_new() {
        let mut anybody = Authority::new(AuthorityOptions::default());
        let mut check = |unique: Uniqueness<'_>| {
            let (_, command) = made(Verb::CsErase, &DigestSigner, NOW, 1);
            let (scope, verb) = (command.scope, command.verb);
            let interest =
                command_interest(scope, verb, &command.parameters, &DigestSigner, unique);
            anybody.check(&interest, &command, NOW, START).map_err(|it| it.text)
        };
        let unique = |nonce, time| Uniqueness { nonce, time, seq_num: None };
        let (nonce, other) = (Some(&[1; 8][..]), Some(&[2; 8][..]));
        let (late, early, before) = (NOW - 120_001, NOW + 120_001, START - 1);
        for (nonce, time, rejection) in [
            (nonce, Some(NOW), None),
            (nonce, Some(NOW), Some(Rejection::NOT_IN_TIME)),
            (other, Some(NOW), None),
            (other, Some(NOW - 120_000), None),
            (nonce, Some(late), Some(Rejection::NOT_IN_TIME)),
            (nonce, Some(early), Some(Rejection::NOT_IN_TIME)),
            (nonce, Some(before), Some(Rejection::NOT_IN_TIME)),
            (nonce, None, Some(Rejection::NOT_UNIQUE)),
            (None, Some(NOW + 1), Some(Rejection::NOT_UNIQUE)),
            (Some(&[3; 7][..]), Some(NOW + 1), Some(Rejection::NOT_UNIQUE)),
        ] {
            let expected = rejection.map_or(Ok(()), |it| Err(it.text));
            assert_eq!(check(unique(nonce, time)), expected, "{nonce:?} {time:?}");
        }
    }

    /// A command of packet format v0.2, as python-ndn makes it.
    fn in_name(verb: Verb, face_id: Option<u64>, time: u64, nonce: &[u8]) -> (Interest, Command) {
        let name = Some("/a".parse().unwrap());
        let parameters = ControlParameters { name, face_id, ..ControlParameters::default() };
        let words = [&parameters.to_bytes()[..], &time.to_be_bytes(), nonce, b"\x16\x03\x1b\x01\0"];
        let name = words.into_iter().fold(verb.name(Scope::Localhost), |name, word| {
            name.append(recoup_packet::name::Component::generic(word))
        });
        let value = [&b"\x17\x20"[..], &sha256(name.value())].concat();
        let interest = Interest::new(name.append(recoup_packet::name::Component::generic(&value)));
        (interest, Command { scope: Scope::Localhost, verb, parameters, announcement: None })
    }

    #[test]
    fn name_alone_commands_nothing_by_default() {
        let open = vec!["rib".to_owned()];
        let keys = vec![PublicKey::from_hmac_secret(b"one")];
        let with_keys = AuthorityOptions { keys, open, ..AuthorityOptions::default() };
        for options in [AuthorityOptions::default(), with_keys] {
            let mut authority = Authority::new(options);
            for (verb, ..) in Verb::ALL {
                let (interest, command) = in_name(verb, None, NOW, b"nonce of");
                let verdict = authority.check(&interest, &command, NOW, START);
                assert_eq!(verdict, Err(Rejection::V0_2), "{verb:?}");
            }
        }
    }

    #[test]
    fn configured_v0_2_registers_its_own_face_only() {
        let options = AuthorityOptions { takes_v0_2: true, ..AuthorityOptions::default() };
        let mut authority = Authority::new(options.clone());
        for (verb, ..) in Verb::ALL {
            let may = matches!(verb, Verb::RibRegister | Verb::RibUnregister);
            let mut code = |face, time, nonce: &[u8]| {
                code(&mut authority, &in_name(verb, face, time, nonce)) == 200
            };
            assert_eq!(code(None, NOW, b"nonce of"), may, "{verb:?}");
            assert!(!code(None, NOW, b"nonce of"), "repeated: {verb:?}");
            assert_eq!(code(Some(0), NOW, b"nonce of"), may, "{verb:?}");
            assert!(!code(Some(7), NOW, b"another!"), "of another face: {verb:?}");
            assert!(!code(None, NOW - 120_001, b"nonce of"), "late: {verb:?}");
            assert!(!code(None, NOW + 1, b"KEY"), "no nonce: {verb:?}");
        }
        let keys = vec![PublicKey::from_hmac_secret(b"one")];
        let mut keys = Authority::new(AuthorityOptions { keys, ..options });
        assert_eq!(code(&mut keys, &in_name(Verb::RibRegister, None, NOW, b"nonce of")), 403);
    }

    #[test]
    fn keys_are_required_except_for_open_modules() {
        let mut keys = authority(&["rib"]);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &signer(b"two"), NOW, 1)), 200);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &signer(b"other"), NOW, 1)), 403);
        assert_eq!(code(&mut keys, &made(Verb::FaceDestroy, &DigestSigner, NOW, 1)), 403);
        assert_eq!(code(&mut keys, &made(Verb::RibRegister, &DigestSigner, NOW, 2)), 200);
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
