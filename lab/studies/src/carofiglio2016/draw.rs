//! The paper's figures, drawn from our runs, and those that show what depends on what is open.
use super::axis::{
    ALL_JOINT, ALL_WAYS, BOTH, CONSUMER_TIMERS, ELN, JOINT_TIMERS, MLDR, MOVES, NOTHING, PARTS,
    REPETITIONS, SPEEDS, TIMER, TIMERS, TWO_TIMERS, WAYS, WIRES, WLDR,
};
use super::open::{
    CONSUMER, DELAYED, GRID, MOBILE, OPEN_JOINT, OPEN_TIMERS, OPEN_WAYS, Open, TIMED, TOGETHER,
    WIRELESS,
};
use super::runs::Runs;
use super::{beside, shared};
use crate::figure::{Figure, Series, Style, Words};
use crate::result::Results;
use crate::rule::{mean_of, quotient};

/// Words of the figures.
const WORDS: Words = Words(include_str!("figures.toml"));

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let mut all: Vec<_> = timers(results).into();
    all.extend([parts(results), speeds(results)]);
    all.extend([producer(results), satisfaction(results), consumer(results)]);
    all.extend([joint(results), timeouts(results), joint_timers(results)]);
    all.extend([residual(results), open_wireless(results), open_timer(results)]);
    all.extend([open_mobile(results), open_satisfaction(results), open_consumer(results)]);
    all.push(open_joint(results));
    all.extend(beside::figures(results));
    all.extend(shared::figures(results));
    all.retain(Figure::shows_ours);
    all
}

/// The paper's value beside those of ours with that name.
fn paper(ours: &str, place: usize, value: f64) -> Series {
    Series { points: vec![(place as f64, value)], ..Series::paper_of(ours) }
}

// --- the radio ------------------------------------------------------------------------------------

/// The paper's values beside a line of ours: shares of another line, which is ours, too.
fn shares(ours: &str, of: &Series, share: f64) -> Series {
    let points = of.points.iter().map(|(place, value)| (*place, share * value)).collect();
    Series { points, ..Series::paper_of(ours) }
}

/// One picture for each rate of the wires; the paper has one for both.
fn timers(results: &Results) -> [Figure; 2] {
    let runs = Runs::of(results, "timer");
    let draw = |name, wires: &'static str, ways: &[&str]| {
        let line = |way: &&str| {
            let at = |timer| runs.time(&[("recovery", way), ("timer", timer), ("wires", wires)]);
            Series::means(way, Style::Line, TIMERS.map(at))
        };
        WORDS.figure(name, &[], ways.iter().map(line).collect()).over(TIMERS)
    };
    let [fast, slow] = WIRES;
    [draw("5a", fast, &ALL_WAYS), draw("5a-60", slow, &WAYS)]
}

fn parts(results: &Results) -> Figure {
    let runs = Runs::of(results, "part");
    let bars = |timer: &'static str| {
        let at = |way| runs.time(&[("recovery", way), ("timer", timer)]);
        Series::means(&format!("{timer} ms"), Style::Bars, PARTS.map(at))
    };
    let series = TWO_TIMERS.map(bars).into();
    WORDS.figure("5b", &[], series).over(PARTS)
}

fn speeds(results: &Results) -> Figure {
    let runs = Runs::of(results, "speed");
    let line = |timer: &'static str| {
        let at = |speed| {
            let place = |way| [("recovery", way), ("timer", timer), ("speed", speed)];
            runs.reduction(&place(WLDR), &place(NOTHING))
        };
        Series::means(&format!("{timer} ms"), Style::Line, SPEEDS.map(at))
    };
    let series = TWO_TIMERS.map(line).into();
    WORDS.figure("5c", &[], series).over(SPEEDS)
}

// --- moves ----------------------------------------------------------------------------------------

fn producer(results: &Results) -> Figure {
    let runs = Runs::of(results, "producer");
    let line = |way: &'static str| {
        let at = |speed| runs.time(&[("mobility", way), ("speed", speed)]);
        Series::means(way, Style::Line, SPEEDS.map(at))
    };
    let series = MOVES.map(line).into();
    WORDS.figure("7a", &[], series).over(SPEEDS)
}

