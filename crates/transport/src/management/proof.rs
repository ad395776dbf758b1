//! The signature of a command, and what makes the command unique: its time and its nonce.
//!
//! A command is a signed Interest of packet format v0.3: its signature is an element of the packet. A program that only sends
//! names from elsewhere, such as a gateway, cannot be led to send one. Packet format v0.2 put time, nonce and signature into
//! the name, so that each sender of names can.
//!
//! Source: NDN packet format v0.3, section "Signed Interest"; ndn-cxx, `security/interest-signer.cpp` (both forms).
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::{PublicKey, SignatureInfo, SignatureType, sha256};
use recoup_packet::tlv::{Reader, typ};

/// Shortest nonce of a signature, in bytes; ndn-cxx, NDNts, ndnd and python-ndn draw 8.
const NONCE_BYTES: usize = 8;
/// Components of a command of packet format v0.2.
const V0_2_COMPONENTS: usize = 9;

/// The signature of a command.
#[derive(Debug)]
pub(super) struct Proof {
    /// The bytes that the signature covers.
    pub(super) portion: Vec<u8>,
    /// The signature is in the name: packet format v0.2.
    pub(super) is_in_name: bool,
    /// Time in milliseconds since 1970, of a command that has a nonce, too.
    pub(super) time: Option<u64>,
    typ: SignatureType,
    value: Vec<u8>,
}

impl Proof {
    /// The signature of an Interest, which is not verified; `None` if there is none.
    pub(super) fn of(interest: &Interest) -> Option<Self> {
        let (Some(signature), Some(portion)) = (&interest.signature, interest.signed_portion())
        else {
            return Self::in_name(&interest.name);
        };
        let info = signature.info();
        let has_nonce = info.nonce.is_some_and(|nonce| nonce.len() >= NONCE_BYTES);
        Some(Self {
            portion,
            is_in_name: false,
            time: info.time.filter(|_| has_nonce),
            typ: info.typ,
            value: signature.value().to_vec(),
        })
    }

    /// The last components of such a name are time, nonce, SignatureInfo and SignatureValue. The signature covers the
    /// components before the last.
    fn in_name(name: &Name) -> Option<Self> {
        let word = |from_end: usize| name.get(V0_2_COMPONENTS - from_end);
        let (info, value) = (word(2)?, word(1).filter(|_| name.len() == V0_2_COMPONENTS)?);
        let element = |bytes, typ| Reader::new(bytes).expect(typ, "a signature").ok();
        let info = element(info.value(), typ::SIGNATURE_INFO)?.value;
        let value = element(value.value(), typ::SIGNATURE_VALUE)?.value.to_vec();
        let typ = SignatureInfo::decode(info).ok()?.typ;
        let time = word(4).and_then(|it| it.value().try_into().ok()).map(u64::from_be_bytes);
        let has_nonce = word(3)?.value().len() >= NONCE_BYTES;
        let portion = name.prefix(V0_2_COMPONENTS - 1).value().to_vec();
        Some(Self { portion, is_in_name: true, time: time.filter(|_| has_nonce), typ, value })
    }

    /// Whether a digest signature is right; the key of another one is not known.
    pub(super) fn is_intact(&self) -> bool {
        self.typ != SignatureType::DigestSha256 || self.value == sha256(&self.portion)
    }

    /// Whether this key signed. No key counts for a signature in the name.
    pub(super) fn is_by(&self, key: &PublicKey) -> bool {
        !self.is_in_name
            && key.signature_type() == self.typ
            && key.verify(&self.portion, &self.value)
    }
}
