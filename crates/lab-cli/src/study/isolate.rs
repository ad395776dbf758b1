//! `recoup study isolate`: the changes with which claims hold that fail.
use super::args::{IsolateArgs, Scale, Wanted};
use super::text::{cell, folded, put_isolated, row};
use super::verdict::{Summary, entry};
use super::{Work, output};
use crate::error::Failure;
use crate::output::Stream;
use recoup_studies::claim::{Outcome, Verdict};
use recoup_studies::isolated::Isolated;
use recoup_studies::study::Study;
use serde::Serialize;
use std::fmt;

/// The document that `--json` prints.
#[derive(Debug, Serialize)]
struct Document<'a> {
    study: &'a str,
    claims: Vec<Line<'a>>,
}

#[derive(Debug, Serialize)]
struct Line<'a> {
    /// Difference from the study's set-up.
    change: &'a str,
    /// Seeds of each point.
    seeds: u64,
    #[serde(flatten)]
    verdict: Verdict,
}

/// Makes the missing isolating runs, and judges their claims.
pub(super) fn run(args: &IsolateArgs) -> Result<(), Failure> {
    let IsolateArgs { seeds, jobs, fresh, quiet, .. } = *args;
    let key = args.key.clone();
    let wanted = Wanted { key, scale: Scale::Check, seeds, jobs, fresh, quiet };
    let mut work = Work::new(&wanted, args.results.as_ref())?;
    let chosen = chosen(work.study, &args.claims)?;
    work.gathered = work.gathering(None, |gathering| gathering.isolated(&chosen))?;
    let line = |isolated| line(isolated, &work);
    let document =
        Document { study: work.study.key(), claims: chosen.iter().filter_map(line).collect() };
    match args.json {
        true => output::json(&document, Stream::Out)?,
        false => output::print(format!("{document}\n").as_bytes())?,
    }
    if let Some(folder) = &args.out {
        put_isolated(folder, &document.table())?;
    }
    if !quiet {
        output::eprint(&work.effort());
    }
    let verdicts: Vec<_> = document.claims.iter().map(|it| it.verdict.clone()).collect();
    let mut claims = work.study.claims();
    claims.retain(|claim| chosen.iter().any(|it| it.claim == claim.id));
    Summary::new(&claims, &verdicts).judge(document.study)
}

/// The isolating runs of these claims, or all.
fn chosen(study: &Study, claims: &[String]) -> Result<Vec<Isolated>, Failure> {
    let mut all = study.isolated();
    let known: Vec<_> = all.iter().map(|it| it.claim).collect();
    if known.is_empty() {
        let message = format!("{} has no isolating runs", study.key());
        return Err(Failure::usage(message)
            .advise("its page has a table of all that the paper leaves open"));
    }
    if let Some(unknown) = claims.iter().find(|it| !known.contains(&it.as_str())) {
        let message = format!("there is no isolating run of `{unknown}`");
        return Err(Failure::usage(message).advise(format!("there is {}", known.join(", "))));
    }
    all.retain(|it| claims.is_empty() || claims.iter().any(|claim| claim == it.claim));
    Ok(all)
}

fn line<'a>(isolated: &'a Isolated, work: &Work<'_>) -> Option<Line<'a>> {
    let verdict = work.study.judge_isolated(isolated, &work.gathered.results)?;
    let seeds = isolated.seeds(work.wanted.seeds).count();
    Some(Line { change: isolated.change, seeds, verdict })
}

impl Document<'_> {
    /// The table as text that is kept with the source; comparisons that do not decide are folded.
    fn table(&self) -> String {
        let mut text = format!(
            "`recoup study isolate {}` makes these runs: all but the change is the study's set-up, and each claim is judged \
             by its own rule. A change is no estimate of what the authors had; it shows what the claim depends on.\n\n\
             | claim | with | seeds | ours | verdict |\n|---|---|---:|---|---|\n",
            self.study
        );
        for Line { change, seeds, verdict } in &self.claims {
            let first = [verdict.id.as_str(), *change, &seeds.to_string()].map(cell).into_iter();
            let ours = folded(verdict.comparisons().map(cell));
            text += &row(first.chain([ours, cell(verdict.verdict.word())]));
        }
        text
    }
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Line { change, seeds, verdict } in &self.claims {
            entry(f, verdict, Some(&format!("{change}; {seeds} seeds")))?;
        }
        let holds = |it: &&Line<'_>| it.verdict.verdict == Outcome::Holds;
        let hold = self.claims.iter().filter(holds).count();
        write!(f, "\n{}: {hold} of {} claims hold with their change", self.study, self.claims.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;
    use recoup_studies::nikzad2022::NIKZAD2022;
    use recoup_studies::result::Results;
    use recoup_studies::yang2016::YANG2016;

    #[test]
    fn unknown_claim_is_named_with_the_known_ones() {
        let failure = chosen(&NIKZAD2022, &["C-14".into(), "C-99".into()]).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.message.contains("`C-99`"), "{failure}");
        assert_eq!(chosen(&NIKZAD2022, &["C-14".into()]).unwrap().len(), 1);
        assert!(chosen(&YANG2016, &[]).unwrap_err().message.contains("no isolating runs"));
    }

    #[test]
    fn page_has_a_line_for_each_claim() {
        let all = chosen(&NIKZAD2022, &[]).unwrap();
        let line = |isolated: &Isolated| {
            let verdict = NIKZAD2022.judge_isolated(isolated, &Results::default()).unwrap();
            Line { change: isolated.change, seeds: 20, verdict }
        };
        let document = Document { study: "nikzad2022", claims: all.iter().map(line).collect() };
        let page = document.table();
        for isolated in &all {
            let line = format!("| {} | {} | 20 |", isolated.claim, isolated.change);
            assert!(page.contains(&line), "{page}");
        }
        assert!(
            document
                .to_string()
                .ends_with(&format!("0 of {} claims hold with their change", all.len()))
        );
    }
}
