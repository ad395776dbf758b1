//! Trust in named data: which keys may sign which names.
//!
//! Sans-IO: nothing here reads a clock, a file or a socket.
//!
//! ```
//! use recoup_trust::schema::{Functions, Schema, compile};
//!
//! let model = compile(r##"
//!     #data: /"site"/owner/"data" <= #key
//!     #key:  /"site"/owner/"KEY"/_/_/_
//! "##)?;
//! let schema = Schema::new(model, Functions::standard())?;
//! let key = "/site/ann/KEY/1/site/v=1".parse()?;
//! assert!(schema.allows(&"/site/ann/data".parse()?, &key)?);
//! assert!(!schema.allows(&"/site/bob/data".parse()?, &key)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
pub mod access;
pub mod certificate;
pub mod manifest;
mod policy;
mod rejected;
pub mod schema;
mod store;

pub use certificate::Certificate;
pub use manifest::Manifests;
pub use policy::Policy;
pub use store::{AnchorError, Clock, MAX_CERTIFICATES, MAX_REJECTED, TrustStore};
