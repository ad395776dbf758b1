//! The pages of a study as text: Markdown with tables, pictures beside it, and what it comes to as JSON. Small enough to be
//! kept with the source, so that documentation can be made of it; runs themselves are not kept.
//!
//! `README.md` has the result, the gating claims and the paper's own figures. `claims.md` has every comparison of every
//! claim, `open.md` what the paper leaves open.
use super::picture;
use super::verdict::Summary;
use crate::error::Failure;
use recoup_sim::statistic::Estimate;
use recoup_studies::claim::{Claim, Former, Outcome, Verdict};
use recoup_studies::figure::{Figure, Series, Style};
use recoup_studies::kept::{self, KeptPoint};
use recoup_studies::rule;
use recoup_studies::study::{Dependence, Scale, Study};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Slices of a curve that are drawn.
const SLICES: usize = 150;
/// Figures with more places on their horizontal axis have no table.
const MOST_ROWS: usize = 12;

/// A study's result, of which pages are made.
pub(super) struct Page<'a> {
    pub study: &'a Study,
    pub verdicts: &'a [Verdict],
    pub dependences: &'a [Dependence],
    pub figures: &'a [Figure],
    /// How the results were made.
    pub origin: String,
    /// How much was run.
    pub scale: &'static str,
    /// Seeds that each point has at least.
    pub seeds: u64,
}

/// Result of a study.
#[derive(Debug, Serialize)]
struct Document<'a> {
    study: &'a str,
    title: &'a str,
    scale: &'a str,
    seeds: u64,
    /// Gating claims by their verdicts, and the others.
    held: usize,
    failed: usize,
    undecided: usize,
    /// Claims that do not gate, without those that helped to fix a parameter.
    reported: usize,
    used_for_inference: usize,
    /// Gating claims whose rule was corrected, and those of them that have another verdict since.
    corrected: usize,
    changed: usize,
    claims: Vec<Judged<'a>>,
    /// Those of an earlier result in the folder: evidence for the choice of an algorithm.
    lessons: Value,
}

#[derive(Debug, Serialize)]
struct Judged<'a> {
    id: &'a str,
    gating: bool,
    verdict: &'static str,
    /// The verdict by the former rule, if the rule was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    former: Option<&'static str>,
}

/// Writes the pages, their pictures, `result.json` and `digests.csv` into a folder; returns the path of the first page.
pub(super) fn write(
    page: &Page<'_>,
    digests: &[KeptPoint],
    folder: &Path,
) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    let figures: Vec<_> = page.figures.iter().map(thin).collect();
    picture::write_all(&figures, folder)?;
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| Failure::file("write", path.display(), &error))
    };
    let mut json = serde_json::to_string_pretty(&document(page, folder)).unwrap_or_default();
    json.push('\n');
    put(RESULT_FILE, &json)?;
    put(kept::FILE, &kept::text(digests))?;
    put("README.md", &first(page, &figures, folder))?;
    put(CLAIMS, &claims(page))?;
    put(OPEN, &open(page, &figures))?;
    Ok(folder.join("README.md"))
}

fn document<'a>(page: &'a Page<'_>, folder: &Path) -> Document<'a> {
    let earlier = std::fs::read(folder.join(RESULT_FILE)).unwrap_or_default();
    let mut earlier: Value = serde_json::from_slice(&earlier).unwrap_or_default();
    let claims = page.study.claims();
    let Summary { hold, fail, undecided, others, corrected, changed } =
        Summary::new(&claims, page.verdicts);
    let inferred = claims.iter().filter(|claim| claim.used_for_inference()).count();
    let judged = |verdict: &'a Verdict| Judged {
        id: &verdict.id,
        gating: claims.iter().any(|claim| claim.id == verdict.id && claim.is_gating()),
        verdict: verdict.verdict.word(),
        former: verdict.former.as_ref().map(|it| it.verdict.word()),
    };
    Document {
        study: page.study.key(),
        title: page.study.title(),
        scale: page.scale,
        seeds: page.seeds,
        held: hold,
        failed: fail,
        undecided,
        reported: others - inferred,
        used_for_inference: inferred,
        corrected,
        changed,
        claims: page.verdicts.iter().map(judged).collect(),
        lessons: match earlier["lessons"].take() {
            Value::Null => Value::Array(Vec::new()),
            lessons => lessons,
        },
    }
}

fn thin(figure: &Figure) -> Figure {
    let series = figure.series.iter().map(|series| series.thinned(SLICES));
    Figure { series: series.collect(), ..figure.clone() }
}

