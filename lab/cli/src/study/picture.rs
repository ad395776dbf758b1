//! A study's figure as an SVG picture.
use super::scale::{Scale, outward};
use crate::error::{Exit, Failure};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use recoup_studies::figure::{Axis, BARS, Figure, Series, Style};
use std::fs;
use std::path::Path;

const INK: RGBColor = RGBColor(0x33, 0x3a, 0x42);
const FAINT: RGBColor = RGBColor(0xe6, 0xe9, 0xec);
/// The paper's own values.
const PAPER: RGBColor = RGBColor(0xc0, 0x2d, 0x3e);
/// One colour per series of ours, the same as on the page.
const OURS: [RGBColor; 8] = [
    RGBColor(0x2b, 0x6c, 0xb0),
    RGBColor(0xd9, 0x6b, 0x0b),
    RGBColor(0x2c, 0x8c, 0x5a),
    RGBColor(0x8a, 0x5f, 0xb3),
    RGBColor(0x80, 0x80, 0x80),
    RGBColor(0x3f, 0xa7, 0xd6),
    RGBColor(0xb8, 0x8a, 0x00),
    RGBColor(0xc2, 0x5b, 0x9a),
];
const SIZE: (u32, u32) = (1000, 480);
/// More points than that on a line are not marked one by one, and where there are more dots they are small.
const MARKED: usize = 60;
/// Names of so many series fit into the plot, above named places; others stand beside it.
const NAMES_INSIDE: usize = 3;
/// Width of a character of a name, in pixels: that of a wide font, since the reader's is unknown.
const LETTER: u32 = 8;
/// Room below the plot for numbers, or names that lie, and for what the axis measures.
const BELOW: u32 = 48;
/// Height of a row of names.
const ROW: i32 = 22;
/// Width of the mark in front of a name.
const MARK: i32 = 26;
/// How much of the room of a name its dots take.
const DOTS: f64 = 0.4;

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// The text of the picture.
///
/// # Errors
/// If it cannot be drawn.
pub(crate) fn draw(figure: &Figure) -> Result<String, Failure> {
    let mut text = String::new();
    {
        let size = (SIZE.0, SIZE.1 + room_below(figure) - BELOW);
        let sheet = SVGBackend::with_string(&mut text, size).into_drawing_area();
        paint(&sheet, figure).map_err(|error| {
            Failure::new(Exit::Other, format!("cannot draw {}: {error}", figure.id))
        })?;
    }
    Ok(text)
}

/// Writes each figure as an SVG picture into a folder that is there.
pub(super) fn write_all(figures: &[Figure], folder: &Path) -> Result<(), Failure> {
    for figure in figures {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if !figure.id.chars().all(plain) {
            let message = format!("`{}` is no name for a picture", figure.id);
            return Err(Failure::new(Exit::Other, message));
        }
        let path = folder.join(format!("{}.svg", figure.id));
        fs::write(&path, draw(figure)?)
            .map_err(|error| Failure::file("write", path.display(), &error))?;
    }
    Ok(())
}

fn paint(sheet: &Sheet<'_>, figure: &Figure) -> Drawn {
    sheet.fill(&WHITE)?;
    let beside = room_beside(figure);
    let (plot, margin) = sheet.split_horizontally((SIZE.0 - beside) as i32);
    let (x, y) = (along(figure), up(figure));
    let mut chart = ChartBuilder::on(&plot)
        .caption(&figure.title, ("sans-serif", 20).into_font().color(&INK))
        .margin(10)
        .margin_right(if beside > 0 { 10 } else { 24 })
        .x_label_area_size(room_below(figure))
        .y_label_area_size(68)
        .build_cartesian_2d(
            Scale::new(x, figure.x.logarithmic),
            Scale::new(y, figure.y.logarithmic),
        )?;
    mesh(&mut chart, figure)?;
    names_below(&plot, &chart, figure)?;
    let colours = colours(figure);
    for (place, colour) in colours.iter().enumerate() {
        let brush = Brush { figure, colour: *colour, aside: aside(figure, place) };
        brush.series(&mut chart, &figure.series[place])?;
    }
    match beside {
        0 => names_inside(&plot, figure, &colours),
        _ => names(&margin, (8, 60), figure, &colours),
    }
}

