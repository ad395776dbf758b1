//! Figures as data: what is drawn, without how. One description makes the interactive page and the
//! picture beside it.

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Short name: part of file names, and what `--figure` takes.
    pub id: String,
    /// What it shows, in one line.
    pub title: String,
    /// What one sees in it, and which figure of the paper it re-draws.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Its unit; empty where there is none.
    pub unit: String,
    /// Logarithmic.
    pub logarithmic: bool,
    /// Names in place of numbers: a point at 0 stands at the first one.
    pub categories: Vec<String>,
}

/// One series of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// How it is drawn.
    pub style: Style,
    /// Where its points are.
    pub points: Vec<(f64, f64)>,
    /// Half the width of the confidence interval of each point; empty where there is none.
    pub errors: Vec<f64>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Points joined by a line.
    Line,
    /// A line that keeps its height until the next point.
    Steps,
    /// Dots.
    Dots,
    /// Bars.
    Bars,
    /// The paper's own values.
    Paper,
}

impl Series {
    /// A series without points.
    pub fn new(name: &str, style: Style) -> Self {
        Self { name: name.to_owned(), style, points: Vec::new(), errors: Vec::new() }
    }
}
