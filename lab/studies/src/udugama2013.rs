//! A. Udugama et al. (2013): TCP's congestion control carried over to named data, reordering-based loss detection, and
//! fair sharing of links hop by hop.
mod axis;
mod beside;
mod burst;
mod calibrate;
mod compound;
mod draw;
mod growth;
mod judge;
mod near;
mod open;
mod runs;
mod scenario;
mod share;
mod single;
mod sockets;
mod switch;

use crate::study::Study;

/// The study.
pub static UDUGAMA2013: Study = Study {
    key: "udugama2013",
    title: "What is gained by detecting losses from reordering, and by sharing links fairly hop by hop?",
    source: "A. Udugama et al., TCP flavours, early loss detection and hop-by-hop fairness for CCN, 2013, OPNET",
    claims: include_str!("udugama2013/claims.toml"),
    serves: include_str!("udugama2013/serves.toml"),
    experiments: scenario::experiments,
    stands_apart: |_| false,
    calibration: Some(calibrate::calibration),
    sockets: Some(sockets::sockets),
    judge: judge::judge,
    again: |_, _| false,
    former: judge::former,
    dependences: judge::dependences,
    figures: draw::figures,
};
