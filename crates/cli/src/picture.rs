//! Pictures of transfers: content over time, or round-trip time and timeout over segments.
use crate::error::{Exit, Failure};
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use std::path::Path;

const INK: RGBColor = RGBColor(0x33, 0x3a, 0x42);
const FAINT: RGBColor = RGBColor(0xe6, 0xe9, 0xec);
const RTT: RGBColor = RGBColor(0x2b, 0x6c, 0xb0);
const RTO: RGBColor = RGBColor(0xd9, 0x6b, 0x0b);
const RECOVERED: RGBColor = RGBColor(0xc0, 0x2d, 0x3e);
/// One colour per run, distinct for colour-blind readers, too.
const RUNS: [RGBColor; 5] = [
    RGBColor(0xc0, 0x2d, 0x3e),
    RGBColor(0x2b, 0x6c, 0xb0),
    RGBColor(0x2c, 0x8c, 0x5a),
    RGBColor(0x8a, 0x5f, 0xb3),
    RGBColor(0x80, 0x80, 0x80),
];
/// Width and height of a picture of one panel.
const SMALL: (u32, u32) = (720, 420);
/// Points of a line, so that the file is small.
const MOST_POINTS: usize = 300;
const WIDTH: u32 = 1100;
const PANEL: u32 = 250;
const HEAD: u32 = 64;

/// One segment of one run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// Number of the segment.
    pub segment: u64,
    /// From the last transmission to the arrival, in milliseconds.
    pub rtt_ms: f64,
    /// From the first transmission to the arrival, in milliseconds.
    pub delay_ms: f64,
    /// Timeout in force at the first transmission, in milliseconds.
    pub rto_ms: f64,
    /// Arrival since the beginning, in seconds.
    pub arrived_s: f64,
    /// How often it was sent.
    pub transmissions: u32,
    /// Bytes of content.
    pub bytes: u32,
}

/// One run: a name and its segments.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Label of the run.
    pub label: String,
    /// Segments in the order of their arrival.
    pub points: Vec<Point>,
}

/// Draws the content of the runs over time into an SVG file.
pub fn draw_arrivals(path: &Path, title: &str, curves: &[Curve]) -> Result<(), Failure> {
    write(path, SMALL, |sheet| arrivals(sheet, title, curves))
}

/// Draws round-trip times and timeouts of the runs, a panel for each, into an SVG file.
pub fn draw_timers(path: &Path, title: &str, curves: &[Curve]) -> Result<(), Failure> {
    let size = (WIDTH, HEAD + PANEL * curves.len() as u32);
    write(path, size, |sheet| all_timers(sheet, title, curves))
}

