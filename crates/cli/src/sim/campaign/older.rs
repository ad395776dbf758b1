//! Results that were kept when scenarios had fewer keys.
//!
//! A scenario is known by the digest of its normal form, in which each default is written out. So a key that is added
//! changes the digest of every scenario, also of those in which it has its default and nothing is different. What is kept
//! says of each key that there was what it meant then: read again by this program, it is the same scenario or another.
//! If it is the same, its points keep the digests that they were known by. A default that has changed makes another
//! scenario of it, for the kept text has the old one; and nothing is gone on with before this program has repeated one
//! run of each point exactly.
use super::{Campaign, Row, Source};
use crate::sim::{digest, folder};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// By what the results of a campaign are known in their folder.
#[derive(Debug, Default)]
pub(super) struct Older {
    /// The scenario, if not by the digest that it has.
    pub digest: Option<String>,
    /// Points, by the digests that they have.
    pub keys: BTreeMap<String, String>,
}

impl Campaign {
    /// Takes over the digests by which a folder knows the points of this scenario, which `source` is of, where they are
    /// not those that they have. What is not recognised stays unknown: another scenario, files that have changed.
    pub(crate) fn recognise(&mut self, source: &Source, path: &Path) {
        let Some((known, keys)) = folder::digests(path) else {
            return;
        };
        self.older = if known == self.digest {
            Older { digest: None, keys }
        } else {
            let keys = self.keys_in(source, path, &known);
            keys.map(|keys| Older { digest: Some(known), keys }).unwrap_or_default()
        };
        for stage in &mut self.points {
            if let Some(older) = self.older.keys.get(&stage.key) {
                stage.key.clone_from(older);
            }
        }
    }

    /// The points are known by the digests that they have.
    pub(super) fn forget_older(&mut self) {
        let Older { keys, .. } = std::mem::take(&mut self.older);
        let own: BTreeMap<_, _> = keys.into_iter().map(|(own, older)| (older, own)).collect();
        for stage in &mut self.points {
            if let Some(own) = own.get(&stage.key) {
                stage.key.clone_from(own);
            }
        }
    }

    /// The digests by which the points are known in a folder whose scenario is this one; `None` if it is another.
    fn keys_in(
        &self,
        source: &Source,
        path: &Path,
        known: &str,
    ) -> Option<BTreeMap<String, String>> {
        let (text, rows) = folder::read(path).ok()?;
        let kept = source.read_again(&text)?;
        let campaign = Self::new(&kept, None).ok()?;
        let files: String = campaign.points.iter().map(|stage| stage.scenario.files()).collect();
        let is_whole = digest::of_text(&(kept.file.base_as_written() + &files)) == known;
        if !is_whole || campaign.digest != self.digest {
            return None;
        }
        let pairs = campaign.points.iter().filter_map(|stage| {
            let key = key_of(&stage.point.values, &rows)?;
            (key != stage.key).then(|| (stage.key.clone(), key.to_owned()))
        });
        Some(pairs.collect())
    }
}

/// The digest that all runs with these values of the sweep bear, if it is one.
fn key_of<'a>(values: &[(String, String)], rows: &'a [Row]) -> Option<&'a str> {
    let of_point = rows.iter().filter(|row| row.values == values);
    let keys: BTreeSet<&str> = of_point.map(|row| row.point.as_str()).collect();
    keys.first().copied().filter(|_| keys.len() == 1)
}
