//! Pictures of transfers: content over time.
use crate::error::{Exit, Failure};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

const INK: RGBColor = RGBColor(0x33, 0x3a, 0x42);
const FAINT: RGBColor = RGBColor(0xe6, 0xe9, 0xec);
/// One colour per run, distinct for colour-blind readers, too.
const RUNS: [RGBColor; 5] = [
    RGBColor(0xc0, 0x2d, 0x3e),
    RGBColor(0x2b, 0x6c, 0xb0),
    RGBColor(0x2c, 0x8c, 0x5a),
    RGBColor(0x8a, 0x5f, 0xb3),
    RGBColor(0x80, 0x80, 0x80),
];
/// Width and height of a picture.
const SIZE: (u32, u32) = (720, 420);
/// Points of a line, so that the file is small.
const MOST_POINTS: usize = 300;

/// One segment of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Point {
    /// From the first transmission to the arrival, in milliseconds.
    pub delay_ms: f64,
    /// Arrival since the beginning, in seconds.
    pub arrived_s: f64,
    /// How often it was sent.
    pub transmissions: u32,
    /// Bytes of content.
    pub bytes: u32,
}

/// One run: a name and its segments.
#[derive(Clone, Debug)]
pub(crate) struct Curve {
    /// Label of the run.
    pub label: String,
    /// Segments in the order of their arrival.
    pub points: Vec<Point>,
}

/// Draws the content of the runs over time into an SVG file.
pub(crate) fn draw_arrivals(path: &Path, title: &str, curves: &[Curve]) -> Result<(), Failure> {
    let mut text = String::new();
    {
        let sheet = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        sheet
            .fill(&WHITE)
            .map_err(Into::into)
            .and_then(|()| arrivals(&sheet, title, curves))
            .map_err(|error| Failure::new(Exit::Other, format!("cannot draw: {error}")))?;
    }
    std::fs::write(path, text).map_err(|error| Failure::file("write", path.display(), &error))
}

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn arrivals(sheet: &Sheet<'_>, title: &str, curves: &[Curve]) -> Drawn {
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let end = points().fold(0.1, |end: f64, point| end.max(point.arrived_s));
    let bytes = |curve: &Curve| curve.points.iter().map(|point| f64::from(point.bytes)).sum();
    let most = curves.iter().map(bytes).fold(1.0, f64::max) / 1e6;
    let mut chart = ChartBuilder::on(sheet)
        .caption(title, ("sans-serif", 20).into_font().color(&INK))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..end * 1.02, 0.0..most * 1.05)?;
    let font = ("sans-serif", 15).into_font().color(&INK);
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("MB received")
        .y_labels(6)
        .y_label_formatter(&|value| format!("{value:.0}"))
        .axis_style(INK.mix(0.5))
        .bold_line_style(FAINT)
        .light_line_style(WHITE)
        .label_style(font.clone())
        .axis_desc_style(font)
        .draw()?;
    for (curve, colour) in curves.iter().zip(RUNS.iter().cycle()) {
        let mut sum = 0.0;
        let every = curve.points.len().div_ceil(MOST_POINTS).max(1);
        let growth = curve.points.iter().enumerate().filter_map(|(place, point)| {
            sum += f64::from(point.bytes) / 1e6;
            let is_drawn = place % every == 0 || place + 1 == curve.points.len();
            is_drawn.then_some((point.arrived_s, sum))
        });
        chart
            .draw_series(LineSeries::new(growth, colour.stroke_width(3)))?
            .label(&curve.label)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.9))
        .border_style(FAINT)
        .label_font(("sans-serif", 18).into_font().color(&INK))
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_names_its_curves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("demo.svg");
        let point = |segment: u32| Point {
            arrived_s: f64::from(segment) / 150.0,
            bytes: 8000,
            ..Point::default()
        };
        let curve =
            |label: &str| Curve { label: label.into(), points: (0..625).map(point).collect() };
        let curves = [curve("constant(rto=4s)"), curve("jacobson")];
        draw_arrivals(&path, "5 MB over a lossy link", &curves).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("<svg") && text.contains("constant(rto=4s)"));
    }

    #[test]
    fn an_empty_run_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let empty = Curve { label: "nothing".into(), points: Vec::new() };
        draw_arrivals(&folder.path().join("x.svg"), "empty", &[empty]).unwrap();
    }
}
