//! Prefix announcements: signed Data that names a prefix to serve, and its validity.
//!
//! Source: NFD's wiki pages "PrefixAnnouncement" and "RibMgmt"; ndn-cxx, `prefix-announcement.cpp`; the origin and cost of
//! such a route as in NFD's `rib/route.cpp`.
use super::element::{Elements, Fields, Value};
use super::parameters::CHILD_INHERIT;
use super::typ::EXPIRATION_PERIOD;
use super::{ControlParameters, Origin, Scope, Verb};
use recoup_packet::data::{ContentType, Data, DataBuilder};
use recoup_packet::date;
use recoup_packet::interest::{Interest, Uniqueness};
use recoup_packet::name::{Component, Name};
use recoup_packet::signature::Signer;
use recoup_packet::tlv::{Reader, Tlv, is_critical, typ};
use std::time::Duration;

/// The component after the prefix in the name of an announcement.
const WORD: &[u8] = b"PA";
/// Components after the prefix: the keyword, a version, a segment.
const TAIL: usize = 3;
/// Cost of an announced route: more than most configured costs.
const COST: u64 = 2_048;

/// Content of a prefix announcement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixAnnouncement {
    /// The announced prefix.
    pub prefix: Name,
    /// Lifetime from now on, in whole milliseconds.
    pub expires_after: Duration,
    /// The first and the last second since 1970 in which it is valid, if limited.
    pub validity: Option<(u64, u64)>,
}

impl PrefixAnnouncement {
    /// Parses an announcement; `None` for other Data.
    #[must_use]
    pub fn read(data: &Data) -> Option<Self> {
        let name = data.name();
        let prefix = name.len().checked_sub(TAIL)?;
        let is_word = name.get(prefix)?.is_keyword(WORD);
        let [version, segment] = [name.get(prefix + 1)?, name.get(prefix + 2)?];
        let is_named = is_word && version.is_version().is_some() && segment.is_segment().is_some();
        if !is_named || data.content_type() != ContentType::PrefixAnnouncement {
            return None;
        }
        let fields = Fields::new(data.content(), typ::CONTENT).ok()?;
        let mut reader = Reader::new(data.content());
        let mut validity = None;
        while let Some(element) = reader.read().ok()? {
            match element.typ {
                EXPIRATION_PERIOD => {}
                typ::VALIDITY_PERIOD => validity = Some(period(&element)?),
                other if is_critical(other) => return None,
                _ => {}
            }
        }
        let expires_after = Option::read(EXPIRATION_PERIOD, &fields).ok()??;
        Some(Self { prefix: name.prefix(prefix), expires_after, validity })
    }

    /// Remaining validity at `now_millis`, in milliseconds since 1970; `None` if it is not valid then.
    #[must_use]
    pub fn remaining(&self, now_millis: u64) -> Option<Duration> {
        let Some((first, last)) = self.validity else {
            return Some(self.expires_after);
        };
        let (begin, end) = (first.saturating_mul(1_000), (last + 1).saturating_mul(1_000));
        let is_valid = (begin..end).contains(&now_millis);
        is_valid.then(|| self.expires_after.min(Duration::from_millis(end - now_millis)))
    }

    /// The route of the announcement.
    pub(super) fn route(&self) -> ControlParameters {
        ControlParameters {
            name: Some(self.prefix.clone()),
            origin: Some(Origin::PrefixAnnouncement as u64),
            cost: Some(COST),
            flags: Some(CHILD_INHERIT),
            expiration_period: Some(self.expires_after),
            ..ControlParameters::default()
        }
    }

    /// The announcement as signed Data; later versions are newer.
    #[must_use]
    pub fn to_data(&self, version: u64, signer: &dyn Signer) -> Data {
        let tail = [Component::keyword(WORD), Component::version(version), Component::segment(0)];
        let name = self.prefix.components().chain(tail).collect();
        let mut content = Elements::default();
        Some(self.expires_after).put(EXPIRATION_PERIOD, &mut content);
        let builder = DataBuilder::new(&name).content_type(ContentType::PrefixAnnouncement);
        builder.build(&content.0, signer)
    }
}

/// The command that requests a route for `announcement`, for the face on which the command arrives. `unique` needs a
/// time, and should have a nonce of 8 bytes.
#[must_use]
pub fn announce_command(
    scope: Scope,
    announcement: &Data,
    signer: &dyn Signer,
    unique: Uniqueness<'_>,
) -> Interest {
    Interest::new(Verb::RibAnnounce.name(scope)).sign(announcement.wire(), signer, unique)
}

