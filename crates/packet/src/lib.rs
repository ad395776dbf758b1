//! Words: octets on one side, Interest, Data, Nack and link header on the other.
//!
//! The NDN packet format v0.3 and NDNLPv2. Decoding shares the buffer that a packet came in and never copies a payload;
//! every octet may be wrong, and what is wrong with it is a [`tlv::DecodeError`], never a panic.
pub mod data;
pub mod interest;
pub mod lp;
pub mod metadata;
pub mod nack;
pub mod name;
pub mod signature;
pub mod tlv;