fn satisfaction(results: &Results) -> Figure {
    let runs = Runs::of(results, "satisfaction");
    let line = |way: &'static str, times: &'static str| {
        let at = |speed| {
            let place = [("mobility", way), ("repetitions", times), ("speed", speed)];
            let seconds = runs.values(&place, "ist_mean_s");
            seconds.into_iter().map(|(seed, it)| (seed, 1e3 * it)).collect()
        };
        Series::means(&format!("{way}, {times} repetitions"), Style::Line, SPEEDS.map(at))
    };
    let series = REPETITIONS.iter().flat_map(|times| [ELN, MLDR].map(|way| line(way, times)));
    let mut series: Vec<_> = series.collect();
    // E-17: without repetitions MLDR's wait is almost half of ELN's.
    series.push(shares(&series[1].name, &series[0], 0.5));
    WORDS.figure("7b", &[], series).over(SPEEDS)
}

fn consumer(results: &Results) -> Figure {
    let runs = Runs::of(results, "consumer");
    let line = |way: &'static str| {
        let at = |speed| runs.time(&[("mobility", way), ("speed", speed)]);
        let name = if way == MLDR { MLDR.to_owned() } else { format!("{TIMER} of {way} ms") };
        Series::means(&name, Style::Line, SPEEDS.map(at))
    };
    let series = CONSUMER_TIMERS.into_iter().chain([MLDR]).map(line).collect();
    WORDS.figure("7c", &[], series).over(SPEEDS)
}

// --- both -----------------------------------------------------------------------------------------

fn joint(results: &Results) -> Figure {
    let runs = Runs::of(results, "joint");
    let line = |way: &'static str| {
        let at = |speed| {
            runs.reduction(
                &[("network", way), ("speed", speed)],
                &[("network", NOTHING), ("speed", speed)],
            )
        };
        Series::means(way, Style::Line, SPEEDS.map(at))
    };
    let ours = ALL_JOINT.iter().filter(|way| **way != NOTHING).map(|way| line(way));
    // E-24: almost 6 % at 50 km/h.
    let series = ours.chain([paper(BOTH, SPEEDS.len() - 1, 6.0)]).collect();
    WORDS.figure("9a", &[], series).over(SPEEDS)
}

fn timeouts(results: &Results) -> Figure {
    let runs = Runs::of(results, "joint");
    let line = |way: &'static str| {
        let at = |speed| runs.values(&[("network", way), ("speed", speed)], "timeouts");
        Series::means(way, Style::Line, SPEEDS.map(at))
    };
    let mut series: Vec<_> = ALL_JOINT.map(line).into();
    // E-25: both leave less than 70 % of them.
    let papers = series.iter().find(|it| it.name == NOTHING).map(|it| shares(BOTH, it, 0.7));
    series.extend(papers);
    WORDS.figure("9b", &[], series).over(SPEEDS)
}

fn joint_timers(results: &Results) -> Figure {
    let runs = Runs::of(results, "joint-timer");
    let line = |way: &'static str| {
        let at = |timer| {
            runs.reduction(
                &[("network", way), ("timer", timer)],
                &[("network", NOTHING), ("timer", timer)],
            )
        };
        Series::means(way, Style::Line, JOINT_TIMERS.map(at))
    };
    // E-27: more than 20 % with 4 s.
    let papers = paper(BOTH, JOINT_TIMERS.len() - 1, 20.0);
    let series = [WLDR, MLDR, BOTH].map(line).into_iter().chain([papers]).collect();
    WORDS.figure("9c", &[], series).over(JOINT_TIMERS)
}

// --- what is open ---------------------------------------------------------------------------------