/// The announcement in a command.
pub(super) fn carried(interest: &Interest) -> Option<Data> {
    let parameters = interest.parameters.as_ref()?;
    let mut reader = Reader::new(parameters);
    while let Some(element) = reader.read().ok()? {
        if element.typ == typ::DATA {
            return Data::decode(parameters.slice(element.whole())).ok();
        }
    }
    None
}

/// First and last second of a ValidityPeriod.
fn period(element: &Tlv<'_>) -> Option<(u64, u64)> {
    let mut reader = element.reader();
    let first = seconds(reader.expect(typ::NOT_BEFORE, "a NotBefore").ok()?.value)?;
    let last = seconds(reader.expect(typ::NOT_AFTER, "a NotAfter").ok()?.value)?;
    Some((first, last))
}

/// Seconds since 1970 of a date; none of an earlier one.
fn seconds(text: &[u8]) -> Option<u64> {
    date::seconds(text).filter(|_| text >= &b"1970"[..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::signature::DigestSigner;
    use recoup_packet::tlv::{put_nni_tlv, put_tlv};

    fn announcement() -> PrefixAnnouncement {
        let expires_after = Duration::from_secs(3_600);
        PrefixAnnouncement { prefix: "/a/b".parse().unwrap(), expires_after, validity: None }
    }

    fn with(name: &str, content_type: ContentType, content: &[u8]) -> Option<PrefixAnnouncement> {
        let name = name.parse().unwrap();
        let builder = DataBuilder::new(&name).content_type(content_type);
        PrefixAnnouncement::read(&builder.build(content, &DigestSigner))
    }

    #[test]
    fn announcement_is_decoded_as_encoded() {
        let data = announcement().to_data(7, &DigestSigner);
        assert_eq!(data.name().to_string(), "/a/b/32=PA/v=7/seg=0");
        assert_eq!(PrefixAnnouncement::read(&data), Some(announcement()));
        let unique = Uniqueness { nonce: Some(&[1; 8]), time: Some(1), seq_num: None };
        let command = announce_command(Scope::Localhost, &data, &DigestSigner, unique);
        assert!(command.name.to_string().starts_with("/localhost/nfd/rib/announce/"));
        assert_eq!(carried(&command).map(|data| data.wire()), Some(data.wire()));
    }

    #[test]
    fn other_data_is_no_announcement() {
        let (name, kind) = ("/a/32=PA/v=1/seg=0", ContentType::PrefixAnnouncement);
        let mut content = Vec::new();
        put_nni_tlv(&mut content, EXPIRATION_PERIOD, 1_000);
        assert!(with(name, kind, &content).is_some());
        assert!(with("/32=PA/v=1/seg=0", kind, &content).is_some_and(|it| it.prefix.is_empty()));
        for other in ["/a/32=PB/v=1/seg=0", "/a/PA/v=1/seg=0", "/a/32=PA/v=1", "/v=1/seg=0"] {
            assert_eq!(with(other, kind, &content), None, "{other}");
        }
        assert_eq!(with(name, ContentType::Blob, &content), None);
        assert_eq!(with(name, kind, b""), None);
        let mut strange = content.clone();
        put_tlv(&mut strange, 0xFFF1, b"critical");
        assert_eq!(with(name, kind, &strange), None);
    }

    #[test]
    fn announcement_is_valid_in_its_period() {
        let mut content = Vec::new();
        put_nni_tlv(&mut content, EXPIRATION_PERIOD, 3_600_000);
        let mut period = Vec::new();
        put_tlv(&mut period, typ::NOT_BEFORE, b"20240229T120000");
        put_tlv(&mut period, typ::NOT_AFTER, b"20240229T122959");
        put_tlv(&mut content, typ::VALIDITY_PERIOD, &period);
        let found = with("/a/32=PA/v=1/seg=0", ContentType::PrefixAnnouncement, &content).unwrap();
        // date -u -d "2024-02-29 12:00:00" +%s
        let begin = 1_709_208_000;
        assert_eq!(found.validity, Some((begin, begin + 1_799)));
        assert_eq!(found.remaining(begin * 1_000 - 1), None);
        assert_eq!(found.remaining(begin * 1_000), Some(Duration::from_secs(1_800)));
        assert_eq!(found.remaining((begin + 1_800) * 1_000), None);
        assert_eq!(announcement().remaining(7), Some(Duration::from_secs(3_600)));
    }

    #[test]
    fn dates_before_1970_are_none() {
        assert_eq!(seconds(b"19700101T000000"), Some(0));
        assert_eq!(seconds(b"19691231T235959"), None);
        assert_eq!(seconds(b"2024-01-01T0000"), None);
    }
}
