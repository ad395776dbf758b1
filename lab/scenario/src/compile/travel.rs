//! Motion of the stations of a medium: fields of nodes, and the files that they name.
use recoup_sim::network::NodePlan;
use recoup_transport::random::Rng;
use recoup_transport::time::Instant;
use recoup_wifi::motion::Motion;
use recoup_wifi::motion::plan::{MotionPlan, Recording};
use recoup_wifi::motion::trace::{self, TraceError, Unit};
use recoup_wifi::propagation::Position;
use std::collections::BTreeMap;

/// Files already read, by path and format.
type Files<K, M> = BTreeMap<K, Result<M, TraceError>>;

/// Motions of nodes until the end of a run, each drawn from a stream of its own.
pub(crate) struct Travels<'a> {
    /// The text of each file.
    files: &'a BTreeMap<String, String>,
    ns2: Files<String, BTreeMap<u32, Motion>>,
    sumo: Files<(String, Unit), BTreeMap<String, Motion>>,
    bonnmotion: Files<(String, usize), Vec<Motion>>,
    until: Instant,
    rng: Rng,
}

impl<'a> Travels<'a> {
    pub(super) fn new(files: &'a BTreeMap<String, String>, until: Instant, rng: &Rng) -> Self {
        let (ns2, sumo, bonnmotion) = Default::default();
        Self { files, ns2, sumo, bonnmotion, until, rng: rng.substream("motion") }
    }

    /// The motion of a node that has `place`, unless it begins elsewhere; `None` if it has none and
    /// needs one.
    ///
    /// # Errors
    /// The problem of the motion.
    pub(crate) fn motion(
        &mut self,
        node: &NodePlan,
        place: Option<Position>,
    ) -> Result<Option<Motion>, String> {
        let text = node.motion.as_deref().unwrap_or("still");
        let plan = MotionPlan::parse(text).map_err(|error| error.to_string())?;
        if plan.needs_place() && place.is_none() {
            return Ok(None);
        }
        if let MotionPlan::Recorded(recording) = &plan {
            return self.recorded(recording).map(Some);
        }
        let mut rng = self.rng.substream(&node.name);
        let motion = plan.motion(place.unwrap_or_default(), self.until, &mut rng);
        motion.map(Some).map_err(|error| error.to_string())
    }

    fn recorded(&mut self, recording: &Recording) -> Result<Motion, String> {
        let files = self.files;
        let text = |file: &str| files.get(file).map_or("", String::as_str);
        let (file, read) = match recording {
            Recording::Ns2 { file, node } => {
                let known = self.ns2.entry(file.clone());
                let known = known.or_insert_with(|| trace::ns2(text(file)));
                (file, found(known, node))
            }
            Recording::Sumo { file, vehicle, unit } => {
                let known = self.sumo.entry((file.clone(), *unit));
                let known = known.or_insert_with(|| trace::sumo(text(file), *unit));
                (file, found(known, vehicle))
            }
            Recording::BonnMotion { file, node, dimensions } => {
                let known = self.bonnmotion.entry((file.clone(), *dimensions));
                let known = known.or_insert_with(|| trace::bonnmotion(text(file), *dimensions));
                (file, line(known, *node))
            }
        };
        read.map_err(|problem| format!("{file}:{problem}"))
    }
}

/// The motion of a node by its number.
fn line(known: &Result<Vec<Motion>, TraceError>, node: u32) -> Result<Motion, String> {
    match known {
        Err(error) => Err(error.to_string()),
        Ok(motions) => motions.get(node as usize).cloned().ok_or_else(|| {
            format!(" it has {} nodes, counted from 0, and no node {node}", motions.len())
        }),
    }
}

fn found<K: Ord + std::fmt::Display>(
    known: &Result<BTreeMap<K, Motion>, TraceError>,
    key: &K,
) -> Result<Motion, String> {
    match known {
        Err(error) => Err(error.to_string()),
        Ok(motions) => match motions.get(key) {
            Some(motion) => Ok(motion.clone()),
            None => Err(format!(" `{key}` moves nowhere in it; it moves {}", few(motions.keys()))),
        },
    }
}

/// The first of some names.
fn few<K: std::fmt::Display>(keys: impl ExactSizeIterator<Item = K>) -> String {
    let count = keys.len();
    let names: Vec<_> = keys.take(5).map(|key| format!("`{key}`")).collect();
    match count {
        0 => "no node".to_owned(),
        1..=5 => names.join(", "),
        _ => format!("{}, … ({count} in all)", names.join(", ")),
    }
}
