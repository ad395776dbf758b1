//! The certificates of a consumer: anchors that its user trusts, and what their chains have verified.
//!
//! A [`TrustStore`] judges packets. A packet is verified if its key locator names a certificate with four properties.
//! The policy lets its owner sign the packet's name. Its key made the signature. It is valid now. It is an anchor, or verified
//! itself. The resolver of the fetch loop fetches missing certificates ([`Certificates`]).
//!
//! Bounds: [`MAX_CERTIFICATES`] verified certificates, [`MAX_REJECTED`] names that cannot be had.
mod known;

use crate::certificate::{self, Certificate, CertificateError};
use crate::manifest::Signing;
use crate::policy::{Locator, Policy};
use known::{Entry, Known};
pub use known::{MAX_CERTIFICATES, MAX_REJECTED};
use recoup_packet::data::Data;
use recoup_packet::name::Name;
use recoup_packet::signature::{Certificates, SignatureInfo, Verdict, Verifier};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long a certificate counts as not to be had, in seconds.
const REJECTED_S: u64 = 5;

const NO_LOCATOR: Verdict = Verdict::Bad("names no key that signed it");
const NO_SIGNATURE: Verdict = Verdict::Bad("carries only a digest, no signature by a key");
const NO_CERTIFICATE: Verdict = Verdict::Bad("is signed by a key whose certificate cannot be had");
const NO_KEY_NAME: Verdict = Verdict::Bad("is signed by something that is no key by its name");
const NOT_TRUSTED: Verdict =
    Verdict::Bad("is signed by a key for which only certificates came that cannot be trusted");
const SELF_SIGNED: Verdict = Verdict::Invalid(
    "is signed by a key whose chain of certificates ends in one that is signed by itself, and no trust anchor",
);
const WRONG: Verdict = Verdict::Bad("is not signed by the key that it names");

/// An anchor that cannot be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// The anchor is no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// Its validity period is over, or has not begun.
    #[error("the trust anchor {name} is valid from {from} to {to} only")]
    NotValid {
        /// Name of the certificate.
        name: Name,
        /// First second of validity, as `YYYYMMDDThhmmss`, UTC.
        from: String,
        /// Last second of validity.
        to: String,
    },
    /// The schema has no rule for it.
    #[error("no rule of the trust schema matches the trust anchor {0}")]
    Unmatched(Name),
    /// There is none.
    #[error("there is no trust anchor")]
    Missing,
}

/// Returns the time, in seconds since 1970-01-01 UTC.
pub type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

/// Judges packets by chains of certificates.
pub struct TrustStore {
    policy: Policy,
    clock: Clock,
    known: Mutex<Known>,
}

/// State of a packet's signer.
enum Signer {
    /// Its chain is verified. It may not be valid now.
    Known(Arc<Entry>),
    Missing(Name),
    Rejected(Verdict),
}

