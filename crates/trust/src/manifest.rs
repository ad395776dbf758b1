//! Manifests: one signature for many segments.
//!
//! A producer signs segments with digests only, and lists their digests in manifests that it signs with a key (format:
//! [`recoup_packet::manifest`]). A verifier of manifests judges a segment with a digest by the list, which the resolver of the
//! fetch loop fetches as it fetches certificates. The key of a manifest must be one that may sign each of its segments.
//! Of a group of manifests the first alone is signed by a key, and it lists the others.
//!
//! Segments and manifests state the identifier of their content. A manifest that states another one than the segments that
//! need it is not taken: a cache has kept it from other content of the same name.
mod signing;

pub use signing::Signing;

use crate::rejected::Rejected;
use recoup_packet::data::{ContentType, Data};
use recoup_packet::manifest::{self, GROUP, SEGMENTS};
use recoup_packet::metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_packet::signature::{Certificates, SignatureInfo, Verdict, Verifier, sha256_many};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most manifests that are kept: 512 kB.
pub const MAX_MANIFESTS: usize = 64;
/// Manifests that are fetched ahead: 8 MB of segments of 8,000 bytes.
const AHEAD: u64 = 4;

/// Most manifests of which the wanted content is remembered.
const MAX_WANTED: usize = 256;

const OTHER_CONTENT: Verdict = Verdict::Bad(manifest::OTHER_CONTENT);
const NOT_LISTED: Verdict = Verdict::Bad("is not listed in the signed manifest");
/// A further copy needs the same manifest.
const NO_MANIFEST: Verdict =
    Verdict::Invalid("carries only a digest, and no manifest signed by a key lists it");

/// Judges segments with a digest by manifests, and everything else by another verifier.
pub struct Manifests<V: Signing> {
    inner: V,
    known: Mutex<Known<V::Key>>,
}

struct Known<K> {
    /// In the order in which they were taken.
    lists: Vec<Arc<List<K>>>,
    /// Names of manifests, and the content of the packets that need them.
    wanted: VecDeque<(Name, Option<ObjectId>)>,
    rejected: Rejected,
}

struct List<K> {
    object: Name,
    /// Number of the list.
    part: u64,
    manifest: Data,
    /// The key that signed it, or the first manifest of its group.
    key: Arc<K>,
    /// The key may sign each segment of the object.
    covers: bool,
}

impl<K> List<K> {
    /// Whether it has that number of the object, by the TLV-VALUE of its name.
    fn is(&self, object: &[u8], part: u64) -> bool {
        self.part == part && self.object.value() == object
    }
}

/// A list, and whether its key is valid while a batch is judged.
struct Page<K> {
    list: Arc<List<K>>,
    validity: Result<(), &'static str>,
}

/// The object and the number of a manifest that the first one of its group lists.
fn listed_manifest(data: &Data) -> Option<(Name, u64)> {
    let is_list = data.content_type() == ContentType::Manifest && data.has_digest();
    let (object, part) = is_list.then(|| manifest::parse(data.name()))??;
    Some((object, part)).filter(|_| part % GROUP > 0)
}

/// Where the digest of a segment stands.
struct Entry<'a> {
    data: &'a Data,
    /// TLV-VALUE of the object's name.
    object: &'a [u8],
    segment: u64,
}

impl<'a> Entry<'a> {
    /// `None` if the packet is no segment with a digest. No manifest lists a manifest or metadata. `likely` is the object that it is
    /// probably of.
    fn of(data: &'a Data, likely: Option<&Name>) -> Option<Self> {
        if !data.has_digest() {
            return None;
        }
        let (name, likely) = (data.name(), likely.map_or(&[][..], |likely| likely.value()));
        if let Some(segment) = manifest::parse_segment_of(likely, name) {
            return Some(Self { data, object: &name.value()[..likely.len()], segment });
        }
        let (object, segment) = manifest::parse_segment(name)?;
        (!metadata::is_packet_name(name)).then_some(Self { data, object, segment })
    }

    fn part(&self) -> u64 {
        self.segment / SEGMENTS
    }

    /// Name of the manifest with that number.
    fn manifest(&self, part: u64) -> Name {
        manifest::name(&self.data.name().parent(), part)
    }
}

impl<K> Default for Known<K> {
    fn default() -> Self {
        Self { lists: Vec::new(), wanted: VecDeque::new(), rejected: Rejected::default() }
    }
}

impl<K> Known<K> {
    /// The list with that number of the object, by the TLV-VALUE of its name.
    fn list(&self, object: &[u8], part: u64) -> Option<&Arc<List<K>>> {
        self.lists.iter().rev().find(|list| list.is(object, part))
    }

