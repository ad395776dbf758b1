//! The default transport on each paper's networks, beside the paper's own transports.
//!
//! Each network has one figure. Its caption names the situations in which situations the default is best, tied or slower, and why.
//!
//! An experiment named `default-…` sweeps the paper's variants and `default`. All of them meet the same seeds, so that
//! completion times are compared as paired differences.
use crate::figure::{Axis, Figure, Series, Style};
use crate::rule::{LEVEL, estimate, text};
use recoup_sim::statistic::{Estimate, Seeded, mean, paired};
use recoup_transport::fetch::FetchOptions;
use recoup_transport::unit::print_duration;
use std::cmp::Ordering;

/// The value of an axis of transports for the transport of `recoup fetch`.
pub(crate) const DEFAULT: &str = "default";

/// The fields of that value: the transport, `rto-check` and the Interest lifetime as `recoup fetch` has them.
pub(crate) fn fields() -> String {
    let options = FetchOptions::default();
    let FetchOptions { congestion, loss, rto, sampling, .. } = &options;
    let (check, lifetime) = (print_duration(options.rto_check), print_duration(options.lifetime));
    format!(
        "\"fetch.congestion\" = \"{congestion}\"\n\"fetch.loss\" = \"{loss}\"\n\"fetch.rto\" = \"{rto}\"\n\
         \"fetch.sampling\" = \"{sampling}\"\n\"fetch.rto-check\" = \"{check}\"\n\"fetch.lifetime\" = \"{lifetime}\"\n"
    )
}

/// A network with the default beside a paper's transports.
#[derive(Debug)]
pub(crate) struct Beside {
    /// The experiment, and the figure that it serves.
    pub id: &'static str,
    /// The network, as a title names it.
    pub network: &'static str,
    /// The paper's transports.
    pub transports: Vec<String>,
    /// The varied situation: name of the axis, and its values.
    pub situations: (&'static str, Vec<&'static str>),
    /// Why the default is not the best where it is not.
    pub why: &'static str,
}

/// The default compared with the best of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Best,
    Tied,
    Slower,
}

impl Beside {
    /// Draws completion times, which `time` gives for a transport in a situation.
    pub(crate) fn figure(&self, time: impl Fn(&str, &str) -> Vec<Seeded>) -> Figure {
        let (name, situations) = &self.situations;
        let all = self.transports.iter().map(String::as_str).chain([DEFAULT]);
        let bars = |transport: &str| {
            let times = situations.iter().map(|situation| time(transport, situation));
            Series::means(transport, Style::Bars, times)
        };
        let texts: Vec<_> = situations.iter().filter_map(|it| self.compared(it, &time)).collect();
        let slower = texts.iter().any(|(standing, _)| *standing == Standing::Slower);
        let texts: Vec<_> = texts.into_iter().map(|(_, texts)| texts).collect();
        Figure {
            id: self.id.into(),
            title: format!("The default beside the paper's transports: {}", self.network),
            caption: format!(
                "Completion times of the default transport of `recoup fetch` and of the paper's; means over seeds with \
                 95 % confidence intervals. {}.{}{}",
                texts.join("; "),
                if slower { " " } else { "" },
                if slower { self.why } else { "" }
            ),
            x: Axis::places(name, situations),
            y: Axis::quantity("time", "s"),
            series: all.map(bars).collect(),
        }
    }

    /// The default in a situation beside the transport that takes the least time of the others.
    fn compared(
        &self,
        situation: &str,
        time: &impl Fn(&str, &str) -> Vec<Seeded>,
    ) -> Option<(Standing, String)> {
        let ours = time(DEFAULT, situation);
        let means = self.transports.iter().filter_map(|transport| {
            let values: Vec<f64> = time(transport, situation).iter().map(|it| it.1).collect();
            Some((transport, mean(&values)?))
        });
        let (best, _) = means.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let difference = paired(&time(best, situation), &ours, LEVEL)?;
        let (standing, word) = match difference.compare(0.0) {
            Some(Ordering::Greater) => (Standing::Best, "best"),
            None | Some(Ordering::Equal) => (Standing::Tied, "tied"),
            Some(Ordering::Less) => (Standing::Slower, "not the best"),
        };
        let sign = if difference.mean < 0.0 { "less" } else { "more" };
        let distance = Estimate { mean: difference.mean.abs(), ..difference };
        let (ours, distance) = (text(&estimate(&ours)?, "s"), text(&distance, "s"));
        let texts = format!("{situation}: **{word}**, {ours}; {best} takes {distance} {sign}");
        Some((standing, texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside() -> Beside {
        Beside {
            id: "default-x",
            network: "a line",
            transports: vec!["#1".into(), "#2".into()],
            situations: ("loss", vec!["1 %"]),
            why: "Because.",
        }
    }

    /// The caption if the default takes `default` s, and the others 10 s and 12 s, give or take up to 0.2 s.
    fn caption(default: f64) -> String {
        let times = |transport: &str, _: &str| {
            let level = match transport {
                "#1" => 10.0,
                "#2" => 12.0,
                _ => default,
            };
            let noise = |seed: u64| ((seed * transport.len() as u64) % 5) as f64 / 20.0;
            (1..=20).map(|seed| (seed, level + noise(seed))).collect()
        };
        beside().figure(times).caption
    }

    #[test]
    fn caption_names_the_best_of_the_others() {
        assert!(caption(9.0).contains("**best**"), "{}", caption(9.0));
        assert!(caption(9.0).contains("#1 takes 1.0") && !caption(9.0).contains("Because."));
        assert!(caption(10.0).contains("**tied**"), "{}", caption(10.0));
    }

    #[test]
    fn slower_default_is_explained() {
        assert!(caption(11.0).contains("**not the best**") && caption(11.0).contains("Because."));
        assert!(caption(11.0).contains("#1 takes 1.0") && caption(11.0).contains(" less"));
    }

    #[test]
    fn figure_has_a_series_for_each_transport() {
        let names: Vec<_> =
            beside().figure(|_, _| vec![(1, 1.0)]).series.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["#1", "#2", DEFAULT]);
    }
}
