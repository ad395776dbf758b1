//! The kept result of a study as text: tables in Markdown, pictures beside them, and a summary as JSON. They are small
//! enough to be kept with the source, so that documentation can be made of them; runs themselves are not kept.
//!
//! `claims.md` has every comparison of every claim, verdicts by what the paper leaves open, and the figures. The study's own
//! page beside it, `README.md`, is written by hand.
use super::picture;
use super::verdict::Summary;
use crate::error::Failure;
use recoup_studies::claim::{Claim, Former, Outcome, Verdict};
use recoup_studies::figure::Figure;
use recoup_studies::kept::{self, KeptPoint};
use recoup_studies::study::{Dependence, Study};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Slices of a curve that are drawn.
const SLICES: usize = 150;
/// The page with the tables.
const CLAIMS: &str = "claims.md";
/// The result as a document.
pub(super) const RESULT: &str = "result.json";
/// Heading of the last section, of earlier isolating runs.
const ISOLATED: &str = "\n## Changes with which failing claims hold\n";

/// A study's result, of which the page is made.
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
    /// Gating claims whose rule was corrected, and the part of them whose verdict has changed.
    corrected: usize,
    changed: usize,
    claims: Vec<Judged<'a>>,
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

/// Writes the page, its pictures, `result.json` and `digests.csv` into a folder; returns the path of the page. Keeps the
/// section of earlier isolating runs.
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
    let mut json = serde_json::to_string_pretty(&document(page)).unwrap_or_default();
    json.push('\n');
    put(RESULT, &json)?;
    put(kept::FILE, &kept::text(digests))?;
    let path = folder.join(CLAIMS);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let isolated = kept.find(ISOLATED).and_then(|at| kept.get(at..)).unwrap_or_default();
    put(CLAIMS, &(tables(page, &figures) + isolated))?;
    Ok(path)
}

fn document<'a>(page: &'a Page<'_>) -> Document<'a> {
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
    }
}

fn thin(figure: &Figure) -> Figure {
    let series = figure.series.iter().map(|series| series.thinned(SLICES));
    Figure { series: series.collect(), ..figure.clone() }
}

/// The page without the section of the isolating runs.
fn tables(page: &Page<'_>, figures: &[Figure]) -> String {
    let key = page.study.key();
    let head = format!(
        "# {key}: claims\n\n`recoup study report {key}` writes this page. [Question, result and set-up](README.md).\n\n"
    );
    let origin = format!("## Origin\n\n{}\n", page.origin);
    [head, claims(page), open(page), drawn(figures), origin].concat()
}

/// All claims with every comparison; those that do not decide are folded.
fn claims(page: &Page<'_>) -> String {
    let claims = page.study.claims();
    let mut text = String::from(
        "**R** gates; R that helped to fix a parameter, M, T and X do not \
         ([classes](../../studies.md#verdicts)).\n\n\
         | claim | class | what | paper | ours | verdict | why |\n|---|---|---|---|---|---|---|\n",
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
    text + "\n"
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

/// The figures, a line each.
fn drawn(figures: &[Figure]) -> String {
    let mut text = String::from("## Figures\n\n| figure | caption |\n|---|---|\n");
    for Figure { id, title, caption, .. } in figures {
        text += &row([format!("[{}]({id}.svg)", cell(title)), cell(caption)].into_iter());
    }
    text + "\n"
}

/// Each value of what is open, with what becomes of the claims. A table for those values that are about the same claims.
fn open(page: &Page<'_>) -> String {
    let lines: Vec<_> = page.dependences.iter().filter(|it| !it.findings.is_empty()).collect();
    let mut text = String::from(match lines.is_empty() {
        true => "",
        false => {
            "## What the paper leaves open\n\nEach line is an assumption in place of a number that the paper does \
             not state; **bold** is what the study assumes. + holds, − fails, ? undecided.\n\n"
        }
    });
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
    text
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
            let page = Page {
                study,
                verdicts: &verdicts,
                dependences: &dependences,
                figures: &[],
                origin: "made here".into(),
                scale: "check",
                seeds: 20,
            };
            let text = tables(&page, &[super::super::picture::tests::example()]);
            for claim in study.claims() {
                assert!(text.contains(&format!("\n| {} | ", claim.id)), "{}", claim.id);
            }
            assert!(text.contains("(example.svg)") && text.ends_with("made here\n"), "{text}");
            for table in text.split("\n\n").filter(|part| part.starts_with('|')) {
                let bars = |line: &str| line.replace("\\|", "").matches('|').count();
                let first = table.lines().next().map(bars);
                assert!(table.lines().all(|line| Some(bars(line)) == first), "{table}");
            }
            let result = document(&page);
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
}
