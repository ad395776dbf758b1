//! Signers against verifiers, and both against fixtures of other software.

use recoup_packet::signature::{
    AutoVerifier, DigestSigner, DigestVerifier, EcdsaSigner, Ed25519Signer, HmacSigner, KeyError,
    KeyLocator, KeyVerifier, NoVerifier, PublicKey, SignatureInfo, SignatureType, Signer, Verdict,
    Verifier, sha256,
};

const PORTION: &[u8] = b"signed portion of a packet";
const KEY_NAME: KeyLocator<'_> = KeyLocator::Name(&[8, 1, b'k']);

fn signers() -> Vec<(Box<dyn Signer>, PublicKey)> {
    let ecdsa = EcdsaSigner::new(&[7; 32], KEY_NAME).unwrap();
    let ecdsa_key = PublicKey::from_p256_point(&ecdsa.public_bytes()).unwrap();
    let ed25519 = Ed25519Signer::new(&[7; 32], KEY_NAME).unwrap();
    let ed25519_key = PublicKey::from_ed25519(ed25519.public_bytes()).unwrap();
    let hmac = HmacSigner::new(b"secret", KEY_NAME);
    vec![
        (Box::new(ecdsa), ecdsa_key),
        (Box::new(ed25519), ed25519_key),
        (Box::new(hmac), PublicKey::from_hmac_secret(b"secret")),
    ]
}

fn sign(signer: &dyn Signer, portion: &[u8]) -> Vec<u8> {
    let mut out = vec![0; signer.max_signature_len()];
    let len = signer.sign(portion, &mut out);
    out.truncate(len);
    out
}

fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..bytes.len() * 8).map(|bit| {
        let mut changed = bytes.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        changed
    })
}

#[test]
fn key_rejects_any_flipped_bit() {
    for (signer, key) in signers() {
        let (info, verifier) = (signer.signature_info(), KeyVerifier(key));
        let value = sign(&*signer, PORTION);
        assert_eq!(info.key_locator, Some(KEY_NAME));
        assert_eq!(verifier.judge(&info, PORTION, &value), Verdict::Verified);
        for changed in flips(PORTION) {
            assert!(matches!(verifier.judge(&info, &changed, &value), Verdict::Bad(_)));
        }
        for changed in flips(&value) {
            assert!(matches!(verifier.judge(&info, PORTION, &changed), Verdict::Bad(_)));
        }
        for len in 0..value.len() {
            assert!(matches!(verifier.judge(&info, PORTION, &value[..len]), Verdict::Bad(_)));
        }
    }
}

#[test]
fn key_rejects_signatures_of_other_keys() {
    for (i, (signer, _)) in signers().iter().enumerate() {
        let value = sign(&**signer, PORTION);
        for (j, (_, key)) in signers().into_iter().enumerate() {
            let verdict = KeyVerifier(key).judge(&signer.signature_info(), PORTION, &value);
            assert_eq!(verdict == Verdict::Verified, i == j);
        }
    }
    let other = EcdsaSigner::new(&[8; 32], KEY_NAME).unwrap();
    let key = PublicKey::from_p256_point(&other.public_bytes()).unwrap();
    let (signer, _) = &signers()[0];
    let verdict =
        KeyVerifier(key).judge(&signer.signature_info(), PORTION, &sign(&**signer, PORTION));
    assert_eq!(verdict, Verdict::Bad("is not signed by the given key"));
}

#[test]
fn key_rejects_a_plain_digest() {
    let value = sign(&DigestSigner, PORTION);
    for (_, key) in signers() {
        let verdict = KeyVerifier(key).judge(&DigestSigner.signature_info(), PORTION, &value);
        assert!(matches!(verdict, Verdict::Bad(_)));
    }
}

#[test]
fn a_digest_is_checked_bit_by_bit() {
    let info = DigestSigner.signature_info();
    let value = sign(&DigestSigner, PORTION);
    let verifiers: [&dyn Verifier; 2] = [&AutoVerifier, &DigestVerifier];
    for verifier in verifiers {
        assert_eq!(verifier.judge(&info, PORTION, &value), Verdict::Verified);
        assert!(matches!(verifier.judge(&info, PORTION, &[]), Verdict::Bad(_)));
        for changed in flips(&value) {
            assert!(matches!(verifier.judge(&info, PORTION, &changed), Verdict::Bad(_)));
        }
        for changed in flips(PORTION) {
            assert!(matches!(verifier.judge(&info, &changed, &value), Verdict::Bad(_)));
        }
    }
}

#[test]
fn policy_decides_on_unknown_signature_types() {
    let numbers = [1, 2, 3, 4, 5, 6, 200, u64::MAX];
    for info in numbers.map(|number| SignatureInfo::new(SignatureType::from(number), None)) {
        assert_eq!(AutoVerifier.judge(&info, PORTION, b"x"), Verdict::NotVerified);
        assert_eq!(NoVerifier.judge(&info, PORTION, b"x"), Verdict::NotVerified);
        assert!(matches!(DigestVerifier.judge(&info, PORTION, b"x"), Verdict::Bad(_)));
    }
}

#[test]
fn the_digest_is_sha_256() {
    let expected = [0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea];
    assert_eq!(sha256(b"abc")[..8], expected);
}

/// The fixtures were written by OpenSSL 3.0: `pkey -pubout`, `dgst -sha256 -sign`.
#[test]
fn openssl_keys_and_signatures_are_accepted() {
    let pairs: [(&str, &[u8], SignatureType); 4] = [
        (
            include_str!("fixture/signature/rsa.pem"),
            include_bytes!("fixture/signature/rsa.sig"),
            SignatureType::Sha256WithRsa,
        ),
        (
            include_str!("fixture/signature/p256.pem"),
            include_bytes!("fixture/signature/p256.sig"),
            SignatureType::Sha256WithEcdsa,
        ),
        (
            include_str!("fixture/signature/p256-explicit.pem"),
            include_bytes!("fixture/signature/p256-explicit.sig"),
            SignatureType::Sha256WithEcdsa,
        ),
        (
            include_str!("fixture/signature/p384.pem"),
            include_bytes!("fixture/signature/p384.sig"),
            SignatureType::Sha256WithEcdsa,
        ),
    ];
    for (pem, signature, typ) in pairs {
        let key = PublicKey::from_pem(pem).unwrap();
        assert_eq!(key.signature_type(), typ);
        assert!(key.verify(PORTION, signature));
        assert!(!key.verify(b"another portion", signature));
        for changed in flips(signature) {
            assert!(!key.verify(PORTION, &changed));
        }
    }
}

#[test]
fn unsupported_keys_are_errors() {
    let short = PublicKey::from_pem(include_str!("fixture/signature/rsa1024.pem")).unwrap_err();
    assert!(short.to_string().contains("1024 bits"), "{short}");
    let rare = PublicKey::from_pem(include_str!("fixture/signature/p521.pem")).unwrap_err();
    assert!(matches!(rare, KeyError::Unsupported(_)), "{rare}");
}

#[test]
fn changed_key_file_never_panics() {
    let pem = include_str!("fixture/signature/p256.pem");
    for changed in flips(pem.as_bytes()) {
        let _ = PublicKey::from_pem(&String::from_utf8_lossy(&changed));
    }
    for len in 0..pem.len() - 1 {
        assert!(PublicKey::from_pem(&pem[..len]).is_err() || len > pem.len() - 2);
    }
}
