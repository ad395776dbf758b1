//! NDN certificates: Data packets that bind a public key to a name, for some time.
//!
//! Source: NDN certificate format 2.0 (ndn-cxx documentation, "certificate format").

use recoup_packet::data::Data;
pub use recoup_packet::date::date;
use recoup_packet::date::seconds;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::{KeyError, KeyLocator, PublicKey};
use std::fmt;

/// Data that is no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// The name has no `KEY` component where it should.
    #[error("{0} is not a certificate name; it must read /<identity>/KEY/<key>/<issuer>/<version>")]
    Name(Name),
    /// The content type is not KEY, or the content no public key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The validity period is absent or no period.
    #[error("the certificate {0} states no validity period")]
    Validity(Name),
}

/// A certificate whose parts are decoded; its signature is not verified.
#[derive(Clone)]
pub struct Certificate {
    data: Data,
    key: PublicKey,
    not_before: u64,
    not_after: u64,
}

impl Certificate {
    /// Understands a packet.
    ///
    /// # Errors
    /// [`CertificateError`]
    pub fn new(data: Data) -> Result<Self, CertificateError> {
        if key_name(data.name()).is_none() {
            return Err(CertificateError::Name(data.name().clone()));
        }
        let key = PublicKey::from_certificate(&data)?;
        let period = data.signature_info().validity;
        let limits = period
            .and_then(|period| Some((seconds(period.not_before)?, seconds(period.not_after)?)));
        let Some((not_before, not_after)) = limits else {
            return Err(CertificateError::Validity(data.name().clone()));
        };
        Ok(Self { data, key, not_before, not_after })
    }

    /// The packet.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// `/<identity>/KEY/<key>/<issuer>/<version>`.
    #[must_use]
    pub fn name(&self) -> &Name {
        self.data.name()
    }

    /// `/<identity>/KEY/<key>`.
    #[must_use]
    pub fn key_name(&self) -> Name {
        self.name().prefix(self.name().len().saturating_sub(2))
    }

    /// The name of the key's owner.
    #[must_use]
    pub fn identity(&self) -> Name {
        self.name().prefix(self.name().len().saturating_sub(4))
    }

    /// The key.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// First second of validity, since 1970-01-01 UTC.
    #[must_use]
    pub fn not_before(&self) -> u64 {
        self.not_before
    }

    /// Last second of validity, since 1970-01-01 UTC.
    #[must_use]
    pub fn not_after(&self) -> u64 {
        self.not_after
    }

    /// The certificate in a buffer of its own.
    pub(crate) fn detached(self) -> Self {
        Self { data: self.data.detached(), ..self }
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Certificate({})", self.name())
    }
}

/// The name in a packet's key locator.
#[must_use]
pub fn locator(data: &Data) -> Option<Name> {
    match data.signature_info().key_locator {
        Some(KeyLocator::Name(value)) => Name::from_value(value.to_vec().into()).ok(),
        Some(KeyLocator::Digest(_)) | None => None,
    }
}

/// Name of the key that a certificate of this name is about; `None` if it names no certificate.
#[must_use]
pub fn key_name(certificate: &Name) -> Option<Name> {
    let key_at = certificate.len().checked_sub(4)?;
    let is_key = |component: Component<'_>| component == Component::generic(b"KEY");
    certificate.get(key_at).is_some_and(is_key).then(|| certificate.prefix(key_at + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_stands_four_components_before_the_end() {
        let name = |uri: &str| uri.parse::<Name>().unwrap();
        assert_eq!(key_name(&name("/a/b/KEY/k/i/v=1")), Some(name("/a/b/KEY/k")));
        for other in ["/", "/KEY/a/b", "/a/KEY/b/c", "/a/b/c/d/e"] {
            assert_eq!(key_name(&name(other)), None, "{other}");
        }
    }
}
