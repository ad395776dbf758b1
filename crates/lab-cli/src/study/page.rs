//! The page of a study: one HTML file that needs no network.
//!
//! Without scripts, the page shows the pictures that are kept beside it as files. With scripts, figures show values,
//! zoom, and hide series (`page.js`, written for this page: libraries for it weigh one to five megabytes a page).
mod runs;
mod sockets_table;

pub(super) use runs::Runs;

use super::picture;
use super::text::folded;
use super::verdict::Summary;
use crate::error::{Exit, Failure};
use pulldown_cmark::{Options, Parser, html};
use recoup_studies::claim::{Claim, Outcome, Verdict};
use recoup_studies::compare::Comparison;
use recoup_studies::figure::{Figure, Style};
use recoup_studies::study::{Dependence, Study};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Style sheet of pages.
pub(crate) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Parts of a page.
pub(super) struct Page<'a> {
    pub study: &'a Study,
    pub verdicts: &'a [Verdict],
    pub dependences: &'a [Dependence],
    pub figures: &'a [Figure],
    /// The runs behind them.
    pub runs: Runs<'a>,
    /// Runs on processes, beside the simulated ones.
    pub sockets: Option<&'a Comparison>,
    /// How the results were made.
    pub origin: String,
    /// How much was run.
    pub scale: &'static str,
    /// Seeds that each point has at least.
    pub seeds: u64,
}

impl Page<'_> {
    /// The text of the page.
    ///
    /// # Errors
    /// If a figure cannot be drawn.
    pub(super) fn render(&self) -> Result<String, Failure> {
        let (key, title) = (self.study.key(), escape(self.study.title()));
        let mut page = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{key}: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n<p class=\"source\">{}</p>\n",
            escape(self.study.source())
        );
        page += &self.sums();
        page += &self.contents();
        page += &self.claims();
        page += &self.drawn()?;
        page += &self.sockets.map_or_else(String::new, sockets_table::both);
        page += &self.open();
        let _ = write!(page, "<h2 id=\"room\">Question, set-up, deviations</h2>\n{}", self.room());
        let _ = write!(
            page,
            "<p class=\"small\">{}</p>\n</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            escape(&self.origin)
        );
        Ok(page)
    }

    fn sums(&self) -> String {
        let summary = Summary::new(&self.study.claims(), self.verdicts);
        let one = |class: &str, count: usize, text: &str| {
            format!("<li class=\"{class}\"><b>{count}</b>{text}</li>\n")
        };
        let mut list = String::from("<ul class=\"sums\">\n");
        list += &one("holds", summary.hold, "gating claims hold");
        list += &one("fails", summary.fail, "gating claims fail");
        list += &one("undecided", summary.undecided, "gating claims undecided");
        list += &one("reported", summary.others, "claims beside them");
        list + "</ul>\n"
    }

    fn contents(&self) -> String {
        let mut links = vec![("claims", "Claims")];
        if !self.figures.is_empty() {
            links.push(("figures", "Figures"));
        }
        if self.sockets.is_some() {
            links.push(("sockets", "On real processes"));
        }
        if !self.dependences.is_empty() {
            links.push(("open", "What the paper leaves open"));
        }
        links.push(("room", "Question, set-up, deviations"));
        let link = |(id, text): (&str, &str)| format!("<a href=\"#{id}\">{text}</a>");
        format!("<nav>{}</nav>\n", links.into_iter().map(link).collect::<String>())
    }

    fn claims(&self) -> String {
        let claims = self.study.claims();
        let by_id: BTreeMap<&str, &Claim> =
            claims.iter().map(|claim| (claim.id.as_str(), claim)).collect();
        let mut table = String::from(
            "<h2 id=\"claims\">Claims</h2>\n<p class=\"small\">Class R should survive another substrate and \
             decides whether the study holds, unless the claim helped to fix what the paper leaves open; M \
             depends on what is not stated, T on the testbed, X is doubtful in the source. Intervals are for \
             95 %, over paired seeds.</p>\n<div class=\"wide\"><table class=\"claims\">\n<tr><th>Claim</th>\
             <th>Class</th><th>What</th><th>Paper</th><th>Ours</th><th>Verdict</th><th>Why</th></tr>\n",
        );
        let mut metric = String::new();
        for verdict in self.verdicts {
            let claim = by_id.get(verdict.id.as_str()).copied();
            // The row of the claim's own metric comes without a label.
            let own = claim.map(|claim| claim.metric.as_str()).filter(|own| *own != "same");
            metric = own.map_or(metric, str::to_owned);
            table += &row(verdict, claim, &metric);
        }
        table + "</table></div>\n"
    }

    fn drawn(&self) -> Result<String, Failure> {
        if self.figures.is_empty() {
            return Ok(String::new());
        }
        Ok(format!("<h2 id=\"figures\">Figures</h2>\n{}", drawn(self.figures, Some(&self.runs))?))
    }

    /// Each value of what is open with what becomes of the claims; a table for those that are about the same claims.
    fn open(&self) -> String {
        if self.dependences.iter().all(|it| it.findings.is_empty()) {
            return String::new();
        }
        let mut text = String::from(
            "<h2 id=\"open\">What the paper leaves open</h2>\n<p class=\"small\">Each line is an assumption \
             in place of something that the paper does not state, and what becomes of the claims with it. \
             Tinted lines are what this study assumes. ✓ holds, ✗ fails, ? undecided; pointing at a mark \
             shows the values.</p>\n",
        );
        for lines in self.dependences.chunk_by(|a, b| ids(a).eq(ids(b))) {
            text += &grid(lines);
        }
        text
    }

    fn room(&self) -> String {
        let mut text = String::new();
        let readme = self.study.readme();
        // The page has its own title.
        let body = match readme.split_once('\n') {
            Some((title, body)) if title.starts_with("# ") => body,
            _ => readme,
        };
        html::push_html(&mut text, Parser::new_ext(body, Options::ENABLE_TABLES));
        // Its headings stand below the page's.
        text.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
    }
}

