//! Interest packets.
//!
//! Source: NDN packet format v0.3, sections "Interest Packet" and "Signed Interest".

mod plain;
mod wire;

use crate::data::Data;
use crate::name::{Component, Name};
use crate::signature::{SignatureInfo, SignatureType, Signer, sha256};
use crate::tlv::typ;
use bytes::Bytes;
use std::time::Duration;

/// Lifetime of an Interest without InterestLifetime.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(4);

/// Most names in a decoded ForwardingHint: each costs a look-up.
pub const MAX_FORWARDING_HINTS: usize = 32;

/// A request for one Data packet.
///
/// Parameters and signature need a digest component in the name;
/// [`with_parameters`](Self::with_parameters) and [`sign`](Self::sign) add it.
#[derive(Clone, Debug, PartialEq)]
pub struct Interest {
    /// Requested name; at least one component.
    pub name: Name,
    /// The name may be a proper prefix of the Data's name.
    pub can_be_prefix: bool,
    /// A cache must not answer with stale Data.
    pub must_be_fresh: bool,
    /// Delegations to forward to if the FIB has no entry for the name.
    pub forwarding_hint: Vec<Name>,
    /// Distinguishes transmissions, for loop detection; required on network links.
    pub nonce: Option<u32>,
    /// How long forwarders keep the PIT entry; encoded in milliseconds, rounded up.
    pub lifetime: Option<Duration>,
    /// Remaining hops.
    pub hop_limit: Option<u8>,
    /// ApplicationParameters.
    pub parameters: Option<Bytes>,
    /// Signature over name and parameters; never without parameters.
    pub signature: Option<InterestSignature>,
    /// The bytes after the parameters, if they hold unknown elements: the digest in the name covers
    /// them.
    tail: Option<Box<Bytes>>,
}

/// Signature of an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterestSignature {
    /// Info and value; boxed because few Interests are signed.
    bytes: Box<(Bytes, Bytes)>,
}

impl InterestSignature {
    fn new(info: Bytes, value: Bytes) -> Self {
        Self { bytes: Box::new((info, value)) }
    }

    /// InterestSignatureInfo.
    #[must_use]
    pub fn info(&self) -> SignatureInfo<'_> {
        // Decoding checked it, so this fallback is unreachable; verifiers accept no such type.
        SignatureInfo::decode(&self.bytes.0)
            .unwrap_or(SignatureInfo::new(SignatureType::Other(u64::MAX), None))
    }

    /// InterestSignatureValue.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.bytes.1
    }
}

/// The elements of InterestSignatureInfo that make a signed Interest unique, all optional.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uniqueness<'a> {
    /// SignatureNonce: random bytes.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime, in milliseconds since 1970-01-01 UTC.
    pub time: Option<u64>,
    /// SignatureSeqNum: grows with each Interest signed by one key.
    pub seq_num: Option<u64>,
}

impl Interest {
    /// An Interest with a name and no other element.
    #[must_use]
    pub fn new(name: Name) -> Self {
        Self {
            name,
            can_be_prefix: false,
            must_be_fresh: false,
            forwarding_hint: Vec::new(),
            nonce: None,
            lifetime: None,
            hop_limit: None,
            parameters: None,
            signature: None,
            tail: None,
        }
    }

    /// The lifetime, or [`DEFAULT_LIFETIME`].
    #[must_use]
    pub fn lifetime_or_default(&self) -> Duration {
        self.lifetime.unwrap_or(DEFAULT_LIFETIME)
    }

    /// Sets ApplicationParameters and their digest, at the end of the name or in place of the
    /// digest there; removes a signature.
    #[must_use]
    pub fn with_parameters(mut self, parameters: impl Into<Bytes>) -> Self {
        self.parameters = Some(parameters.into());
        self.signature = None;
        self.tail = None;
        self.put_digest();
        self
    }

    /// Sets ApplicationParameters, signs them, and adds the digest of both to the name.
    #[must_use]
    pub fn sign(
        mut self,
        parameters: impl Into<Bytes>,
        signer: &dyn Signer,
        unique: Uniqueness<'_>,
    ) -> Self {
        let mut info = signer.signature_info();
        (info.nonce, info.time, info.seq_num) = (unique.nonce, unique.time, unique.seq_num);
        let mut element = Vec::with_capacity(info.encoded_len(typ::INTEREST_SIGNATURE_INFO));
        info.encode(typ::INTEREST_SIGNATURE_INFO, &mut element);
        let info = Bytes::from(element.split_off(element.len() - info.value_len()));
        self.name = self.name_without_digest();
        self.parameters = Some(parameters.into());
        self.tail = None;
        let signed = self.signed_bytes(&info);
        let mut value = vec![0; signer.max_signature_len()];
        let len = signer.sign(&signed, &mut value);
        value.truncate(len);
        self.signature = Some(InterestSignature::new(info, value.into()));
        self.put_digest();
        self
    }

    /// The bytes that the signature covers (name without the digest, parameters,
    /// InterestSignatureInfo); `None` without a signature.
    #[must_use]
    pub fn signed_portion(&self) -> Option<Vec<u8>> {
        self.signature.as_ref().map(|signature| self.signed_bytes(&signature.bytes.0))
    }

    /// Whether name and digest of `data` match this Interest. The cache checks freshness.
    #[must_use]
    pub fn is_satisfied_by(&self, data: &Data) -> bool {
        if self.can_be_prefix && self.name.is_prefix_of(data.name()) {
            return true;
        }
        if self.name.len() != data.name().len() + 1 {
            return self.name == *data.name();
        }
        let digest = |last: Component<'_>| u64::from(last.typ()) == typ::IMPLICIT_SHA256_DIGEST;
        data.name().is_prefix_of(&self.name)
            && self
                .name
                .last()
                .is_some_and(|last| digest(last) && last.value() == data.implicit_digest())
    }

    fn name_without_digest(&self) -> Name {
        self.name.components().filter(|component| !is_parameters_digest(component)).collect()
    }

    fn put_digest(&mut self) {
        let digest = sha256(&self.parameters_bytes());
        let there = self.name.components().any(|component| is_parameters_digest(&component));
        let component = Component::parameters_digest(&digest);
        self.name = if there {
            let replace = |old| {
                if is_parameters_digest(&old) { component } else { old }
            };
            self.name.components().map(replace).collect()
        } else {
            self.name.append(component)
        };
    }
}

fn is_parameters_digest(component: &Component<'_>) -> bool {
    u64::from(component.typ()) == typ::PARAMETERS_SHA256_DIGEST
}