fn colours(figure: &Figure) -> Vec<RGBColor> {
    let mut ours = OURS.iter().cycle();
    let colour = |series: &Series| match series.style {
        Style::Paper => PAPER,
        Style::Reference => INK,
        _ => *ours.next().unwrap_or(&INK),
    };
    let mut colours: Vec<_> = figure.series.iter().map(colour).collect();
    for (place, series) in figure.series.iter().enumerate() {
        let own = series.paper_of.as_ref();
        let own = own.and_then(|own| figure.series.iter().position(|it| it.name == *own));
        if let Some(own) = own {
            colours[place] = colours[own];
        }
    }
    colours
}

/// Width for the names of series beside the plot; 0 if they fit into it without touching curves.
fn room_beside(figure: &Figure) -> u32 {
    let inside = !figure.x.categories.is_empty() && figure.series.len() <= NAMES_INSIDE;
    if inside { 0 } else { (18 + names_width(figure)).min(SIZE.0 / 3) }
}

/// Width of the longest name with its mark.
fn names_width(figure: &Figure) -> u32 {
    let longest = figure.series.iter().map(|series| series.name.chars().count()).max();
    MARK as u32 + LETTER * longest.unwrap_or(0) as u32
}

/// Characters of the longest name of a place.
fn longest_place(figure: &Figure) -> u32 {
    figure.x.categories.iter().map(|name| name.chars().count() as u32).max().unwrap_or(0)
}

/// Whether names stand upright, since horizontal names of places would overlap.
fn names_stand(figure: &Figure) -> bool {
    let width = SIZE.0 - room_beside(figure) - 100;
    longest_place(figure) * LETTER * figure.x.categories.len() as u32 > width
}

/// Height for the text below the plot.
fn room_below(figure: &Figure) -> u32 {
    if names_stand(figure) { BELOW + LETTER * longest_place(figure) } else { BELOW }
}

/// The names of places that stand, each with its end at the axis.
fn names_below(plot: &Sheet<'_>, chart: &Chart<'_, '_>, figure: &Figure) -> Drawn {
    if !names_stand(figure) {
        return Ok(());
    }
    let font = ("sans-serif", 14).into_font().transform(FontTransform::Rotate270).color(&INK);
    let font = font.pos(Pos::new(HPos::Right, VPos::Center));
    for (place, name) in figure.x.categories.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(place as f64, up(figure).0));
        plot.draw(&Text::new(name.clone(), (x, y + 8), font.clone()))?;
    }
    Ok(())
}

/// How far aside of its places a series is drawn: bars of one place stand beside each other, dots do where places have names.
fn aside(figure: &Figure, number: usize) -> f64 {
    let style = figure.series[number].style;
    let room = match style {
        Style::Bars => BARS,
        Style::Dots if !figure.x.categories.is_empty() => DOTS,
        _ => return 0.0,
    };
    let alike = |series: &&Series| series.style == style;
    let all = figure.series.iter().filter(alike).count() as f64;
    let before = figure.series[..number].iter().filter(alike).count() as f64;
    (before - (all - 1.0) / 2.0) * room / all
}

/// The names of the series in a box in the upper right corner of the plot.
fn names_inside(plot: &Sheet<'_>, figure: &Figure, colours: &[RGBColor]) -> Drawn {
    if figure.series.is_empty() {
        return Ok(());
    }
    let (right, top) = (SIZE.0 as i32 - 32, 48);
    let (left, bottom) =
        (right - 12 - names_width(figure) as i32, top + ROW * figure.series.len() as i32 + 4);
    let place = [(left, top), (right, bottom)];
    plot.draw(&Rectangle::new(place, WHITE.mix(0.85).filled()))?;
    plot.draw(&Rectangle::new(place, FAINT))?;
    names(plot, (left + 8, top + 13), figure, colours)
}

/// The names of the series, one below the other from a corner on, each with its mark.
fn names(sheet: &Sheet<'_>, from: (i32, i32), figure: &Figure, colours: &[RGBColor]) -> Drawn {
    let font = ("sans-serif", 14).into_font().color(&INK);
    for ((row, series), colour) in (0..).zip(&figure.series).zip(colours) {
        let (x, y) = (from.0, from.1 + ROW * row);
        let line =
            |from: (i32, i32), to: (i32, i32)| PathElement::new([from, to], colour.stroke_width(2));
        match series.style {
            Style::Bars => {
                let square = [(x + 3, y - 6), (x + 15, y + 6)];
                sheet.draw(&Rectangle::new(square, colour.mix(0.75).filled()))?;
            }
            Style::Dots => sheet.draw(&Circle::new((x + 9, y), 3, colour.filled()))?,
            Style::Paper => {
                sheet.draw(&Cross::new((x + 9, y), 4, colour.stroke_width(2)))?;
            }
            Style::Reference => {
                for from in [x, x + 7, x + 14] {
                    sheet.draw(&line((from, y), (from + 4, y)))?;
                }
            }
            Style::Line | Style::Steps => sheet.draw(&line((x, y), (x + 18, y)))?,
        }
        sheet.draw(&Text::new(series.name.clone(), (x + MARK, y - 7), font.clone()))?;
    }
    Ok(())
}

