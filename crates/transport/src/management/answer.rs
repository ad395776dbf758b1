//! The forwarder's side of the protocol: parsing of commands and dataset Interests, encoding of answers.
//!
//! Source: NFD's wiki pages "ControlCommand", "StatusDataset" and those of the modules; status codes as in NFD.
//!
//! Differences from NFD: commands of packet format v0.2, which old clients send, are parsed; [`Authority`](super::Authority)
//! decides on them.
use super::announcement::{self, PrefixAnnouncement};
use super::face::FaceFilter;
use super::proof::Proof;
use super::typ::{CONTROL_PARAMETERS, CONTROL_RESPONSE, STATUS_CODE, STATUS_TEXT};
use super::{ControlParameters, OK, Scope};
use recoup_packet::data::{Data, DataBuilder};
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::DigestSigner;
use recoup_packet::tlv::{nni_tlv_len, put_header, put_nni_tlv, tlv_len};

/// Most components of the prefix of a route, as in NFD's tables.
pub const MAX_PREFIX_COMPONENTS: usize = 32;

/// Verb of a command, with its module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub enum Verb {
    RibRegister,
    RibUnregister,
    RibAnnounce,
    FibAddNextHop,
    FibRemoveNextHop,
    FaceCreate,
    FaceUpdate,
    FaceDestroy,
    StrategySet,
    StrategyUnset,
    CsConfig,
    CsErase,
    /// Own verb: a face is down, with its routes.
    FaceDown,
    /// Own verb: such a face is up again.
    FaceUp,
    /// Own verb: a driver gave up a packet for a face.
    FaceLost,
}

impl Verb {
    pub(super) const ALL: [(Self, &'static str, &'static str); 15] = [
        (Self::RibRegister, "rib", "register"),
        (Self::RibUnregister, "rib", "unregister"),
        (Self::RibAnnounce, "rib", "announce"),
        (Self::FibAddNextHop, "fib", "add-nexthop"),
        (Self::FibRemoveNextHop, "fib", "remove-nexthop"),
        (Self::FaceCreate, "faces", "create"),
        (Self::FaceUpdate, "faces", "update"),
        (Self::FaceDestroy, "faces", "destroy"),
        (Self::StrategySet, "strategy-choice", "set"),
        (Self::StrategyUnset, "strategy-choice", "unset"),
        (Self::CsConfig, "cs", "config"),
        (Self::CsErase, "cs", "erase"),
        (Self::FaceDown, "faces", "down"),
        (Self::FaceUp, "faces", "up"),
        (Self::FaceLost, "faces", "lost"),
    ];

    fn read(module: &[u8], verb: &[u8]) -> Option<Self> {
        let is = |(_, of, word): &&(Self, &str, &str)| {
            of.as_bytes() == module && word.as_bytes() == verb
        };
        Self::ALL.iter().find(is).map(|(verb, ..)| *verb)
    }

    /// Module and verb, as components of a command's name.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        let of = Self::ALL.iter().find(|(verb, ..)| *verb == self);
        of.map_or(("", ""), |(_, module, verb)| (module, verb))
    }

    /// Name prefix of such a command.
    pub(super) fn name(self, scope: Scope) -> Name {
        let local = match scope {
            Scope::Localhost => "localhost",
            Scope::Localhop => "localhop",
        };
        let (module, verb) = self.words();
        [local, "nfd", module, verb]
            .map(|word| Component::generic(word.as_bytes()))
            .into_iter()
            .collect()
    }

    /// The modules that have commands.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        ["rib", "fib", "faces", "strategy-choice", "cs"].into_iter()
    }
}

/// Datasets of a forwarder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub enum Dataset {
    RibList,
    FibList,
    FaceList,
    FaceQuery(FaceFilter),
    FaceChannels,
    StrategyList,
    CsInfo,
    Status,
}

/// A parsed Interest for the management.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A command.
    Command(Command),
    /// A dataset; its name has that many components, without version and segment.
    Dataset(Dataset, usize),
    /// Face notifications.
    Events,
}

/// Components of the name of notifications, without sequence number.
pub const EVENTS_COMPONENTS: usize = 4;

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Destination of the command.
    pub scope: Scope,
    /// Module and verb.
    pub verb: Verb,
    /// The parameters; for `rib/announce` the route of the announcement.
    pub parameters: ControlParameters,
    /// The announcement of `rib/announce`.
    pub announcement: Option<Box<PrefixAnnouncement>>,
}

