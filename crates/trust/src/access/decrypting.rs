//! A verifier that decrypts what it has verified.
use super::cipher::ContentKey;
use super::content::EncryptedContent;
use super::name;
use crate::rejected::Rejected;
use bytes::Bytes;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::name::Name;
use recoup_packet::signature::{Certificates, SignatureInfo, Verdict, Verifier};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

/// Most content keys, and most groups, that are kept.
pub const MAX_KEYS: usize = 64;

/// Why content is rejected, whatever the reason: a key that cannot be had or that serves other names, a wrong tag or padding,
/// another form. Different answers would reveal what the content is.
pub const UNREADABLE: &str = "is encrypted for others, damaged, or not encrypted at all";
/// Why content by AES-CBC is rejected before it is decrypted.
pub const NO_AUTHOR: &str = "is encrypted by AES-CBC, which needs a verified author";
const NOT_A_MEMBER: Verdict = Verdict::Bad("is a key that is not encrypted for this member");
const NO_CONTENT_KEY: Verdict = Verdict::Bad("holds no content key of its group");

/// The private key of a member of groups.
pub trait Member: Send + Sync {
    /// Its name, `/<identity>/KEY/<id>`.
    fn key_name(&self) -> &Name;

    /// Opens the key of a group: a SafeBag, and its passphrase encrypted for the member. `None` if that is impossible.
    fn open(&self, safe_bag: &[u8], passphrase: &[u8]) -> Option<Box<dyn GroupKey>>;
}

/// The private key of a group.
pub trait GroupKey: Send + Sync {
    /// Decrypts a content key.
    fn decrypt(&self, encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>>;
}

/// Verifies with another verifier, and then decrypts with the keys of a member.
///
/// Missing keys are named as missing certificates are, verified, and kept. What is accepted depends on the inner verifier:
///
/// | content | author verified | otherwise |
/// |---|---|---|
/// | AES-GCM-SIV | decrypted | decrypted |
/// | AES-CBC | decrypted | [`NO_AUTHOR`] |
/// | not encrypted | as it is | [`UNREADABLE`] |
///
/// Content that is [`UNREADABLE`] must end the fetch: an answer for each of many attempts would be an oracle.
pub struct Decrypting<V> {
    inner: V,
    /// The inner verifier accepts nothing but packets of known authors.
    has_authors: bool,
    member: Box<dyn Member>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// In the order in which they were taken.
    contents: Vec<Arc<ContentKey>>,
    /// By the names of their KDKs.
    groups: Vec<(Name, Arc<dyn GroupKey>)>,
    rejected: Rejected,
}

impl Known {
    fn content_key(&self, value: &[u8]) -> Option<&Arc<ContentKey>> {
        self.contents.iter().rev().find(|key| key.name().value()[..] == *value)
    }

    fn group(&self, kdk: &Name) -> Option<&Arc<dyn GroupKey>> {
        self.groups.iter().find(|(known, _)| known == kdk).map(|(_, key)| key)
    }
}

/// Adds a key to the list; of too many, the oldest is dropped.
fn keep<T>(list: &mut Vec<T>, entry: T) {
    if list.len() >= MAX_KEYS {
        list.remove(0);
    }
    list.push(entry);
}

/// A packet with a key of a group.
enum KeyPacket {
    /// A content key: its name, and that of the KDK that opens it.
    Content { key: Name, kdk: Name },
    /// The KDK of this member.
    Group,
}

impl<V: Verifier> Decrypting<V> {
    /// Decrypts with the keys of `member` what `inner` has verified.
    pub fn new(inner: V, member: Box<dyn Member>) -> Self {
        Self { inner, has_authors: false, member, known: Mutex::default() }
    }