/// Where `cargo xtask docs` writes question and result of the study's room.
const RESULT: &str = "<!-- result: written by `cargo xtask docs` -->\n<!-- end of the result -->\n";
/// The result as a document.
pub(super) const RESULT_FILE: &str = "result.json";
/// The other pages.
const CLAIMS: &str = "claims.md";
const OPEN: &str = "open.md";
/// Pages of earlier searches, which link from the first one where they are.
const ISOLATED: &str = "isolated.md";
const CALIBRATED: &str = "calibration/README.md";

fn first(page: &Page<'_>, figures: &[Figure], folder: &Path) -> String {
    let key = page.study.key();
    let summary = Summary::new(&page.study.claims(), page.verdicts);
    let link = |name: &str, text: String| {
        if folder.join(name).exists() { text } else { String::new() }
    };
    let calibrated = link(CALIBRATED, format!(" Its base network was [calibrated]({CALIBRATED})."));
    let isolated = link(ISOLATED, format!(", [what turns claims that fail]({ISOLATED})"));
    let mut text = format!(
        "# {key}: {}\n\n{}. Set-up, deviations and reasons: [the room](../../../crates/studies/src/{key}/README.md).\
         {calibrated}\n\n\
         Of {} gating claims {} hold, {} fail, {} are undecided.{} {} others stand beside them: \
         [all claims]({CLAIMS}), [what the paper leaves open]({OPEN}){isolated}.\n\n{RESULT}\n",
        page.study.title(),
        page.study.source(),
        summary.hold + summary.fail + summary.undecided,
        summary.hold,
        summary.fail,
        summary.undecided,
        summary.corrections(),
        summary.others
    );
    text += &gating(page);
    let figures: Vec<_> =
        figures.iter().filter(|figure| is_of_paper(page.study, &figure.id)).collect();
    if !figures.is_empty() {
        text += "## Figures\n\n";
    }
    text += &drawn(&figures);
    let _ = writeln!(text, "## Origin\n\n{}", page.origin);
    text
}

/// Whether a figure needs none of the experiments that vary what the paper leaves open.
fn is_of_paper(study: &Study, figure: &str) -> bool {
    let paper = study.experiments(Scale::Paper);
    let is_own = |name| paper.iter().any(|experiment| experiment.name == name);
    let needs = study.experiments(Scale::Check).into_iter().filter(|it| it.is_for(figure));
    needs.into_iter().all(|experiment| is_own(experiment.name))
}

fn drawn(figures: &[&Figure]) -> String {
    let mut text = String::new();
    for figure in figures {
        let (id, title, caption) = (&figure.id, &figure.title, &figure.caption);
        let _ = write!(text, "### {title}\n\n![{title}]({id}.svg)\n\n{caption}\n\n");
        text += &values(figure).unwrap_or_default();
    }
    text
}

/// The gating claims, each in a line with the comparison that decides.
fn gating(page: &Page<'_>) -> String {
    let claims = page.study.claims();
    let mut text = String::from(
        "## Gating claims\n\n| claim | paper | ours | verdict | why |\n|---|---|---|---|---|\n",
    );
    for verdict in page.verdicts {
        let Some(claim) = claims.iter().find(|it| it.id == verdict.id && it.is_gating()) else {
            continue;
        };
        let paper = format!("{}: {}", claim.place, verdict.paper);
        let (id, ours, words, why) =
            (verdict.id.as_str(), verdict.decisive(), verdict.words(), &verdict.why);
        text += &row([id, &paper, ours, &words, why].into_iter().map(cell));
    }
    text += "\n*Ours* is the comparison that decides.\n\n";
    text
}

/// All claims with every comparison; those that do not decide are folded.
fn claims(page: &Page<'_>) -> String {
    let claims = page.study.claims();
    let mut text = format!(
        "# {}: all claims\n\n**R** gates; R that helped to fix a parameter, M, T and X do not \
         ([classes](../../studies.md#verdicts)). Back to [the result](README.md).\n\n\
         | claim | class | what | paper | ours | verdict | why |\n|---|---|---|---|---|---|---|\n",
        page.study.key()
    );
    let mut metric = String::new();
    for verdict in page.verdicts {
        let claim = claims.iter().find(|claim| claim.id == verdict.id);
        let own = claim.map(|claim| claim.metric.as_str()).filter(|own| *own != "same");
        metric = own.map_or(metric, str::to_owned);
        let what = claim.map_or_else(String::new, |it| {
            format!("{}: {metric} ({}; {})", it.place, it.scenario, it.algorithms)
        });
        let gates = claim.is_some_and(Claim::is_gating);
        let class =
            if gates { format!("**{}**", verdict.class) } else { verdict.class.to_string() };
        let first = [verdict.id.as_str(), &class, &what, &verdict.paper].map(cell).into_iter();
        let last = [verdict.words().as_str(), &verdict.why].map(cell);
        let former = verdict.former.iter().flat_map(Former::comparisons);
        let ours = verdict.comparisons().map(cell).chain(former.map(|it| cell(&it)));
        text += &row(first.chain([folded(ours)]).chain(last));
    }
    text
}

