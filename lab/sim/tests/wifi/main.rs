//! Nodes whose links lead over an 802.11 medium. The medium itself is tested in `recoup-wifi`.
mod roam;
mod simulation;
