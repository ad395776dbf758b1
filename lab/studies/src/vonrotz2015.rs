//! A. von Rotz, C. Anastasiades and T. Braun (2015): Interest lifetimes that adapt, over wireless hops.
mod axis;
mod calibrate;
mod dense;
mod draw;
mod judge;
mod one;
mod open;
mod runs;
mod scenario;
mod setup;
mod sockets;
mod trace;

use crate::study::{Scale, Study};

/// The study.
pub static VONROTZ2015: Study = Study {
    key: "vonrotz2015",
    title: "What is gained by Interest lifetimes that follow the round trip over several wireless hops?",
    source: "A. von Rotz, C. Anastasiades and T. Braun, adaptive Interest lifetimes for wireless multi-hop communication, 2015, \
         CCNx and ns-3 DCE",
    claims: include_str!("vonrotz2015/claims.toml"),
    serves: include_str!("vonrotz2015/serves.toml"),
    experiments: scenario::experiments,
    stands_apart: |scale| scale == Scale::Paper,
    calibration: Some(calibrate::calibration),
    sockets: Some(sockets::sockets),
    judge: judge::judge,
    again: |_, _| false,
    former: judge::former,
    dependences: judge::dependences,
    figures: draw::figures,
};
