//! M. Nikzad et al. (2022): how good a retransmission timeout is where caches answer, and Jacobson's estimator with slower
//! gains and a floor near the mean round trip.
mod calibrate;
mod compare;
mod draw;
mod floor;
mod gains;
mod judge;
mod open;
mod runs;
mod scenario;
mod sockets;
mod timer;
mod trend;

use crate::study::{Scale, Study};

/// The study.
pub static NIKZAD2022: Study = Study {
    key: "nikzad2022",
    title: "Which retransmission timeout is right where caches answer some requests and producers others?",
    source: "M. Nikzad, K. Jamshidi, A. Bohlooli, F. M. Faqiry, An accurate retransmission timeout estimator for \
         content-centric networking based on the Jacobson algorithm, Digital Communications and Networks 8(6), 2022, \
         ndnSIM",
    claims: include_str!("nikzad2022/claims.toml"),
    serves: include_str!("nikzad2022/serves.toml"),
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
