//! Groups of readers: their keys, their members, and the keys of the content that is encrypted for them.
//!
//! A group's key is a key of the store whose identity ends in `NAC`, or has that component ([names](recoup_trust::access)).
//! The folder `groups/<digest of the key's name>` beside the keys has a file for each member (`.kdk`: the name of the member's
//! key, and the group's key encrypted for it) and for each prefix of a producer (`.ck`: name and bytes of the content key,
//! and these bytes encrypted for the group).

use super::form::Form;
use super::manage::replace;
use super::private::PrivateKey;
use super::store::{file_name, random};
use super::{KeyEntry, KeyStore, KeyStoreError, KeyType, certificate, safe_bag};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::name::Name;
use recoup_packet::signature::Signer;
use recoup_packet::tlv::{self, Reader, typ};
use recoup_trust::access::{ContentKey, EncryptedContent, GroupKey, Member, name};
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::DecodePublicKey;
use sha1::Sha1;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use zeroize::Zeroizing;

/// How long caches may call keys fresh (NAC specification).
const FRESHNESS: Duration = Duration::from_secs(3_600);
/// Rounds of PBKDF2 for a passphrase of 128 random bits, which more rounds would not make harder to find.
const ROUNDS: u32 = 2_048;
/// More rounds than this in the key of a group would stop a consumer for long.
const MAX_ROUNDS: u32 = 600_000;
/// Bytes of a content key: AES-256.
const CONTENT_KEY_BYTES: usize = 32;
/// Type of the bytes of a content key in its file.
const SECRET: u64 = 200;

/// The keys with which content is encrypted for a group, and the packets from which its members learn them.
#[derive(Debug)]
pub struct Encryption {
    /// Encrypts content.
    pub key: ContentKey,
    /// The encrypted content key, and if the group's private key is here, the group's keys.
    pub packets: Vec<Data>,
    /// Prefixes of the names of these packets.
    pub prefixes: Vec<Name>,
}

impl KeyStore {
    /// Makes the key of a group. Returns it; `NAC` is added to a name without that component.
    ///
    /// # Errors
    /// The key cannot be made or written.
    pub fn new_group(&self, group: &Name) -> Result<KeyEntry, KeyStoreError> {
        self.generate(&name::group(group), KeyType::Rsa)
    }

    /// The key of a group, and the names of its members' keys.
    ///
    /// # Errors
    /// There is no such group, or its folder cannot be read.
    pub fn members(&self, group: &str) -> Result<(Name, Vec<Name>), KeyStoreError> {
        let key = self.group(group)?.key;
        let mut members: Vec<Name> =
            self.granted(&key)?.into_iter().map(|(member, _)| member).collect();
        members.sort();
        Ok((key, members))
    }

    /// Lets the owner of a certificate read what is encrypted for a group. Returns the name of the member's key.
    ///
    /// # Errors
    /// There is no such group, its private key is elsewhere, or the certificate is for no RSA key.
    pub fn grant(&self, group: &str, certificate: &Data) -> Result<Name, KeyStoreError> {
        let group = self.group(group)?;
        let (private, public) =
            group.private.as_ref().ok_or_else(|| KeyStoreError::OnlyKek(group.key.to_string()))?;
        let member = certificate::key_name(certificate)?;
        let passphrase = Zeroizing::new(hexadecimal(&*random::<16>()?));
        let bag = safe_bag::encode_with(public, private, &passphrase, &*random()?, ROUNDS)?;
        let sealed = seal(certificate.content(), passphrase.as_bytes())?;
        let payload_key = Some(&sealed[..]);
        // The payload of a KDK is the element of the SafeBag itself.
        let content = EncryptedContent { payload_key, ..EncryptedContent::of(&bag) }.encode();
        let mut file = Vec::new();
        tlv::put_tlv(&mut file, typ::NAME, member.value());
        file.extend_from_slice(&content);
        replace(&self.group_file(&group.key, &member, "kdk")?, &file)?;
        Ok(member)
    }

    /// The public key of a group as the packet that producers elsewhere need.
    ///
    /// # Errors
    /// There is no such group.
    pub fn kek(&self, group: &str, signer: &dyn Signer) -> Result<Data, KeyStoreError> {
        let group = self.group(group)?;
        Ok(keyed(&group.kek, ContentType::Key, &group.spki, signer))
    }

