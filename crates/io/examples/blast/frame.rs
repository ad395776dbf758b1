//! Packets as these clients write and read them: with as little work as the format allows.
use recoup_packet::tlv::{
    self, Reader, nni_tlv_len, put_header, put_nni_tlv, put_tlv, tlv_len, typ,
};

/// Bytes of the component that makes each name unique.
const NUMBER_BYTES: usize = 8;

/// Fields of a received packet.
#[derive(Debug)]
pub(crate) enum Packet<'a> {
    /// An Interest to answer: the value of its name, and its PIT token.
    Interest { name: &'a [u8], token: Option<&'a [u8]> },
    /// An answer.
    Data,
    /// A Nack or something of the link.
    Other,
}

impl<'a> Packet<'a> {
    /// Reads a whole frame.
    pub(crate) fn read(frame: &'a [u8]) -> Result<Self, tlv::DecodeError> {
        let element = Reader::new(frame).read()?;
        let Some(element) = element else {
            return Ok(Self::Other);
        };
        match element.typ {
            typ::INTEREST => Self::interest(element.value, None),
            typ::DATA => Ok(Self::Data),
            typ::LP_PACKET => Self::linked(element.value),
            _ => Ok(Self::Other),
        }
    }

    fn interest(value: &'a [u8], token: Option<&'a [u8]>) -> Result<Self, tlv::DecodeError> {
        let name = Reader::new(value).expect(typ::NAME, "Name")?.value;
        Ok(Self::Interest { name, token })
    }

    fn linked(fields: &'a [u8]) -> Result<Self, tlv::DecodeError> {
        let (mut reader, mut token) = (Reader::new(fields), None);
        while let Some(field) = reader.read()? {
            match field.typ {
                typ::PIT_TOKEN => token = Some(field.value),
                typ::FRAGMENT => {
                    return match Self::read(field.value)? {
                        Self::Interest { name, .. } => Ok(Self::Interest { name, token }),
                        other => Ok(other),
                    };
                }
                _ => {}
            }
        }
        Ok(Self::Other)
    }
}

/// The Interest of that number below a prefix (the value of its name).
pub(crate) fn interest(out: &mut Vec<u8>, prefix: &[u8], number: u64) {
    const NONCE_BYTES: usize = 4;
    let name = prefix.len() + tlv_len(typ::GENERIC_NAME_COMPONENT, NUMBER_BYTES);
    out.clear();
    put_header(out, typ::INTEREST, tlv_len(typ::NAME, name) + tlv_len(typ::NONCE, NONCE_BYTES));
    put_header(out, typ::NAME, name);
    out.extend_from_slice(prefix);
    put_tlv(out, typ::GENERIC_NAME_COMPONENT, &number.to_be_bytes());
    // Any four bytes that seldom repeat.
    let nonce = (number as u32).wrapping_mul(0x9E37_79B9);
    put_tlv(out, typ::NONCE, &nonce.to_be_bytes());
}

/// Data of a name (its value) with an invalid digest.
pub(crate) fn data(out: &mut Vec<u8>, name: &[u8], payload: &[u8], token: Option<&[u8]>) {
    const DIGEST: [u8; 32] = [0; 32];
    let info = nni_tlv_len(typ::SIGNATURE_TYPE, 0);
    let value = tlv_len(typ::NAME, name.len())
        + tlv_len(typ::CONTENT, payload.len())
        + tlv_len(typ::SIGNATURE_INFO, info)
        + tlv_len(typ::SIGNATURE_VALUE, DIGEST.len());
    out.clear();
    if let Some(token) = token {
        let whole = tlv_len(typ::DATA, value);
        let fields = tlv_len(typ::PIT_TOKEN, token.len()) + tlv_len(typ::FRAGMENT, whole);
        put_header(out, typ::LP_PACKET, fields);
        put_tlv(out, typ::PIT_TOKEN, token);
        put_header(out, typ::FRAGMENT, whole);
    }
    put_header(out, typ::DATA, value);
    put_tlv(out, typ::NAME, name);
    put_tlv(out, typ::CONTENT, payload);
    put_header(out, typ::SIGNATURE_INFO, info);
    put_nni_tlv(out, typ::SIGNATURE_TYPE, 0);
    put_tlv(out, typ::SIGNATURE_VALUE, &DIGEST);
}