/// Reason why a command is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Status code, similar to those of HTTP.
    pub code: u64,
    /// Status text.
    pub text: &'static str,
}

impl Rejection {
    /// The command is malformed.
    pub const MALFORMED: Self = Self { code: 400, text: "malformed command" };
    /// The command is unsigned, wrongly signed, or not authorized.
    pub const NOT_ALLOWED: Self = Self { code: 403, text: "not allowed" };
    /// The signature is in the name of the command.
    pub const V0_2: Self = Self {
        code: 403,
        text: "not allowed: its signature is in its name (packet format v0.2); sign as v0.3 does",
    };
    /// The signature has no time, or no nonce.
    pub const NOT_UNIQUE: Self =
        Self { code: 403, text: "not allowed: its signature needs a time and a nonce of 8 bytes" };
    /// The prefix announcement is not valid at this time.
    pub const NOT_VALID: Self =
        Self { code: 403, text: "the prefix announcement is not valid now" };
    /// The command is a replay, or its time is too far from the forwarder's.
    pub const NOT_IN_TIME: Self =
        Self { code: 403, text: "not allowed: repeated, or not of this time; compare the clocks" };
    /// There is no such face.
    pub const NO_FACE: Self = Self { code: 410, text: "no such face" };
    /// The face to be changed does not exist.
    pub const UNKNOWN_FACE: Self = Self { code: 404, text: "no such face" };
    /// There is no such strategy.
    pub const NO_STRATEGY: Self = Self { code: 404, text: "no such strategy here" };
    /// The prefix has too many components.
    pub const TOO_LONG: Self = Self { code: 414, text: "the prefix is too long" };
    /// There is no such command.
    pub const UNKNOWN: Self = Self { code: 501, text: "no such command here" };
    /// The limit of routes, faces or strategies is reached.
    pub const FULL: Self = Self { code: 503, text: "too many of them" };
}

impl Request {
    /// Parses a request; `None` for an Interest that is none.
    ///
    /// # Errors
    /// The answer to a command that is malformed or unsigned.
    pub fn read(interest: &Interest) -> Option<Result<Self, Rejection>> {
        let word = |at: usize| interest.name.get(at).map(|component| component.value().to_vec());
        let scope = match word(0)?.as_slice() {
            b"localhost" => Scope::Localhost,
            b"localhop" => Scope::Localhop,
            _ => return None,
        };
        let (module, verb) = (word(2)?, word(3)?);
        let Some(verb) = Verb::read(&module, &verb) else {
            let request = dataset(&module, &verb, word(4)).filter(|_| scope == Scope::Localhost);
            let rejection = interest.signature.as_ref().map(|_| Err(Rejection::UNKNOWN));
            return request.map(Ok).or(rejection);
        };
        if !Proof::of(interest).is_some_and(|proof| proof.is_intact()) {
            return Some(Err(Rejection::NOT_ALLOWED));
        }
        let announcement = (verb == Verb::RibAnnounce).then(|| announcement::carried(interest));
        let announcement = announcement.flatten().as_ref().and_then(PrefixAnnouncement::read);
        let announcement = announcement.map(Box::new);
        let parameters = match verb {
            Verb::RibAnnounce => announcement.as_deref().map(PrefixAnnouncement::route),
            _ => word(4).and_then(|bytes| ControlParameters::decode(&bytes).ok()),
        };
        let command = Command::of(scope, verb, parameters);
        Some(command.map(|command| Self::Command(Command { announcement, ..command })))
    }
}

fn dataset(module: &[u8], verb: &[u8], filter: Option<Vec<u8>>) -> Option<Request> {
    let dataset = match (module, verb) {
        (b"rib", b"list") => Dataset::RibList,
        (b"fib", b"list") => Dataset::FibList,
        (b"faces", b"list") => Dataset::FaceList,
        (b"faces", b"query") => {
            let filter = FaceFilter::decode(&filter?).ok()?;
            return Some(Request::Dataset(Dataset::FaceQuery(filter), 5));
        }
        (b"faces", b"channels") => Dataset::FaceChannels,
        (b"faces", b"events") => return Some(Request::Events),
        (b"strategy-choice", b"list") => Dataset::StrategyList,
        (b"cs", b"info") => Dataset::CsInfo,
        (b"status", b"general") => Dataset::Status,
        _ => return None,
    };
    Some(Request::Dataset(dataset, 4))
}