/// The comparison that decides, and the others folded.
fn folded(mut comparisons: impl Iterator<Item = String>) -> String {
    let first = comparisons.next().unwrap_or_default();
    match comparisons.collect::<Vec<_>>() {
        others if others.is_empty() => first,
        others => format!(
            "{first}<details><summary>{} more</summary>{}</details>",
            others.len(),
            others.join("<br>")
        ),
    }
}

/// The points of a figure as a folded table, where they are few and stand one below the other.
fn values(figure: &Figure) -> Option<String> {
    let drawn = || figure.series.iter().filter(|it| it.style != Style::Reference);
    let mut places: Vec<f64> = drawn().flat_map(|it| it.points.iter().map(|at| at.0)).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    if places.is_empty() || places.len() > MOST_ROWS {
        return None;
    }
    let names = drawn().map(|series| cell(&series.name));
    let heads = std::iter::once(cell(&labelled(&figure.x.label, &figure.x.unit))).chain(names);
    let mut text = format!("{}|---|{}\n", row(heads), "---:|".repeat(drawn().count()));
    let names = &figure.x.categories;
    let same = |a: &f64, b: &f64| !names.is_empty() && a.round() == b.round();
    for places in places.chunk_by(same) {
        let place = places[0];
        let name = names.get(place.round().max(0.0) as usize);
        let name = name.map_or_else(|| format!("{place}"), |name| cell(name));
        text += &row(std::iter::once(name).chain(drawn().map(|series| all_at(series, places))));
    }
    let y = labelled(&figure.y.label, &figure.y.unit);
    Some(format!(
        "<details><summary>Values</summary>\n\n{text}\n{y}: means with half the width of their 95 % intervals.\n\n</details>\n\n"
    ))
}

fn labelled(label: &str, unit: &str) -> String {
    if unit.is_empty() { label.to_owned() } else { format!("{label}, {unit}") }
}

