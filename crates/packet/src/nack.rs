//! Network Nacks: a forwarder reports that it will not return the Data.
//!
//! A Nack is a field of the link header ([`crate::lp`]) in front of the rejected Interest. Source:
//! NDNLPv2, section "Network Nack".

use crate::tlv::{self, DecodeError, Tlv, typ};
use bytes::BufMut;

/// NackReason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NackReason {
    /// Unspecified.
    None,
    /// The link is congested.
    Congestion,
    /// The nonce was seen before.
    Duplicate,
    /// No route.
    NoRoute,
    /// The outgoing face is gone: the M flag of MLDR (`docs/wire.md`).
    Mobility,
    /// A link lost the Interest or its Data, and does not resend it (`docs/wire.md`).
    Loss,
    /// A reason that this version does not know.
    Other(u64),
}

impl NackReason {
    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Congestion => 50,
            Self::Duplicate => 100,
            Self::NoRoute => 150,
            Self::Mobility => 200,
            Self::Loss => 201,
            Self::Other(number) => number,
        }
    }

    fn value_len(self) -> usize {
        match self {
            Self::None => 0,
            reason => tlv::nni_tlv_len(typ::NACK_REASON, reason.number()),
        }
    }

    /// Bytes of the whole Nack field.
    #[must_use]
    pub fn encoded_len(self) -> usize {
        tlv::tlv_len(typ::NACK, self.value_len())
    }

    /// Appends the whole Nack field.
    pub fn encode(self, out: &mut impl BufMut) {
        tlv::put_header(out, typ::NACK, self.value_len());
        if self != Self::None {
            tlv::put_nni_tlv(out, typ::NACK_REASON, self.number());
        }
    }

    /// Decodes a Nack field; without a reason, the reason is [`NackReason::None`].
    pub fn decode(nack: &Tlv<'_>) -> Result<Self, DecodeError> {
        let mut reader = nack.reader();
        let mut reason = None;
        while let Some(tlv) = reader.read()? {
            match tlv.typ {
                typ::NACK_REASON if reason.is_none() => reason = Some(tlv.number()?.into()),
                _ => tlv.skip_unless_critical()?,
            }
        }
        Ok(reason.unwrap_or(Self::None))
    }
}

impl From<u64> for NackReason {
    fn from(number: u64) -> Self {
        match number {
            0 => Self::None,
            50 => Self::Congestion,
            100 => Self::Duplicate,
            150 => Self::NoRoute,
            200 => Self::Mobility,
            201 => Self::Loss,
            other => Self::Other(other),
        }
    }
}

impl std::fmt::Display for NackReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Congestion => f.write_str("congestion"),
            Self::Duplicate => f.write_str("duplicate nonce"),
            Self::NoRoute => f.write_str("no route"),
            Self::Mobility => f.write_str("mobility"),
            Self::Loss => f.write_str("loss"),
            Self::Other(number) => write!(f, "{number}"),
        }
    }
}