    /// The keys that a producer needs to encrypt content below `prefix` for a group; `signer` signs the packets.
    ///
    /// `group` is the name of a group of this store, or the file of a KEK. The content key is made once for each group and
    /// prefix, so that content has the same encrypted form after a restart.
    ///
    /// # Errors
    /// There is no such group, or a file cannot be read or written.
    pub fn encryption(
        &self,
        group: &str,
        prefix: &Name,
        signer: &dyn Signer,
    ) -> Result<Encryption, KeyStoreError> {
        let group = self.group(group)?;
        let path = self.group_file(&group.key, prefix, "ck")?;
        if !path.exists() {
            replace(&path, &content_key_file(&group.spki, prefix)?)?;
        }
        let bytes = Zeroizing::new(fs::read(&path).map_err(KeyStoreError::io("read", &path))?);
        let (key, sealed) = read_content_key(&bytes).ok_or_else(|| KeyStoreError::Damaged {
            path,
            reason: "it holds no content key".into(),
        })?;
        let named = name::content_key_packet(key.name(), &group.kek);
        let mut packets = vec![keyed(&named, ContentType::Blob, sealed, signer)];
        let mut prefixes = vec![key.name().clone()];
        if group.private.is_some() {
            packets.push(keyed(&group.kek, ContentType::Key, &group.spki, signer));
            for (member, content) in self.granted(&group.key)? {
                let kdk = name::kdk(&group.kek, &member);
                packets.extend(kdk.map(|kdk| keyed(&kdk, ContentType::Blob, &content, signer)));
            }
            // KEK and KDKs follow the name of the group.
            prefixes.push(group.key.prefix(group.key.len() - 2));
        }
        Ok(Encryption { key, packets, prefixes })
    }

    /// The member of groups with the private key `which`: the name of a key or identity, or a file.
    ///
    /// # Errors
    /// There is no such key, or it is no RSA key.
    pub fn member(
        &self,
        which: &str,
        password: Option<&str>,
    ) -> Result<Box<dyn Member>, KeyStoreError> {
        let (key, name, certificate) = self.find_private(which, password)?;
        let named = certificate.map(|it| certificate::key_name(&it)).transpose()?;
        let name = name.or(named).ok_or(KeyStoreError::IdentityNeeded)?;
        Ok(Box::new(RsaMember { name, key: private(&key)? }))
    }

    fn group(&self, which: &str) -> Result<Group, KeyStoreError> {
        let path = Path::new(which);
        if path.is_file()
            && let Some(Form::Certificate(kek)) = Some(Form::load(path, None)?)
        {
            let key = name::key_of_kek(kek.name()).ok_or(KeyStoreError::NotUnderstood(
                "the key of a group; `recoup group export` writes one",
            ))?;
            let (spki, private) = (kek.content().to_vec(), None);
            return Ok(Group { key, kek: kek.name().clone(), spki, private });
        }
        let group = which.parse().map(|it: Name| name::group(&it).to_string());
        let entry = match self.find(which)? {
            Some(entry) => Some(entry),
            None => self.find(group.as_deref().unwrap_or(which))?,
        };
        let entry = entry.ok_or_else(|| KeyStoreError::NoGroup(which.to_owned()))?;
        let no_group = || KeyStoreError::NoGroup(which.to_owned());
        let kek = name::kek_of_key(&entry.name).ok_or_else(no_group)?;
        let (private, ..) = self.find_private(&entry.name.to_string(), None)?;
        let certificate = entry.certificate.ok_or(KeyStoreError::NoCertificate)?;
        let spki = certificate.content().to_vec();
        Ok(Group { key: entry.name, kek, spki, private: Some((private, certificate)) })
    }