fn mesh(chart: &mut Chart<'_, '_>, figure: &Figure) -> Drawn {
    let font = ("sans-serif", 14).into_font().color(&INK);
    let names = &figure.x.categories;
    let of_x = |value: &f64| match names.is_empty() {
        true => number(*value, &figure.x),
        false if names_stand(figure) => String::new(),
        false => name(names, *value),
    };
    let of_y = |value: &f64| number(*value, &figure.y);
    let (x, y) = (label(&figure.x), label(&figure.y));
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&x)
        .y_desc(&y)
        .y_labels(7)
        .x_label_formatter(&of_x)
        .y_label_formatter(&of_y)
        .axis_style(INK.mix(0.5))
        .bold_line_style(FAINT)
        .light_line_style(WHITE)
        .label_style(font.clone())
        .axis_desc_style(font);
    if !names.is_empty() {
        // There are marks between names, too, which only keep the names away from the axis.
        mesh.disable_x_mesh().x_labels(2 * names.len() + 1).axis_style(TRANSPARENT);
    }
    mesh.draw()?;
    if !names.is_empty() || (up(figure).0 < 0.0 && !figure.y.logarithmic) {
        axes(chart, figure)?;
    }
    Ok(())
}

/// Both axes as plain lines, and 0 where it is above the lower one.
fn axes(chart: &mut Chart<'_, '_>, figure: &Figure) -> Drawn {
    let (x, y) = (along(figure), up(figure));
    let mut lines = vec![[(x.0, y.0), (x.1, y.0)], [(x.0, y.0), (x.0, y.1)]];
    if y.0 < 0.0 && !figure.y.logarithmic {
        lines.push([(x.0, 0.0), (x.1, 0.0)]);
    }
    let style = INK.mix(0.5).stroke_width(1);
    chart.draw_series(lines.into_iter().map(|line| PathElement::new(line, style)))?;
    Ok(())
}

fn label(axis: &Axis) -> String {
    if axis.unit.is_empty() {
        axis.label.clone()
    } else {
        format!("{} ({})", axis.label, axis.unit)
    }
}

/// The name that stands at a place, nothing between two of them.
fn name(names: &[String], place: f64) -> String {
    let whole = place.round();
    let is_there = (place - whole).abs() < 1e-6 && whole >= 0.0;
    names.get(whole as usize).filter(|_| is_there).cloned().unwrap_or_default()
}

fn number(value: f64, axis: &Axis) -> String {
    let value = if axis.logarithmic { 10_f64.powf(value) } else { value };
    let text = match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if text.contains('.') && !short.is_empty() { short.to_owned() } else { text }
}

/// A value as it is put on an axis.
fn on(axis: &Axis, value: f64) -> f64 {
    if axis.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value }
}

fn points(figure: &Figure) -> impl Iterator<Item = (f64, f64)> {
    figure.series.iter().flat_map(|series| series.points.iter().copied())
}

/// The range of the horizontal axis.
fn along(figure: &Figure) -> (f64, f64) {
    let names = figure.x.categories.len();
    if names > 0 {
        return (-0.6, names as f64 - 0.4);
    }
    let (low, high) = points(figure).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
        (low.min(on(&figure.x, it.0)), high.max(on(&figure.x, it.0)))
    });
    // A curve that begins soon after zero is shown from there.
    let low = if !figure.x.logarithmic && low > 0.0 && low < 0.1 * high { 0.0 } else { low };
    if low < high { (low, high) } else { (0.0, 1.0) }
}