/// Values of a series at places of one name: within one place with commas, from place to place with semicolons.
fn all_at(series: &Series, places: &[f64]) -> String {
    let at = |place: &f64| {
        let here = (0..series.points.len()).filter(|at| series.points[*at].0 == *place);
        here.map(|at| value(series, at)).collect::<Vec<_>>().join(", ")
    };
    places.iter().map(at).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn value(series: &Series, at: usize) -> String {
    let mean = series.points.get(at).map_or(f64::NAN, |point| point.1);
    let half_width = series.errors.get(at).copied().unwrap_or(0.0);
    let places = [(100.0, 0), (10.0, 1), (1.0, 2)];
    match half_width > 0.0 {
        true => rule::text(&Estimate { count: series.errors.len(), mean, sd: 0.0, half_width }, ""),
        false => {
            let places = places.iter().find(|(least, _)| mean.abs() >= *least);
            format!("{mean:.*}", places.map_or(3, |(_, places)| *places))
        }
    }
}

/// Each value of what is open, with what becomes of the claims, and the figures that show it. A table for those values
/// that are about the same claims.
fn open(page: &Page<'_>, figures: &[Figure]) -> String {
    let mut text = format!(
        "# {}: what the paper leaves open\n\nBack to [the result](README.md).\n\n",
        page.study.key()
    );
    let lines: Vec<_> = page.dependences.iter().filter(|it| !it.findings.is_empty()).collect();
    if !lines.is_empty() {
        text += "## Verdicts\n\nEach line is an assumption in place of something that the paper does not state; \
                 **bold** is what the study assumes. + holds, − fails, ? undecided.\n\n";
    }
    let ids = |line: &Dependence| line.findings.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    for lines in lines.chunk_by(|a, b| ids(a) == ids(b)) {
        let ids = lines.first().map(|line| ids(line)).unwrap_or_default();
        let heads = ["open", "assumption"].into_iter().chain(ids.iter().copied());
        text += &row(heads.map(cell));
        let _ = writeln!(text, "|---|---|{}", "---|".repeat(ids.len()));
        for line in lines {
            let value = cell(&line.value);
            let value = if line.is_assumed { format!("**{value}**") } else { value };
            let marks = line.findings.iter().map(|(_, finding)| mark(finding.outcome).to_owned());
            text += &row([cell(line.parameter), value].into_iter().chain(marks));
        }
        text.push('\n');
    }
    let figures: Vec<_> =
        figures.iter().filter(|figure| !is_of_paper(page.study, &figure.id)).collect();
    if !figures.is_empty() {
        text += "## Figures\n\n";
    }
    text += &drawn(&figures);
    text.trim_end().to_owned() + "\n"
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.fold(String::from("|"), |line, cell| line + " " + &cell + " |") + "\n"
}

/// Text that cannot end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ").trim().to_owned()
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "+",
        Outcome::Fails => "−",
        Outcome::Reported => "·",
        Outcome::Open => "?",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_studies::result::Results;

    #[test]
    fn pages_have_claims_pictures_and_summary() {
        for study in recoup_studies::all() {
            let results = Results::default();
            let (verdicts, dependences) = (study.judge(&results), study.dependences(&results));
            // One figure of the paper, one that varies what it leaves open.
            let mut figures = [(); 2].map(|()| super::super::picture::tests::example());
            let all = study.experiments(Scale::Check);
            let mut ids = all.iter().flat_map(|it| it.serves);
            let other = ids.find(|id| !is_of_paper(study, id)).unwrap();
            figures[1].id = (*other).to_owned();
            let page = Page {
                study,
                verdicts: &verdicts,
                dependences: &dependences,
                figures: &figures,
                origin: "made here".into(),
                scale: "check",
                seeds: 20,
            };
            let (first, claims, open) =
                (first(&page, &figures, Path::new("")), claims(&page), open(&page, &figures));
            for claim in study.claims() {
                let line = format!("\n| {} | ", claim.id);
                assert!(claims.contains(&line), "{}", claim.id);
                assert_eq!(first.contains(&line), claim.is_gating(), "{}", claim.id);
            }
            let other = format!("({other}.svg)");
            assert!(first.contains("(example.svg)") && !first.contains(&other), "{first}");
            assert!(open.contains(&other) && !open.contains("(example.svg)"), "{open}");
            assert!(first.contains(RESULT) && first.ends_with("made here\n"));
            let columns = |line: &&str| line.starts_with('|');
            for table in
                [first, claims, open].iter().flat_map(|it| it.split("\n\n")).filter(columns)
            {
                let bars = |line: &str| line.replace("\\|", "").matches('|').count();
                let first = table.lines().next().map(bars);
                assert!(table.lines().all(|line| Some(bars(line)) == first), "{table}");
            }
            let result = document(&page, Path::new(""));
            let all = result.held + result.failed + result.undecided + result.reported;
            assert_eq!(all + result.used_for_inference, study.claims().len());
        }
    }

    #[test]
    fn comparisons_behind_the_decisive_one_are_folded() {
        let of = |all: &[&str]| folded(all.iter().map(|it| (*it).to_owned()));
        assert_eq!((of(&[]), of(&["a"])), (String::new(), "a".into()));
        let expected = "a<details><summary>2 more</summary>b<br>c</details>";
        assert_eq!(of(&["a", "b", "c"]), expected);
    }

    #[test]
    fn small_figure_has_a_table_of_values() {
        let mut figure = super::super::picture::tests::example();
        figure.x.categories = vec!["a | b".into(), "c".into()];
        let mut bars = Series::new("ours", Style::Bars);
        (bars.points, bars.errors) = (vec![(0.0, 12.345), (1.0, 0.5)], vec![0.25, 0.0]);
        figure.series = vec![bars];
        let table = values(&figure).unwrap();
        assert!(table.contains("| a \\| b | 12.35 ± 0.25 |\n| c | 0.500 |\n"), "{table}");
        let mut paper = Series::new("the paper", Style::Paper);
        paper.points = vec![(0.0, 12.5), (0.0, 13.0), (0.8, 0.25), (1.2, 0.75)];
        figure.series.push(paper);
        let table = values(&figure).unwrap();
        let rows = "| a \\| b | 12.35 ± 0.25 | 12.5, 13.0 |\n| c | 0.500 | 0.250; 0.750 |\n";
        assert!(table.contains(rows), "{table}");
        figure.series[0].points = (0..100).map(|at| (f64::from(at), 1.0)).collect();
        assert_eq!(values(&figure), None);
    }
}
