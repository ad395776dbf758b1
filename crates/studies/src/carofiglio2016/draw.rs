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
use crate::figure::{Axis, Figure, Series, Style};
use crate::result::Results;
use crate::rule::{mean_of, quotient};

const MEANS: &str = "Means over seeds with 95 % confidence intervals.";

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

fn figure(id: &str, title: &str, caption: &str, x: Axis, y: Axis, series: Vec<Series>) -> Figure {
    let caption = format!("{caption} {MEANS}");
    Figure { id: id.into(), title: title.into(), caption, x, y, series }
}

/// The paper's value beside those of ours with that name.
fn paper(ours: &str, place: usize, value: f64) -> Series {
    Series { points: vec![(place as f64, value)], ..Series::paper_of(ours) }
}

fn flow_time() -> Axis {
    Axis::quantity("flow time", "s")
}

fn reduction() -> Axis {
    Axis::quantity("reduction of the flow time", "%")
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
    let draw = |id, title, wires: &'static str, ways: &[&str], caption| {
        let line = |way: &&str| {
            let at = |timer| runs.time(&[("recovery", way), ("timer", timer), ("wires", wires)]);
            Series::means(way, Style::Line, TIMERS.map(at))
        };
        let x = Axis { unit: "ms".into(), ..Axis::places("timer and lifetime", TIMERS) };
        figure(id, title, caption, x, flow_time(), ways.iter().map(line).collect())
    };
    let [fast, slow] = WIRES;
    [
        draw(
            "5a",
            "Flow time over the timer",
            fast,
            &ALL_WAYS,
            "Figure 5a. Both ends at 10 km/h; wires of 300 Mbit/s, so the radio is the bottleneck.",
        ),
        draw(
            "5a-60",
            "Flow time over the timer, slow wires",
            slow,
            &WAYS,
            "Figure 5a with wires of 60 Mbit/s.",
        ),
    ]
}

fn parts(results: &Results) -> Figure {
    let runs = Runs::of(results, "part");
    let bars = |timer: &'static str| {
        let at = |way| runs.time(&[("recovery", way), ("timer", timer)]);
        Series::means(&format!("{timer} ms"), Style::Bars, PARTS.map(at))
    };
    let caption = "Figure 5b. What is recovered, and where. Both ends at 10 km/h.";
    let series = TWO_TIMERS.map(bars).into();
    figure("5b", "Parts of WLDR", caption, Axis::places("recovered", PARTS), flow_time(), series)
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
    let caption = "Figure 5c. WLDR against nothing. The paper has 7.22 to 12 % with 60 ms and 13 to 18 % with 200 ms, \
                   without the speed of each.";
    let series = TWO_TIMERS.map(line).into();
    figure("5c", "What WLDR gains", caption, by_speed(), reduction(), series)
}

fn by_speed() -> Axis {
    Axis { unit: "km/h".into(), ..Axis::places("speed", SPEEDS) }
}

// --- moves ----------------------------------------------------------------------------------------

fn producer(results: &Results) -> Figure {
    let runs = Runs::of(results, "producer");
    let line = |way: &'static str| {
        let at = |speed| runs.time(&[("mobility", way), ("speed", speed)]);
        Series::means(way, Style::Line, SPEEDS.map(at))
    };
    let caption = "Figure 7a. The producer passes by six access points; timers of 500 ms.";
    let series = MOVES.map(line).into();
    figure("7a", "Flow time with a producer that moves", caption, by_speed(), flow_time(), series)
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
    let caption = "Figure 7b. Interest to Data, of segments that a move delayed; links above of 70 ms. Crosses: half of \
                   ELN's.";
    let y = Axis::quantity("satisfaction time", "ms");
    figure("7b", "Interest satisfaction time", caption, by_speed(), y, series)
}

