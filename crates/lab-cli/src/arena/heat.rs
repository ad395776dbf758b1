//! The heat map: a row for each case, a column for each transport.
//!
//! The classes of colour grow darker in one hue family (ColorBrewer's YlOrBr, six classes), distinct for readers with
//! any colour vision. Each cell has its figure as text.
use super::report::Report;
use super::table::short;
use crate::study::escape;
use recoup_studies::arena::summary::Summary;
use std::fmt::Write as _;

/// Upper bounds of the classes; above the last is the last class.
const BOUNDS: [f64; 5] = [1.06, 1.3, 2.0, 4.0, 8.0];
/// Background and text of each class.
const COLOURS: [(&str, &str); 6] = [
    ("#ffffd4", "#333a42"),
    ("#fee391", "#333a42"),
    ("#fec44f", "#333a42"),
    ("#fe9929", "#1c1206"),
    ("#d95f0e", "#1c1206"),
    ("#993404", "#ffffff"),
];
/// Background and text where no run has a figure.
const NOTHING: (&str, &str) = ("#f6f7f8", "#5b6570");

const CELL: (usize, usize) = (78, 24);
/// Width for names of cases.
const NAMES: usize = 170;
const TOP: usize = 34;
const MARGIN: usize = 10;

/// Background and text of a cell.
pub(super) fn colours(summary: &Summary) -> (&'static str, &'static str) {
    let Some(factor) = summary.factor.map(|it| it.mean) else { return NOTHING };
    let class = BOUNDS.iter().filter(|bound| factor > **bound).count();
    COLOURS.get(class).copied().unwrap_or(NOTHING)
}

/// The name of a class in the legend.
fn class(place: usize) -> String {
    match (place.checked_sub(1).and_then(|it| BOUNDS.get(it)), BOUNDS.get(place)) {
        (None, Some(high)) => format!("up to {high}"),
        (_, Some(high)) => format!("to {high}"),
        (Some(low), None) => format!("above {low}"),
        (None, None) => String::new(),
    }
}

/// The text of a cell: its factor, and a cross where runs did not complete.
fn cell_text(summary: &Summary) -> String {
    let factor = summary.factor.map_or_else(|| "–".to_owned(), |it| short(it.mean));
    if summary.completed < summary.runs { format!("✕ {factor}") } else { factor }
}

/// The picture as SVG.
pub(super) fn draw(report: &Report<'_>) -> String {
    let (columns, rows) = (report.transports.len(), report.chosen.len());
    let legend_rows = columns + 1;
    let width = (2 * MARGIN + NAMES + columns * CELL.0).max(640);
    let height = TOP + rows * CELL.1 + 24 + legend_rows * 20 + 2 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"Heat map of transports and cases\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" \
         font-size=\"13\" fill=\"#333a42\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    for column in 0..columns {
        let x = MARGIN + NAMES + column * CELL.0 + CELL.0 / 2;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"600\">{}</text>",
            TOP - 10,
            column + 1
        );
    }
    for (row, (chosen, summaries)) in report.rows().enumerate() {
        let y = TOP + row * CELL.1;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            MARGIN + NAMES - 8,
            y + 16,
            escape(&chosen.case.name)
        );
        for (column, summary) in summaries.iter().enumerate() {
            svg += &cell(MARGIN + NAMES + column * CELL.0, y, summary);
        }
    }
    svg += &legend(report, TOP + rows * CELL.1 + 24);
    svg + "</svg>\n"
}

fn cell(x: usize, y: usize, summary: &Summary) -> String {
    let (background, ink) = colours(summary);
    let text = cell_text(summary);
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{background}\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\">{text}</text>\n",
        CELL.0 - 2,
        CELL.1 - 2,
        x + CELL.0 / 2 - 1,
        y + 16
    )
}

/// Colours, then transports by their numbers.
fn legend(report: &Report<'_>, top: usize) -> String {
    let mut text = String::new();
    for (place, (background, _)) in COLOURS.iter().enumerate() {
        let x = MARGIN + place * 100;
        let _ = writeln!(
            text,
            "<rect x=\"{x}\" y=\"{top}\" width=\"16\" height=\"16\" fill=\"{background}\" stroke=\"#c4cad0\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"12\">{}</text>",
            x + 22,
            top + 13,
            class(place)
        );
    }
    for (place, transport) in report.transports.iter().enumerate() {
        let label = escape(&report.label(transport));
        let note = if transport == report.default { " (the default)" } else { "" };
        let _ = writeln!(
            text,
            "<text x=\"{MARGIN}\" y=\"{}\"><tspan font-weight=\"600\">{}</tspan>  {label}{note}</text>",
            top + 38 + place * 20,
            place + 1
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_studies::arena::score::Score;

    #[test]
    fn colour_follows_the_factor() {
        let of =
            |factor: f64| colours(&Summary::new(&[(1, Score { factor, ..Score::default() })])).0;
        assert_eq!((of(1.0), of(1.06), of(1.07)), ("#ffffd4", "#ffffd4", "#fee391"));
        assert_eq!((of(8.0), of(8.1), of(600.0)), ("#d95f0e", "#993404", "#993404"));
        assert_eq!(colours(&Summary::default()), NOTHING);
    }

    #[test]
    fn run_that_fails_is_marked() {
        let score = |completed| Score { factor: 130.0, completed, ..Score::default() };
        assert_eq!(cell_text(&Summary::new(&[(1, score(false))])), "✕ 130");
        assert_eq!(cell_text(&Summary::new(&[(1, score(true))])), "130");
        assert_eq!(cell_text(&Summary::default()), "–");
        assert_eq!(
            (class(0), class(2), class(5)),
            ("up to 1.06".into(), "to 2".into(), "above 8".into())
        );
    }
}