    /// The object that segments are probably of.
    fn likely(&self) -> Option<&Name> {
        self.lists.last().map(|list| &list.object)
    }

    /// The verdict on a packet while there is no manifest of this name.
    fn without(&mut self, name: &Name) -> Verdict {
        let verdict = self.rejected.verdict(name);
        match self.rejected.count(name) {
            true => verdict.unwrap_or(NO_MANIFEST),
            false => Verdict::Pending,
        }
    }

    /// Records that a packet of this content needs the manifest `name`.
    fn want(&mut self, name: &Name, content: Option<ObjectId>) {
        if self.wanted.iter().any(|(known, id)| known == name && *id == content) {
            return;
        }
        if self.wanted.len() >= MAX_WANTED {
            self.wanted.pop_front();
        }
        self.wanted.push_back((name.clone(), content));
    }

    /// Whether all packets that need this manifest belong to other content.
    fn is_other_content(&self, manifest: &Data) -> bool {
        let mut needs = self.wanted.iter().filter(|(name, _)| name == manifest.name()).peekable();
        needs.peek().is_some() && needs.all(|(_, id)| *id != manifest.object_id())
    }

    /// Keeps a list in place of an older one of its name, or of the oldest one.
    fn keep(&mut self, list: List<K>) {
        self.rejected.remove(list.manifest.name());
        self.wanted.retain(|(name, _)| name != list.manifest.name());
        self.lists.retain(|known| known.part != list.part || known.object != list.object);
        if self.lists.len() >= MAX_MANIFESTS {
            self.lists.remove(0);
        }
        self.lists.push(Arc::new(list));
    }
}

