//! Data.
/// Data.
#[derive(Clone, Debug)]
pub struct Data {}
