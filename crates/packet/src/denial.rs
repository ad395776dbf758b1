//! The reason that an application Nack states.
//!
//! The content of an application Nack has no standard form. An empty one means that the name does not exist. Another reason
//! is a ControlResponse of NFD's management: the type 0x65 with a StatusCode (0x66), which is one of HTTP, and a StatusText
//! (0x67).
use crate::data::{ContentType, Data};
use crate::tlv::{Reader, put_nni_tlv, put_tlv};

const CONTROL_RESPONSE: u64 = 0x65;
const STATUS_CODE: u64 = 0x66;
const STATUS_TEXT: u64 = 0x67;

/// Reason of an application Nack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The name does not exist.
    Absent,
    /// The producer may not read the content (status 403).
    Forbidden,
    /// The producer cannot read the content now (any other status; 503 is sent).
    Unavailable,
}

impl Denial {
    /// The content of the application Nack.
    #[must_use]
    pub fn to_content(self) -> Vec<u8> {
        let (code, text) = match self {
            Self::Absent => return Vec::new(),
            Self::Forbidden => (403, "the producer may not read it"),
            Self::Unavailable => (503, "the producer cannot read it now"),
        };
        let mut status = Vec::new();
        put_nni_tlv(&mut status, STATUS_CODE, code);
        put_tlv(&mut status, STATUS_TEXT, text.as_bytes());
        let mut content = Vec::new();
        put_tlv(&mut content, CONTROL_RESPONSE, &status);
        content
    }

    /// The reason that `data` states if it is an application Nack; what is no status counts as none.
    #[must_use]
    pub fn of(data: &Data) -> Self {
        let is_nack = data.content_type() == ContentType::Nack;
        match status(data.content()).filter(|_| is_nack) {
            None | Some(404 | 410) => Self::Absent,
            Some(401 | 403) => Self::Forbidden,
            Some(_) => Self::Unavailable,
        }
    }
}

fn status(content: &[u8]) -> Option<u64> {
    let response = Reader::new(content).expect(CONTROL_RESPONSE, "ControlResponse").ok()?;
    response.reader().expect(STATUS_CODE, "StatusCode").ok()?.number().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DataBuilder;
    use crate::signature::DigestSigner;

    fn nack(content: &[u8]) -> Data {
        let name = "/a".parse().unwrap();
        DataBuilder::new(&name).content_type(ContentType::Nack).build(content, &DigestSigner)
    }

    #[test]
    fn reason_survives_the_packet() {
        for denial in [Denial::Absent, Denial::Forbidden, Denial::Unavailable] {
            assert_eq!(Denial::of(&nack(&denial.to_content())), denial);
        }
    }

    #[test]
    fn strange_content_means_absence() {
        for content in [&b"x"[..], &[0x65], &[0x65, 2, 0x66, 9], &[0x65, 0], &[7, 3, 8, 1, 1]] {
            assert_eq!(Denial::of(&nack(content)), Denial::Absent);
        }
    }
}