    /// The inner verifier accepts packets of certain authors only.
    #[must_use]
    pub fn with_verified_authors(self) -> Self {
        Self { has_authors: true, ..self }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key_packet(&self, data: &Data) -> Option<KeyPacket> {
        if let Some((key, kek)) = name::parse_content_key_packet(data.name()) {
            return name::kdk(&kek, self.member.key_name())
                .map(|kdk| KeyPacket::Content { key, kdk });
        }
        let member = name::member_of_kdk(data.name())?;
        (member == *self.member.key_name()).then_some(KeyPacket::Group)
    }

    /// The encrypted element of a packet with the name of its content key; `None` if the content is not encrypted.
    ///
    /// # Errors
    /// The reason for which the content must not be decrypted.
    fn element<'a>(
        &self,
        data: &'a Data,
    ) -> Result<Option<(EncryptedContent<'a>, Name)>, &'static str> {
        let Some(element) = encrypted(data).filter(|it| it.key.is_some()) else {
            return if self.has_authors { Ok(None) } else { Err(UNREADABLE) };
        };
        let key = element.key_name().filter(|key| name::serves(key, data.name()));
        match key {
            None => Err(UNREADABLE),
            Some(_) if element.is_cbc() && !self.has_authors => Err(NO_AUTHOR),
            Some(key) => Ok(Some((element, key))),
        }
    }

    /// The verdict on verified content: whether its key is known. [`content`](Verifier::content) rejects what cannot be
    /// decrypted.
    fn judge_content(&self, data: &Data, verdict: Verdict) -> Verdict {
        let is_accepted = matches!(verdict, Verdict::Verified | Verdict::NotVerified);
        let Some((_, key)) = self.element(data).ok().flatten().filter(|_| is_accepted) else {
            return verdict;
        };
        let mut known = self.known();
        if known.content_key(key.value()).is_some() {
            verdict
        } else if !known.rejected.count(&key) {
            Verdict::Pending
        } else if self.has_authors {
            // The answers for the key may have been lost, but a further copy needs it as well.
            Verdict::Invalid(UNREADABLE)
        } else {
            verdict
        }
    }

    /// Takes the key of a group.
    fn take_group(&self, data: &Data) -> Verdict {
        let opened = encrypted(data)
            .and_then(|it| self.member.open(it.payload, it.payload_key?))
            .map(|key| (data.name().clone(), Arc::from(key)));
        opened.map_or(NOT_A_MEMBER, |entry| {
            keep(&mut self.known().groups, entry);
            Verdict::Verified
        })
    }

    /// Takes a content key, if the key of its group is known.
    fn take_content(&self, data: &Data, key: Name, kdk: &Name) -> Verdict {
        let mut known = self.known();
        let Some(group) = known.group(kdk).map(Arc::clone) else {
            return if known.rejected.contains(kdk) {
                Verdict::Invalid(UNREADABLE)
            } else {
                Verdict::Pending
            };
        };
        let secret = encrypted(data).and_then(|it| group.decrypt(it.payload));
        match secret.and_then(|secret| ContentKey::new(key, &secret).ok()) {
            Some(key) => {
                known.rejected.remove(key.name());
                known.contents.retain(|known| known.name() != key.name());
                keep(&mut known.contents, Arc::new(key));
                Verdict::Verified
            }
            None => NO_CONTENT_KEY,
        }
    }
}

/// The element in the content, if it is one.
fn encrypted(data: &Data) -> Option<EncryptedContent<'_>> {
    (data.content_type() == ContentType::Blob && !data.is_described())
        .then(|| EncryptedContent::decode(data.content()).ok())?
}

impl<V: Verifier> Verifier for Decrypting<V> {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        self.inner.judge(info, signed_portion, value)
    }

    fn verify(&self, data: &Data) -> Verdict {
        self.judge_content(data, self.inner.verify(data))
    }

    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        let verdicts = self.inner.verify_batch(data).into_iter();
        data.iter().zip(verdicts).map(|(data, verdict)| self.judge_content(data, verdict)).collect()
    }

    fn certificates(&self) -> Option<&dyn Certificates> {
        Some(self)
    }

    fn content(&self, data: &Data) -> Result<Bytes, &'static str> {
        let Some((element, key)) = self.element(data)? else {
            return Ok(data.content_bytes());
        };
        let key = self.known().content_key(key.value()).map(Arc::clone).ok_or(UNREADABLE)?;
        key.decrypt(data.name(), &element).map_err(|_| UNREADABLE)
    }
}

impl<V: Verifier> Certificates for Decrypting<V> {
    fn missing(&self, data: &Data) -> Option<Name> {
        if let Some(certificates) = self.inner.certificates()
            && let Some(name) = certificates.missing(data)
        {
            return Some(name);
        }
        let known = self.known();
        let name = match self.key_packet(data) {
            Some(KeyPacket::Content { kdk, .. }) => known.group(&kdk).is_none().then_some(kdk)?,
            Some(KeyPacket::Group) => return None,
            None => {
                let (_, key) = self.element(data).ok()??;
                known.content_key(key.value()).is_none().then_some(key)?
            }
        };
        Some(name).filter(|name| !known.rejected.contains(name))
    }

    fn ahead(&self, data: &Data) -> Vec<Name> {
        self.inner.certificates().map_or_else(Vec::new, |it| it.ahead(data))
    }

    fn is_key(&self, data: &Data) -> bool {
        self.key_packet(data).is_some()
    }

    fn take(&self, data: &Data) -> Verdict {
        let Some(packet) = self.key_packet(data) else {
            let certificates = self.inner.certificates();
            return certificates.map_or(Verdict::Bad("is no key"), |it| it.take(data));
        };
        match (self.inner.verify(data), packet) {
            (Verdict::Verified | Verdict::NotVerified, KeyPacket::Group) => self.take_group(data),
            (Verdict::Verified | Verdict::NotVerified, KeyPacket::Content { key, kdk }) => {
                self.take_content(data, key, &kdk)
            }
            (verdict, _) => verdict,
        }
    }

