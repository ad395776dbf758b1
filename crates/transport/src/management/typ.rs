//! TLV-TYPE numbers of the management protocol.
//!
//! Source: ndn-cxx, `encoding/tlv-nfd.hpp`, and NFD's wiki pages on each module. Numbers from 128 on depend on the
//! record.

/// ControlParameters.
pub(super) const CONTROL_PARAMETERS: u64 = 104;
/// ControlResponse.
pub(super) const CONTROL_RESPONSE: u64 = 101;
/// Status code of a ControlResponse.
pub(super) const STATUS_CODE: u64 = 102;
/// Status text of a ControlResponse.
pub(super) const STATUS_TEXT: u64 = 103;

pub(super) const FACE_ID: u64 = 105;
pub(super) const COST: u64 = 106;
pub(super) const STRATEGY: u64 = 107;
pub(super) const FLAGS: u64 = 108;
pub(super) const EXPIRATION_PERIOD: u64 = 109;
pub(super) const ORIGIN: u64 = 111;
pub(super) const MASK: u64 = 112;
pub(super) const URI: u64 = 114;
pub(super) const LOCAL_URI: u64 = 129;
pub(super) const CAPACITY: u64 = 131;
pub(super) const COUNT: u64 = 132;
pub(super) const FACE_PERSISTENCY: u64 = 133;
pub(super) const LINK_TYPE: u64 = 134;
pub(super) const MARKING_INTERVAL: u64 = 135;
pub(super) const MARKING_THRESHOLD: u64 = 136;
pub(super) const MTU: u64 = 137;

/// A face that is down. Own number of Recoup: even and last in its record, so that other clients ignore it.
pub(super) const FACE_DOWN: u64 = 60_000;

/// Record of a dataset of faces, FIB entries, RIB entries, strategies or the content store.
pub(super) const RECORD: u64 = 128;
/// A route of a RIB entry, or a next hop of a FIB entry.
pub(super) const INNER_RECORD: u64 = 129;

pub(super) const CHANNEL_STATUS: u64 = 130;
pub(super) const URI_SCHEME: u64 = 131;
pub(super) const FACE_SCOPE: u64 = 132;
pub(super) const FACE_QUERY_FILTER: u64 = 150;
pub(super) const FACE_EVENT: u64 = 192;
pub(super) const FACE_EVENT_KIND: u64 = 193;

pub(super) const N_IN_INTERESTS: u64 = 144;
pub(super) const N_IN_DATA: u64 = 145;
pub(super) const N_OUT_INTERESTS: u64 = 146;
pub(super) const N_OUT_DATA: u64 = 147;
pub(super) const N_IN_BYTES: u64 = 148;
pub(super) const N_OUT_BYTES: u64 = 149;
pub(super) const N_IN_NACKS: u64 = 151;
pub(super) const N_OUT_NACKS: u64 = 152;
pub(super) const N_SATISFIED: u64 = 153;
pub(super) const N_UNSATISFIED: u64 = 154;

pub(super) const CS_HITS: u64 = 129;
pub(super) const CS_MISSES: u64 = 130;

pub(super) const VERSION: u64 = 128;
pub(super) const START_TIME: u64 = 129;
pub(super) const CURRENT_TIME: u64 = 130;
pub(super) const N_NAME_TREE: u64 = 131;
pub(super) const N_FIB: u64 = 132;
pub(super) const N_PIT: u64 = 133;
pub(super) const N_MEASUREMENTS: u64 = 134;
pub(super) const N_CS: u64 = 135;
