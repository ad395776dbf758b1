//! S. Yang (2016): a consumer that adapts its window conservatively, as TCP SACK does, and samples one
//! round trip at a time.
mod draw;
mod judge;
mod scenario;
mod sockets;

use crate::study::Study;

pub use scenario::{DUMBBELL_CONF, LINEAR_CONF};

/// The four designs, by the names that sweeps, tables and figures give them.
pub const DESIGNS: [&str; 4] = ["#0", "#1", "#2", "#3"];

/// The study.
pub static YANG2016: Study = Study {
    key: "yang2016",
    title: "What does a consumer gain from one reaction to loss and one round-trip sample per round trip?",
    source: "S. Yang, congestion control and loss recovery for an NDN consumer (chunks), 2016, Mini-NDN",
    claims: include_str!("yang2016/claims.toml"),
    serves: include_str!("yang2016/serves.toml"),
    experiments: scenario::experiments,
    stands_apart: |_| false,
    calibration: None,
    sockets: Some(sockets::sockets),
    judge: judge::judge,
    again: |_, _| false,
    former: |_, _| None,
    dependences: judge::dependences,
    figures: draw::figures,
};