    /// The members of a group, and the group's key as encrypted for each.
    fn granted(&self, key: &Name) -> Result<Vec<(Name, Vec<u8>)>, KeyStoreError> {
        let folder = self.group_folder(key);
        let files = match fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(KeyStoreError::io("read", &folder)(error)),
        };
        let mut granted = Vec::new();
        for file in files {
            let path = file.map_err(KeyStoreError::io("read", &folder))?.path();
            if path.extension().is_none_or(|extension| extension != "kdk") {
                continue;
            }
            let bytes = fs::read(&path).map_err(KeyStoreError::io("read", &path))?;
            let mut reader = Reader::new(&bytes);
            let name = reader.expect(typ::NAME, "a name").ok().and_then(|name| {
                let value = bytes[name.range()].to_vec();
                Some((Name::from_value(value.into()).ok()?, name.end()))
            });
            let (member, end) = name.ok_or_else(|| KeyStoreError::Damaged {
                path,
                reason: "it names no member".into(),
            })?;
            granted.push((member, bytes[end..].to_vec()));
        }
        Ok(granted)
    }

    fn group_folder(&self, key: &Name) -> PathBuf {
        self.folder.join("groups").join(file_name(key)).with_extension("")
    }

    /// The file about `name` in the folder of a group, which is made.
    fn group_file(&self, key: &Name, name: &Name, kind: &str) -> Result<PathBuf, KeyStoreError> {
        let folder = self.group_folder(key);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(KeyStoreError::io("make the folder", &folder))?;
        Ok(folder.join(file_name(name)).with_extension(kind))
    }
}

/// A group that is known.
struct Group {
    /// `…/KEY/<id>`.
    key: Name,
    kek: Name,
    /// The public key as SubjectPublicKeyInfo.
    spki: Vec<u8>,
    /// The private key and its certificate, if they are here.
    private: Option<(PrivateKey, Data)>,
}

