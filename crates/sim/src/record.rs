//! Records: tables made from what a world tells of itself.
pub mod table;

pub use table::Table;
