//! NDN certificates: Data packets that bind a public key to a name.
//!
//! Source: NDN certificate format 2.0 (ndn-cxx documentation, "certificate format").

use super::{KeyStoreError, PrivateKey};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    KeyLocator, PublicKey, SignatureInfo, SignatureType, Signer, Validity,
};
use recoup_trust::certificate::{self, date};
use std::time::Duration;

/// How long a self-signed certificate is valid: 20 years, as those of ndn-cxx.
const LIFETIME_S: u64 = 20 * 365 * 86_400;

/// Makes the certificate with which `key`, named `key_name`, vouches for itself from `now_ms` on, in milliseconds since
/// 1970-01-01 UTC.
pub(super) fn self_signed(
    key: &PrivateKey,
    key_name: &Name,
    now_ms: u64,
) -> Result<Data, KeyStoreError> {
    let not_before = date(now_ms / 1000);
    let not_after = date(now_ms / 1000 + LIFETIME_S);
    let signer = key.signer(KeyLocator::Name(key_name.value()))?;
    let name = key_name.append(Component::generic(b"self")).append(Component::version(now_ms));
    let certifier = Certifier { signer, not_before, not_after };
    Ok(DataBuilder::new(&name)
        .content_type(ContentType::Key)
        .freshness(Duration::from_secs(3600))
        .build(&key.to_spki()?, &certifier))
}

/// Name of the key that `certificate` is about: `/<identity>/KEY/<key>`.
pub(super) fn key_name(certificate: &Data) -> Result<Name, KeyStoreError> {
    let name = certificate.name();
    certificate::key_name(name).ok_or_else(|| KeyStoreError::NotCertificateName(name.to_string()))
}

/// Makes a certificate for the key of `request`, in which `signer` vouches for it under the name `issuer` during these seconds
/// since 1970-01-01 UTC. `version_ms` is the last component of its name.
pub(super) fn issued(
    request: &Data,
    signer: Box<dyn Signer>,
    issuer: &[u8],
    version_ms: u64,
    (from_s, to_s): (u64, u64),
) -> Result<Data, KeyStoreError> {
    PublicKey::from_certificate(request)?;
    let name = key_name(request)?.append(Component::generic(issuer));
    let name = name.append(Component::version(version_ms));
    let certifier = Certifier { signer, not_before: date(from_s), not_after: date(to_s) };
    Ok(DataBuilder::new(&name)
        .content_type(ContentType::Key)
        .freshness(Duration::from_secs(3600))
        .build(request.content(), &certifier))
}

/// Whether `certificate` is about the public part of `key`.
pub(super) fn belongs_to(certificate: &Data, key: &PrivateKey) -> Result<bool, KeyStoreError> {
    let signer = key.signer(KeyLocator::Name(&[]))?;
    let mut signature = vec![0; signer.max_signature_len()];
    let len = signer.sign(b"do they belong together?", &mut signature);
    signature.truncate(len);
    let public = PublicKey::from_certificate(certificate)?;
    Ok(public.verify(b"do they belong together?", &signature))
}

/// Signs as another signer does and adds a validity period.
struct Certifier {
    signer: Box<dyn Signer>,
    not_before: String,
    not_after: String,
}

impl Signer for Certifier {
    fn signature_type(&self) -> SignatureType {
        self.signer.signature_type()
    }

    fn key_locator(&self) -> Option<KeyLocator<'_>> {
        self.signer.key_locator()
    }

    fn max_signature_len(&self) -> usize {
        self.signer.max_signature_len()
    }

    fn sign(&self, signed_portion: &[u8], out: &mut [u8]) -> usize {
        self.signer.sign(signed_portion, out)
    }

    fn signature_info(&self) -> SignatureInfo<'_> {
        let (not_before, not_after) = (self.not_before.as_bytes(), self.not_after.as_bytes());
        let validity = Some(Validity { not_before, not_after });
        SignatureInfo { validity, ..self.signer.signature_info() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::signature::{KeyVerifier, Verdict, Verifier};

    #[test]
    fn a_self_signed_certificate_vouches_for_its_key() {
        let name: Name = "/a/b/KEY/k".parse().unwrap();
        for key in [PrivateKey::Ecdsa(vec![7; 32].into()), PrivateKey::Ed25519(vec![7; 32].into())]
        {
            let certificate = self_signed(&key, &name, 1_000_000_000_000).unwrap();
            let read = Data::decode(certificate.wire()).unwrap();
            assert_eq!(read.name().to_string(), "/a/b/KEY/k/self/v=1000000000000");
            assert_eq!(key_name(&read).unwrap(), name);
            assert!(belongs_to(&read, &key).unwrap());
            assert!(!belongs_to(&read, &PrivateKey::Ecdsa(vec![8; 32].into())).unwrap());
            let verifier = KeyVerifier(PublicKey::from_certificate(&read).unwrap());
            assert_eq!(verifier.verify(&read), Verdict::Verified);
            let validity = read.signature_info().validity.unwrap();
            assert_eq!(validity.not_before, b"20010909T014640");
            assert_eq!(validity.not_after, b"20210904T014640");
        }
    }

    #[test]
    fn other_names_are_not_certificate_names() {
        for name in ["/", "/KEY/a/b", "/a/KEY/b/c", "/a/b/c/d/e"] {
            let name: Name = name.parse().unwrap();
            let data = DataBuilder::new(&name).build(&[], &recoup_packet::signature::DigestSigner);
            assert!(key_name(&data).is_err(), "{name}");
        }
    }
}
