//! NDN certificates: Data packets that bind a public key to a name.
//!
//! Source: NDN certificate format 2.0 (ndn-cxx documentation, "certificate format").

use super::{KeyStoreError, PrivateKey};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{
    KeyLocator, PublicKey, SignatureInfo, SignatureType, Signer, Validity,
};
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
    let wrong = || KeyStoreError::NotCertificateName(name.to_string());
    let key_at = name.len().checked_sub(4).ok_or_else(wrong)?;
    match name.get(key_at) {
        Some(component) if component == Component::generic(b"KEY") => Ok(name.prefix(key_at + 2)),
        _ => Err(wrong()),
    }
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

/// `unix_s` seconds after 1970-01-01 as `YYYYMMDDThhmmss`, UTC.
pub fn date(unix_s: u64) -> String {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // Years that begin in March end with the leap day, which makes the months' lengths regular.
    let day_of_era = days + 719_468;
    let (era, day) = (day_of_era / 146_097, day_of_era % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day + 2) / 153;
    let day = day - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::signature::{KeyVerifier, Verdict, Verifier};

    #[test]
    fn dates_are_those_of_the_gregorian_calendar() {
        let known = [
            (0, "19700101T000000"),
            (951_782_399, "20000228T235959"),
            (951_782_400, "20000229T000000"),
            (951_868_800, "20000301T000000"),
            (1_000_000_000, "20010909T014640"),
            (4_107_542_400, "21000301T000000"),
            (1_735_689_599, "20241231T235959"),
        ];
        for (unix_s, text) in known {
            assert_eq!(date(unix_s), text);
        }
    }

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
