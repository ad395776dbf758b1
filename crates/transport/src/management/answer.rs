//! The forwarder's side of the protocol: commands as it reads them, answers as it writes them.
//!
//! Source: NFD's wiki pages "ControlCommand" and "RibMgmt"; status codes as NFD uses them.
//!
//! Differences from NFD: signed Interests of packet format v0.2, which python-ndn writes, are understood; a command's digest is checked, other signatures are not, and neither is time: that a command
//! comes by a local face decides, as it does in NFD with the trust anchor `any`.
use super::{
    CONTROL_PARAMETERS, CONTROL_RESPONSE, ControlParameters, OK, STATUS_CODE, STATUS_TEXT, Scope,
};
use bytes::Bytes;
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::Name;
use recoup_packet::signature::{DigestSigner, SignatureInfo, SignatureType, sha256};
use recoup_packet::tlv::{Reader, nni_tlv_len, put_header, put_nni_tlv, tlv_len, typ};

/// Components that the prefix of a route may have, as in NFD's tables.
pub const MAX_PREFIX_COMPONENTS: usize = 32;

/// What is to become of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It is to be there (`rib/register`).
    Register,
    /// It is to be no more (`rib/unregister`).
    Unregister,
}

/// A command that can be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Whom it is for.
    pub scope: Scope,
    /// What is to be done.
    pub verb: Verb,
    /// The prefix of the route.
    pub prefix: Name,
    /// Everything that it says.
    pub parameters: ControlParameters,
}

/// Why a command is not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Status code, much like those of HTTP.
    pub code: u64,
    /// The reason in words.
    pub text: &'static str,
}

impl Refusal {
    /// It cannot be understood.
    pub const MALFORMED: Self = Self { code: 400, text: "malformed command" };
    /// It is not signed, or not rightly, or asks for what only others may.
    pub const NOT_ALLOWED: Self = Self { code: 403, text: "not allowed" };
    /// There is no such face.
    pub const NO_FACE: Self = Self { code: 410, text: "no such face" };
    /// The prefix has too many components.
    pub const TOO_LONG: Self = Self { code: 414, text: "the prefix is too long" };
    /// There is no such command.
    pub const UNKNOWN: Self = Self { code: 501, text: "no such command here" };
    /// As many routes are there as there may be.
    pub const FULL: Self = Self { code: 503, text: "too many routes" };
}

impl Command {
    /// Reads a command; `None` for an Interest that is no command at all, such as one for a dataset.
    ///
    /// # Errors
    /// What to answer to a command that cannot be carried out.
    pub fn read(interest: &Interest) -> Option<Result<Self, Refusal>> {
        let word = |at: usize| interest.name.get(at).map(|component| component.value().to_vec());
        let scope = match word(0)?.as_slice() {
            b"localhost" => Scope::Localhost,
            b"localhop" => Scope::Localhop,
            _ => return None,
        };
        let (module, verb) = (word(2)?, word(3)?);
        let verb = match (module.as_slice(), verb.as_slice()) {
            (b"rib", b"register") => Verb::Register,
            (b"rib", b"unregister") => Verb::Unregister,
            _ if interest.signature.is_some() => return Some(Err(Refusal::UNKNOWN)),
            _ => return None,
        };
        if !is_signed(interest) {
            return Some(Err(Refusal::NOT_ALLOWED));
        }
        let parameters = word(4).and_then(|octets| ControlParameters::decode(&octets).ok());
        Some(Self::of(scope, verb, parameters))
    }

    fn of(scope: Scope, verb: Verb, said: Option<ControlParameters>) -> Result<Self, Refusal> {
        let parameters = said.ok_or(Refusal::MALFORMED)?;
        let prefix = parameters.name.clone().ok_or(Refusal::MALFORMED)?;
        match prefix.len() <= MAX_PREFIX_COMPONENTS {
            true => Ok(Self { scope, verb, prefix, parameters }),
            false => Err(Refusal::TOO_LONG),
        }
    }
}

fn is_signed(interest: &Interest) -> bool {
    let (Some(signature), Some(portion)) = (&interest.signature, interest.signed_portion()) else {
        return is_signed_in_its_name(&interest.name).unwrap_or(false);
    };
    signature.info().typ != SignatureType::DigestSha256 || signature.value() == sha256(&portion)
}

/// Signed Interests of packet format v0.2 end with time, nonce, SignatureInfo and SignatureValue as components; the
/// signature covers the components before the last. `None` where these are no such elements.
fn is_signed_in_its_name(name: &Name) -> Option<bool> {
    const LEN: usize = 9;
    let (info, value) = (name.get(LEN - 2)?, name.get(LEN - 1).filter(|_| name.len() == LEN)?);
    let element = |octets, typ| Reader::new(octets).expect(typ, "a signature").ok();
    let info = element(info.value(), typ::SIGNATURE_INFO)?.value;
    let value = element(value.value(), typ::SIGNATURE_VALUE)?.value;
    let is_digest = SignatureInfo::decode(info).ok()?.typ == SignatureType::DigestSha256;
    Some(!is_digest || value == sha256(name.prefix(LEN - 1).value()))
}

/// The answer to the command `name`: what was done, or why nothing.
#[must_use]
pub fn respond(name: &Name, outcome: &Result<ControlParameters, Refusal>) -> Data {
    let (code, text, body) = match outcome {
        Ok(parameters) => (OK, "OK", parameters.to_bytes()),
        Err(refusal) => (refusal.code, refusal.text, Bytes::new()),
    };
    let len = nni_tlv_len(STATUS_CODE, code) + tlv_len(STATUS_TEXT, text.len()) + body.len();
    let mut content = Vec::with_capacity(tlv_len(CONTROL_RESPONSE, len));
    put_header(&mut content, CONTROL_RESPONSE, len);
    put_nni_tlv(&mut content, STATUS_CODE, code);
    put_header(&mut content, STATUS_TEXT, text.len());
    content.extend(text.as_bytes());
    content.extend(&body);
    debug_assert!(body.first().is_none_or(|typ| u64::from(*typ) == CONTROL_PARAMETERS));
    DataBuilder::new(name).build(&content, &DigestSigner)
}

