//! Lessons about loss detectors, windows and schedulers.
use super::runs::Runs;
use super::share;
use super::single::time;
use crate::lesson::{About, Choice, Lesson, Part, Situation, TIME};
use crate::result::Results;

const VERSIONS: [Choice; 4] = [
    Choice { name: "Simple1", spec: "--loss timeout" },
    Choice { name: "Simple2", spec: "--loss simple2" },
    Choice { name: "Simple3", spec: "--loss simple3" },
    Choice { name: "Smart", spec: "--loss smart" },
];

const FLAVOURS: [Choice; 3] = [
    Choice { name: "NewReno", spec: "--congestion 'udugama2013(flavour=newreno)'" },
    Choice { name: "Compound", spec: "--congestion 'udugama2013(flavour=compound)'" },
    Choice { name: "Cubic", spec: "--congestion 'udugama2013(flavour=cubic)'" },
];

const FAIRNESS: [Choice; 3] = [
    Choice { name: "off", spec: "scheduler = \"none\"" },
    Choice { name: "max-min", spec: "scheduler = \"max-min(share=flow)\"" },
    Choice { name: "drr", spec: "scheduler = \"drr(share=flow)\"" },
];

pub(super) fn lessons(results: &Results) -> Vec<Lesson> {
    let found = [detector(results), window(results), sources(results), scheduler(results)];
    found.into_iter().flatten().collect()
}

fn detector(results: &Results) -> Option<Lesson> {
    let about = About {
        situation: Situation::RandomLoss,
        part: Part::LossDetector,
        runs: "20 MB over 10 Mbit/s and 150 ms, 0.5 % of Data lost one at a time; Cubic that falls to 1 at a timeout and \
               counts as TCP does",
        figure: "time",
        claims: &["D-07", "D-08"],
    };
    let runs = Runs::of(results, "single");
    about.lesson(TIME, VERSIONS.map(|it| (it, time(&runs, "Cubic", it.name, "0.5 %"))))
}

fn window(results: &Results) -> Option<Lesson> {
    let about = About {
        situation: Situation::RandomLoss,
        part: Part::Window,
        runs: "the same, each window with Smart; what Compound gains depends on how the paper is read (D-09 to D-12)",
        figure: "time",
        claims: &["D-04", "D-05", "D-06", "D-07"],
    };
    let runs = Runs::of(results, "single");
    about.lesson(TIME, FLAVOURS.map(|it| (it, time(&runs, it.name, "Smart", "0.5 %"))))
}

fn sources(results: &Results) -> Option<Lesson> {
    let about = About {
        situation: Situation::Sources,
        part: Part::LossDetector,
        runs: "20 MB from two servers of different distance, which are asked in turn; nothing is lost; Cubic",
        figure: "sources",
        claims: &["D-19", "D-20"],
    };
    let runs = Runs::of(results, "sources");
    let values =
        |it: &Choice| runs.values(&[("flavour", "Cubic"), ("version", it.name)], "c1.time_s");
    about.lesson(TIME, VERSIONS.map(|it| (it, values(&it))))
}

fn scheduler(results: &Results) -> Option<Lesson> {
    let about = About {
        situation: Situation::Sharing,
        part: Part::Scheduler,
        runs: "two clients want the same 20 MB beside other traffic of 80 % on each link; time of the one that finds \
               nothing near",
        figure: "fairness",
        claims: &["D-26", "D-29"],
    };
    let runs = Runs::of(results, "fairness");
    about.lesson(TIME, FAIRNESS.map(|it| (it, share::of(&runs, "c1", (it.name, "80 %"), "time_s"))))
}
