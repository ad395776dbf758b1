//! The key store against itself, and against keys that ndn-cxx, ndnd and OpenSSL wrote.
//!
//! The keys in `tests/fixture` were made for these tests and protect nothing. `ndn-cxx` holds a key chain and exports of
//! ndnsec (passphrase `secret`); `ndnd` the output of `ndnd sec keygen` and `sign-cert`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use recoup_io::key::{
    KeyEntry, KeyStore, KeyStoreError, KeyType, Origin, PrivateKey, load_public_key,
};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::name::Name;
use recoup_packet::signature::{
    AutoVerifier, KeyLocator, KeyVerifier, PublicKey, SignatureType, Signer, Verdict, Verifier,
};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixture").join(name)
}

fn store() -> (TempDir, KeyStore) {
    let folder = TempDir::new().unwrap();
    let store = KeyStore::open(&folder.path().join("keys"));
    (folder, store)
}

fn name(uri: &str) -> Name {
    uri.parse().unwrap()
}

fn signed(signer: &dyn Signer) -> Data {
    DataBuilder::new(&name("/some/thing")).build(b"content", signer)
}

fn accepts(key: PublicKey, signer: &dyn Signer) -> bool {
    KeyVerifier(key).verify(&signed(signer)) == Verdict::Verified
}

/// Packets name the certificate of their key, which consumers can fetch; a key without one is named itself.
fn locator_of(entry: &KeyEntry) -> Name {
    entry.certificate.as_ref().map_or_else(|| entry.name.clone(), |it| it.name().clone())
}

fn uris(entries: &[KeyEntry]) -> Vec<String> {
    entries.iter().map(|entry| entry.identity().to_string()).collect()
}

#[test]
fn a_new_key_signs_and_its_certificate_verifies() {
    let (_folder, store) = store();
    for (typ, identity) in
        [(KeyType::Ecdsa, "/alice"), (KeyType::Ed25519, "/bob/home"), (KeyType::Hmac, "/")]
    {
        let entry = store.generate(&name(identity), typ).unwrap();
        assert_eq!(entry.identity(), name(identity));
        let signer = store.signer(identity).unwrap();
        assert_eq!(Some(signer.signature_type()), entry.signature_type);
        assert_eq!(signer.key_locator(), Some(KeyLocator::Name(locator_of(&entry).value())));
        assert!(accepts(store.public_key(identity, None).unwrap(), &*signer));
        let by_key = store.signer(&entry.name.to_string()).unwrap();
        assert_eq!(signed(&*by_key), signed(&*signer));
        if let Some(certificate) = &entry.certificate {
            let by_certificate = store.signer(&certificate.name().to_string()).unwrap();
            assert_eq!(signed(&*by_certificate), signed(&*signer));
        }
    }
    assert_eq!(uris(&store.list().unwrap()), ["/", "/bob/home", "/alice"], "canonical order");
}

