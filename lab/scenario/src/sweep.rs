//! `[sweep]`: from one scenario to many.
//!
//! ```toml
//! [sweep]
//! "link.delay" = ["10 ms", "50 ms"]             # an axis: a field and its values
//! [sweep.design."AIMD, no floor"]               # an axis of variants, each with a name and its fields
//! "fetch.congestion" = "aimd"
//! "fetch.rto.min" = "0 ms"
//! [sweep.design.CUBIC]
//! "fetch.congestion" = "cubic"
//! ```
//!
//! Axes are multiplied: each value of the one with each value of the other, the last axis fastest. A
//! variant sets several fields together.
use super::path;
use recoup_config::print;
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::{Entry, Table, Tree, Value};
use std::collections::BTreeSet;

/// More points than that are a mistake.
const MOST: usize = 100_000;

/// Tables outside of the scenario of a point, so that changing them has no effect.
const OUTSIDE: [&str; 4] = ["title", "seeds", "arena", "sweep"];

/// A point: a value for each axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Its place in the sweep, from 0.
    pub number: usize,
    /// Name of each axis with the value as it is shown.
    pub values: Vec<(String, String)>,
    pub(super) settings: Vec<(Vec<String>, Tree)>,
}

impl Point {
    /// `link.delay=10 ms, design=CUBIC`; empty without a sweep.
    pub fn label(&self) -> String {
        let one = |(axis, value): &(String, String)| format!("{axis}={value}");
        self.values.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// A field or a choice that takes several values.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    name: String,
    values: Values,
}

/// The values of an axis. A field may have 100,000, which stand here as they do in the file.
#[derive(Clone, Debug, PartialEq)]
enum Values {
    Field(Vec<String>, Vec<Tree>),
    Variants(Vec<(String, Settings)>),
}

type Settings = Vec<(Vec<String>, Tree)>;

impl Axis {
    fn len(&self) -> usize {
        match &self.values {
            Values::Field(_, values) => values.len(),
            Values::Variants(variants) => variants.len(),
        }
    }

    /// Sets the value at that place.
    fn put(&self, place: usize, point: &mut Point) -> Option<()> {
        let label = match &self.values {
            Values::Field(steps, values) => {
                let tree = values.get(place)?;
                point.settings.push((steps.clone(), tree.clone()));
                tree.value.to_string()
            }
            Values::Variants(variants) => {
                let (label, settings) = variants.get(place)?;
                point.settings.extend(settings.iter().cloned());
                label.clone()
            }
        };
        point.values.push((self.name.clone(), label));
        Some(())
    }
}

/// The axes of a sweep. Its points are made as they are needed: they take more memory than all that is run at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Axes {
    axes: Vec<Axis>,
    count: usize,
}

impl Axes {
    /// Number of points; 1 without a sweep.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The point with that number, from 0.
    pub(super) fn point(&self, number: usize) -> Option<Point> {
        let mut point = Point { number, ..Point::default() };
        let mut rest = Some(number).filter(|number| *number < self.count)?;
        let mut below = self.count;
        for axis in &self.axes {
            below /= axis.len();
            axis.put(rest / below, &mut point)?;
            rest %= below;
        }
        Some(point)
    }

    /// Points that together have each value once: one axis varies, and the others have their first values.
    pub(super) fn each_value(&self) -> impl Iterator<Item = Point> {
        let mut below = self.count;
        let along = self.axes.iter().enumerate().flat_map(move |(place, axis)| {
            below /= axis.len();
            let below = below;
            (usize::from(place > 0)..axis.len()).map(move |value| value * below)
        });
        let only = self.axes.is_empty().then_some(0);
        only.into_iter().chain(along).filter_map(|number| self.point(number))
    }
}

