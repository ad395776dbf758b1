//! G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova and X. Zeng (2016): losses of the radio and of moves, repaired in the network.
mod axis;
mod beside;
mod calibrate;
mod draw;
mod example;
mod joint;
mod judge;
mod mobile;
mod open;
mod radio;
mod runs;
mod scenario;
mod shared;
mod sockets;
mod wireless;

use crate::study::{Scale, Study};

/// The study.
pub static CAROFIGLIO2016: Study = Study {
    key: "carofiglio2016",
    title: "What is gained if the network repairs what the radio and moves lose, instead of the consumer?",
    source: "G. Carofiglio, L. Muscariello, M. Papalini, N. Rozhnova and X. Zeng, in-network loss detection and recovery in ICN, \
         ACM ICN 2016, ndnSIM",
    claims: include_str!("carofiglio2016/claims.toml"),
    serves: include_str!("carofiglio2016/serves.toml"),
    experiments: scenario::experiments,
    stands_apart: |scale| matches!(scale, Scale::Verdict | Scale::Paper),
    calibration: Some(calibrate::calibration),
    sockets: Some(sockets::sockets),
    judge: judge::judge,
    again: judge::again,
    former: judge::former,
    dependences: judge::dependences,
    figures: draw::figures,
};