impl TrustStore {
    /// A store that trusts `anchors`.
    ///
    /// # Errors
    /// [`AnchorError`]: one of them cannot be used.
    pub fn new(policy: Policy, anchors: Vec<Data>, clock: Clock) -> Result<Self, AnchorError> {
        let now = clock();
        let mut known = Known::default();
        for data in anchors {
            let certificate = Certificate::new(data)?;
            let (from, until) = (certificate.not_before(), certificate.not_after());
            let name = certificate.name().clone();
            if now < from || now > until {
                let [from, to] = [from, until].map(certificate::date);
                return Err(AnchorError::NotValid { name, from, to });
            }
            if let Policy::Schema(schema) = &policy
                && !schema.matches(&name)
            {
                return Err(AnchorError::Unmatched(name));
            }
            let valid = from..=until;
            known.certificates.insert(name, Arc::new(Entry { certificate, valid, number: 0 }));
        }
        if known.certificates.is_empty() {
            return Err(AnchorError::Missing);
        }
        Ok(Self { policy, clock, known: Mutex::new(known) })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The certificate by which `data` is to be verified.
    fn signer(&self, data: &Data) -> Signer {
        if data.has_digest() {
            return Signer::Rejected(NO_SIGNATURE);
        }
        let Some(name) = certificate::locator(data) else {
            return Signer::Rejected(NO_LOCATOR);
        };
        // Before any Interest for it: what a forger names may be no key at all.
        let Some(locator) = Locator::of(&name) else {
            return Signer::Rejected(NO_KEY_NAME);
        };
        if let Err(why) = self.policy.check_locator(data.name(), &name, locator) {
            let is_own = name.is_prefix_of(data.name());
            return Signer::Rejected(if is_own { SELF_SIGNED } else { Verdict::Bad(why) });
        }
        let is_whole = locator == Locator::Certificate;
        let now = (self.clock)();
        let mut known = self.known();
        let below = known.certificates.range(name.clone()..);
        let mut other = None;
        for (_, entry) in below.take_while(|(found, _)| name.is_prefix_of(found)) {
            let allowed = match is_whole {
                true => Ok(()),
                false => self.policy.check(data.name(), entry.certificate.name()),
            };
            other = Some(match allowed {
                Err(why) => Signer::Rejected(Verdict::Bad(why)),
                Ok(()) if entry.is_valid(now).is_ok() => return Signer::Known(Arc::clone(entry)),
                Ok(()) => Signer::Known(Arc::clone(entry)),
            });
        }
        match other {
            Some(other) if is_whole => return other,
            // A renewed certificate of the key may be there.
            _ => {}
        }
        if name.is_prefix_of(data.name()) {
            return Signer::Rejected(SELF_SIGNED);
        }
        match known.rejected.get(&name).copied() {
            Some((until, verdict)) if now < until => {
                return other.unwrap_or(Signer::Rejected(verdict));
            }
            _ => known.rejected.remove(&name),
        };
        Signer::Missing(name)
    }

    fn judge_data(&self, data: &Data) -> (Verdict, Option<Arc<Entry>>) {
        let entry = match self.signer(data) {
            Signer::Known(entry) => entry,
            Signer::Missing(_) => return (Verdict::Pending, None),
            Signer::Rejected(verdict) => return (verdict, None),
        };
        let key = entry.certificate.key();
        let info = data.signature_info();
        if info.typ != key.signature_type()
            || !key.verify(data.signed_portion(), data.signature_value())
        {
            return (WRONG, None);
        }
        let verdict =
            entry.is_valid((self.clock)()).map_or_else(Verdict::Invalid, |()| Verdict::Verified);
        (verdict, Some(entry))
    }

    fn reject(&self, name: &Name, verdict: Verdict) {
        let until = (self.clock)().saturating_add(REJECTED_S);
        self.known().reject(name, until, verdict);
    }
}

/// A verified certificate.
pub struct Verified(Arc<Entry>);

impl Signing for Arc<TrustStore> {
    type Key = Verified;

    fn key_of(&self, manifest: &Data) -> Option<Verified> {
        match self.signer(manifest) {
            Signer::Known(entry) if entry.is_valid((self.clock)()).is_ok() => Some(Verified(entry)),
            Signer::Known(_) | Signer::Missing(_) | Signer::Rejected(_) => None,
        }
    }

    fn covers(&self, Verified(key): &Verified, object: &Name) -> bool {
        self.policy.covers(object, key.certificate.name())
    }

    fn is_valid(&self, Verified(key): &Verified) -> Result<(), &'static str> {
        key.is_valid((self.clock)())
    }

    fn may_sign(&self, Verified(key): &Verified, name: &Name) -> Result<(), &'static str> {
        self.policy.check(name, key.certificate.name())
    }
}

impl Verifier for TrustStore {
    /// Its answers depend on the name of a packet: use [`verify`](Verifier::verify).
    fn judge(&self, _: &SignatureInfo<'_>, _: &[u8], _: &[u8]) -> Verdict {
        Verdict::Bad("cannot be judged without its name")
    }

    fn verify(&self, data: &Data) -> Verdict {
        self.judge_data(data).0
    }

