//! TLV-TYPE numbers of NDN packet format v0.3, NDNLPv2 and RDR metadata.
#![allow(missing_docs, reason = "the names are those of the specifications")]

pub const IMPLICIT_SHA256_DIGEST: u64 = 1;
pub const PARAMETERS_SHA256_DIGEST: u64 = 2;
pub const INTEREST: u64 = 5;
pub const DATA: u64 = 6;
pub const NAME: u64 = 7;
pub const GENERIC_NAME_COMPONENT: u64 = 8;
pub const NONCE: u64 = 10;
pub const INTEREST_LIFETIME: u64 = 12;
pub const MUST_BE_FRESH: u64 = 18;
pub const META_INFO: u64 = 20;
pub const CONTENT: u64 = 21;
pub const SIGNATURE_INFO: u64 = 22;
pub const SIGNATURE_VALUE: u64 = 23;
pub const CONTENT_TYPE: u64 = 24;
pub const FRESHNESS_PERIOD: u64 = 25;
pub const FINAL_BLOCK_ID: u64 = 26;
pub const SIGNATURE_TYPE: u64 = 27;
pub const KEY_LOCATOR: u64 = 28;
pub const KEY_DIGEST: u64 = 29;
pub const FORWARDING_HINT: u64 = 30;
pub const KEYWORD_NAME_COMPONENT: u64 = 32;
pub const CAN_BE_PREFIX: u64 = 33;
pub const HOP_LIMIT: u64 = 34;
pub const APPLICATION_PARAMETERS: u64 = 36;
pub const SIGNATURE_NONCE: u64 = 38;
pub const SIGNATURE_TIME: u64 = 40;
pub const SIGNATURE_SEQ_NUM: u64 = 42;
pub const INTEREST_SIGNATURE_INFO: u64 = 44;
pub const INTEREST_SIGNATURE_VALUE: u64 = 46;
pub const SEGMENT_NAME_COMPONENT: u64 = 50;
pub const BYTE_OFFSET_NAME_COMPONENT: u64 = 52;
pub const VERSION_NAME_COMPONENT: u64 = 54;
pub const TIMESTAMP_NAME_COMPONENT: u64 = 56;
pub const SEQUENCE_NUM_NAME_COMPONENT: u64 = 58;
pub const VALIDITY_PERIOD: u64 = 253;
pub const NOT_BEFORE: u64 = 254;
pub const NOT_AFTER: u64 = 255;

/// Application element of MetaInfo. The number is even, so that receivers without it ignore the element.
pub const OBJECT_ID: u64 = 242;

pub const FRAGMENT: u64 = 80;
pub const SEQUENCE: u64 = 81;
pub const FRAG_INDEX: u64 = 82;
pub const FRAG_COUNT: u64 = 83;
pub const PIT_TOKEN: u64 = 98;
pub const LP_PACKET: u64 = 100;
pub const NACK: u64 = 800;
pub const NACK_REASON: u64 = 801;
pub const INCOMING_FACE_ID: u64 = 812;
pub const NEXT_HOP_FACE_ID: u64 = 816;
pub const CACHE_POLICY: u64 = 820;
pub const CACHE_POLICY_TYPE: u64 = 821;
pub const CONGESTION_MARK: u64 = 832;
pub const ACK: u64 = 836;
pub const TX_SEQUENCE: u64 = 840;
pub const NON_DISCOVERY: u64 = 844;
pub const PREFIX_ANNOUNCEMENT: u64 = 848;

pub const SEGMENT_SIZE: u64 = 0xf500;
pub const SIZE: u64 = 0xf502;
pub const MODE: u64 = 0xf504;
pub const ATIME: u64 = 0xf506;
pub const BTIME: u64 = 0xf508;
pub const CTIME: u64 = 0xf50a;
pub const MTIME: u64 = 0xf50c;
pub const OBJECT_TYPE: u64 = 0xf50e;
/// The object identifier in metadata.
pub const METADATA_OBJECT_ID: u64 = 0xf572;

/// Types of the usual packets, each encoded in one byte.
pub mod byte {
    macro_rules! bytes {
        ($($name:ident)*) => { $(pub const $name: u8 = super::$name as u8;)* };
    }
    bytes! {
        INTEREST DATA NAME NONCE INTEREST_LIFETIME MUST_BE_FRESH META_INFO CONTENT
        SIGNATURE_INFO SIGNATURE_VALUE CAN_BE_PREFIX HOP_LIMIT
    }
}