fn write(
    path: &Path,
    size: (u32, u32),
    paint: impl FnOnce(&Sheet<'_>) -> Drawn,
) -> Result<(), Failure> {
    let mut text = String::new();
    {
        let sheet = SVGBackend::with_string(&mut text, size).into_drawing_area();
        sheet
            .fill(&WHITE)
            .map_err(Into::into)
            .and_then(|()| paint(&sheet))
            .map_err(|error| Failure::new(Exit::Other, format!("cannot draw: {error}")))?;
    }
    std::fs::write(path, text).map_err(|error| Failure::file("write", path.display(), &error))
}

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

fn all_timers(sheet: &Sheet<'_>, title: &str, curves: &[Curve]) -> Drawn {
    let font = ("sans-serif", 19).into_font().color(&INK);
    sheet.draw_text(title, &font, (20, 14))?;
    legend(sheet)?;
    let (_, body) = sheet.split_vertically(HEAD as i32);
    let ceiling = ceiling(curves);
    for (panel, curve) in body.split_evenly((curves.len(), 1)).iter().zip(curves) {
        timers(panel, curve, ceiling)?;
    }
    Ok(())
}

fn legend(sheet: &Sheet<'_>) -> Drawn {
    let font = ("sans-serif", 14).into_font().color(&INK);
    let y = 50;
    sheet.draw(&Circle::new((28, y), 3, RTT.filled()))?;
    sheet.draw_text("round-trip time", &font, (38, y - 6))?;
    sheet.draw(&PathElement::new([(170, y), (196, y)], RTO.stroke_width(2)))?;
    sheet.draw_text("timeout (RTO)", &font, (204, y - 6))?;
    sheet.draw(&TriangleMarker::new((324, y), 5, RECOVERED.filled()))?;
    sheet.draw_text("lost segment: from first request to arrival", &font, (336, y - 6))?;
    Ok(())
}

fn ceiling(curves: &[Curve]) -> f64 {
    let points = curves.iter().flat_map(|curve| &curve.points);
    points.fold(1000.0, |top: f64, point| top.max(point.delay_ms).max(point.rto_ms)) * 1.6
}

fn timers(panel: &Sheet<'_>, curve: &Curve, ceiling: f64) -> Drawn {
    let segments = curve.points.iter().map(|point| point.segment + 1).max().unwrap_or(1);
    let floor = curve.points.iter().fold(10.0, |low: f64, point| low.min(point.rtt_ms.max(0.01)));
    let mut chart = ChartBuilder::on(panel)
        .caption(&curve.label, ("sans-serif", 16).into_font().color(&INK))
        .margin(8)
        .margin_right(24)
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0..segments, (floor..ceiling).log_scale())?;
    axes(&mut chart, "segment", "ms", 0)?;
    let mut in_order = curve.points.clone();
    in_order.sort_by_key(|point| point.segment);
    let once = in_order.iter().filter(|point| point.transmissions == 1);
    chart.draw_series(
        once.map(|point| Circle::new((point.segment, point.rtt_ms), 2, RTT.mix(0.6).filled())),
    )?;
    let steps = in_order.iter().map(|point| (point.segment, point.rto_ms));
    chart.draw_series(LineSeries::new(steps, RTO.stroke_width(2)))?;
    let lost = in_order.iter().filter(|point| point.transmissions > 1);
    chart.draw_series(lost.map(|point| {
        TriangleMarker::new((point.segment, point.delay_ms), 5, RECOVERED.filled())
    }))?;
    Ok(())
}

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
    axes(&mut chart, "seconds", "MB received", 0)?;
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

fn axes<X, Y>(
    chart: &mut ChartContext<'_, SVGBackend<'_>, Cartesian2d<X, Y>>,
    x: &str,
    y: &str,
    y_digits: usize,
) -> Drawn
where
    X: Ranged + ValueFormatter<X::ValueType>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let font = ("sans-serif", 15).into_font().color(&INK);
    chart
        .configure_mesh()
        .x_desc(x)
        .y_desc(y)
        .y_labels(6)
        .y_label_formatter(&|value| format!("{value:.y_digits$}"))
        .axis_style(INK.mix(0.5))
        .bold_line_style(FAINT)
        .light_line_style(WHITE)
        .label_style(font.clone())
        .axis_desc_style(font)
        .draw()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(label: &str, rto_ms: f64) -> Curve {
        let point = |segment: u64| Point {
            segment,
            rtt_ms: 60.0 + (segment % 40) as f64,
            delay_ms: if segment % 50 == 7 { rto_ms + 80.0 } else { 60.0 },
            rto_ms,
            arrived_s: segment as f64 / 150.0,
            transmissions: if segment % 50 == 7 { 2 } else { 1 },
            bytes: 8000,
        };
        Curve { label: label.to_owned(), points: (0..625).map(point).collect() }
    }

    #[test]
    fn a_picture_names_its_curves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("demo.svg");
        let curves = [curve("constant(rto=4s)", 4000.0), curve("jacobson", 220.0)];
        for draw in [draw_arrivals, draw_timers] {
            draw(&path, "5 MB over a lossy link", &curves).unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("<svg") && text.contains("constant(rto=4s)"));
        }
    }

    #[test]
    fn an_empty_run_can_be_drawn() {
        let folder = tempfile::tempdir().unwrap();
        let empty = Curve { label: "nothing".into(), points: Vec::new() };
        draw_arrivals(&folder.path().join("x.svg"), "empty", &[empty]).unwrap();
    }
}