impl Command {
    fn of(
        scope: Scope,
        verb: Verb,
        parameters: Option<ControlParameters>,
    ) -> Result<Self, Rejection> {
        let parameters = parameters.ok_or(Rejection::MALFORMED)?;
        let needs_name = !matches!(
            verb,
            Verb::FaceCreate
                | Verb::FaceUpdate
                | Verb::FaceDestroy
                | Verb::FaceDown
                | Verb::FaceUp
                | Verb::CsConfig
        );
        match &parameters.name {
            None if needs_name => Err(Rejection::MALFORMED),
            Some(name) if name.len() > MAX_PREFIX_COMPONENTS => Err(Rejection::TOO_LONG),
            _ => Ok(Self { scope, verb, parameters, announcement: None }),
        }
    }

    /// The prefix of the command; the root if it has none.
    #[must_use]
    pub fn prefix(&self) -> Name {
        self.parameters.name.clone().unwrap_or_default()
    }
}

/// The answer to the command `name`: the applied parameters, or the reason of the rejection. A rejection has empty
/// parameters, without which ndnd's commands do not show it.
#[must_use]
pub fn respond(name: &Name, outcome: &Result<ControlParameters, Rejection>) -> Data {
    match outcome {
        Ok(parameters) => response(name, OK, "OK", &parameters.to_bytes()),
        Err(rejection) => {
            response(name, rejection.code, rejection.text, &ControlParameters::default().to_bytes())
        }
    }
}

/// The answer to the command `name` that would create an existing item.
#[must_use]
pub fn respond_conflict(name: &Name, there: &ControlParameters) -> Data {
    response(name, 409, "there is one already", &there.to_bytes())
}

fn response(name: &Name, code: u64, text: &str, body: &[u8]) -> Data {
    let len = nni_tlv_len(STATUS_CODE, code) + tlv_len(STATUS_TEXT, text.len()) + body.len();
    let mut content = Vec::with_capacity(tlv_len(CONTROL_RESPONSE, len));
    put_header(&mut content, CONTROL_RESPONSE, len);
    put_nni_tlv(&mut content, STATUS_CODE, code);
    put_header(&mut content, STATUS_TEXT, text.len());
    content.extend(text.as_bytes());
    content.extend(body);
    debug_assert!(body.first().is_none_or(|typ| u64::from(*typ) == CONTROL_PARAMETERS));
    DataBuilder::new(name).build(&content, &DigestSigner)
}

#[cfg(test)]
mod tests {
    use super::super::{ManagementError, command_interest, parse_response, register_command};
    use super::*;
    use bytes::Bytes;
    use recoup_packet::interest::Uniqueness;

    fn parameters() -> ControlParameters {
        let name = Some("/a/b".parse().unwrap());
        ControlParameters { name, cost: Some(7), ..ControlParameters::default() }
    }

    fn command(parameters: &ControlParameters) -> Interest {
        let unique = Uniqueness { nonce: Some(&[1; 8]), time: Some(1), seq_num: None };
        register_command(Scope::Localhost, parameters, &DigestSigner, unique)
    }

    /// The parsed command, if the Interest is one.
    fn read(interest: &Interest) -> Option<Result<Command, Rejection>> {
        match Request::read(interest)? {
            Ok(Request::Command(command)) => Some(Ok(command)),
            Ok(other) => panic!("{other:?}"),
            Err(rejection) => Some(Err(rejection)),
        }
    }

    #[test]
    fn encoded_commands_are_parsed() {
        let found = read(&command(&parameters())).unwrap().unwrap();
        assert_eq!((found.scope, found.verb), (Scope::Localhost, Verb::RibRegister));
        assert_eq!((found.prefix().to_string().as_str(), found.parameters.cost), ("/a/b", Some(7)));
        let unique = Uniqueness::default();
        let verb = Verb::RibUnregister;
        let back = command_interest(Scope::Localhop, verb, &parameters(), &DigestSigner, unique);
        let found = read(&back).unwrap().unwrap();
        assert_eq!((found.scope, found.verb), (Scope::Localhop, Verb::RibUnregister));
    }

    #[test]
    fn encoded_answers_are_parsed() {
        let name = command(&parameters()).name;
        let answer = respond(&name, &Ok(parameters()));
        assert_eq!((answer.name(), parse_response(&answer)), (&name, Ok(parameters())));
        let answer = respond(&name, &Err(Rejection::TOO_LONG));
        let rejected =
            ManagementError::Rejected { code: 414, text: "the prefix is too long".to_owned() };
        assert_eq!(parse_response(&answer), Err(rejected));
        assert!(answer.content().ends_with(b"too long\x68\x00"), "the parameters are empty");
    }