/// The range of the vertical axis, in which each value fits with its error.
fn up(figure: &Figure) -> (f64, f64) {
    let values = || figure.series.iter().flat_map(with_errors);
    let high = values().map(|it| on(&figure.y, it.2)).fold(f64::NEG_INFINITY, f64::max);
    // There is no place for 0 and less on a logarithmic axis.
    let low = |(low, point, _): (f64, f64, f64)| if figure.y.logarithmic { point } else { low };
    let low = values().map(|it| on(&figure.y, low(it))).fold(f64::INFINITY, f64::min);
    match figure.y.logarithmic {
        _ if low > high => (0.0, 1.0),
        true => outward(low, high),
        false => {
            let (low, high) = (low.min(0.0), high.max(0.0));
            let all = if high > low { high - low } else { 1.0 };
            // Names inside need room of their own.
            let room = if room_beside(figure) == 0 { 0.36 } else { 0.08 };
            (if low < 0.0 { low - 0.04 * all } else { 0.0 }, high + room * all)
        }
    }
}

/// Each value of a series, between its least and its greatest.
fn with_errors(series: &Series) -> impl Iterator<Item = (f64, f64, f64)> {
    let errors = series.errors.iter().copied().chain(std::iter::repeat(0.0));
    let finite = |error: f64| if error.is_finite() { error } else { 0.0 };
    let values = series.points.iter().zip(errors.map(finite));
    values.map(|(point, error)| (point.1 - error, point.1, point.1 + error))
}

/// Style of one series.
struct Brush<'a> {
    figure: &'a Figure,
    colour: RGBColor,
    /// How far from its places it is drawn.
    aside: f64,
}

impl Brush<'_> {
    fn at(&self, point: (f64, f64)) -> (f64, f64) {
        (on(&self.figure.x, point.0 + self.aside), on(&self.figure.y, point.1))
    }

    fn series(&self, chart: &mut Chart<'_, '_>, series: &Series) -> Drawn {
        let colour = self.colour;
        let points: Vec<_> = series.points.iter().map(|point| self.at(*point)).collect();
        let circle = |point: &(f64, f64), size: i32| Circle::new(*point, size, colour.filled());
        match series.style {
            Style::Bars => self.bars(chart, series)?,
            Style::Line | Style::Steps => {
                let corners = if series.style == Style::Steps { steps(&points) } else { points };
                let line = LineSeries::new(corners.iter().copied(), colour.stroke_width(2));
                chart.draw_series(line)?;
                if series.style == Style::Line && corners.len() <= MARKED {
                    chart.draw_series(corners.iter().map(|point| circle(point, 4)))?;
                }
                self.errors(chart, series)?;
            }
            Style::Reference => {
                let thin = colour.mix(0.55).stroke_width(1);
                chart.draw_series(DashedLineSeries::new(points, 6, 4, thin))?;
            }
            Style::Dots => {
                self.errors(chart, series)?;
                let size = if points.len() > MARKED { 2 } else { 4 };
                chart.draw_series(points.iter().map(|point| circle(point, size)))?;
            }
            Style::Paper => {
                let cross = |at| Cross::new(at, 5, colour.stroke_width(2));
                chart.draw_series(points.iter().map(|point| cross(*point)))?;
            }
        }
        Ok(())
    }

    fn bars(&self, chart: &mut Chart<'_, '_>, series: &Series) -> Drawn {
        let fill = self.colour.mix(0.75).filled();
        let bars = self.figure.series.iter().filter(|it| it.style == Style::Bars).count();
        let width = BARS / bars.max(1) as f64;
        // A bar stands on 0 where there is a 0.
        let foot = if self.figure.y.logarithmic { up(self.figure).0 } else { 0.0 };
        let bars = series.points.iter().map(|point| {
            let (x, y) = self.at(*point);
            Rectangle::new([(x - width * 0.45, foot), (x + width * 0.45, y)], fill)
        });
        chart.draw_series(bars)?;
        self.errors(chart, series)
    }

    fn errors(&self, chart: &mut Chart<'_, '_>, series: &Series) -> Drawn {
        let cap = along(self.figure);
        let cap = (cap.1 - cap.0) / 200.0;
        let with = series.points.iter().zip(&series.errors);
        for (point, error) in with.filter(|(_, error)| error.is_finite() && **error > 0.0) {
            let (x, low) = self.at((point.0, point.1 - error));
            let low = low.max(up(self.figure).0);
            let (_, high) = self.at((point.0, point.1 + error));
            let lines = [
                [(x, low), (x, high)],
                [(x - cap, low), (x + cap, low)],
                [(x - cap, high), (x + cap, high)],
            ];
            chart.draw_series(lines.map(|line| PathElement::new(line, INK.stroke_width(1))))?;
        }
        Ok(())
    }
}

