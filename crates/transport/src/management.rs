//! NFD management protocol: commands for routes and all other management, datasets, notifications.
//!
//! A command is a signed Interest (packet format v0.3) whose name is
//! `/localhost/nfd/<module>/<verb>/<ControlParameters>/<parameters digest>`, with empty ApplicationParameters. The
//! answer is a Data packet with a ControlResponse in it. Forwarders use the signature's time against replays: each
//! command by one key must be later than the one before, and not far from the forwarder's own clock.
//!
//! Source: NFD's wiki pages "Management", "ControlCommand", "StatusDataset" and those of the modules; TLV numbers as
//! in ndn-cxx (`tlv-nfd.hpp`). NFD (22.12 and later), ndnd and compatible forwarders implement it.
mod announcement;
mod answer;
mod authority;
mod command_time;
mod element;
mod face;
mod inquiry;
mod parameters;
mod proof;
mod record;
mod typ;
mod uri;

pub use announcement::{PrefixAnnouncement, announce_command};
pub use answer::{
    Command, Dataset, EVENTS_COMPONENTS, MAX_PREFIX_COMPONENTS, Rejection, Request, Verb, respond,
    respond_conflict,
};
pub use authority::{Authority, AuthorityOptions, GRACE, MAX_KEYS, Rights};
pub(crate) use command_time::CommandTimes;
pub use element::Record;
pub use face::{
    ChannelStatus, FaceCounters, FaceEvent, FaceEventKind, FaceFilter, FaceProfile, FaceStatus,
    LinkType, Persistency,
};
pub use inquiry::{Inquiry, InquiryConfig, Managed, Question};
pub use parameters::{
    CAPTURE, CHILD_INHERIT, CONGESTION_MARKING, CS_ADMIT, CS_SERVE, ControlParameters,
    LOCAL_FIELDS, LP_RELIABILITY,
};
pub use record::{
    CsInfo, FibEntry, GeneralStatus, RibEntry, Route, StrategyChoice, decode_records,
    encode_records,
};
pub use uri::canonical_uri;

use bytes::Bytes;
use recoup_packet::data::Data;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::nack::NackReason;
use recoup_packet::name::Component;
use recoup_packet::signature::Signer;
use recoup_packet::tlv::{DecodeError, Reader};
use typ::{CONTROL_PARAMETERS, CONTROL_RESPONSE, STATUS_CODE, STATUS_TEXT};

/// Status code for success.
const OK: u64 = 200;
/// Most characters of a forwarder's status text that are kept.
const MAX_TEXT_CHARS: usize = 200;

/// Destination of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The forwarder on this machine (`/localhost/nfd`).
    Localhost,
    /// The forwarder at the other end of a network link (`/localhop/nfd`).
    Localhop,
}

/// Origin of a route, with its number in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Origin {
    /// An application on the same machine.
    App = 0,
    /// A client at the other end of a link; routing daemons advertise such routes.
    Client = 65,
    /// The signer of a prefix announcement.
    PrefixAnnouncement = 129,
}

/// The command that registers `parameters.name` for the face on which the command arrives. `unique` needs a time, and
/// should have a nonce of 8 bytes.
pub fn register_command(
    scope: Scope,
    parameters: &ControlParameters,
    signer: &dyn Signer,
    unique: Uniqueness<'_>,
) -> Interest {
    command_interest(scope, Verb::RibRegister, parameters, signer, unique)
}

/// A signed command Interest. `unique` needs a time, and should have a nonce of 8 bytes.
pub fn command_interest(
    scope: Scope,
    verb: Verb,
    parameters: &ControlParameters,
    signer: &dyn Signer,
    unique: Uniqueness<'_>,
) -> Interest {
    let name = verb.name(scope).append(Component::generic(&parameters.to_bytes()));
    Interest::new(name).sign(Bytes::new(), signer, unique)
}