/// The axes of a sweep; without any there is one point without settings.
///
/// # Errors
/// Its problem.
pub(super) fn axes(sweep: &Table, sections: &[&str]) -> Result<Axes, Problems> {
    let mut problems = Problems::default();
    let mut axes = Vec::new();
    for entry in sweep.entries() {
        axis(entry, sections, &mut axes, &mut problems);
    }
    let mut sizes = axes.iter().map(Axis::len);
    let count = sizes.try_fold(1_usize, |count, size| count.checked_mul(size));
    match count.filter(|count| *count <= MOST) {
        Some(count) => problems.or(Axes { axes, count }),
        None => {
            let what = format!("stands for more than {MOST} points; make it coarser");
            problems.add(Origin::Unknown, "sweep", what);
            Err(problems)
        }
    }
}

fn axis(entry: &Entry, sections: &[&str], axes: &mut Vec<Axis>, problems: &mut Problems) {
    let at = format!("sweep.{}", print::key(&entry.key));
    if OUTSIDE.contains(&entry.key.as_str()) {
        return problems.add(entry.origin, at, outside(&entry.key));
    }
    match (&entry.tree.value, path::parse(&entry.key)) {
        (Value::List(list), Ok(steps)) => {
            field(&at, &steps, list, entry, axes, problems);
        }
        // `link.delay = […]` without quotation marks is a table in a table.
        (Value::Table(table), Ok(steps)) if sections.contains(&steps[0].as_str()) => {
            unquoted(&at, &steps, table, axes, problems);
        }
        (Value::Table(table), Ok(_)) => variants(&at, entry, table, axes, problems),
        (_, Err(what)) => problems.add(entry.origin, at, what),
        (_, Ok(_)) => problems.add(
            entry.tree.origin,
            at,
            "write a list of values, or a table of variants that each set several fields",
        ),
    }
}

fn outside(key: &str) -> String {
    format!("`{key}` is the same at all points; write it outside of the sweep")
}

fn unquoted(
    at: &str,
    steps: &[String],
    table: &Table,
    axes: &mut Vec<Axis>,
    problems: &mut Problems,
) {
    for entry in table.entries() {
        let mut steps = steps.to_vec();
        steps.push(entry.key.clone());
        let at = format!("{at}.{}", print::key(&entry.key));
        match &entry.tree.value {
            Value::List(list) => field(&at, &steps, list, entry, axes, problems),
            Value::Table(inner) => unquoted(&at, &steps, inner, axes, problems),
            _ => problems.add(entry.tree.origin, at, "write a list of values"),
        }
    }
}

fn field(
    at: &str,
    steps: &[String],
    list: &[Tree],
    entry: &Entry,
    axes: &mut Vec<Axis>,
    problems: &mut Problems,
) {
    let mut seen = BTreeSet::new();
    for tree in list {
        if !seen.insert(tree.value.to_string()) {
            problems.add(tree.origin, at, format!("`{}` is there twice", tree.value));
        }
    }
    if list.is_empty() {
        problems.add(entry.tree.origin, at, "has no values");
    }
    axes.push(Axis {
        name: path::print(steps),
        values: Values::Field(steps.to_vec(), list.to_vec()),
    });
}

fn variants(at: &str, entry: &Entry, table: &Table, axes: &mut Vec<Axis>, problems: &mut Problems) {
    if table.is_empty() {
        problems.add(entry.tree.origin, at, "has no variants");
    }
    let mut values = Vec::new();
    for variant in table.entries() {
        let at = format!("{at}.{}", print::key(&variant.key));
        let mut settings = Vec::new();
        match &variant.tree.value {
            Value::Table(table) => collect(&at, table, &mut settings, problems),
            _ => problems.add(
                variant.tree.origin,
                at,
                "write the fields of a variant as a table, such as { \"link.delay\" = \"10 ms\" }",
            ),
        }
        values.push((variant.key.clone(), settings));
    }
    axes.push(Axis { name: entry.key.clone(), values: Values::Variants(values) });
}