    #[test]
    fn command_needs_a_signature_and_correct_digest() {
        let signed = command(&parameters());
        let bare = Interest::new(signed.name.prefix(5));
        assert_eq!(read(&bare), Some(Err(Rejection::NOT_ALLOWED)));
        // Another name with the same signature.
        let mut words: Vec<_> = signed.name.components().collect();
        let other = ControlParameters { cost: Some(8), ..parameters() }.to_bytes();
        words[4] = Component::generic(&other);
        let mut forged = signed.clone();
        forged.name = words.into_iter().collect();
        assert_eq!(read(&forged), Some(Err(Rejection::NOT_ALLOWED)));
    }

    #[test]
    fn command_of_format_v0_2_is_verified() {
        // The bytes that python-ndn 0.5.2 sends to register /x/v=3.
        let bytes = b"\x05\x76\x07\x6a\x08\x09localhost\x08\x03nfd\x08\x03rib\x08\x08register\
            \x08\x0a\x68\x08\x07\x06\x08\x01x6\x01\x03\x08\x08\0\0\x01\xa2\0\x8dY\x83\x08\x08\
            \xb0%\xa3\x19\xe4\xecs&\x08\x05\x16\x03\x1b\x01\0\x08\x22\x17\x20\
            \x1c\x11\x1e\xc8t\x88\xd2\xcf\xcbZ\x20\x9c\x95\x80\xe5:\
            \x10\xd0_\x8d{\x81\xd7#K_\x1b\x7f\xbb\x9f\xf1\xdf\n\x04~G\x07\xa2\x0c\x02\x03\xe8";
        let interest = Interest::decode(Bytes::from_static(bytes)).unwrap();
        let found = read(&interest).unwrap().unwrap();
        assert_eq!(
            (found.verb, found.prefix().to_string().as_str()),
            (Verb::RibRegister, "/x/v=3")
        );
        for place in [40, 100] {
            let mut other = bytes.to_vec();
            other[place] ^= 1;
            let read = Interest::decode(other.into()).ok().and_then(|it| read(&it));
            assert!(!matches!(read, Some(Ok(_))), "{place}");
        }
    }

    #[test]
    fn invalid_commands_are_rejected_with_a_reason() {
        let nameless = ControlParameters { name: None, ..parameters() };
        assert_eq!(read(&command(&nameless)), Some(Err(Rejection::MALFORMED)));
        let long: Name = (0..33).map(|_| Component::generic(b"x")).collect();
        let long = ControlParameters { name: Some(long), ..parameters() };
        assert_eq!(read(&command(&long)), Some(Err(Rejection::TOO_LONG)));
        let sign = |name: &str| {
            let name = Interest::new(name.parse().unwrap());
            name.sign(Bytes::new(), &DigestSigner, Uniqueness::default())
        };
        assert_eq!(read(&sign("/localhost/nfd/faces/invent/x")), Some(Err(Rejection::UNKNOWN)));
        assert_eq!(read(&sign("/localhost/nfd/rib/register/x")), Some(Err(Rejection::MALFORMED)));
        assert_eq!(read(&sign("/localhost/nfd/rib/register")), Some(Err(Rejection::MALFORMED)));
        let query = Interest::new("/localhost/nfd/faces/query/x".parse().unwrap());
        assert_eq!(read(&query), None);
        assert_eq!(read(&Interest::new("/localhost/nfd".parse().unwrap())), None);
    }

    #[test]
    fn questions_are_read_from_local_programs_only() {
        let read = |text: &str| Request::read(&Interest::new(text.parse().unwrap()));
        let list = Some(Ok(Request::Dataset(Dataset::FaceList, 4)));
        assert_eq!(read("/localhost/nfd/faces/list"), list);
        assert_eq!(read("/localhost/nfd/faces/list/54=%01/50=%02"), list);
        assert_eq!(read("/localhop/nfd/faces/list"), None);
        assert_eq!(read("/localhost/nfd/faces/events/58=%07"), Some(Ok(Request::Events)));
        let filter = FaceFilter { uri_scheme: Some("udp4".into()), ..FaceFilter::default() };
        let name: Name = "/localhost/nfd/faces/query".parse().unwrap();
        let name = name.append(Component::generic(&filter.to_bytes()));
        let asked = Request::read(&Interest::new(name));
        assert_eq!(asked, Some(Ok(Request::Dataset(Dataset::FaceQuery(filter), 5))));
    }
}
