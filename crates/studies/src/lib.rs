//! Five papers and an arena. Each paper stands in a room of its own: what it claims, the experiments that put the claims to the
//! test, how the results are judged and what its figures look like when they are drawn from them.
//!
//! A room holds data and decisions only: scenarios as text, claims as text, judgement as functions of
//! results. Whoever runs the experiments and draws the pages (the command line) asks for these.
pub mod arena;
mod beside;
pub mod carofiglio2016;
pub mod claim;
pub mod compare;
pub mod contest;
pub mod figure;
pub mod gather;
pub mod lesson;
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
