//! Public keys: decoding and verification.

use super::{KeyError, SignatureType};
use crate::data::{ContentType, Data};
use ring::{hmac, signature as ring_signature};
use spki::der::asn1::{AnyRef, UintRef};
use spki::der::{Decode, Reader};
use spki::{ObjectIdentifier, SubjectPublicKeyInfoRef};

const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// A verification key.
#[derive(Clone)]
pub struct PublicKey {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// Bytes in the algorithm's format: a point, 32 bytes or an RSAPublicKey.
    Asymmetric {
        typ: SignatureType,
        algorithm: &'static dyn ring_signature::VerificationAlgorithm,
        bytes: Box<[u8]>,
    },
    Hmac(hmac::Key),
}

impl PublicKey {
    /// Reads a SubjectPublicKeyInfo in DER (RFC 5280, 4.1).
    ///
    /// Accepts ECDSA over P-256 or P-384, Ed25519, and RSA of 2,048 to 8,192 bits.
    pub fn from_spki(der: &[u8]) -> Result<Self, KeyError> {
        let spki = SubjectPublicKeyInfoRef::from_der(der)
            .map_err(|_| KeyError::Malformed("a public key in SubjectPublicKeyInfo form"))?;
        let bytes = spki.subject_public_key.raw_bytes();
        match spki.algorithm.oid {
            EC => from_point(bytes, spki.algorithm.parameters),
            RSA => rsa(bytes),
            ED25519 => Self::from_ed25519(bytes),
            other => Err(KeyError::Unsupported(format!("object identifier {other}"))),
        }
    }

    /// Reads PEM text labelled `PUBLIC KEY` (RFC 7468, 13).
    pub fn from_pem(text: &str) -> Result<Self, KeyError> {
        let (label, der) = spki::der::pem::decode_vec(text.trim_ascii().as_bytes())
            .map_err(|_| KeyError::Malformed("a public key in PEM form"))?;
        match label {
            "PUBLIC KEY" => Self::from_spki(&der),
            "RSA PUBLIC KEY" => rsa(&der),
            _ => Err(KeyError::Malformed("PEM text labelled PUBLIC KEY")),
        }
    }

    /// Takes the key from an NDN certificate, whose content is a SubjectPublicKeyInfo.
    ///
    /// The certificate's signature and validity period are not checked: a caller that names a
    /// certificate trusts it.
    pub fn from_certificate(certificate: &Data) -> Result<Self, KeyError> {
        if certificate.content_type() != ContentType::Key {
            return Err(KeyError::Malformed("an NDN certificate: its content type is not KEY"));
        }
        Self::from_spki(certificate.content())
    }

    /// A P-256 key from its uncompressed point (SEC 1, 2.3.3), 65 bytes.
    pub fn from_p256_point(point: &[u8]) -> Result<Self, KeyError> {
        p256::PublicKey::from_sec1_bytes(point)
            .map_err(|_| KeyError::Malformed("a point of the curve P-256"))?;
        let algorithm = &ring_signature::ECDSA_P256_SHA256_ASN1;
        Ok(asymmetric(SignatureType::Sha256WithEcdsa, algorithm, point))
    }

    /// An Ed25519 key, 32 bytes.
    pub fn from_ed25519(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() != 32 {
            return Err(KeyError::Malformed("an Ed25519 public key of 32 bytes"));
        }
        Ok(asymmetric(SignatureType::Ed25519, &ring_signature::ED25519, bytes))
    }

    /// A secret shared with the signer.
    #[must_use]
    pub fn from_hmac_secret(secret: &[u8]) -> Self {
        Self { kind: Kind::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret)) }
    }

    /// Kind of the signatures that this key can check.
    #[must_use]
    pub fn signature_type(&self) -> SignatureType {
        match &self.kind {
            Kind::Asymmetric { typ, .. } => *typ,
            Kind::Hmac(_) => SignatureType::HmacWithSha256,
        }
    }

    /// Whether `signature` was made by this key over `signed_portion`.
    #[must_use]
    pub fn verify(&self, signed_portion: &[u8], signature: &[u8]) -> bool {
        match &self.kind {
            Kind::Asymmetric { algorithm, bytes, .. } => {
                ring_signature::UnparsedPublicKey::new(*algorithm, bytes)
                    .verify(signed_portion, signature)
                    .is_ok()
            }
            Kind::Hmac(key) => hmac::verify(key, signed_portion, signature).is_ok(),
        }
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({:?})", self.signature_type())
    }
}

fn asymmetric(
    typ: SignatureType,
    algorithm: &'static dyn ring_signature::VerificationAlgorithm,
    bytes: &[u8],
) -> PublicKey {
    PublicKey { kind: Kind::Asymmetric { typ, algorithm, bytes: bytes.into() } }
}

/// Reads an RSAPublicKey (RFC 8017, A.1.1).
fn rsa(bytes: &[u8]) -> Result<PublicKey, KeyError> {
    let malformed = |_| KeyError::Malformed("an RSA public key");
    let bits = spki::der::SliceReader::new(bytes)
        .and_then(|mut reader| {
            reader.sequence(|inner| {
                let modulus = UintRef::decode(inner)?;
                UintRef::decode(inner)?;
                Ok::<_, spki::der::Error>(modulus.as_bytes().len() * 8)
            })
        })
        .map_err(malformed)?;
    if !(2048..=8192).contains(&bits) {
        return Err(KeyError::Unsupported(format!("RSA of about {bits} bits, not 2048 to 8192")));
    }
    let algorithm = &ring_signature::RSA_PKCS1_2048_8192_SHA256;
    Ok(asymmetric(SignatureType::Sha256WithRsa, algorithm, bytes))
}

/// The curve is named, or given as explicit parameters as some producers do. Only the length of
/// explicit parameters is used: the arithmetic is that of the standard curve, so a forged generator
/// has no effect.
fn from_point(point: &[u8], parameters: Option<AnyRef<'_>>) -> Result<PublicKey, KeyError> {
    let named = parameters.and_then(|any| ObjectIdentifier::try_from(any).ok());
    match (named, point.len()) {
        (Some(P256), _) | (None, 65 | 33) => {
            let key = p256::PublicKey::from_sec1_bytes(point)
                .map_err(|_| KeyError::Malformed("a point of the curve P-256"))?;
            PublicKey::from_p256_point(&key.to_sec1_bytes())
        }
        (Some(P384), 97) => Ok(asymmetric(
            SignatureType::Sha256WithEcdsa,
            &ring_signature::ECDSA_P384_SHA256_ASN1,
            point,
        )),
        (Some(other), _) => Err(KeyError::Unsupported(format!("ECDSA curve {other}"))),
        (None, _) => Err(KeyError::Unsupported("ECDSA over an unknown curve".into())),
    }
}
