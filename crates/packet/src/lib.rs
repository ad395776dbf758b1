//! NDN packets: encoding and decoding of Interest, Data, Nack and link header.
//!
//! Sources: NDN packet format v0.3 and NDNLPv2. Decoding shares the received buffer and never
//! copies a payload. Malformed bytes give a [`tlv::DecodeError`], never a panic.
//!
//! ```
//! use recoup_packet::data::{Data, DataBuilder};
//! use recoup_packet::interest::Interest;
//! use recoup_packet::name::{Component, Name};
//! use recoup_packet::signature::DigestSigner;
//!
//! let object: Name = "/example/file/v=7".parse()?;
//! let interest = Interest::new(object.append(Component::segment(0)));
//! let received = Interest::decode(interest.to_bytes())?;
//!
//! let built = DataBuilder::new(&received.name).build(b"content", &DigestSigner);
//! let data = Data::decode(built.wire())?;
//! assert!(interest.is_satisfied_by(&data));
//! assert_eq!(data.name().to_string(), "/example/file/v=7/seg=0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod data;
pub mod date;
pub mod denial;
pub mod interest;
pub mod lp;
pub mod manifest;
pub mod metadata;
pub mod nack;
pub mod name;
pub mod object_id;
pub mod pcapng;
pub mod signature;
pub mod tlv;
