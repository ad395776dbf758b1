//! TOML documents of which every key is known, and every mistake has its line, its column and a remedy.
//!
//! Scenarios and the configuration of a forwarder are read with it.
//!
//! | item | module |
//! |---|---|
//! | values with their places in the file | [`tree`] |
//! | mistakes: place, key, remedy | [`problem`] |
//! | one table while it is read, key by key | [`section`] |
//! | a table that is read into its normal form | [`fields`] |
//! | the fields of a `serde` struct as keys | [`document`] |
//! | written forms of a value: units, words, lists | [`form`] |
//! | printing a document | [`mod@print`] |
//! | JSON Schema of what a reader reads | [`schema`] |
//!
//! ```
//! use recoup_config::{form, section};
//!
//! let read = |text| section::parse(text, |whole| whole.value("rate", form::rate));
//! assert_eq!(read("rate = \"10 Mbit/s\""), Ok(Some(10_000_000)));
//! let problems = read("raet = \"10 Mbit/s\"").unwrap_err();
//! assert_eq!(problems.to_string(), "1:1: raet: is not known here; did you mean `rate`?");
//! ```
pub mod document;
pub mod fields;
pub mod form;
pub mod print;
pub mod problem;
pub mod schema;
pub mod section;
pub mod tree;