/// Figures with the script that lets a reader point, enlarge and leave out.
///
/// # Errors
/// If a figure cannot be drawn.
pub(crate) fn figures(figures: &[Figure]) -> Result<String, Failure> {
    Ok(format!("{}<script>\n{SCRIPT}</script>", drawn(figures, None)?))
}

fn drawn(figures: &[Figure], runs: Option<&Runs<'_>>) -> Result<String, Failure> {
    let mut text = String::from(
        "<p class=\"small\">Point at something to read its values, drag over a part to enlarge it, press a \
         name to leave it out.",
    );
    if runs.is_some() {
        text += " Press a point for the command that opens its run.";
    }
    text += "</p>\n";
    for figure in figures {
        let mut data = data(figure);
        if let Some(runs) = runs {
            data["runs"] = runs.of(figure);
        }
        let data = data.to_string().replace('<', "\\u003c");
        let _ = write!(
            text,
            "<h3 id=\"figure-{id}\">{}</h3>\n<div class=\"figure\">\
             <script type=\"application/json\">{data}</script>\n{}</div>\n\
             <p class=\"caption\">{} <a href=\"{id}.svg\">Picture</a></p>\n",
            escape(&figure.title),
            picture::draw(figure)?,
            escape(&figure.caption),
            id = escape(&figure.id),
        );
    }
    Ok(text)
}

/// The claims that a line is about.
fn ids(line: &Dependence) -> impl Iterator<Item = &'static str> {
    line.findings.iter().map(|(id, _)| *id)
}

/// Lines that are about the same claims.
fn grid(lines: &[Dependence]) -> String {
    let heads: String = lines.first().into_iter().flat_map(ids).map(head).collect();
    let mut table = format!(
        "<div class=\"wide\"><table class=\"grid\">\n<tr><th>Open</th><th>Assumption</th>{heads}</tr>\n"
    );
    for line in lines {
        let class = if line.is_assumed { " class=\"assumed\"" } else { "" };
        let (parameter, value) = (escape(line.parameter), escape(&line.value));
        let _ = write!(table, "<tr{class}><td>{parameter}</td><td>{value}</td>");
        for (_, finding) in &line.findings {
            let (class, mark) = (finding.outcome.word(), mark(finding.outcome));
            let ours = escape(&finding.ours);
            let _ = write!(
                table,
                "<td class=\"cell\"><span class=\"{class}\" title=\"{ours}\">{mark}</span></td>"
            );
        }
        table += "</tr>\n";
    }
    table + "</table></div>\n"
}

fn head(id: &str) -> String {
    format!("<th>{}</th>", escape(id))
}

fn row(verdict: &Verdict, claim: Option<&Claim>, metric: &str) -> String {
    let gates = claim.is_some_and(Claim::is_gating);
    let class = if gates { format!("<b>{}</b>", verdict.class) } else { verdict.class.to_string() };
    let what = claim.map_or_else(String::new, |claim| {
        let part = |text: &str| escape(text);
        format!(
            "{}: {}<br><span class=\"small\">{}; {}</span>",
            part(&claim.place),
            part(metric),
            part(&claim.scenario),
            part(&claim.algorithms)
        )
    });
    let terms = claim.map_or_else(String::new, |claim| {
        let remark = match claim.remark.as_str() {
            "" => String::new(),
            remark => format!(" Remark: {}.", escape(remark)),
        };
        format!("<br><span class=\"small\">Accepted: {}.{remark}</span>", escape(&claim.acceptance))
    });
    let word = verdict.verdict.word();
    let former = verdict.former.as_ref().map_or_else(String::new, |it| {
        let text = format!("by the rule until {}: {}", it.until, it.verdict.word());
        format!("<br><span class=\"small\">{}</span>", escape(&text))
    });
    format!(
        "<tr><td class=\"number\">{}</td><td>{class}</td><td>{what}</td><td>{}</td><td>{}</td>\
         <td><span class=\"badge {word}\">{word}</span>{former}</td><td>{}{terms}</td></tr>\n",
        escape(&verdict.id),
        escape(&verdict.paper),
        folded(verdict.comparisons().map(escape)),
        escape(&verdict.why)
    )
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "✓",
        Outcome::Fails => "✗",
        Outcome::Reported => "·",
        Outcome::Open => "?",
    }
}