fn collect(at: &str, table: &Table, settings: &mut Settings, problems: &mut Problems) {
    for entry in table.entries() {
        match path::parse(&entry.key) {
            Ok(steps) if OUTSIDE.contains(&steps[0].as_str()) => {
                problems.add(entry.origin, at, outside(&entry.key));
            }
            Ok(steps) => settings.push((steps, entry.tree.clone())),
            Err(what) => problems.add(entry.origin, at, what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(axes: &Axes) -> Vec<Point> {
        (0..axes.count()).map_while(|number| axes.point(number)).collect()
    }

    fn read(text: &str) -> Result<Vec<String>, String> {
        let table = Table::parse(text).unwrap();
        let axes = axes(table.table("sweep").unwrap(), &["link", "fetch", "topology"]);
        axes.map(|axes| all(&axes).iter().map(Point::label).collect())
            .map_err(|problems| problems.to_string())
    }

    #[test]
    fn axes_are_multiplied_the_last_one_fastest() {
        let labels = read("[sweep]\n\"link.delay\" = [\"1 s\", \"2 s\"]\nlink.cost = [1, 2]\n");
        assert_eq!(
            labels.unwrap(),
            [
                "link.delay=1 s, link.cost=1",
                "link.delay=1 s, link.cost=2",
                "link.delay=2 s, link.cost=1",
                "link.delay=2 s, link.cost=2"
            ]
        );
    }

    #[test]
    fn each_value_is_tried_beside_the_first_ones() {
        let text = "[sweep]\n\"link.cost\" = [1, 2, 3]\n\"link.delay\" = [\"1 s\", \"2 s\"]\n[sweep.v.x]\n[sweep.v.y]\n";
        let table = Table::parse(text).unwrap();
        let axes = axes(table.table("sweep").unwrap(), &["link"]).unwrap();
        let all: Vec<_> = all(&axes);
        assert!(all.iter().enumerate().all(|(number, point)| point.number == number));
        let numbers: Vec<_> = axes.each_value().map(|point| point.number).collect();
        assert_eq!((all.len(), numbers), (12, vec![0, 4, 8, 2, 1]));
        assert_eq!(all[6].label(), "link.cost=2, link.delay=2 s, v=x");
        assert_eq!(Axes { axes: Vec::new(), count: 1 }.each_value().count(), 1);
    }

    #[test]
    fn a_variant_sets_several_fields_at_once() {
        let text =
            "[sweep.design.\"#0\"]\n\"fetch.rto\" = \"x\"\nlink.cost = 3\n[sweep.design.b]\n";
        let table = Table::parse(text).unwrap();
        let axes = axes(table.table("sweep").unwrap(), &["link"]).unwrap();
        let points = all(&axes);
        assert!(points.len() == 2 && axes.point(2).is_none());
        assert_eq!(points.iter().map(|point| point.number).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(points[0].values, [("design".to_owned(), "#0".to_owned())]);
        let paths: Vec<_> =
            points[0].settings.iter().map(|(steps, _)| path::print(steps)).collect();
        assert_eq!(paths, ["fetch.rto", "link"]);
    }

    #[test]
    fn invalid_axes_are_rejected() {
        assert!(read("[sweep]\n\"a\" = []").unwrap_err().contains("sweep.a: has no values"));
        assert!(read("[sweep]\na = [1, 1]").unwrap_err().contains("twice"));
        assert!(read("[sweep]\na = 1").unwrap_err().contains("list of values"));
        assert!(read("[sweep]\na = { b = 1 }").unwrap_err().contains("variant"));
        for wrong in ["seeds = [1, 2]", "a.b.title = \"x\"", "sweep.link.delay = [\"1 s\"]"] {
            let error = read(&format!("[sweep]\n{wrong}")).unwrap_err();
            assert!(error.contains("outside of the sweep"), "{error}");
        }
        let values = format!("{:?}", (0..400).collect::<Vec<_>>());
        let error = read(&format!("[sweep]\na = {values}\nb = {values}")).unwrap_err();
        assert!(error.contains("100000 points"), "{error}");
    }
}