    fn certificates(&self) -> Option<&dyn Certificates> {
        Some(self)
    }
}

impl Certificates for TrustStore {
    fn missing(&self, data: &Data) -> Option<Name> {
        match self.signer(data) {
            Signer::Missing(name) => Some(name),
            Signer::Known(_) | Signer::Rejected(_) => None,
        }
    }

    fn take(&self, data: &Data) -> Verdict {
        let Ok(certificate) = Certificate::new(data.clone()) else {
            return Verdict::Bad("is no certificate");
        };
        match self.judge_data(data) {
            (_, Some(signer)) => {
                let valid = self.known().keep(certificate, &signer).is_valid((self.clock)());
                valid.map_or_else(Verdict::Invalid, |()| Verdict::Verified)
            }
            (verdict, None) => verdict,
        }
    }

    fn give_up(&self, name: &Name) {
        self.reject(name, NO_CERTIFICATE);
    }

    fn rule_out(&self, name: &Name, verdict: Verdict) {
        let is_reason = matches!(verdict, Verdict::Invalid(_)) || verdict == NO_CERTIFICATE;
        self.reject(name, if is_reason { verdict } else { NOT_TRUSTED });
    }
}

impl fmt::Debug for TrustStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustStore({:?}, {} certificates)", self.policy, self.known().certificates.len())
    }
}

#[cfg(test)]
mod tests {
    use super::known::{EXPIRED, NOT_YET};
    use super::*;
    use crate::schema::{Functions, Schema, compile};
    use recoup_packet::data::{ContentType, DataBuilder};
    use recoup_packet::signature::{
        DigestSigner, Ed25519Signer, KeyLocator, SignatureType, Signer, Validity,
    };
    use std::sync::atomic::{AtomicU64, Ordering};

    const SCHEMA: &str = r##"
        #root: "site"/#KEY
        #author: "site"/author/#KEY <= #root
        #data: "site"/author/"data" <= #author
        #KEY: "KEY"/_/_/_
    "##;
    /// 2001-09-09T01:46:40.
    const NOW: u64 = 1_000_000_000;

    /// A key; its certificate is valid for 1,000 s around [`NOW`].
    struct Key {
        seed: [u8; 32],
        certificate: Data,
    }