/// Error of a management command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManagementError {
    /// The status code is not that of success.
    #[error("the forwarder rejected the command: {code} {text}")]
    Rejected {
        /// Status code, similar to those of HTTP.
        code: u64,
        /// Status text, without control characters, truncated.
        text: String,
    },
    /// The forwarder sent no answer.
    #[error(
        "the forwarder did not answer {attempts} commands; is its management switched on, and is \
         this the right face?"
    )]
    NoAnswer {
        /// Number of attempts.
        attempts: u32,
    },
    /// No route leads to the management of a forwarder.
    #[error("the forwarder has no route to its management ({0:?}); is its management switched on?")]
    Nack(NackReason),
    /// The answer is malformed.
    #[error("the forwarder's answer cannot be understood: {0}")]
    Malformed(#[from] DecodeError),
}

impl ManagementError {
    /// Whether a retry, with another time and nonce, could succeed. A 403 is among them: a forwarder answers so when
    /// another program with the same key was a millisecond faster.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Rejected { code, .. } => *code == 403 || *code >= 500 && *code != 501,
            Self::NoAnswer { .. } | Self::Nack(_) | Self::Malformed(_) => true,
        }
    }

    /// Remedy for a failed prefix registration, where the status code has one.
    pub fn registration_advice(&self) -> Option<&'static str> {
        let Self::Rejected { code, .. } = self else {
            return None;
        };
        Some(match code {
            400 => "it did not understand the command: it may be too old (NFD before 22.12)",
            403 => {
                "it does not accept commands signed like this: sign with a key that it trusts, or, for \
                 NFD, allow it in nfd.conf under rib.localhost_security (rib.localhop_security for a \
                 forwarder on another machine). If it is on another machine, compare the clocks"
            }
            410 => "it has already closed the face: start again, which connects anew",
            414 => {
                "the name is longer than its tables allow (32 components in NFD): use a shorter one"
            }
            501 => "it has no such command: it may not be a forwarder with NFD's management",
            _ => "let the forwarder's configuration accept commands from here",
        })
    }
}

/// Reads a forwarder's answer to a command.
///
/// # Errors
/// [`ManagementError::Rejected`] and [`ManagementError::Malformed`].
pub fn parse_response(data: &Data) -> Result<ControlParameters, ManagementError> {
    let response = Reader::new(data.content()).expect(CONTROL_RESPONSE, "ControlResponse")?;
    let mut reader = response.reader();
    let code = reader.expect(STATUS_CODE, "StatusCode")?.number()?;
    let text = reader.expect(STATUS_TEXT, "StatusText")?;
    if code != OK {
        return Err(ManagementError::Rejected { code, text: readable(text.value) });
    }
    while let Some(element) = reader.read()? {
        if element.typ == CONTROL_PARAMETERS {
            return Ok(ControlParameters::read(&element)?);
        }
    }
    Ok(ControlParameters::default())
}