#[cfg(test)]
mod tests {
    use super::super::{ManagementError, parse_response, register_command, unregister_command};
    use super::*;
    use recoup_packet::interest::Uniqueness;
    use recoup_packet::name::Component;

    fn parameters() -> ControlParameters {
        let name = Some("/a/b".parse().unwrap());
        ControlParameters { name, cost: Some(7), ..ControlParameters::default() }
    }

    fn command(parameters: &ControlParameters) -> Interest {
        let unique = Uniqueness { nonce: Some(&[1; 8]), time: Some(1), seq_num: None };
        register_command(Scope::Localhost, parameters, &DigestSigner, unique)
    }

    #[test]
    fn what_a_client_writes_is_read() {
        let read = Command::read(&command(&parameters())).unwrap().unwrap();
        assert_eq!((read.scope, read.verb), (Scope::Localhost, Verb::Register));
        assert_eq!((read.prefix.to_string().as_str(), read.parameters.cost), ("/a/b", Some(7)));
        let unique = Uniqueness::default();
        let back = unregister_command(Scope::Localhop, &parameters(), &DigestSigner, unique);
        let read = Command::read(&back).unwrap().unwrap();
        assert_eq!((read.scope, read.verb), (Scope::Localhop, Verb::Unregister));
    }

    #[test]
    fn what_a_forwarder_answers_is_read() {
        let name = command(&parameters()).name;
        let answer = respond(&name, &Ok(parameters()));
        assert_eq!((answer.name(), parse_response(&answer)), (&name, Ok(parameters())));
        let answer = respond(&name, &Err(Refusal::TOO_LONG));
        let refused =
            ManagementError::Refused { code: 414, text: "the prefix is too long".to_owned() };
        assert_eq!(parse_response(&answer), Err(refused));
    }

    #[test]
    fn a_command_must_be_signed_and_its_digest_right() {
        let signed = command(&parameters());
        let bare = Interest::new(signed.name.prefix(5));
        assert_eq!(Command::read(&bare), Some(Err(Refusal::NOT_ALLOWED)));
        // Another name under the same signature.
        let mut words: Vec<_> = signed.name.components().collect();
        let other = ControlParameters { cost: Some(8), ..parameters() }.to_bytes();
        words[4] = Component::generic(&other);
        let mut forged = signed.clone();
        forged.name = words.into_iter().collect();
        assert_eq!(Command::read(&forged), Some(Err(Refusal::NOT_ALLOWED)));
    }

    #[test]
    fn a_command_signed_in_its_name_is_read_and_its_digest_checked() {
        // What python-ndn 0.5.2 sends to register /x/v=3.
        let octets = b"\x05\x76\x07\x6a\x08\x09localhost\x08\x03nfd\x08\x03rib\x08\x08register\
            \x08\x0a\x68\x08\x07\x06\x08\x01x6\x01\x03\x08\x08\0\0\x01\xa2\0\x8dY\x83\x08\x08\
            \xb0%\xa3\x19\xe4\xecs&\x08\x05\x16\x03\x1b\x01\0\x08\x22\x17\x20\
            \x1c\x11\x1e\xc8t\x88\xd2\xcf\xcbZ\x20\x9c\x95\x80\xe5:\
            \x10\xd0_\x8d{\x81\xd7#K_\x1b\x7f\xbb\x9f\xf1\xdf\n\x04~G\x07\xa2\x0c\x02\x03\xe8";
        let interest = Interest::decode(Bytes::from_static(octets)).unwrap();
        let read = Command::read(&interest).unwrap().unwrap();
        assert_eq!((read.verb, read.prefix.to_string().as_str()), (Verb::Register, "/x/v=3"));
        for place in [40, 100] {
            let mut other = octets.to_vec();
            other[place] ^= 1;
            let read = Interest::decode(other.into()).ok().and_then(|it| Command::read(&it));
            assert!(!matches!(read, Some(Ok(_))), "{place}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_its_reason() {
        let nameless = ControlParameters { name: None, ..parameters() };
        assert_eq!(Command::read(&command(&nameless)), Some(Err(Refusal::MALFORMED)));
        let long: Name = (0..33).map(|_| Component::generic(b"x")).collect();
        let long = ControlParameters { name: Some(long), ..parameters() };
        assert_eq!(Command::read(&command(&long)), Some(Err(Refusal::TOO_LONG)));
        let sign = |name: &str| {
            let name = Interest::new(name.parse().unwrap());
            name.sign(Bytes::new(), &DigestSigner, Uniqueness::default())
        };
        assert_eq!(
            Command::read(&sign("/localhost/nfd/faces/create/x")),
            Some(Err(Refusal::UNKNOWN))
        );
        assert_eq!(
            Command::read(&sign("/localhost/nfd/rib/register/x")),
            Some(Err(Refusal::MALFORMED))
        );
        assert_eq!(
            Command::read(&sign("/localhost/nfd/rib/register")),
            Some(Err(Refusal::MALFORMED))
        );
        let dataset = Interest::new("/localhost/nfd/faces/list".parse().unwrap());
        assert_eq!(Command::read(&dataset), None);
        assert_eq!(Command::read(&Interest::new("/localhost/nfd".parse().unwrap())), None);
    }
}