fn consumer(results: &Results) -> Figure {
    let runs = Runs::of(results, "consumer");
    let line = |way: &'static str| {
        let at = |speed| runs.time(&[("mobility", way), ("speed", speed)]);
        let name = if way == MLDR { MLDR.to_owned() } else { format!("{TIMER} of {way} ms") };
        Series::means(&name, Style::Line, SPEEDS.map(at))
    };
    let series = CONSUMER_TIMERS.into_iter().chain([MLDR]).map(line).collect();
    let caption = "Figure 7c. The consumer passes by six access points.";
    figure("7c", "Flow time with a consumer that moves", caption, by_speed(), flow_time(), series)
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
    let caption =
        "Figure 9a. Ten mobiles among 36 access points; timers of 500 ms, against nothing.";
    figure("9a", "What both gain", caption, by_speed(), reduction(), series)
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
    let caption =
        "Figure 9b. Timeouts of all five consumers. Crosses: 70 % of those with the timer alone.";
    let y = Axis::quantity("timeouts", "");
    figure("9b", "Timeouts at consumers", caption, by_speed(), y, series)
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
    let x = Axis { unit: "ms".into(), ..Axis::places("timer and lifetime", JOINT_TIMERS) };
    // E-27: more than 20 % with 4 s.
    let papers = paper(BOTH, JOINT_TIMERS.len() - 1, 20.0);
    let series = [WLDR, MLDR, BOTH].map(line).into_iter().chain([papers]).collect();
    let caption = "Figure 9c. At 20 km/h, against nothing with the same timer.";
    figure("9c", "What both gain over the timer", caption, x, reduction(), series)
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
    Figure {
        id: "residual".into(),
        title: "What is gained over what the radio loses".into(),
        caption:
            "Means; one point for each radio, fading and limit of tries. Both ends at 10 km/h."
                .into(),
        x: Axis::quantity("residual loss", "%"),
        y: reduction(),
        series: series.collect(),
    }
}

fn labels<'a>(all: impl IntoIterator<Item = &'a Open>) -> Axis {
    Axis::places("different", all.into_iter().map(Open::short))
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
    let caption = "The wireless network with a timer of 200 ms.";
    let (x, series) = (labels(single()), OPEN_WAYS.map(dots).into());
    figure("open-wireless", "What is open about the radio", caption, x, flow_time(), series)
}

fn open_timer(results: &Results) -> Figure {
    let line = |open: &Open| {
        let label = open.label();
        let runs = Runs::open(results, "open-timer", &label);
        let times = OPEN_TIMERS.map(|timer| runs.time(&[("timer", timer)]));
        Series::means(open.short(), Style::Line, times)
    };
    let caption = "The wireless network with wires of 300 Mbit/s, without recovery.";
    let x = Axis { unit: "ms".into(), ..Axis::places("timer and lifetime", OPEN_TIMERS) };
    let series = TIMED.iter().map(line).collect();
    figure("open-timer", "What is open about timers", caption, x, flow_time(), series)
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
    let caption = "MLDR without repetitions, over ELN; links above of 70 ms.";
    let y = Axis::quantity("satisfaction time over that of ELN", "");
    let series = DELAYED.iter().map(line).collect();
    figure(
        "open-satisfaction",
        "What is open about delays by moves",
        caption,
        by_speed(),
        y,
        series,
    )
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
    let caption = "The mobile network at 50 km/h.";
    let series = MOVES.map(dots).into();
    figure(
        "open-mobile",
        "What is open about moves",
        caption,
        labels(MOBILE.iter()),
        flow_time(),
        series,
    )
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
    let caption = "The mobile network with a consumer that moves, at 50 km/h.";
    let series = CONSUMER_TIMERS.into_iter().chain([MLDR]).map(dots).collect();
    let x = labels(CONSUMER.iter());
    figure(
        "open-consumer",
        "What is open about consumers that move",
        caption,
        x,
        flow_time(),
        series,
    )
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
    let caption = "The joint network at 50 km/h, times over those of nothing.";
    let y = Axis::quantity("flow time over that of nothing", "");
    let series = OPEN_JOINT[1..].iter().map(|way| dots(way)).collect();
    figure("open-joint", "What is open about both", caption, labels(TOGETHER.iter()), y, series)
}