#[test]
fn keys_are_readable_by_their_owner_only() {
    let (_folder, store) = store();
    let entry = store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    let Origin::Store(path) = &entry.origin else { panic!("kept elsewhere: {entry:?}") };
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(store.folder()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn newest_key_of_an_identity_is_default() {
    let (_folder, store) = store();
    let first = store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3));
    let second = store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    let locator = |which: &str| match store.signer(which).unwrap().key_locator() {
        Some(KeyLocator::Name(value)) => value.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!(locator("/alice"), locator_of(&second).value()[..]);
    assert_eq!(locator(&first.name.to_string()), locator_of(&first).value()[..]);
    assert_eq!(store.list().unwrap().iter().filter(|entry| entry.is_default).count(), 1);
}

#[test]
fn a_digest_needs_no_key() {
    let (_folder, store) = store();
    let data = signed(&*store.signer("digest").unwrap());
    assert_eq!(AutoVerifier.verify(&data), Verdict::Verified);
}

#[test]
fn exports_come_back_as_the_same_key() {
    let (_folder, one) = store();
    for (typ, identity) in [(KeyType::Ecdsa, "/alice"), (KeyType::Ed25519, "/bob")] {
        let entry = one.generate(&name(identity), typ).unwrap();
        let key = || one.public_key(identity, None).unwrap();

        let (_folder, two) = store();
        let bag = one.export_safe_bag(identity, "secret").unwrap();
        let read = two.import(bag.as_bytes(), None, Some("secret")).unwrap();
        assert_eq!((&read.name, &read.certificate), (&entry.name, &entry.certificate));
        assert!(accepts(key(), &*two.signer(identity).unwrap()));
        let again = two.import(bag.as_bytes(), None, Some("secret")).unwrap_err();
        assert!(matches!(again, KeyStoreError::Exists(_)), "{again}");

        for password in [None, Some("secret")] {
            let (_folder, two) = store();
            let pem = one.export_pem(identity, password).unwrap();
            let nameless = two.import(pem.as_bytes(), None, password).unwrap_err();
            assert!(matches!(nameless, KeyStoreError::IdentityNeeded), "{nameless}");
            two.import(pem.as_bytes(), Some(&name("/new")), password).unwrap();
            assert!(accepts(key(), &*two.signer("/new").unwrap()));
        }
    }
}

#[test]
fn a_shared_secret_travels_as_pem_only() {
    let (_folder, one) = store();
    one.generate(&name("/alice"), KeyType::Hmac).unwrap();
    let error = one.export_safe_bag("/alice", "secret").unwrap_err();
    assert!(matches!(error, KeyStoreError::NoCertificate), "{error}");
    assert!(one.export_certificate("/alice").is_err());
    let (_folder, two) = store();
    let pem = one.export_pem("/alice", None).unwrap();
    two.import(pem.as_bytes(), Some(&name("/alice")), None).unwrap();
    let key = one.public_key("/alice", None).unwrap();
    assert!(accepts(key, &*two.signer("/alice").unwrap()));
}

#[test]
fn public_key_files_of_all_formats_are_recognised() {
    let (folder, store) = store();
    store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    let signer = store.signer("/alice").unwrap();
    let text = store.export_certificate("/alice").unwrap();
    let certificate = store.list().unwrap().remove(0).certificate.unwrap();
    let bag = store.export_safe_bag("/alice", "secret").unwrap();
    let pem = store.export_pem("/alice", Some("secret")).unwrap();
    let forms: [(&str, &[u8]); 5] = [
        ("text.ndncert", text.as_bytes()),
        ("binary.ndncert", &certificate.wire()),
        ("key.safebag", bag.as_bytes()),
        ("key.pem", pem.as_bytes()),
        ("key.der", certificate.content()),
    ];
    for (file, bytes) in forms {
        let path = folder.path().join(file);
        fs::write(&path, bytes).unwrap();
        assert!(accepts(load_public_key(&path, Some("secret")).unwrap(), &*signer), "{file}");
        let by_path = store.public_key(path.to_str().unwrap(), Some("secret")).unwrap();
        assert!(accepts(by_path, &*signer), "{file}");
    }
    for file in ["key.safebag", "key.pem"] {
        let path = folder.path().join(file);
        let locked = load_public_key(&path, None).unwrap_err();
        assert!(matches!(locked, KeyStoreError::PasswordNeeded), "{locked}");
        let wrong = load_public_key(&path, Some("wrong")).unwrap_err();
        assert!(matches!(wrong, KeyStoreError::WrongPassword), "{wrong}");
        let signer = store.signer_with_password(path.to_str().unwrap(), Some("secret")).unwrap();
        assert!(accepts(store.public_key("/alice", None).unwrap(), &*signer));
    }
    let public = folder.path().join("text.ndncert");
    let error = store.signer(public.to_str().unwrap()).err().unwrap();
    assert!(matches!(error, KeyStoreError::OnlyPublic(_)), "{error}");
}

#[test]
fn unnamed_key_signs_with_its_digest() {
    let (_folder, store) = store();
    let signer = store.signer(fixture("key/ed25519.pem").to_str().unwrap()).unwrap();
    assert!(matches!(signer.key_locator(), Some(KeyLocator::Digest(digest)) if digest.len() == 32));
    let key = load_public_key(&fixture("key/ed25519.pem"), None).unwrap();
    assert!(accepts(key, &*signer));
}

#[test]
fn key_store_errors_name_the_cause() {
    let (folder, store) = store();
    let error = store.signer("/absent").err().unwrap().to_string();
    assert!(error.contains("/absent") && error.contains("recoup key new"), "{error}");
    store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    let error = store.signer("/absent").err().unwrap().to_string();
    assert!(error.ends_with("there are keys of /alice"), "{error}");
    let junk = folder.path().join("junk");
    for bytes in [&b"junk"[..], b"", &[0xff; 100], &[6, 3, 7, 0, 0]] {
        fs::write(&junk, bytes).unwrap();
        assert!(load_public_key(&junk, None).is_err());
        assert!(store.import(bytes, None, None).is_err());
    }
    assert!(load_public_key(&folder.path().join("missing"), None).is_err());
    fs::write(store.folder().join("broken.pem"), "junk").unwrap();
    let error = store.list().unwrap_err().to_string();
    assert!(error.contains("broken.pem") && error.contains("move it away"), "{error}");
}

#[test]
fn safe_bags_of_ndnsec_are_read() {
    for (identity, typ) in
        [("alice", SignatureType::Sha256WithEcdsa), ("rsa", SignatureType::Sha256WithRsa)]
    {
        let (_folder, store) = store();
        let bag = fs::read(fixture(&format!("ndn-cxx/{identity}.safebag"))).unwrap();
        let wrong = store.import(&bag, None, Some("wrong")).unwrap_err();
        assert!(matches!(wrong, KeyStoreError::WrongPassword), "{wrong}");
        let entry = store.import(&bag, None, Some("secret")).unwrap();
        assert_eq!(entry.identity(), name(&format!("/fixture/{identity}")));
        assert_eq!(entry.signature_type, Some(typ));
        let certificate = fixture(&format!("ndn-cxx/{identity}.ndncert"));
        let key = || load_public_key(&certificate, None).unwrap();
        let signer = store.signer(&format!("/fixture/{identity}")).unwrap();
        assert!(accepts(key(), &*signer));
        let own = entry.certificate.unwrap();
        assert_eq!(KeyVerifier(key()).verify(&own), Verdict::Verified, "signed by ndn-cxx");
        let bag = store.export_safe_bag(&format!("/fixture/{identity}"), "other").unwrap();
        let (_folder, store) = crate::store();
        assert_eq!(store.import(bag.as_bytes(), None, Some("other")).unwrap().name, entry.name);
    }
}

#[cfg(feature = "keychain")]
#[test]
fn the_key_chain_of_ndn_cxx_is_read() {
    let (_folder, own) = store();
    let store = own.with_key_chain(&fixture("ndn-cxx"));
    let entries = store.list().unwrap();
    assert_eq!(uris(&entries), ["/fixture/rsa", "/fixture/alice"]);
    for entry in entries {
        let identity = entry.identity().to_string();
        assert!(entry.is_default);
        assert_eq!(entry.origin, Origin::KeyChain(fixture("ndn-cxx")));
        let signer = store.signer(&identity).unwrap();
        assert_eq!(entry.signature_type, Some(signer.signature_type()));
        assert_eq!(signer.key_locator(), Some(KeyLocator::Name(locator_of(&entry).value())));
        let file = identity.replace("/fixture/", "ndn-cxx/") + ".ndncert";
        assert!(accepts(load_public_key(&fixture(&file), None).unwrap(), &*signer));
        assert_eq!(store.export_certificate(&identity).unwrap(), {
            fs::read_to_string(fixture(&file)).unwrap()
        });
    }
}

#[cfg(feature = "keychain")]
#[test]
fn damaged_key_chain_is_an_error() {
    let (folder, store) = store();
    let store = store.with_key_chain(folder.path());
    assert!(store.list().unwrap().is_empty());
    fs::write(folder.path().join("pib.db"), "no database").unwrap();
    let error = store.list().unwrap_err();
    assert!(matches!(error, KeyStoreError::KeyChain { .. }), "{error}");
    store.generate(&name("/alice"), KeyType::Ecdsa).unwrap();
    assert!(store.signer("/alice").is_ok(), "the store's own keys stay usable");
}

#[test]
fn keys_and_certificates_of_ndnd_are_read() {
    let (_folder, store) = store();
    let bob = store.import(&fs::read(fixture("ndnd/bob.key")).unwrap(), None, None).unwrap();
    assert_eq!(bob.identity(), name("/fixture/bob"));
    let signer = store.signer("/fixture/bob").unwrap();
    let key = load_public_key(&fixture("ndnd/bob.cert"), None).unwrap();
    assert!(accepts(key, &*signer));
    let carl = store.import(&fs::read(fixture("ndnd/carl.key")).unwrap(), None, None).unwrap();
    assert_eq!(carl.signature_type, Some(SignatureType::Sha256WithEcdsa));
}

#[test]
fn public_key_stands_in_place_of_a_file() {
    let (_folder, store) = store();
    let key = PrivateKey::Ed25519(vec![7; 32].into());
    let text = BASE64_STANDARD.encode(key.to_spki().unwrap());
    let public = || store.public_key(&format!("spki:{text}"), None).unwrap();
    let other = PrivateKey::Ed25519(vec![8; 32].into());
    let signer = |key: &PrivateKey| key.signer(KeyLocator::Name(&[])).unwrap();
    assert!(accepts(public(), &*signer(&key)) && !accepts(public(), &*signer(&other)));
    for wrong in ["spki:", "spki:!", "spki:AAAA"] {
        assert!(store.public_key(wrong, None).is_err(), "{wrong}");
    }
}