impl<V: Signing> Manifests<V> {
    /// Judges by manifests that `inner` verifies.
    pub fn new(inner: V) -> Self {
        Self { inner, known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known<V::Key>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The verdict on a manifest with a digest, by the first one of its group. Keeps it if that lists it.
    fn take_listed(&self, data: &Data, object: Name, part: u64) -> Verdict {
        let head = manifest::first_of_group(part);
        let mut known = self.known();
        let Some(first) = known.list(object.value(), head).cloned() else {
            return known.without(&manifest::name(&object, head));
        };
        let mut digests = Vec::new();
        sha256_many(&[data.signed_portion()], &mut digests);
        let listed = manifest::digest_in_group(first.manifest.content(), part);
        if listed.is_none() || listed != digests.first().map(|digest| &digest[..]) {
            return NOT_LISTED;
        }
        let (manifest, key, covers) =
            (data.clone().detached(), Arc::clone(&first.key), first.covers);
        known.keep(List { object, part, manifest, key, covers });
        Verdict::Verified
    }

    /// The list of a segment, or the verdict without one.
    fn list(&self, entry: &Entry<'_>) -> Result<Arc<List<V::Key>>, Verdict> {
        let mut known = self.known();
        match known.list(entry.object, entry.part()).cloned() {
            Some(list) => Ok(list),
            None => Err(known.without(&entry.manifest(entry.part()))),
        }
    }

    /// The verdict on a segment with this digest. `page` is the list of the segment before, which is often its own.
    fn judge_digest(
        &self,
        page: &mut Option<Page<V::Key>>,
        entry: &Entry<'_>,
        digest: &[u8; 32],
    ) -> Verdict {
        let is_open = |page: &Page<V::Key>| page.list.is(entry.object, entry.part());
        let Page { list, validity } = match page.take().filter(is_open) {
            Some(open) => page.insert(open),
            None => match self.list(entry) {
                Ok(list) => page.insert(Page { validity: self.inner.is_valid(&list.key), list }),
                Err(verdict) => return verdict,
            },
        };
        if manifest::digest(list.manifest.content(), entry.segment) != Some(&digest[..]) {
            return NOT_LISTED;
        }
        if let Err(why) = validity {
            return Verdict::Invalid(why);
        }
        let allowed = match list.covers {
            true => Ok(()),
            false => self.inner.may_sign(&list.key, entry.data.name()),
        };
        allowed.map_or_else(Verdict::Bad, |()| Verdict::Verified)
    }
}

impl<V: Signing> Verifier for Manifests<V> {
    fn judge(&self, info: &SignatureInfo<'_>, signed_portion: &[u8], value: &[u8]) -> Verdict {
        self.inner.judge(info, signed_portion, value)
    }

    fn verify(&self, data: &Data) -> Verdict {
        self.verify_batch(&[data]).pop().unwrap_or(Verdict::Pending)
    }

    fn verify_batch(&self, data: &[&Data]) -> Vec<Verdict> {
        let likely = self.known().likely().cloned();
        let entries = data.iter().map(|data| Entry::of(data, likely.as_ref()));
        let entries: Vec<Option<Entry<'_>>> = entries.collect();
        let with_entry = data.iter().zip(&entries).filter(|(_, entry)| entry.is_some());
        let portions: Vec<&[u8]> = with_entry.map(|(data, _)| data.signed_portion()).collect();
        let mut digests = Vec::new();
        sha256_many(&portions, &mut digests);
        let (mut digests, mut page) = (digests.iter(), None);
        let judge = |(data, entry): (&&Data, &Option<Entry<'_>>)| match entry {
            Some(entry) => digests
                .next()
                .map_or(NOT_LISTED, |digest| self.judge_digest(&mut page, entry, digest)),
            None => self.inner.verify(data),
        };
        data.iter().zip(&entries).map(judge).collect()
    }

    fn certificates(&self) -> Option<&dyn Certificates> {
        Some(self)
    }
}

impl<V: Signing> Certificates for Manifests<V> {
    fn missing(&self, data: &Data) -> Option<Name> {
        if let Some((object, part)) = listed_manifest(data) {
            let (mut known, head) = (self.known(), manifest::first_of_group(part));
            let name = manifest::name(&object, head);
            let is_wanted =
                known.list(object.value(), head).is_none() && !known.rejected.contains(&name);
            if is_wanted {
                known.want(&name, data.object_id());
            }
            return is_wanted.then_some(name);
        }
        let mut known = self.known();
        let Some(entry) = Entry::of(data, known.likely()) else {
            drop(known);
            return self.inner.certificates()?.missing(data);
        };
        if known.list(entry.object, entry.part()).is_some() {
            return None;
        }
        let name = entry.manifest(entry.part());
        if known.rejected.contains(&name) {
            return None;
        }
        known.want(&name, data.object_id());
        Some(name)
    }

    fn ahead(&self, data: &Data) -> Vec<Name> {
        let Some(entry) = Entry::of(data, None) else {
            return Vec::new();
        };
        let last = data.final_block().and_then(|last| last.is_segment()).unwrap_or(entry.segment);
        let (part, last) = (entry.part(), last / SEGMENTS);
        let mut known = self.known();
        let names = (part + 1..=last.min(part + AHEAD))
            .filter(|part| known.list(entry.object, *part).is_none())
            .map(|part| entry.manifest(part));
        let names: Vec<Name> = names.filter(|name| !known.rejected.contains(name)).collect();
        names.iter().for_each(|name| known.want(name, data.object_id()));
        names
    }

    fn take(&self, data: &Data) -> Verdict {
        if data.content_type() != ContentType::Manifest {
            let certificates = self.inner.certificates();
            return certificates.map_or(Verdict::Bad("is no manifest"), |it| it.take(data));
        }
        if self.known().is_other_content(data) {
            return OTHER_CONTENT;
        }
        if let Some((object, part)) = listed_manifest(data) {
            return self.take_listed(data, object, part);
        }
        let Some((object, part)) = manifest::parse(data.name()) else {
            return Verdict::Bad("is no manifest by its name");
        };
        let verdict = self.inner.verify(data);
        if verdict == Verdict::Verified {
            let Some(key) = self.inner.key_of(data) else {
                return Verdict::Bad("is a manifest whose key is not valid now");
            };
            let (covers, manifest) = (self.inner.covers(&key, &object), data.clone().detached());
            self.known().keep(List { object, part, manifest, key: Arc::new(key), covers });
        }
        verdict
    }

    fn give_up(&self, name: &Name) {
        if manifest::parse(name).is_none() {
            if let Some(certificates) = self.inner.certificates() {
                certificates.give_up(name);
            }
            return;
        }
        self.known().rejected.add(name);
    }

    fn rule_out(&self, name: &Name, verdict: Verdict) {
        if manifest::parse(name).is_some() {
            let is_reason = matches!(verdict, Verdict::Invalid(_)) || verdict == OTHER_CONTENT;
            self.known().rejected.rule_out(name, Some(verdict).filter(|_| is_reason));
        } else if let Some(certificates) = self.inner.certificates() {
            certificates.rule_out(name, verdict);
        }
    }
}

impl<V: Signing + fmt::Debug> fmt::Debug for Manifests<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifests({:?})", self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rejected::PATIENCE;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::name::Component;
    use recoup_packet::signature::{
        DigestSigner, HmacSigner, KeyLocator, KeyVerifier, PublicKey, Signer,
    };

    fn object() -> Name {
        "/movie/v=1".parse().unwrap()
    }

    fn segment(number: u64, content: &[u8]) -> Data {
        let name = object().append(Component::segment(number));
        DataBuilder::new(&name).final_block(Component::segment(700)).build(content, &DigestSigner)
    }

    fn signed_list(part: u64, segments: &[Data], signer: &dyn Signer) -> Data {
        let digests: Vec<&[u8]> = segments.iter().map(Data::signature_value).collect();
        DataBuilder::new(&manifest::name(&object(), part))
            .content_type(ContentType::Manifest)
            .build(&digests.concat(), signer)
    }

    fn key(secret: &[u8]) -> HmacSigner {
        HmacSigner::new(secret, KeyLocator::Digest(&[1; 32]))
    }

    fn verifier() -> Manifests<KeyVerifier> {
        Manifests::new(KeyVerifier(PublicKey::from_hmac_secret(b"right")))
    }

    #[test]
    fn segment_is_judged_by_its_manifest() {
        let manifests = verifier();
        let segments = [segment(0, b"a"), segment(1, b"b")];
        assert_eq!(manifests.verify(&segments[0]), Verdict::Pending);
        assert_eq!(manifests.missing(&segments[0]), Some(manifest::name(&object(), 0)));
        assert_eq!(manifests.take(&signed_list(0, &segments, &key(b"right"))), Verdict::Verified);
        assert_eq!(manifests.missing(&segments[1]), None);
        let (forged, beyond) = (segment(1, b"c"), segment(2, b"d"));
        let verdicts = manifests.verify_batch(&[&segments[0], &segments[1], &forged, &beyond]);
        assert_eq!(verdicts, [Verdict::Verified, Verdict::Verified, NOT_LISTED, NOT_LISTED]);
    }

    /// A signed list of no segment's digest and of these other lists.
    fn first_of_group(part: u64, others: &[Data]) -> Data {
        let digests = others.iter().map(Data::signature_value);
        let content = [vec![0; 8_000], digests.collect::<Vec<_>>().concat()].concat();
        DataBuilder::new(&manifest::name(&object(), part))
            .content_type(ContentType::Manifest)
            .build(&content, &key(b"right"))
    }

    #[test]
    fn first_manifest_of_a_group_lists_the_others() {
        let manifests = verifier();
        let segments = [segment(2_500, b"a"), segment(2_750, b"b")];
        let others: Vec<Data> = (9..12)
            .map(|part| {
                let at = usize::try_from(part % 10).unwrap() % 2;
                signed_list(part, &segments[at..=at], &DigestSigner)
            })
            .collect();
        assert_eq!(manifests.missing(&others[1]), Some(manifest::name(&object(), 8)));
        assert_eq!(manifests.take(&others[1]), Verdict::Pending);
        assert_eq!(manifests.take(&first_of_group(8, &others)), Verdict::Verified);
        assert_eq!(manifests.missing(&others[1]), None);
        assert_eq!(manifests.take(&others[1]), Verdict::Verified);
        assert_eq!(manifests.verify(&segments[0]), Verdict::Verified);
        assert_eq!(manifests.verify(&segments[1]), Verdict::Pending);
        // A changed list, an unlisted list, and a first list that a digest signs in place of the key.
        let forged = signed_list(11, &segments[..1], &DigestSigner);
        assert_eq!(manifests.take(&forged), NOT_LISTED);
        let beyond = signed_list(12, &segments[..1], &DigestSigner);
        assert_eq!(manifests.take(&beyond), NOT_LISTED);
        let first = signed_list(16, &segments[..1], &DigestSigner);
        assert!(matches!(manifests.take(&first), Verdict::Bad(_)));
        assert_eq!(manifests.take(&others[2]), Verdict::Verified);
        assert_eq!(manifests.verify(&segments[1]), Verdict::Verified);
    }

    #[test]
    fn batch_of_several_lists_is_judged_by_each() {
        let manifests = verifier();
        let of = |object: &str, number: u64, content: &[u8]| {
            let name = object.parse::<Name>().unwrap().append(Component::segment(number));
            DataBuilder::new(&name).build(content, &DigestSigner)
        };
        let (one, two) = (of("/movie/v=1", 0, b"a"), of("/movie/v=1", 250, b"b"));
        let (other, longer) = (of("/movie", 0, b"c"), of("/movie/v=1/x", 0, b"a"));
        for (object, part, segment) in
            [("/movie/v=1", 0, &one), ("/movie", 0, &other), ("/movie/v=1", 1, &two)]
        {
            let name = manifest::name(&object.parse().unwrap(), part);
            let list = DataBuilder::new(&name)
                .content_type(ContentType::Manifest)
                .build(segment.signature_value(), &key(b"right"));
            assert_eq!(manifests.take(&list), Verdict::Verified);
        }
        let forged = of("/movie/v=1", 0, b"forged");
        let batch = [&one, &two, &other, &longer, &forged, &one];
        let expected = [
            Verdict::Verified,
            Verdict::Verified,
            Verdict::Verified,
            Verdict::Pending,
            NOT_LISTED,
            Verdict::Verified,
        ];
        assert_eq!(manifests.verify_batch(&batch), expected);
    }

    #[test]
    fn given_up_group_is_left_alone() {
        let manifests = verifier();
        let list = signed_list(1, &[segment(250, b"a")], &DigestSigner);
        manifests.give_up(&manifest::name(&object(), 0));
        assert_eq!((manifests.missing(&list), manifests.take(&list)), (None, NO_MANIFEST));
    }

    #[test]
    fn no_manifest_lists_a_manifest() {
        let manifests = verifier();
        let nack = DataBuilder::new(&manifest::name(&object(), 0))
            .content_type(ContentType::Nack)
            .build(b"", &DigestSigner);
        assert_eq!(manifests.missing(&nack), None);
        assert!(matches!(manifests.verify(&nack), Verdict::Bad(_)));
    }

    #[test]
    fn manifest_of_another_key_is_rejected() {
        let manifests = verifier();
        let segments = [segment(250, b"a")];
        let forged = signed_list(1, &segments, &key(b"wrong"));
        assert!(matches!(manifests.take(&forged), Verdict::Bad(_)));
        let digest_only = signed_list(1, &segments, &DigestSigner);
        assert_eq!(manifests.take(&digest_only), Verdict::Pending);
        let first = signed_list(0, &segments, &DigestSigner);
        assert!(matches!(manifests.take(&first), Verdict::Bad(_)));
        assert_eq!(manifests.verify(&segments[0]), Verdict::Pending);
        manifests.give_up(&manifest::name(&object(), 1));
        assert_eq!(manifests.missing(&segments[0]), None);
        for _ in 0..PATIENCE {
            assert_eq!(manifests.verify(&segments[0]), NO_MANIFEST);
        }
        assert!(manifests.missing(&segments[0]).is_some(), "it may be there now");
    }

    #[test]
    fn packets_signed_by_the_key_need_no_manifest() {
        let manifests = verifier();
        let name = object().append(Component::segment(0));
        let data = DataBuilder::new(&name).build(b"x", &key(b"right"));
        assert_eq!(manifests.verify(&data), Verdict::Verified);
        assert_eq!(manifests.missing(&data), None);
    }

    /// A cache has kept the manifest of the content that had the name before.
    #[test]
    fn manifest_of_other_content_is_not_taken() {
        let manifests = verifier();
        let of = |id: u8| Some(ObjectId::new([id; 16]));
        let name = object().append(Component::segment(0));
        let made = |id, content: &[u8]| {
            DataBuilder::new(&name).object_id(of(id)).build(content, &DigestSigner)
        };
        let list = |id, segment: &Data| {
            DataBuilder::new(&manifest::name(&object(), 0))
                .content_type(ContentType::Manifest)
                .object_id(of(id))
                .build(segment.signature_value(), &key(b"right"))
        };
        let (before, now) = (made(1, b"a"), made(2, b"b"));
        assert!(manifests.missing(&now).is_some());
        assert_eq!(manifests.take(&list(1, &before)), OTHER_CONTENT);
        assert!(manifests.missing(&now).is_some(), "it is still needed");
        assert_eq!(manifests.take(&list(2, &now)), Verdict::Verified);
        assert_eq!(manifests.verify_batch(&[&now, &before]), [Verdict::Verified, NOT_LISTED]);
    }

    #[test]
    fn next_manifests_are_wanted_ahead() {
        let manifests = verifier();
        let ahead = manifests.ahead(&segment(0, b"a"));
        assert_eq!(ahead, [manifest::name(&object(), 1), manifest::name(&object(), 2)]);
        assert!(manifests.ahead(&segment(700, b"a")).is_empty());
    }

    #[test]
    fn kept_manifests_are_bounded() {
        let manifests = verifier();
        for part in 0..MAX_MANIFESTS as u64 + 3 {
            let segments = [segment(part * SEGMENTS, b"a")];
            manifests.take(&signed_list(part, &segments, &key(b"right")));
        }
        let known = manifests.known();
        assert_eq!(known.lists.len(), MAX_MANIFESTS);
        assert!(
            known.list(object().value(), 0).is_none() && known.list(object().value(), 3).is_some()
        );
    }
}