/// Gain of WLDR and ELN at each point of the grid, over the residual loss there.
fn residual(results: &Results) -> Figure {
    let grid = || WIRELESS.iter().filter(|it| it.parameter == GRID).map(Open::label);
    let dots = |way: &'static str, timer: &'static str| {
        let mut series = Series::new(&format!("{way}, {timer} ms"), Style::Dots);
        for label in grid() {
            let runs = Runs::open(results, "open-wireless", &label);
            let at = |way| [("recovery", way), ("timer", timer)];
            let lost = mean_of(&runs.residual(&at(NOTHING)));
            let gain = mean_of(&runs.reduction(&at(way), &at(NOTHING)));
            series.points.extend(lost.zip(gain));
        }
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        series
    };
    let series = TWO_TIMERS.iter().flat_map(|timer| [WLDR, ELN].map(|way| dots(way, timer)));
    WORDS.figure("residual", &[], series.collect())
}

fn labels<'a>(all: impl IntoIterator<Item = &'a Open>) -> impl Iterator<Item = &'a str> {
    all.into_iter().map(Open::short)
}

fn open_wireless(results: &Results) -> Figure {
    // The grid has a figure of its own.
    let single = || WIRELESS.iter().filter(|it| it.parameter != GRID || it.is_assumed);
    let dots = |way: &'static str| {
        let at = |open: &Open| {
            let label = open.label();
            let runs = Runs::open(results, "open-wireless", &label);
            runs.time(&[("recovery", way), ("timer", "200")])
        };
        Series::means(way, Style::Dots, single().map(at))
    };
    WORDS.figure("open-wireless", &[], OPEN_WAYS.map(dots).into()).over(labels(single()))
}

fn open_timer(results: &Results) -> Figure {
    let line = |open: &Open| {
        let label = open.label();
        let runs = Runs::open(results, "open-timer", &label);
        let times = OPEN_TIMERS.map(|timer| runs.time(&[("timer", timer)]));
        Series::means(open.short(), Style::Line, times)
    };
    let series = TIMED.iter().map(line).collect();
    WORDS.figure("open-timer", &[], series).over(OPEN_TIMERS)
}

fn open_satisfaction(results: &Results) -> Figure {
    let line = |open: &Open| {
        let label = open.label();
        let runs = Runs::open(results, "open-satisfaction", &label);
        let at = |speed| {
            let time = |way| runs.values(&[("mobility", way), ("speed", speed)], "ist_mean_s");
            quotient(&time(MLDR), &time(ELN))
        };
        Series::means(open.short(), Style::Line, SPEEDS.map(at))
    };
    let series = DELAYED.iter().map(line).collect();
    WORDS.figure("open-satisfaction", &[], series).over(SPEEDS)
}

fn open_mobile(results: &Results) -> Figure {
    let dots = |way: &'static str| {
        let at = |open: &Open| {
            let label = open.label();
            let runs = Runs::open(results, "open-mobile", &label);
            runs.time(&[("mobility", way), ("speed", "50")])
        };
        Series::means(way, Style::Dots, MOBILE.iter().map(at))
    };
    let series = MOVES.map(dots).into();
    WORDS.figure("open-mobile", &[], series).over(labels(MOBILE.iter()))
}

fn open_consumer(results: &Results) -> Figure {
    let dots = |way: &'static str| {
        let at = |open: &Open| {
            let label = open.label();
            let runs = Runs::open(results, "open-consumer", &label);
            runs.time(&[("mobility", way), ("speed", "50")])
        };
        let name = if way == MLDR { MLDR.to_owned() } else { format!("{TIMER} of {way} ms") };
        Series::means(&name, Style::Dots, CONSUMER.iter().map(at))
    };
    let series = CONSUMER_TIMERS.into_iter().chain([MLDR]).map(dots).collect();
    WORDS.figure("open-consumer", &[], series).over(labels(CONSUMER.iter()))
}

fn open_joint(results: &Results) -> Figure {
    let dots = |way: &'static str| {
        let at = |open: &Open| {
            let label = open.label();
            let runs = Runs::open(results, "open-joint", &label);
            let time = |way| runs.time(&[("network", way), ("speed", "50")]);
            quotient(&time(way), &time(NOTHING))
        };
        Series::means(way, Style::Dots, TOGETHER.iter().map(at))
    };
    let series = OPEN_JOINT[1..].iter().map(|way| dots(way)).collect();
    WORDS.figure("open-joint", &[], series).over(labels(TOGETHER.iter()))
}
