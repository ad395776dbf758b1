//! Figures of a sweep: each metric of the table over the axis with the most values, as pictures and on a page.
use crate::error::Failure;
use crate::study::draw;
use recoup_core::unit;
use recoup_lab::report::{Swept, SweptPoint};
use recoup_studies::figure::{Axis, Figure, Series, Style};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The page in the folder of results.
const PAGE: &str = "figures.html";
/// From this ratio of the largest to the smallest value on, an axis is logarithmic.
const DECADES: f64 = 50.0;

/// Follows the colours and the width of the browser. Pictures are black on white.
const STYLE: &str = "\
    :root { color-scheme: light dark } html { background: Canvas; color: CanvasText }\n\
    body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: auto; padding: 0 1rem; overflow-wrap: anywhere }\n\
    svg { max-width: 100%; height: auto }\n\
    @media (prefers-color-scheme: dark) { svg { filter: invert(1) hue-rotate(180deg) } }";

/// Draws the figures of a sweep into the folder of its results. Returns the page; `None` without a sweep.
pub(super) fn write(
    swept: &[Swept],
    title: &str,
    folder: &Path,
) -> Result<Option<PathBuf>, Failure> {
    let all: Vec<_> = swept.iter().filter_map(figure).collect();
    if all.is_empty() {
        return Ok(None);
    }
    let title = escape(title);
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n<h1>{title}</h1>\n"
    );
    for figure in &all {
        let picture = draw(figure)?;
        save(&folder.join(format!("{}.svg", figure.id)), &picture)?;
        let (title, caption) = (escape(&figure.title), &figure.caption);
        let _ = writeln!(text, "<h2>{title}</h2>\n{picture}\n<p>{caption}</p>");
    }
    let page = folder.join(PAGE);
    save(&page, &text)?;
    Ok(Some(page))
}

/// Text that cannot become markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::file("write", path.display(), &error))
}

/// The figure of a metric; `None` if no axis has two values.
fn figure(swept: &Swept) -> Option<Figure> {
    let along = along(&swept.points)?;
    let mut series: Vec<Series> = Vec::new();
    for point in &swept.points {
        let name = name(point, &along.name);
        let place = point.values.iter().find(|(axis, _)| *axis == along.name);
        let Some(x) = place.and_then(|(_, value)| along.places.get(value)) else { continue };
        let found = series.iter().position(|it| it.name == name).unwrap_or_else(|| {
            series.push(Series::new(&name, along.style()));
            series.len() - 1
        });
        series[found].points.push((*x, point.mean));
        series[found].errors.push(point.half_width);
    }
    let y = Axis { label: swept.metric.clone(), unit: swept.unit.clone(), ..Axis::default() };
    let title = format!("{} over {}", swept.metric, along.name);
    let caption = "Means over the seeds of each point, with 95 % confidence intervals.".to_owned();
    Some(Figure { id: swept.metric.clone(), title, caption, x: along.axis(), y, series })
}

/// The values of the other axes. A number needs the last part of its axis to be understood, a name does not.
fn name(point: &SweptPoint, along: &str) -> String {
    let others = point.values.iter().filter(|(axis, _)| axis != along);
    let named = others.map(|(axis, value)| match (number(value), axis.rsplit('.').next()) {
        (Some(_), Some(last)) => format!("{last}={value}"),
        _ => value.clone(),
    });
    let named: Vec<_> = named.collect();
    if named.is_empty() { "mean".to_owned() } else { named.join(", ") }
}

/// The horizontal axis.
struct Along {
    name: String,
    unit: String,
    /// The values in the order of the sweep, as text.
    values: Vec<String>,
    /// Where each value stands.
    places: BTreeMap<String, f64>,
    is_quantity: bool,
}

impl Along {
    fn style(&self) -> Style {
        if self.is_quantity { Style::Line } else { Style::Dots }
    }

    fn axis(&self) -> Axis {
        let places = || self.places.values().copied();
        let (low, high) = (places().fold(f64::INFINITY, f64::min), places().fold(0.0, f64::max));
        Axis {
            label: self.name.clone(),
            unit: self.unit.clone(),
            logarithmic: self.is_quantity && low > 0.0 && high / low >= DECADES,
            categories: if self.is_quantity { Vec::new() } else { self.values.clone() },
        }
    }
}

