//! Single parts of a scenario, for other kinds of files with the same keys.
use super::file::link;
use recoup_config::problem::{Origin, Problems};
use recoup_config::tree::Table;
use recoup_sim::network::{LinkOptions, LinkPlan};

/// Reads the properties of a link, written as in `[link]` of a scenario, onto those of its two directions.
pub fn channels(
    given: &Table,
    path: &str,
    origin: Origin,
    (forth, back): (&mut LinkOptions, &mut LinkOptions),
    problems: &mut Problems,
) {
    let mut plan = LinkPlan { forth: forth.clone(), back: back.clone(), ..LinkPlan::default() };
    let (layer, _) = link::read_link(given, path, origin, problems);
    layer.put_on(&mut plan);
    (*forth, *back) = (plan.forth, plan.back);
}
