//! Private keys and the forms that people keep them in.

use super::KeyStoreError;
use super::rsa::RsaSigner;
use getrandom::SysRng;
use pkcs8::der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, OctetStringRef};
use pkcs8::der::{Decode, Encode, Reader, SliceReader, pem};
use pkcs8::pkcs5::{EncryptionScheme, pbes2};
use pkcs8::{EncryptedPrivateKeyInfo, EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use recoup_packet::signature::{
    EcdsaSigner, Ed25519Signer, HmacSigner, KeyError, KeyLocator, PublicKey, SignatureType, Signer,
};
use rsa::pkcs1::EncodeRsaPrivateKey;
use zeroize::Zeroizing;

const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// DER before a P-256 point in a SubjectPublicKeyInfo (RFC 5480).
const P256_SPKI: &[u8] = &[
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];
/// DER before a P-256 scalar in a PrivateKeyInfo that also holds the point (RFC 5915, RFC 5958).
const P256_PKCS8: &[u8] = &[
    0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02,
    0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x6d, 0x30, 0x6b, 0x02,
    0x01, 0x01, 0x04, 0x20,
];
/// DER between scalar and point.
const P256_PKCS8_POINT: &[u8] = &[0xa1, 0x44, 0x03, 0x42, 0x00];
/// DER before an Ed25519 public key in a SubjectPublicKeyInfo (RFC 8410, 4).
const ED25519_SPKI: &[u8] =
    &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
/// DER before an Ed25519 seed in a PrivateKeyInfo (RFC 8410, 7).
const ED25519_PKCS8: &[u8] = &[
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// AlgorithmIdentifier of RSA (RFC 8017, A.1).
const RSA_ALGORITHM: &[u8] =
    &[0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];

/// Bits of the modulus of a new RSA key: as ndn-cxx makes them.
const RSA_BITS: usize = 2_048;

/// PEM label of a shared secret; no standard has one.
const HMAC_LABEL: &str = "HMAC KEY";
/// Rounds of PBKDF2 for what is written: OWASP's figure for HMAC-SHA256.
pub(super) const ROUNDS: u32 = 600_000;
/// More rounds than this in a file are an attack on patience.
const MAX_ROUNDS: u32 = 10_000_000;
/// More memory than this for scrypt is an attack on the machine, in bytes.
const MAX_SCRYPT_SIZE: u64 = 256 << 20;

/// For signers that never sign.
const NOWHERE: KeyLocator<'_> = KeyLocator::Name(&[]);

type Secret = Zeroizing<Vec<u8>>;

/// A key that can sign; its bytes are wiped from memory when it is dropped.
#[derive(Clone)]
pub enum PrivateKey {
    /// ECDSA over P-256: the scalar, 32 bytes.
    Ecdsa(Zeroizing<Vec<u8>>),
    /// Ed25519: the seed, 32 bytes.
    Ed25519(Zeroizing<Vec<u8>>),
    /// RSA: an RSAPrivateKey in DER (RFC 8017, A.1.2).
    Rsa(Zeroizing<Vec<u8>>),
    /// HMAC-SHA256: the shared secret.
    Hmac(Zeroizing<Vec<u8>>),
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({:?})", self.signature_type())
    }
}

impl PrivateKey {
    /// Reads PEM text: PKCS#8 plain or encrypted, SEC 1 (`EC PRIVATE KEY`), PKCS#1 (`RSA PRIVATE KEY`).
    ///
    /// Text before the first `-----BEGIN`, and an `EC PARAMETERS` block, are skipped.
    pub fn from_pem(text: &str, password: Option<&str>) -> Result<Self, KeyStoreError> {
        let block = private_block(text).ok_or(NOT_PEM)?;
        let (label, der) = pem::decode_vec(block.as_bytes()).map_err(|_| NOT_PEM)?;
        let der = Zeroizing::new(der);
        match label {
            "PRIVATE KEY" => Self::from_pkcs8(&der),
            "ENCRYPTED PRIVATE KEY" => {
                Self::from_encrypted_pkcs8(&der, password.ok_or(KeyStoreError::PasswordNeeded)?)
            }
            "EC PRIVATE KEY" => Self::from_sec1(&der, None),
            "RSA PRIVATE KEY" => Self::checked(Self::Rsa(der)),
            HMAC_LABEL => Ok(Self::Hmac(der)),
            _ => Err(NOT_PEM),
        }
    }

    /// Reads a PrivateKeyInfo (PKCS#8, RFC 5958) in DER.
    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyStoreError> {
        let info = PrivateKeyInfoRef::from_der(der)
            .map_err(|_| KeyStoreError::NotUnderstood("a private key in PKCS#8 form"))?;
        let inner = info.private_key.as_bytes();
        match info.algorithm.oid {
            EC => {
                let curve = info.algorithm.parameters.and_then(|any| any.decode_as().ok());
                Self::from_sec1(inner, curve)
            }
            RSA => Self::checked(Self::Rsa(inner.to_vec().into())),
            ED25519 => {
                let seed = <&OctetStringRef>::from_der(inner)
                    .map_err(|_| KeyStoreError::NotUnderstood("an Ed25519 private key"))?;
                Self::checked(Self::Ed25519(seed.as_bytes().to_vec().into()))
            }
            other => Err(KeyError::Unsupported(format!("object identifier {other}")).into()),
        }
    }

    /// Reads an EncryptedPrivateKeyInfo in DER, encrypted by PBES2 (RFC 8018, 6.2).
    pub fn from_encrypted_pkcs8(der: &[u8], password: &str) -> Result<Self, KeyStoreError> {
        Self::from_encrypted_within(der, password, MAX_ROUNDS)
    }

    /// As [`from_encrypted_pkcs8`](Self::from_encrypted_pkcs8), with at most so many rounds of PBKDF2.
    pub(super) fn from_encrypted_within(
        der: &[u8],
        password: &str,
        max_rounds: u32,
    ) -> Result<Self, KeyStoreError> {
        let info = EncryptedPrivateKeyInfoRef::from_der(der)
            .map_err(|_| KeyStoreError::NotUnderstood("an encrypted private key in PKCS#8 form"))?;
        if !is_affordable(&info.encryption_algorithm, max_rounds) {
            return Err(KeyStoreError::TooCostly);
        }
        let plain = info.decrypt(password).map_err(|_| KeyStoreError::WrongPassword)?;
        Self::from_pkcs8(plain.as_bytes())
    }

    /// Reads an RSAPrivateKey, ECPrivateKey or PrivateKeyInfo in DER, whichever it is.
    pub fn from_der(der: &[u8]) -> Result<Self, KeyStoreError> {
        Self::from_pkcs8(der)
            .or_else(|_| Self::from_sec1(der, None))
            .or_else(|_| Self::checked(Self::Rsa(der.to_vec().into())))
            .map_err(|_| KeyStoreError::NotUnderstood("a private key in PKCS#1, PKCS#8 or SEC 1"))
    }

    /// Reads an ECPrivateKey (RFC 5915); `curve`: the curve named by its container.
    fn from_sec1(der: &[u8], curve: Option<ObjectIdentifier>) -> Result<Self, KeyStoreError> {
        let (secret, own_curve, point) = ec_private_key(der)
            .map_err(|_| KeyStoreError::NotUnderstood("an EC private key in SEC 1 form"))?;
        let own_point = EcdsaSigner::new(&secret, NOWHERE).map(|signer| signer.public_bytes());
        match curve.or(own_curve) {
            Some(other) if other != P256 => {
                Err(KeyError::Unsupported(format!("ECDSA curve {other} for signing")).into())
            }
            // Explicit curve parameters have no identifier; the point shows whether the curve is
            // P-256.
            _ if point.is_some_and(|point| own_point.is_ok_and(|own| own != point)) => {
                Err(KeyError::Unsupported("an ECDSA curve other than P-256".into()).into())
            }
            _ => Self::checked(Self::Ecdsa(secret)),
        }
    }

    /// A new RSA key of 2,048 bits.
    pub(super) fn generate_rsa() -> Result<Self, KeyStoreError> {
        let key = rsa::PrivateKey::new(&mut SysRng, RSA_BITS);
        let der = key.ok().and_then(|key| key.to_pkcs1_der().ok());
        Self::checked(Self::Rsa(der.ok_or(KeyStoreError::Encryption)?.as_bytes().to_vec().into()))
    }

    /// Lets only keys pass that can sign.
    fn checked(key: Self) -> Result<Self, KeyStoreError> {
        key.signer(NOWHERE)?;
        Ok(key)
    }

    /// Kind of the signatures that the key makes.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        match self {
            Self::Ecdsa(_) => SignatureType::Sha256WithEcdsa,
            Self::Ed25519(_) => SignatureType::Ed25519,
            Self::Rsa(_) => SignatureType::Sha256WithRsa,
            Self::Hmac(_) => SignatureType::HmacWithSha256,
        }
    }

    /// A signer whose signatures point to the key by `locator`.
    pub fn signer(&self, locator: KeyLocator<'_>) -> Result<Box<dyn Signer>, KeyError> {
        Ok(match self {
            Self::Ecdsa(secret) => Box::new(EcdsaSigner::new(secret, locator)?),
            Self::Ed25519(seed) => Box::new(Ed25519Signer::new(seed, locator)?),
            Self::Rsa(der) => Box::new(RsaSigner::new(der, locator)?),
            Self::Hmac(secret) => Box::new(HmacSigner::new(secret, locator)),
        })
    }

    /// The key that checks what this one signs.
    pub fn public_key(&self) -> Result<PublicKey, KeyError> {
        match self {
            Self::Hmac(secret) => Ok(PublicKey::from_hmac_secret(secret)),
            _ => PublicKey::from_spki(&self.to_spki()?),
        }
    }

    /// The public part as SubjectPublicKeyInfo in DER; a shared secret has none.
    pub fn to_spki(&self) -> Result<Vec<u8>, KeyError> {
        match self {
            Self::Ecdsa(secret) => {
                Ok([P256_SPKI, &EcdsaSigner::new(secret, NOWHERE)?.public_bytes()].concat())
            }
            Self::Ed25519(seed) => {
                Ok([ED25519_SPKI, Ed25519Signer::new(seed, NOWHERE)?.public_bytes()].concat())
            }
            Self::Rsa(der) => {
                let signer = RsaSigner::new(der, NOWHERE)?;
                let bits = [&[0], signer.public_bytes()].concat();
                Ok(der_tlv(0x30, &[RSA_ALGORITHM, &der_tlv(0x03, &bits)].concat()))
            }
            Self::Hmac(_) => Err(KeyError::Unsupported("a shared secret has no public key".into())),
        }
    }

    /// As PrivateKeyInfo (PKCS#8) in DER; a shared secret has no such form.
    fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = match self {
            Self::Ecdsa(secret) => {
                let point = EcdsaSigner::new(secret, NOWHERE)?.public_bytes();
                [P256_PKCS8, secret, P256_PKCS8_POINT, &point].concat()
            }
            Self::Ed25519(seed) => [ED25519_PKCS8, seed].concat(),
            Self::Rsa(der) => {
                let inner = Zeroizing::new(der_tlv(0x04, der));
                let body = [&[0x02, 0x01, 0x00], RSA_ALGORITHM, &inner].concat();
                der_tlv(0x30, &Zeroizing::new(body))
            }
            Self::Hmac(_) => {
                return Err(KeyError::Unsupported("a shared secret has no PKCS#8 form".into()));
            }
        };
        Ok(bytes.into())
    }

    /// As EncryptedPrivateKeyInfo in DER: PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC, which ndn-cxx, OpenSSL and
    /// others read. `salt` must never have been used before.
    pub fn to_encrypted_pkcs8(
        &self,
        password: &str,
        salt: &[u8; 32],
    ) -> Result<Vec<u8>, KeyStoreError> {
        self.encrypt_pkcs8(password, salt, ROUNDS)
    }

    /// As [`to_encrypted_pkcs8`](Self::to_encrypted_pkcs8), with so many rounds of PBKDF2.
    pub(super) fn encrypt_pkcs8(
        &self,
        password: &str,
        salt: &[u8; 32],
        rounds: u32,
    ) -> Result<Vec<u8>, KeyStoreError> {
        let (salt, iv) = salt.split_at(16);
        let iv = iv.try_into().map_err(|_| KeyStoreError::Encryption)?;
        let encrypted = || {
            let plain = self.to_pkcs8().ok()?;
            let kdf = pbes2::Pbkdf2Params::hmac_sha256(rounds, salt).ok()?;
            let encryption = pbes2::EncryptionScheme::Aes256Cbc { iv };
            let scheme = pbes2::Parameters { kdf: kdf.into(), encryption };
            let data = scheme.encrypt(password, &plain).ok()?;
            let encrypted_data = OctetStringRef::new(&data).ok()?;
            EncryptedPrivateKeyInfo { encryption_algorithm: scheme.into(), encrypted_data }
                .to_der()
                .ok()
        };
        if let Self::Hmac(_) = self {
            self.to_pkcs8()?;
        }
        encrypted().ok_or(KeyStoreError::Encryption)
    }

    /// As PEM text: `PRIVATE KEY`, or `HMAC KEY` for a shared secret.
    pub fn to_pem(&self) -> Result<Zeroizing<String>, KeyStoreError> {
        match self {
            Self::Hmac(secret) => to_pem(HMAC_LABEL, secret),
            _ => to_pem("PRIVATE KEY", &self.to_pkcs8()?),
        }
    }

    /// As PEM text labelled `ENCRYPTED PRIVATE KEY`; `salt` must never have been used before.
    pub fn to_encrypted_pem(
        &self,
        password: &str,
        salt: &[u8; 32],
    ) -> Result<Zeroizing<String>, KeyStoreError> {
        to_pem("ENCRYPTED PRIVATE KEY", &self.to_encrypted_pkcs8(password, salt)?)
    }
}

