//! Leave copy down and move copy down: a hit moves Data one store closer to the consumer.
//!
//! Source: Laoutaris, Che and Stavrakakis, "The LCD interconnection of LRU caches and its analysis", Performance Evaluation
//! 63(7), 2006, section 2: LCD and MCD.
//!
//! A node that has stored Data forwards it with the NDNLPv2 field CachePolicy = NoCache. A node with one of these policies
//! forwards that field. Thus only the first store below the one that answered, or below the producer, has a new copy. NFD
//! understands the field, too. All nodes of a path need the policy, those without a content store as well: other nodes do
//! not forward the field.
//!
//! Differences: with `mcd` the copy of the store that answered is erased when it is sent, not when it has arrived. If the Data is
//! lost, neither store has it. The node does not know whether a store is below it: the last stores before consumers, whose
//! copies are to stay, have `lcd`.
use super::{AdmissionPolicy, Candidate, CopyDown};
use std::fmt;

/// `lcd`: leave copy down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lcd;

impl AdmissionPolicy for Lcd {
    fn admits(&mut self, _candidate: &Candidate<'_>) -> bool {
        true
    }

    fn copy_down(&self) -> CopyDown {
        CopyDown::Leave
    }
}

impl fmt::Display for Lcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("lcd")
    }
}

/// `mcd`: move copy down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mcd;

impl AdmissionPolicy for Mcd {
    fn admits(&mut self, _candidate: &Candidate<'_>) -> bool {
        true
    }

    fn copy_down(&self) -> CopyDown {
        CopyDown::Move
    }
}

impl fmt::Display for Mcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("mcd")
    }
}