/// A figure as the script reads it.
fn data(figure: &Figure) -> Value {
    let axis = |axis: &recoup_studies::figure::Axis| {
        json!({
            "label": axis.label, "unit": axis.unit, "logarithmic": axis.logarithmic,
            "categories": axis.categories,
        })
    };
    let style = |style| match style {
        Style::Line => "line",
        Style::Steps => "steps",
        Style::Dots => "dots",
        Style::Bars => "bars",
        Style::Paper => "paper",
        Style::Reference => "reference",
    };
    let series = figure.series.iter().map(|series| {
        let points: Vec<_> = series.points.iter().map(|it| [short(it.0), short(it.1)]).collect();
        let errors: Vec<_> = series.errors.iter().map(|it| short(*it)).collect();
        json!({
            "name": series.name, "style": style(series.style), "points": points, "errors": errors,
            "paperOf": series.paper_of,
        })
    });
    json!({
        "id": figure.id, "title": figure.title, "x": axis(&figure.x), "y": axis(&figure.y),
        "series": series.collect::<Vec<_>>(),
    })
}

/// A number with the digits that a figure can show; what is not finite counts as none.
fn short(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.6}").parse().unwrap_or(0.0) } else { 0.0 }
}

/// Text as it stands in HTML, in attributes too.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Writes the page and its pictures into a folder; returns the path of the page.
pub(super) fn write(
    page: &Page<'_>,
    folder: &std::path::Path,
) -> Result<std::path::PathBuf, Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
    pictures(page.figures, folder)?;
    let path = folder.join("index.html");
    std::fs::write(&path, page.render()?)
        .map_err(|error| Failure::file("write", path.display(), &error))?;
    Ok(path)
}

/// Writes each figure into an existing folder: as SVG, and with the feature `png` as PNG.
pub(super) fn pictures(figures: &[Figure], folder: &std::path::Path) -> Result<(), Failure> {
    let write = |name: String, content: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, content)
            .map_err(|error| Failure::file("write", path.display(), &error))
    };
    #[cfg(feature = "png")]
    let painter = super::png::Painter::new();
    #[cfg(feature = "png")]
    if painter.is_none() {
        crate::output::eprint(
            "no fonts are installed, without which pictures have no words: no PNG, only SVG",
        );
    }
    for figure in figures {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if !figure.id.chars().all(plain) {
            let message = format!("`{}` is no name for a picture", figure.id);
            return Err(Failure::new(Exit::Other, message));
        }
        let svg = picture::draw(figure)?;
        write(format!("{}.svg", figure.id), svg.as_bytes())?;
        #[cfg(feature = "png")]
        if let Some(painter) = &painter {
            write(format!("{}.png", figure.id), &painter.paint(&svg)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_studies::result::Results;

    fn page(study: &Study, figures: &[Figure]) -> String {
        let results = Results::default();
        let verdicts = study.judge(&results);
        let dependences = study.dependences(&results);
        let origin = "made by <none>".to_owned();
        let (verdicts, dependences) = (verdicts.as_slice(), dependences.as_slice());
        let (scale, seeds) = ("check", 20);
        let folders = BTreeMap::new();
        let runs = Runs::new(Vec::new(), &results, &folders);
        let sockets = None;
        let page =
            Page { study, verdicts, dependences, figures, runs, sockets, origin, scale, seeds };
        page.render().unwrap()
    }

    #[test]
    fn page_has_all_claims_and_loads_nothing() {
        let figures = [super::super::picture::tests::example()];
        for study in recoup_studies::all() {
            let text = page(study, &figures);
            for claim in study.claims() {
                let cell = format!("<td class=\"number\">{}</td>", claim.id);
                assert!(text.contains(&cell), "{}", claim.id);
            }
            for open in study.dependences(&Results::default()) {
                assert!(text.contains(&format!("<td>{}</td>", escape(&open.value))), "{open:?}");
            }
            for piece in ["made by &lt;none&gt;", "undecided", "id=\"figure-example\"", "\\u003cto"]
            {
                assert!(text.contains(piece), "{piece}");
            }
            for outside in ["src=", "<link", "@import", "url(http", "fetch("] {
                assert!(!text.contains(outside), "{outside}");
            }
        }
    }

    #[test]
    fn what_was_not_run_has_no_figures() {
        let text = page(recoup_studies::all()[0], &[]);
        assert!(!text.contains("id=\"figures\"") && !text.contains("href=\"#figures\""));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
    }
}
