//! Interest packets.
//!
//! Source: NDN packet format v0.3, sections "Interest Packet" and "Signed Interest".

mod wire;

use crate::data::Data;
use crate::name::{Component, Name};
use crate::signature::{SignatureInfo, SignatureType, Signer, sha256};
use crate::tlv::typ;
use bytes::Bytes;
use std::time::Duration;

/// How long a forwarder remembers an Interest that does not say so itself.
pub const DEFAULT_LIFETIME: Duration = Duration::from_secs(4);

/// Most names in a ForwardingHint that decoding accepts: each costs a look-up, and more than a few mean nothing.
pub const MAX_FORWARDING_HINTS: usize = 32;

/// A request for one Data packet.
///
/// Parameters and signature belong together with a digest component in the name; they are set with
/// [`with_parameters`](Self::with_parameters) and [`sign`](Self::sign), which put it there.
#[derive(Clone, Debug, PartialEq)]
pub struct Interest {
    /// What is asked for; at least one component.
    pub name: Name,
    /// The name may be a prefix of the Data's name, instead of all of it.
    pub can_be_prefix: bool,
    /// A cache must not answer with Data that is no longer fresh.
    pub must_be_fresh: bool,
    /// Where the Interest may be sent if its own name is in no forwarding table.
    pub forwarding_hint: Vec<Name>,
    /// Distinguishes this transmission from others, so that loops are found; required on network links.
    pub nonce: Option<u32>,
    /// How long forwarders should remember the Interest; on the wire in milliseconds, a rest is rounded up.
    pub lifetime: Option<Duration>,
    /// How many more times the Interest may be forwarded.
    pub hop_limit: Option<u8>,
    /// What the producer is told beyond the name.
    pub parameters: Option<Bytes>,
    /// Signature over name and parameters; never without parameters.
    pub signature: Option<InterestSignature>,
    /// All that followed the parameters, where it held unknown elements: the digest in the name covers them.
    tail: Option<Box<Bytes>>,
}

/// Signature of an Interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterestSignature {
    /// Info and value; boxed because few Interests are signed and all would have to keep room for it.
    octets: Box<(Bytes, Bytes)>,
}

impl InterestSignature {
    fn new(info: Bytes, value: Bytes) -> Self {
        Self { octets: Box::new((info, value)) }
    }

    /// What the Interest says about its signature.
    #[must_use]
    pub fn info(&self) -> SignatureInfo<'_> {
        // Decoding checked it, so the alternative is never taken; its type is one that no verifier accepts.
        SignatureInfo::decode(&self.octets.0)
            .unwrap_or(SignatureInfo::new(SignatureType::Other(u64::MAX), None))
    }

    /// The signature itself.
    #[must_use]
    pub fn value(&self) -> &[u8] {
        &self.octets.1
    }
}

/// What makes one signed Interest different from every other (InterestSignatureInfo, all optional).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uniqueness<'a> {
    /// SignatureNonce: random octets.
    pub nonce: Option<&'a [u8]>,
    /// SignatureTime, in milliseconds since 1970-01-01 UTC.
    pub time: Option<u64>,
    /// SignatureSeqNum: grows with each Interest signed by one key.
    pub seq_num: Option<u64>,
}

impl Interest {
    /// An Interest that says nothing but the name.
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

    /// How long forwarders remember the Interest.
    #[must_use]
    pub fn lifetime_or_default(&self) -> Duration {
        self.lifetime.unwrap_or(DEFAULT_LIFETIME)
    }

    /// The Interest with these ApplicationParameters and their digest in the name (at the end, or in place of one that
    /// is there); a signature is taken away.
    #[must_use]
    pub fn with_parameters(mut self, parameters: impl Into<Bytes>) -> Self {
        self.parameters = Some(parameters.into());
        self.signature = None;
        self.tail = None;
        self.put_digest();
        self
    }

    /// The Interest with these ApplicationParameters, signed, with the digest of both at the end of the name.
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
        let signed = self.signed_octets(&info);
        let mut value = vec![0; signer.max_signature_len()];
        let len = signer.sign(&signed, &mut value);
        value.truncate(len);
        self.signature = Some(InterestSignature::new(info, value.into()));
        self.put_digest();
        self
    }

    /// The octets that the signature covers (name without the digest, parameters, InterestSignatureInfo); `None` for an
    /// Interest without signature.
    #[must_use]
    pub fn signed_portion(&self) -> Option<Vec<u8>> {
        self.signature.as_ref().map(|signature| self.signed_octets(&signature.octets.0))
    }

    /// Whether `data` answers this Interest: the name is right, and the digest if the Interest names one. Whether the
    /// Data is fresh is for the cache to say.
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
        let digest = sha256(&self.parameters_octets());
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