const NOT_PEM: KeyStoreError = KeyStoreError::NotUnderstood("a private key in PEM form");

/// Wraps `der` into PEM text labelled `label`.
pub(super) fn to_pem(label: &str, der: &[u8]) -> Result<Zeroizing<String>, KeyStoreError> {
    pem::encode_string(label, pem::LineEnding::LF, der)
        .map(Zeroizing::new)
        .map_err(|_| KeyStoreError::Encryption)
}

/// The first PEM block of `text` that holds a private key, explanatory text and other blocks cut away.
fn private_block(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = &rest[rest.find("-----BEGIN ")?..];
        let label = rest.get(11..)?.split("-----").next()?;
        let end_line = format!("-----END {label}-----");
        let end = rest.find(&end_line)? + end_line.len();
        if label.ends_with("PRIVATE KEY") || label == HMAC_LABEL {
            return rest.get(..end);
        }
        rest = rest.get(end..)?;
    }
}

/// Whether deriving the key stays within reason, whatever the file demands.
fn is_affordable(scheme: &EncryptionScheme, max_rounds: u32) -> bool {
    match scheme {
        EncryptionScheme::Pbes2(parameters) => match &parameters.kdf {
            pbes2::Kdf::Pbkdf2(kdf) => kdf.iteration_count <= max_rounds,
            pbes2::Kdf::Scrypt(kdf) => {
                let blocks = kdf.cost_parameter.saturating_mul(u64::from(kdf.block_size));
                blocks.saturating_mul(128) <= MAX_SCRYPT_SIZE && kdf.parallelization <= 16
            }
            _ => false,
        },
        _ => true,
    }
}