/// The axis with the most values; of several, one of quantities.
fn along(points: &[SweptPoint]) -> Option<Along> {
    let axes = points.first()?.values.iter().map(|(axis, _)| axis);
    let axes = axes.map(|axis| {
        let mut values: Vec<String> = Vec::new();
        for (_, value) in points.iter().flat_map(|it| &it.values).filter(|(name, _)| name == axis) {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
        let quantities = quantities(&values);
        let is_quantity = quantities.is_some();
        let (unit, numbers) = quantities
            .unwrap_or_else(|| (String::new(), (0..values.len()).map(|it| it as f64).collect()));
        let places = values.iter().cloned().zip(numbers).collect();
        Along { name: axis.clone(), unit, values, places, is_quantity }
    });
    // The first of equals is taken: the outermost axis.
    let mut best: Option<Along> = None;
    for axis in axes.filter(|axis| axis.values.len() > 1) {
        let rank = |it: &Along| (it.is_quantity, it.values.len());
        if best.as_ref().is_none_or(|best| rank(&axis) > rank(best)) {
            best = Some(axis);
        }
    }
    best
}

/// The values as numbers with one unit; `None` if one of them is no quantity, or their units differ in kind.
fn quantities(values: &[String]) -> Option<(String, Vec<f64>)> {
    let parts: Option<Vec<(f64, &str)>> = values.iter().map(|value| number(value)).collect();
    if let Some(parts) = parts
        && let Some((_, unit)) = parts.first()
        && parts.iter().all(|(_, other)| other == unit)
    {
        return Some(((*unit).to_owned(), parts.iter().map(|(number, _)| *number).collect()));
    }
    let seconds = |value: &String| Some(unit::duration(value).ok()?.as_secs_f64());
    Some(("s".to_owned(), values.iter().map(seconds).collect::<Option<_>>()?))
}

/// A number and the unit behind it.
fn number(text: &str) -> Option<(f64, &str)> {
    let is_digit = |letter: char| letter.is_ascii_digit() || "+-.e".contains(letter);
    let end = text.find(|letter| !is_digit(letter)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swept(points: &[(&[(&str, &str)], f64)]) -> Swept {
        let points = points.iter().map(|(values, mean)| SweptPoint {
            values: values.iter().map(|(axis, value)| ((*axis).into(), (*value).into())).collect(),
            mean: *mean,
            half_width: 0.5,
        });
        Swept { metric: "c1.time_s".into(), unit: "s".into(), points: points.collect() }
    }

    #[test]
    fn quantity_is_the_horizontal_axis() {
        let one = swept(&[
            (&[("w", "aimd"), ("d", "5 ms")], 1.0),
            (&[("w", "aimd"), ("d", "50 ms")], 2.0),
            (&[("w", "cubic"), ("d", "5 ms")], 3.0),
            (&[("w", "cubic"), ("d", "50 ms")], 4.0),
            (&[("w", "raaqm"), ("d", "50 ms")], 5.0),
        ]);
        let figure = figure(&one).unwrap();
        assert_eq!((figure.x.label.as_str(), figure.x.unit.as_str()), ("d", "ms"));
        let lines: Vec<_> =
            figure.series.iter().map(|it| (it.name.as_str(), it.points.clone())).collect();
        assert_eq!(
            lines,
            [
                ("aimd", vec![(5.0, 1.0), (50.0, 2.0)]),
                ("cubic", vec![(5.0, 3.0), (50.0, 4.0)]),
                ("raaqm", vec![(50.0, 5.0)]),
            ]
        );
        assert_eq!(figure.series[0].errors, [0.5, 0.5]);
    }

    #[test]
    fn numbers_of_a_series_have_their_axis() {
        let values: &[(&str, &str)] =
            &[("link.loss", "1 %"), ("fetch.rto", "rfc6298"), ("d", "5 ms")];
        let point = swept(&[(values, 1.0)]).points.remove(0);
        assert_eq!(name(&point, "d"), "loss=1 %, rfc6298");
    }

    #[test]
    fn names_are_categories() {
        let one = swept(&[(&[("w", "aimd")], 1.0), (&[("w", "cubic")], 2.0)]);
        let figure = figure(&one).unwrap();
        assert_eq!(figure.x.categories, ["aimd", "cubic"]);
        assert_eq!(figure.series[0].points, [(0.0, 1.0), (1.0, 2.0)]);
        assert!(super::figure(&swept(&[(&[("w", "aimd")], 1.0)])).is_none());
    }

    #[test]
    fn quantities_may_have_several_units_of_time() {
        let all = |values: &[&str]| {
            quantities(&values.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(all(&["0.01", "0.02"]), Some((String::new(), vec![0.01, 0.02])));
        assert_eq!(all(&["1 %", "2 %"]), Some(("%".into(), vec![1.0, 2.0])));
        assert_eq!(all(&["500 ms", "2 s"]), Some(("s".into(), vec![0.5, 2.0])));
        assert_eq!(all(&["1 Mbit/s", "5 ms"]), None);
        assert_eq!(all(&["aimd", "5"]), None);
    }

    #[test]
    fn wide_ranges_are_logarithmic() {
        let points: Vec<_> = ["1", "10", "100"].iter().map(|it| vec![("p", *it)]).collect();
        let points: Vec<_> = points.iter().map(|it| (it.as_slice(), 1.0)).collect();
        assert!(figure(&swept(&points)).unwrap().x.logarithmic);
        assert!(!figure(&swept(&points[..2])).unwrap().x.logarithmic);
    }
}