fn keyed(name: &Name, content_type: ContentType, content: &[u8], signer: &dyn Signer) -> Data {
    DataBuilder::new(name).content_type(content_type).freshness(FRESHNESS).build(content, signer)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A new content key, and the same encrypted for the group with that public key.
fn content_key_file(spki: &[u8], prefix: &Name) -> Result<Vec<u8>, KeyStoreError> {
    let secret = random::<CONTENT_KEY_BYTES>()?;
    let name = name::content_key(prefix, hexadecimal(&*random::<8>()?).as_bytes());
    let mut file = Vec::new();
    tlv::put_tlv(&mut file, typ::NAME, name.value());
    tlv::put_tlv(&mut file, SECRET, &*secret);
    file.extend_from_slice(&EncryptedContent::of(&seal(spki, &*secret)?).encode());
    Ok(file)
}

/// The content key in a file, and the element with its encrypted form.
fn read_content_key(bytes: &[u8]) -> Option<(ContentKey, &[u8])> {
    let mut reader = Reader::new(bytes);
    let name = reader.expect(typ::NAME, "a name").ok()?;
    let secret = reader.expect(SECRET, "a content key").ok()?;
    let name = Name::from_value(bytes[name.range()].to_vec().into()).ok()?;
    let sealed = &bytes[secret.end()..];
    EncryptedContent::decode(sealed).ok()?;
    Some((ContentKey::new(name, &bytes[secret.range()]).ok()?, sealed))
}

/// Encrypts by RSA-OAEP (RFC 8017, 7.1.1) with SHA-1, for the owner of the key with that SubjectPublicKeyInfo.
fn seal(spki: &[u8], plain: &[u8]) -> Result<Vec<u8>, KeyStoreError> {
    let key = rsa::PublicKey::from_public_key_der(spki).map_err(|_| KeyStoreError::NotRsa)?;
    key.oaep_encrypt::<Sha1>(plain).map_err(|_| KeyStoreError::Encryption)
}

/// The private RSA key, for decryption.
fn private(key: &PrivateKey) -> Result<rsa::PrivateKey, KeyStoreError> {
    match key {
        PrivateKey::Rsa(der) => {
            rsa::PrivateKey::from_pkcs1_der(der).map_err(|_| KeyStoreError::NotRsa)
        }
        _ => Err(KeyStoreError::NotRsa),
    }
}

/// A member with an RSA key.
struct RsaMember {
    name: Name,
    key: rsa::PrivateKey,
}

impl Member for RsaMember {
    fn key_name(&self) -> &Name {
        &self.name
    }

    fn open(&self, bag: &[u8], passphrase: &[u8]) -> Option<Box<dyn GroupKey>> {
        let passphrase = Zeroizing::new(self.key.oaep_decrypt::<Sha1>(passphrase).ok()?);
        let passphrase = std::str::from_utf8(&passphrase).ok()?;
        let (_, encrypted) = safe_bag::split(&bag.to_vec().into()).ok()?;
        let key = PrivateKey::from_encrypted_within(&encrypted, passphrase, MAX_ROUNDS).ok()?;
        Some(Box::new(RsaGroup(private(&key).ok()?)))
    }
}

/// The private RSA key of a group.
struct RsaGroup(rsa::PrivateKey);

impl GroupKey for RsaGroup {
    fn decrypt(&self, encrypted: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        self.0.oaep_decrypt::<Sha1>(encrypted).ok().map(Zeroizing::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::signature::{
        AutoVerifier, Certificates, DigestSigner, Encrypter, Verdict, Verifier,
    };
    use recoup_trust::access::Decrypting;

    fn n(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    /// A segment of 6 bytes, encrypted.
    fn segment(encryption: &Encryption) -> Data {
        let name = n("/site/report/seg=0");
        let mut content = vec![0; encryption.key.encrypted_len(6)];
        encryption.key.encrypt(&name, b"secret", &mut content);
        DataBuilder::new(&name).build(&content, &DigestSigner)
    }

    /// The content as the member reads it with the published packets.
    fn read(store: &KeyStore, member: &str, encryption: &Encryption) -> Option<Vec<u8>> {
        let reader = Decrypting::new(AutoVerifier, store.member(member, None).unwrap());
        // Keys of groups come first, as the content key needs one.
        for packet in encryption.packets.iter().rev() {
            reader.take(packet);
        }
        let segment = segment(encryption);
        let content = reader.content(&segment).ok().filter(|_| {
            matches!(reader.verify(&segment), Verdict::Verified | Verdict::NotVerified)
        });
        content.map(|content| content.to_vec())
    }

    #[test]
    fn members_read_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = KeyStore::open(folder.path());
        let group = store.new_group(&n("/site")).unwrap();
        assert_eq!(group.identity(), n("/site/NAC"));
        let certificate = |owner: &str| {
            let entry = store.generate(&n(owner), KeyType::Rsa).unwrap();
            entry.certificate.unwrap()
        };
        let (alice, bob) = (certificate("/alice"), certificate("/bob"));
        let member = store.grant("/site", &alice).unwrap();
        assert_eq!(store.members("/site").unwrap(), (group.name.clone(), vec![member]));
        let encryption = store.encryption("/site", &n("/site/report"), &DigestSigner).unwrap();
        assert_eq!(encryption.packets.len(), 3);
        assert_eq!(read(&store, "/alice", &encryption).as_deref(), Some(&b"secret"[..]));
        assert_eq!(read(&store, "/bob", &encryption), None);
        store.grant("/site/NAC", &bob).unwrap();
        let again = store.encryption("/site", &n("/site/report"), &DigestSigner).unwrap();
        assert_eq!(segment(&again), segment(&encryption));
        assert_eq!(read(&store, "/bob", &again).as_deref(), Some(&b"secret"[..]));
    }

    #[test]
    fn producer_elsewhere_needs_the_public_key_only() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manager = KeyStore::open(here.path());
        manager.new_group(&n("/site")).unwrap();
        let alice = manager.generate(&n("/alice"), KeyType::Rsa).unwrap();
        manager.grant("/site", &alice.certificate.unwrap()).unwrap();
        let kek = there.path().join("site.kek");
        fs::write(&kek, manager.kek("/site", &DigestSigner).unwrap().wire()).unwrap();
        let producer = KeyStore::open(&there.path().join("keys"));
        let kek = kek.to_str().unwrap();
        let mut encryption = producer.encryption(kek, &n("/site/report"), &DigestSigner).unwrap();
        assert_eq!(encryption.packets.len(), 1);
        let error = producer.grant(kek, &manager.certificate("/alice").unwrap()).unwrap_err();
        assert!(matches!(error, KeyStoreError::OnlyKek(_)), "{error}");
        encryption.packets.extend(
            manager.encryption("/site", &n("/other"), &DigestSigner).unwrap().packets.drain(1..),
        );
        assert_eq!(read(&manager, "/alice", &encryption).as_deref(), Some(&b"secret"[..]));
    }

    #[test]
    fn other_keys_make_no_members() {
        let folder = tempfile::tempdir().unwrap();
        let store = KeyStore::open(folder.path());
        store.new_group(&n("/site")).unwrap();
        let ecdsa = store.generate(&n("/carol"), KeyType::Ecdsa).unwrap().certificate.unwrap();
        assert!(matches!(store.grant("/site", &ecdsa), Err(KeyStoreError::NotRsa)));
        assert!(matches!(store.grant("/carol", &ecdsa), Err(KeyStoreError::NoGroup(_))));
        assert!(matches!(store.member("/carol", None), Err(KeyStoreError::NotRsa)));
    }
}