/// The corners of a line that keeps its height until the next point.
fn steps(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(2 * points.len());
    for (place, point) in points.iter().enumerate() {
        if let Some(before) = place.checked_sub(1).and_then(|place| points.get(place)) {
            corners.push((point.0, before.1));
        }
        corners.push(*point);
    }
    corners
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A figure with every style.
    pub(in crate::study) fn example() -> Figure {
        let series = |name: &str, style, errors: &[f64]| Series {
            points: vec![(0.0, 23.8), (1.0, 36.0), (2.0, 0.5)],
            errors: errors.to_vec(),
            ..Series::new(name, style)
        };
        Figure {
            id: "example".into(),
            title: "Time <to> fetch & carry".into(),
            caption: "Bars and dots.".into(),
            x: Axis {
                label: "design".into(),
                categories: vec!["#0".into(), "#1".into(), "#2".into()],
                ..Axis::default()
            },
            y: Axis { label: "time".into(), unit: "s".into(), ..Axis::default() },
            series: vec![
                series("ours, c1", Style::Bars, &[0.1, 0.6, f64::INFINITY]),
                series("ours, c2", Style::Bars, &[]),
                series("line", Style::Line, &[0.1, 0.2, 0.3]),
                series("steps", Style::Steps, &[]),
                series("dots", Style::Dots, &[]),
                series("the paper's", Style::Paper, &[]),
            ],
        }
    }

    #[test]
    fn picture_names_axes_places_and_series() {
        let text = draw(&example()).unwrap();
        for piece in ["time (s)", "design", "#2", "ours, c1", "the paper", "&lt;to&gt;"] {
            assert!(text.contains(piece), "{piece}");
        }
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn axis_may_be_logarithmic_and_figure_empty() {
        let mut figure = example();
        figure.y.logarithmic = true;
        let text = draw(&figure).unwrap();
        for mark in ["\n1\n", "\n10\n", "\n50\n"] {
            assert!(text.contains(mark), "{mark}: {text}");
        }
        assert!(!text.contains("31.6"), "{text}");
        figure.series.clear();
        assert!(draw(&figure).unwrap().starts_with("<svg"));
    }

    #[test]
    fn errors_fit_into_the_picture_below_0_too() {
        let mut figure = example();
        figure.series[2].errors = vec![30.0, f64::INFINITY, 0.1];
        let (low, high) = up(&figure);
        assert!(low < 23.8 - 30.0 && high > 23.8 + 30.0, "{low} to {high}");
        figure.y.logarithmic = true;
        let (low, high) = up(&figure);
        // Where 0 has no place the least value counts, 0.5.
        assert!((low - 0.5_f64.log10()).abs() < 1e-9 && (high - 2.0).abs() < 1e-9, "{low} {high}");
        assert!(!draw(&figure).unwrap().contains("NaN"));
    }

    #[test]
    fn names_of_places_stand_where_they_would_overlap() {
        let mut figure = example();
        assert_eq!(room_below(&figure), BELOW);
        let long = "a name as long as a third of the picture";
        figure.x.categories[1] = long.into();
        assert_eq!(room_below(&figure), BELOW + LETTER * 40);
        let text = draw(&figure).unwrap();
        assert!(text.contains(&format!("height=\"{}\"", SIZE.1 + LETTER * 40)), "{text}");
        assert_eq!(text.matches(long).count(), 1);
    }

    #[test]
    fn dots_of_one_place_are_side_by_side() {
        let mut figure = example();
        figure.series.push(Series::new("more", Style::Dots));
        let found: Vec<_> = (0..figure.series.len()).map(|it| aside(&figure, it)).collect();
        assert_eq!(found, [-BARS / 4.0, BARS / 4.0, 0.0, 0.0, -DOTS / 4.0, 0.0, DOTS / 4.0]);
        figure.x.categories.clear();
        assert_eq!(aside(&figure, 4), 0.0);
    }

    #[test]
    fn number_has_only_significant_digits() {
        let axis = Axis::default();
        assert_eq!(number(10.0, &axis), "10");
        assert_eq!(number(0.25, &axis), "0.25");
        assert_eq!(number(0.0, &axis), "0");
    }
}
