//! Interest.
/// Interest.
#[derive(Clone, Debug)]
pub struct Interest {}