    struct Certifier<'a>(&'a dyn Signer, [String; 2]);

    impl Signer for Certifier<'_> {
        fn signature_type(&self) -> SignatureType {
            self.0.signature_type()
        }

        fn key_locator(&self) -> Option<KeyLocator<'_>> {
            self.0.key_locator()
        }

        fn max_signature_len(&self) -> usize {
            self.0.max_signature_len()
        }

        fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
            self.0.sign(signed_portion, out)
        }

        fn signature_info(&self) -> SignatureInfo<'_> {
            let [from, to] = &self.1;
            let validity = Validity { not_before: from.as_bytes(), not_after: to.as_bytes() };
            SignatureInfo { validity: Some(validity), ..self.0.signature_info() }
        }
    }

    fn signer(seed: [u8; 32], locator: &Name) -> Ed25519Signer {
        Ed25519Signer::new(&seed, KeyLocator::Name(locator.value())).unwrap()
    }

    impl Key {
        fn new(name: &str, seed: u8, issuer: Option<&Self>) -> Self {
            Self::valid(name, seed, issuer, (NOW - 1_000, NOW + 1_000))
        }

        fn valid(name: &str, seed: u8, issuer: Option<&Self>, (from, to): (u64, u64)) -> Self {
            let (name, seed): (Name, _) = (name.parse().unwrap(), [seed; 32]);
            let (by, locator) = issuer.map_or_else(
                || (seed, certificate::key_name(&name).unwrap()),
                |issuer| (issuer.seed, issuer.certificate.name().clone()),
            );
            let public = signer(seed, &name);
            let prefix = [48, 42, 48, 5, 6, 3, 43, 101, 112, 3, 33, 0];
            let spki = [&prefix, public.public_bytes()].concat();
            let by = signer(by, &locator);
            let certifier = Certifier(&by, [from, to].map(certificate::date));
            let builder = DataBuilder::new(&name).content_type(ContentType::Key);
            Self { seed, certificate: builder.build(&spki, &certifier) }
        }

        fn signs(&self, name: &str) -> Data {
            let signer = signer(self.seed, self.certificate.name());
            DataBuilder::new(&name.parse().unwrap()).build(b"content", &signer)
        }
    }

    struct Case {
        root: Key,
        author: Key,
        store: TrustStore,
        clock: Arc<AtomicU64>,
    }

    fn case() -> Case {
        let root = Key::new("/site/KEY/1/self/v=1", 1, None);
        let author = Key::new("/site/ann/KEY/1/site/v=1", 2, Some(&root));
        let schema = Schema::new(compile(SCHEMA).unwrap(), Functions::standard()).unwrap();
        let clock = Arc::new(AtomicU64::new(NOW));
        let shown = Arc::clone(&clock);
        let clock_of_store: Clock = Box::new(move || shown.load(Ordering::Relaxed));
        let anchors = vec![root.certificate.clone()];
        let store = TrustStore::new(Policy::Schema(schema), anchors, clock_of_store).unwrap();
        Case { root, author, store, clock }
    }

    #[test]
    fn packet_waits_for_the_certificate_of_its_key() {
        let Case { author, store, .. } = case();
        let data = author.signs("/site/ann/data");
        assert_eq!(store.verify(&data), Verdict::Pending);
        assert_eq!(store.missing(&data).as_ref(), Some(author.certificate.name()));
        assert_eq!(store.take(&author.certificate), Verdict::Verified);
        assert_eq!(store.verify(&data), Verdict::Verified);
        assert_eq!(store.missing(&data), None);
    }

    #[test]
    fn key_locator_may_leave_out_issuer_and_version() {
        let Case { author, store, .. } = case();
        for from_end in [1, 2] {
            let certificate = author.certificate.name();
            let locator = certificate.prefix(certificate.len() - from_end);
            let signer = signer(author.seed, &locator);
            let sign = |name: &str| DataBuilder::new(&name.parse().unwrap()).build(b"x", &signer);
            let (data, foreign) = (sign("/site/ann/data"), sign("/site/bob/data"));
            if from_end == 1 {
                assert_eq!(store.missing(&data), Some(locator.clone()));
                assert_eq!(store.take(&author.certificate), Verdict::Verified);
            }
            assert_eq!(store.verify(&data), Verdict::Verified);
            assert!(!matches!(store.verify(&foreign), Verdict::Verified));
        }
    }

    #[test]
    fn schema_rejects_before_a_certificate_is_fetched() {
        let Case { author, store, .. } = case();
        let data = author.signs("/site/bob/data");
        assert_eq!(store.missing(&data), None);
        assert!(matches!(store.verify(&data), Verdict::Bad(why) if why.contains("schema")));
    }

    /// Names that a forger may put into a key locator, for a packet of `/site/ann/data`: no Interest may leave for it.
    const FORGED: [&str; 9] = [
        "/site/bob/KEY/1",
        "/site/bob/KEY/1/site",
        "/elsewhere/KEY/1",
        "/site/ann/data/x",
        "/localhost/nfd/rib/KEY/1",
        "/localhop/nfd/KEY/1/i/v=1",
        "/localhost/nfd/faces/create/h/t/KEY/%16%03%1b%01%00/%17%00",
        "/localhost/nfd/faces/create/h/KEY/n/%16%03%1b%01%00/%17%00",
        "/site/ann/repo/delete/t/KEY/%16%03%1b%01%00/%17%00",
    ];

    #[test]
    fn forged_key_locator_causes_no_interest() {
        let Case { root, author, store, .. } = case();
        let anchors = vec![root.certificate.clone()];
        let hierarchy = TrustStore::new(Policy::Hierarchical, anchors, Box::new(|| NOW)).unwrap();
        for locator in FORGED {
            let signer = signer(author.seed, &locator.parse().unwrap());
            let sign = |name: &str| DataBuilder::new(&name.parse().unwrap()).build(b"x", &signer);
            for (store, name) in [(&store, "/site/ann/data"), (&hierarchy, "/site/ann/data")] {
                assert_eq!(store.missing(&sign(name)), None, "{locator}");
                assert!(matches!(store.verify(&sign(name)), Verdict::Bad(_)), "{locator}");
            }
        }
    }

    #[test]
    fn certificate_of_another_issuer_is_rejected() {
        let Case { author, store, .. } = case();
        let stranger = Key::new("/site/KEY/1/self/v=1", 9, None);
        let forged = Key::new("/site/ann/KEY/1/site/v=1", 3, Some(&stranger));
        assert_eq!(store.take(&forged.certificate), WRONG);
        let itself = Key::new("/site/KEY/2/self/v=1", 4, None);
        assert_eq!(store.take(&itself.certificate), SELF_SIGNED);
        assert_eq!(store.verify(&author.signs("/site/ann/data")), Verdict::Pending);
        let mut bits = author.certificate.wire().to_vec();
        *bits.last_mut().unwrap() ^= 1;
        let flipped = Data::decode(bits.into()).unwrap();
        assert_eq!(store.take(&flipped), WRONG);
    }

    #[test]
    fn changed_packet_is_rejected() {
        let Case { author, store, .. } = case();
        store.take(&author.certificate);
        let data = author.signs("/site/ann/data");
        let wire = data.wire();
        for at in [wire.len() - 1, wire.len() - 40] {
            let mut bits = wire.to_vec();
            bits[at] ^= 1;
            if let Ok(flipped) = Data::decode(bits.into()) {
                assert!(matches!(store.verify(&flipped), Verdict::Bad(_)), "{at}");
            }
        }
        let digest = DataBuilder::new(data.name()).build(b"content", &DigestSigner);
        assert_eq!(store.verify(&digest), NO_SIGNATURE);
    }

    #[test]
    fn validity_of_the_whole_chain_counts() {
        let Case { root, author, store, clock } = case();
        store.take(&author.certificate);
        let data = author.signs("/site/ann/data");
        clock.store(NOW + 1_001, Ordering::Relaxed);
        assert_eq!(store.verify(&data), Verdict::Invalid(EXPIRED));
        assert_eq!(store.take(&author.certificate), Verdict::Invalid(EXPIRED));
        clock.store(NOW, Ordering::Relaxed);
        let name = "/site/bob/KEY/1/site/v=1";
        let long = Key::valid(name, 5, Some(&root), (NOW, NOW + 1_000_000));
        assert_eq!(store.take(&long.certificate), Verdict::Verified);
        assert_eq!(store.verify(&long.signs("/site/bob/data")), Verdict::Verified);
        clock.store(NOW + 1_001, Ordering::Relaxed);
        let over = store.verify(&long.signs("/site/bob/data"));
        assert_eq!(over, Verdict::Invalid(EXPIRED), "its issuer's is over");
    }

    #[test]
    fn only_a_right_signature_makes_validity_count() {
        for (period, why) in [((0, NOW - 1), EXPIRED), ((NOW + 1, NOW + 9), NOT_YET)] {
            let Case { root, author, store, clock } = case();
            let name = author.certificate.name().to_string();
            let stranger = Key::new("/site/KEY/1/self/v=1", 9, None);
            let forged = Key::valid(&name, 3, Some(&stranger), period);
            assert_eq!(store.take(&forged.certificate), WRONG);
            let data = author.signs("/site/ann/data");
            assert_eq!(store.verify(&data), Verdict::Pending, "a forged one changes nothing");
            let late = Key::valid(&name, 2, Some(&root), period);
            assert_eq!(store.take(&late.certificate), Verdict::Invalid(why));
            assert_eq!((store.missing(&data), store.verify(&data)), (None, Verdict::Invalid(why)));
            let other = Key::new(&name, 3, None).signs("/site/ann/data");
            assert_eq!(store.verify(&other), WRONG, "not signed by that key");
            clock.store(*[period.0, NOW].iter().max().unwrap(), Ordering::Relaxed);
            let counts = period.0 > NOW;
            assert_eq!(store.verify(&data) == Verdict::Verified, counts, "{why}");
        }
    }

    #[test]
    fn chain_without_anchor_keeps_its_reason() {
        let Case { author, store, clock, .. } = case();
        let data = author.signs("/site/ann/data");
        for (verdict, expected) in [(SELF_SIGNED, SELF_SIGNED), (WRONG, NOT_TRUSTED)] {
            store.rule_out(author.certificate.name(), verdict);
            assert_eq!((store.missing(&data), store.verify(&data)), (None, expected));
        }
        let alone = Key::new("/site/ann/KEY/3/self/v=1", 5, None);
        assert_eq!(store.take(&alone.certificate), SELF_SIGNED);
        let below = Key::new("/site/ann/KEY/2/site/v=1", 4, Some(&author));
        assert_ne!(store.take(&below.certificate), Verdict::Verified, "its signer is rejected");
        clock.store(NOW + REJECTED_S, Ordering::Relaxed);
        assert_eq!(store.verify(&data), Verdict::Pending);
        assert_eq!(store.take(&author.certificate), Verdict::Verified);
        assert_eq!(store.verify(&data), Verdict::Verified);
    }

    #[test]
    fn unavailable_certificate_is_missing_again_later() {
        let Case { author, store, clock, .. } = case();
        let data = author.signs("/site/ann/data");
        store.give_up(author.certificate.name());
        assert_eq!((store.verify(&data), store.missing(&data)), (NO_CERTIFICATE, None));
        clock.store(NOW + REJECTED_S, Ordering::Relaxed);
        assert_eq!(store.verify(&data), Verdict::Pending);
    }

    #[test]
    fn anchor_must_be_valid_and_match_a_rule() {
        let new = |data: Vec<Data>| {
            let schema = Schema::new(compile(SCHEMA).unwrap(), Functions::standard()).unwrap();
            TrustStore::new(Policy::Schema(schema), data, Box::new(|| NOW)).unwrap_err()
        };
        let old = Key::valid("/site/KEY/1/self/v=1", 1, None, (0, NOW - 1));
        assert!(matches!(new(vec![old.certificate]), AnchorError::NotValid { .. }));
        let other = Key::new("/other/KEY/1/self/v=1", 1, None);
        assert!(matches!(new(vec![other.certificate.clone()]), AnchorError::Unmatched(_)));
        assert!(matches!(new(vec![other.signs("/x")]), AnchorError::Certificate(_)));
        assert_eq!(new(Vec::new()), AnchorError::Missing);
    }

    #[test]
    fn owner_signs_below_its_name_without_schema() {
        let Case { root, author, .. } = case();
        let anchors = vec![root.certificate.clone()];
        let store = TrustStore::new(Policy::Hierarchical, anchors, Box::new(|| NOW)).unwrap();
        assert_eq!(store.verify(&root.signs("/site/any/thing")), Verdict::Verified);
        assert!(matches!(store.verify(&root.signs("/other")), Verdict::Bad(_)));
        assert_eq!(store.take(&author.certificate), Verdict::Verified);
        assert_eq!(store.verify(&author.signs("/site/ann/x")), Verdict::Verified);
        assert!(matches!(store.verify(&author.signs("/site/bob/x")), Verdict::Bad(_)));
    }

    #[test]
    fn number_of_certificates_and_failures_is_bounded() {
        let Case { root, store, .. } = case();
        for number in 0..MAX_CERTIFICATES + 5 {
            let name = format!("/site/ann/KEY/{number}/site/v=1");
            assert_eq!(store.take(&Key::new(&name, 2, Some(&root)).certificate), Verdict::Verified);
            store.give_up(&name.parse().unwrap());
        }
        let known = store.known();
        assert_eq!(known.certificates.len(), MAX_CERTIFICATES + 1, "and the anchor");
        assert!(known.rejected.len() <= MAX_REJECTED);
    }
}