    fn give_up(&self, name: &Name) {
        if is_key_name(name) {
            return self.known().rejected.add(name);
        }
        if let Some(certificates) = self.inner.certificates() {
            certificates.give_up(name);
        }
    }

    fn rule_out(&self, name: &Name, verdict: Verdict) {
        match self.inner.certificates().filter(|_| !is_key_name(name)) {
            Some(certificates) => certificates.rule_out(name, verdict),
            None if is_key_name(name) => self.known().rejected.rule_out(name, None),
            None => {}
        }
    }
}

/// Whether it is the name of a content key, or of a key of a group.
fn is_key_name(name: &Name) -> bool {
    name::is_content_key(name) || name::member_of_kdk(name).is_some()
}

impl<V: fmt::Debug> fmt::Debug for Decrypting<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decrypting({:?}, {})", self.inner, self.member.key_name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejected::PATIENCE;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::{DigestSigner, DigestVerifier, Encrypter};

    /// A member, and its group, that hide nothing: SafeBag and content key are plain.
    struct Plain(Name);

    impl Member for Plain {
        fn key_name(&self) -> &Name {
            &self.0
        }

        fn open(&self, safe_bag: &[u8], passphrase: &[u8]) -> Option<Box<dyn GroupKey>> {
            (safe_bag == passphrase).then(|| Box::new(PlainGroup) as Box<dyn GroupKey>)
        }
    }

    struct PlainGroup;

    impl GroupKey for PlainGroup {
        fn decrypt(&self, encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
            Some(encrypted.to_vec().into())
        }
    }

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    fn packet(name: &Name, content: &[u8]) -> Data {
        DataBuilder::new(name).build(content, &DigestSigner)
    }

    fn verifier() -> Decrypting<DigestVerifier> {
        Decrypting::new(DigestVerifier, Box::new(Plain(n("/alice/KEY/1"))))
    }

    fn key() -> ContentKey {
        ContentKey::new(n("/site/CK/1"), &[7; 32]).unwrap()
    }

    fn encrypted_by(key: &ContentKey, name: &str) -> Data {
        let mut content = vec![0; key.encrypted_len(6)];
        key.encrypt(&n(name), b"secret", &mut content);
        packet(&n(name), &content)
    }

    fn segment() -> Data {
        encrypted_by(&key(), "/site/seg=0")
    }

    /// A verifier that has the content key.
    fn reader() -> Decrypting<DigestVerifier> {
        let verifier = verifier();
        verifier.take(&group_key(b"bag"));
        assert_eq!(verifier.take(&content_key()), Verdict::Verified);
        verifier
    }

    /// The content, if it is accepted at once.
    fn read(verifier: &Decrypting<DigestVerifier>, data: &Data) -> Result<Bytes, &'static str> {
        assert!(matches!(verifier.verify(data), Verdict::Verified | Verdict::Pending));
        verifier.content(data)
    }

    fn content_key() -> Data {
        let name = name::content_key_packet(key().name(), &n("/site/NAC/KEK/7"));
        packet(&name, &EncryptedContent::of(&[7; 32]).encode())
    }

    fn group_key(passphrase: &[u8]) -> Data {
        let name = name::kdk(&n("/site/NAC/KEK/7"), &n("/alice/KEY/1")).unwrap();
        let payload_key = Some(passphrase);
        packet(&name, &EncryptedContent { payload_key, ..EncryptedContent::of(b"bag") }.encode())
    }

    #[test]
    fn content_waits_for_both_keys() {
        let verifier = verifier();
        assert_eq!(verifier.verify(&segment()), Verdict::Pending);
        assert_eq!(verifier.missing(&segment()), Some(key().name().clone()));
        assert!(verifier.is_key(&content_key()) && !verifier.is_key(&segment()));
        assert_eq!(verifier.take(&content_key()), Verdict::Pending);
        assert_eq!(verifier.missing(&content_key()).as_ref(), Some(group_key(b"bag").name()));
        assert_eq!(verifier.take(&group_key(b"bag")), Verdict::Verified);
        assert_eq!(verifier.take(&content_key()), Verdict::Verified);
        assert_eq!(verifier.verify_batch(&[&segment()]), [Verdict::Verified]);
        assert_eq!(verifier.content(&segment()).unwrap(), "secret");
        assert_eq!((verifier.missing(&segment()), verifier.missing(&content_key())), (None, None));
    }

    #[test]
    fn only_the_member_opens_a_group() {
        let verifier = verifier();
        assert_eq!(verifier.take(&group_key(b"other")), NOT_A_MEMBER);
        let others = name::kdk(&n("/site/NAC/KEK/7"), &n("/bob/KEY/1")).unwrap();
        assert!(!verifier.is_key(&packet(&others, b"")));
        assert_eq!(verifier.take(&packet(&others, b"")), Verdict::Bad("is no key"));
    }

    #[test]
    fn plain_content_needs_a_verified_author() {
        let plain = packet(&n("/site/seg=0"), b"plain");
        for verifier in [verifier(), verifier().with_verified_authors()] {
            assert_eq!(verifier.verify(&plain), Verdict::Verified);
            assert_eq!(verifier.missing(&plain), None);
            let right = if verifier.has_authors { Ok("plain".into()) } else { Err(UNREADABLE) };
            assert_eq!(verifier.content(&plain), right);
        }
    }

    #[test]
    fn cbc_needs_a_verified_author() {
        let segment = encrypted_by(&key().with_cbc(), "/site/seg=0");
        assert_eq!(
            (verifier().missing(&segment), read(&reader(), &segment)),
            (None, Err(NO_AUTHOR))
        );
        assert_eq!(read(&reader().with_verified_authors(), &segment).unwrap(), "secret");
    }

    #[test]
    fn every_change_of_a_segment_is_one_error() {
        let reader = reader();
        let (name, content) = (n("/site/seg=0"), segment().content().to_vec());
        for (at, bit) in (0..content.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = content.clone();
            changed[at] ^= 1 << bit;
            assert_eq!(read(&reader, &packet(&name, &changed)), Err(UNREADABLE), "{at} {bit}");
        }
        for renamed in ["/site/seg=1", "/site/v=1/seg=0", "/sitE/seg=0", "/seg=0"] {
            assert_eq!(read(&reader, &packet(&n(renamed), &content)), Err(UNREADABLE), "{renamed}");
        }
    }

    #[test]
    fn content_key_serves_only_its_prefix() {
        let elsewhere = encrypted_by(&key(), "/evil/seg=0");
        for verifier in [verifier(), reader(), reader().with_verified_authors()] {
            assert_eq!(verifier.missing(&elsewhere), None, "no Interest for the key");
            assert_eq!(verifier.verify(&elsewhere), Verdict::Verified);
            assert_eq!(verifier.content(&elsewhere), Err(UNREADABLE));
        }
    }

    #[test]
    fn renamed_content_key_decrypts_nothing_else() {
        let reader = reader();
        let (name, kek) = (name::content_key(&n("/evil"), b"1"), n("/site/NAC/KEK/7"));
        let sealed = content_key().content().to_vec();
        let copy = packet(&name::content_key_packet(&name, &kek), &sealed);
        assert_eq!(reader.take(&copy), Verdict::Verified);
        let key = Some(name.value().as_ref());
        let stolen = segment();
        let element = EncryptedContent { key, ..encrypted(&stolen).unwrap() }.encode();
        assert_eq!(read(&reader, &packet(&n("/evil/seg=0"), &element)), Err(UNREADABLE));
    }

    #[test]
    fn forged_key_is_not_taken() {
        let mut wire = content_key().wire().to_vec();
        *wire.last_mut().unwrap() ^= 1;
        let forged = Data::decode(wire.into()).unwrap();
        assert!(matches!(verifier().take(&forged), Verdict::Bad(_)));
    }

    #[test]
    fn content_without_key_is_rejected_for_a_while() {
        let verifier = verifier();
        verifier.give_up(key().name());
        assert_eq!(verifier.missing(&segment()), None);
        assert_eq!(read(&verifier, &segment()), Err(UNREADABLE));
        let verifier = verifier.with_verified_authors();
        for _ in 1..PATIENCE {
            assert_eq!(verifier.verify(&segment()), Verdict::Invalid(UNREADABLE));
        }
        assert_eq!(verifier.verify(&segment()), Verdict::Pending);
        verifier.give_up(group_key(b"bag").name());
        assert_eq!(verifier.take(&content_key()), Verdict::Invalid(UNREADABLE));
    }

    #[test]
    fn kept_keys_have_a_limit() {
        let verifier = verifier();
        verifier.take(&group_key(b"bag"));
        for id in 0..2 * MAX_KEYS {
            let key = name::content_key(&n("/site"), id.to_string().as_bytes());
            let name = name::content_key_packet(&key, &n("/site/NAC/KEK/7"));
            let data = packet(&name, &EncryptedContent::of(&[7; 32]).encode());
            assert_eq!(verifier.take(&data), Verdict::Verified);
        }
        assert_eq!(verifier.known().contents.len(), MAX_KEYS);
    }
}
