//! Five papers and an arena. Each paper has a module: its claims, the experiments that test them, the judgement of the
//! results, and the figures drawn from them.
//!
//! A module holds data and decisions only: scenarios as text, claims as text, judgement as functions of results. The
//! command line runs the experiments and draws the pages.
pub mod arena;
mod beside;
pub mod calibration;
pub mod carofiglio2016;
pub mod claim;
pub mod compare;
pub mod contest;
pub mod figure;
pub mod gather;
pub mod kept;
pub mod nikzad2022;
pub mod result;
pub mod rule;
pub mod study;
mod sweep;
pub mod udugama2013;
pub mod vonrotz2015;
pub mod yang2016;

use study::Study;

/// All studies, in the order of their papers.
pub fn all() -> [&'static Study; 5] {
    [
        &udugama2013::UDUGAMA2013,
        &vonrotz2015::VONROTZ2015,
        &yang2016::YANG2016,
        &carofiglio2016::CAROFIGLIO2016,
        &nikzad2022::NIKZAD2022,
    ]
}