/// Scalar and, where they stand in it, curve and uncompressed point of an ECPrivateKey (RFC 5915).
fn ec_private_key(
    der: &[u8],
) -> pkcs8::der::Result<(Secret, Option<ObjectIdentifier>, Option<Vec<u8>>)> {
    SliceReader::new(der)?.sequence(|reader| {
        u8::decode(reader)?;
        let secret = <&OctetStringRef>::decode(reader)?.as_bytes().to_vec().into();
        let (mut curve, mut point) = (None, None);
        while !reader.is_finished() {
            let field = AnyRef::decode(reader)?;
            curve = curve.or(ObjectIdentifier::from_der(field.value()).ok());
            if let Ok(bits) = BitStringRef::from_der(field.value()) {
                point = Some(bits.raw_bytes().to_vec()).filter(|point| point.len() == 65);
            }
        }
        Ok((secret, curve, point))
    })
}

/// `value` with a DER tag and length before it.
fn der_tlv(tag: u8, value: &[u8]) -> Vec<u8> {
    let bytes = value.len().to_be_bytes();
    let significant = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
    let len = match value.len() {
        len @ 0..128 => vec![len as u8],
        _ => [&[0x80 | significant.len() as u8], significant].concat(),
    };
    [&[tag], &len[..], value].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: [u8; 32] = [5; 32];

    fn keys() -> [PrivateKey; 4] {
        let rsa = include_str!("../../tests/fixture/key/rsa-pkcs8.pem");
        [
            PrivateKey::Ecdsa(vec![7; 32].into()),
            PrivateKey::Ed25519(vec![7; 32].into()),
            PrivateKey::Hmac(vec![7; 20].into()),
            PrivateKey::from_pem(rsa, None).unwrap(),
        ]
    }

    fn signature(key: &PrivateKey) -> Vec<u8> {
        let signer = key.signer(NOWHERE).unwrap();
        let mut out = vec![0; signer.max_signature_len()];
        let len = signer.sign(b"portion", &mut out);
        out.truncate(len);
        out
    }

    fn assert_same(key: &PrivateKey, other: &PrivateKey) {
        assert_eq!(key.signature_type(), other.signature_type());
        assert!(key.public_key().unwrap().verify(b"portion", &signature(other)));
    }

    #[test]
    fn a_key_survives_plain_and_encrypted_pem() {
        for key in keys() {
            let pem = key.to_pem().unwrap();
            assert_same(&key, &PrivateKey::from_pem(&pem, None).unwrap());
            let headed = format!("Name: /a/KEY/b\n\n{}", *pem);
            assert_same(&key, &PrivateKey::from_pem(&headed, None).unwrap());
            if key.signature_type() == SignatureType::HmacWithSha256 {
                assert!(key.to_encrypted_pem("secret", &SALT).is_err());
                continue;
            }
            let pem = key.to_encrypted_pem("secret", &SALT).unwrap();
            assert_same(&key, &PrivateKey::from_pem(&pem, Some("secret")).unwrap());
            let wrong = PrivateKey::from_pem(&pem, Some("Secret")).unwrap_err();
            assert!(matches!(wrong, KeyStoreError::WrongPassword));
            let none = PrivateKey::from_pem(&pem, None).unwrap_err();
            assert!(matches!(none, KeyStoreError::PasswordNeeded));
        }
    }

    #[test]
    fn each_form_written_by_openssl_is_read() {
        let forms = [
            include_str!("../../tests/fixture/key/p256-pkcs8.pem"),
            include_str!("../../tests/fixture/key/p256-sec1.pem"),
            include_str!("../../tests/fixture/key/p256-parameters.pem"),
            include_str!("../../tests/fixture/key/p256-explicit.pem"),
            include_str!("../../tests/fixture/key/p256-aes.pem"),
            include_str!("../../tests/fixture/key/p256-3des.pem"),
            include_str!("../../tests/fixture/key/p256-scrypt.pem"),
        ];
        let first = PrivateKey::from_pem(forms[0], None).unwrap();
        for form in forms {
            assert_same(&first, &PrivateKey::from_pem(form, Some("secret")).unwrap());
        }
        let rsa = include_str!("../../tests/fixture/key/rsa-pkcs1.pem");
        assert_same(&keys()[3], &PrivateKey::from_pem(rsa, None).unwrap());
        let ed25519 = include_str!("../../tests/fixture/key/ed25519.pem");
        assert!(matches!(PrivateKey::from_pem(ed25519, None), Ok(PrivateKey::Ed25519(_))));
    }

    #[test]
    fn der_of_any_kind_is_recognised() {
        for key in keys() {
            match &key {
                PrivateKey::Hmac(_) => {}
                PrivateKey::Rsa(der) => assert_same(&key, &PrivateKey::from_der(der).unwrap()),
                _ => {
                    let der = key.to_pkcs8().unwrap();
                    assert_same(&key, &PrivateKey::from_der(&der).unwrap());
                }
            }
        }
        assert!(PrivateKey::from_der(b"nonsense").is_err());
    }

    #[test]
    fn a_curve_that_cannot_sign_is_named() {
        let pem = include_str!("../../tests/fixture/key/p384.pem");
        let error = PrivateKey::from_pem(pem, None).unwrap_err();
        assert!(error.to_string().contains("1.3.132.0.34"), "{error}");
        let pem = include_str!("../../tests/fixture/key/k256-explicit.pem");
        let error = PrivateKey::from_pem(pem, None).unwrap_err();
        assert!(error.to_string().contains("other than P-256"), "{error}");
    }

    #[test]
    fn no_truncation_and_no_flipped_bit_panics() {
        let der = keys()[0].to_pkcs8().unwrap();
        for len in 0..der.len() {
            assert!(PrivateKey::from_der(&der[..len]).is_err());
        }
        for bit in 0..der.len() * 8 {
            let mut changed = der.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let _ = PrivateKey::from_der(&changed);
        }
        for text in ["", "-----BEGIN ", "-----BEGIN A-----", "-----BEGIN PRIVATE KEY-----"] {
            assert!(PrivateKey::from_pem(text, None).is_err());
        }
    }

    #[test]
    fn long_values_get_long_lengths() {
        assert_eq!(der_tlv(4, &[0; 127])[..2], [4, 127]);
        assert_eq!(der_tlv(4, &[0; 128])[..3], [4, 0x81, 128]);
        assert_eq!(der_tlv(4, &[0; 300])[..4], [4, 0x82, 1, 44]);
    }
}