/// Remote text, made fit for a terminal.
fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text.get(..4 * MAX_TEXT_CHARS).unwrap_or(text)).into_owned();
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::data::DataBuilder;
    use recoup_packet::signature::{DigestSigner, SignatureType, sha256};
    use recoup_packet::tlv::typ;
    use std::time::Duration;

    fn full() -> ControlParameters {
        ControlParameters {
            name: Some("/a/b".parse().unwrap()),
            face_id: Some(300),
            origin: Some(Origin::Client as u64),
            cost: Some(10),
            flags: Some(CHILD_INHERIT | CAPTURE),
            expiration_period: Some(Duration::from_secs(3600)),
            ..ControlParameters::default()
        }
    }

    const FULL: &[u8] =
        b"\x68\x1b\x07\x06\x08\x01a\x08\x01b\x69\x02\x01\x2c\x6f\x01\x41\x6a\x01\x0a\
        \x6c\x01\x03\x6d\x04\x00\x36\xee\x80";

    fn response(content: &[u8]) -> Data {
        DataBuilder::new(&"/localhost/nfd".parse().unwrap()).build(content, &DigestSigner)
    }

    #[test]
    fn parameters_are_encoded_in_protocol_order() {
        assert_eq!(full().to_bytes(), FULL);
        assert_eq!(ControlParameters::decode(FULL), Ok(full()));
        assert_eq!(&ControlParameters::default().to_bytes()[..], [0x68, 0]);
    }

    #[test]
    fn parameters_are_decoded_in_any_order() {
        let bytes = b"\x68\x0f\x6a\x01\x0a\x7a\x01x\x69\x01\x07\x91\x01y\x6a\x01\x0b";
        let expected =
            ControlParameters { face_id: Some(7), cost: Some(10), ..ControlParameters::default() };
        assert_eq!(ControlParameters::decode(bytes), Ok(expected));
    }

    #[test]
    fn command_is_a_signed_interest_with_parameters() {
        let unique = Uniqueness { nonce: Some(&[7; 8]), time: Some(1_234), seq_num: None };
        let interest = register_command(Scope::Localhost, &full(), &DigestSigner, unique);
        let read = Interest::decode(interest.to_bytes()).unwrap();
        assert_eq!(read, interest);
        assert!(read.name.to_string().starts_with("/localhost/nfd/rib/register/h%1B"));
        assert_eq!(read.name.len(), 6);
        assert_eq!(read.name.get(4).unwrap().value(), FULL);
        assert_eq!(u64::from(read.name.get(5).unwrap().typ()), typ::PARAMETERS_SHA256_DIGEST);
        assert_eq!(read.parameters.as_deref(), Some(&b""[..]));
        let signature = read.signature.as_ref().unwrap();
        let info = signature.info();
        assert_eq!(info.typ, SignatureType::DigestSha256);
        assert_eq!((info.nonce, info.time), (Some(&[7; 8][..]), Some(1_234)));
        assert_eq!(signature.value(), sha256(&read.signed_portion().unwrap()));
    }

    #[test]
    fn success_brings_the_routes_parameters() {
        let mut content = b"\x65\x28\x66\x01\xc8\x67\x02OK".to_vec();
        content[1] = (content.len() - 2 + FULL.len()) as u8;
        content.extend(FULL);
        assert_eq!(parse_response(&response(&content)), Ok(full()));
        let bare = parse_response(&response(b"\x65\x05\x66\x01\xc8\x67\x00"));
        assert_eq!(bare, Ok(ControlParameters::default()));
    }

    #[test]
    fn failed_registration_has_a_remedy() {
        let content = b"\x65\x11\x66\x02\x01\x93\x67\x0bauthor\x1b[31m";
        let error = parse_response(&response(content)).unwrap_err();
        let expected = ManagementError::Rejected { code: 403, text: "author[31m".to_owned() };
        assert_eq!(error, expected);
        assert_eq!(error.to_string(), "the forwarder rejected the command: 403 author[31m");
        assert!(error.registration_advice().unwrap().contains("localhost_security"));
        for (code, piece) in
            [(400, "too old"), (410, "start again"), (414, "shorter"), (501, "may not be")]
        {
            let error = ManagementError::Rejected { code, text: String::new() };
            assert!(error.registration_advice().unwrap().contains(piece), "{code}");
            assert!(!error.is_transient());
        }
        assert_eq!(ManagementError::NoAnswer { attempts: 3 }.registration_advice(), None);
        for transient in [403, 500, 503, 504] {
            let error = ManagementError::Rejected { code: transient, text: String::new() };
            assert!(error.is_transient());
        }
    }

    #[test]
    fn a_flood_of_words_is_cut() {
        let mut content = b"\x65\xfd\x0f\xa8\x66\x02\x01\x90\x67\xfd\x0f\xa0".to_vec();
        content.extend([0xff; 4000]);
        let error = parse_response(&response(&content)).unwrap_err();
        let ManagementError::Rejected { text, .. } = error else { panic!("{error}") };
        assert_eq!(text.chars().count(), MAX_TEXT_CHARS);
    }

    #[test]
    fn answers_that_are_none_are_errors() {
        for content in [
            &b""[..],
            b"hello",
            b"\x65\x00",
            b"\x65\x03\x66\x01\xc8",
            b"\x65\x05\x67\x00\x66\x01\xc8",
            b"\x65\x06\x66\x02\xc8\x67\x00",
            b"\x65\x09\x66\x01\xc8\x67\x00\x68\x02\x6a\x00",
        ] {
            let error = parse_response(&response(content)).unwrap_err();
            assert!(matches!(error, ManagementError::Malformed(_)), "{content:?}: {error}");
        }
    }
}
