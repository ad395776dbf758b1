//! Results that other processes have made become part of a folder.
use super::{Campaign, Stage};
use crate::folder::{self, ResultFolder};
use crate::journal::Row;
use crate::{Error, ErrorKind};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

impl Campaign {
    /// Takes over the runs of this campaign that are in another folder, with their records. Returns how many were new.
    ///
    /// # Errors
    /// If the other folder has results of another scenario or none, a run is in both with different digests, or a file cannot
    /// be copied.
    pub fn merge(&self, folder: &mut ResultFolder, other: &Path) -> Result<usize, Error> {
        let (_, rows) = folder::read(other)?;
        if !ResultFolder::is_for(other, &self.digest) {
            let message = format!("{} holds results of another scenario", other.display());
            return Err(Error::new(ErrorKind::Local, message)
                .with_remedy("merge folders of one scenario file with the same settings"));
        }
        // Rows stand in the order in which their runs ended. Sorted by the campaign, they give equal journals and errors.
        let places = (0..self.points.len()).filter_map(|it| Some((self.points.key(it)?, it)));
        let places: HashMap<u64, usize> = places.collect();
        let mut lines = rows.by_point();
        lines.sort_by_key(|(point, seed, _)| (*seed, places.get(point).copied()));
        let mut merged = 0;
        for (.., line) in lines {
            let row = rows.at(line)?;
            if self.is_there(folder, &row)? {
                continue;
            }
            folder.copy_files(other, &row.point, row.seed)?;
            self.keep(folder, row, &rows.units)?;
            merged += 1;
        }
        for build in folder::builds(other)? {
            folder.add_program(&build)?;
        }
        Ok(merged)
    }

    /// Keeps a run that another process has made, with the units of its metrics. A run that is there already is left alone.
    ///
    /// # Errors
    /// If the run is there with another digest, or the journal cannot be written.
    pub fn keep(
        &self,
        folder: &mut ResultFolder,
        row: Row,
        units: &BTreeMap<String, String>,
    ) -> Result<(), Error> {
        if self.is_there(folder, &row)? {
            return Ok(());
        }
        let pairs = units.iter().map(|(name, unit)| (name.clone(), unit.clone()));
        let files = folder.files(&row.point, row.seed)?;
        folder.journal.append_with(Row { files, ..row }, pairs)
    }

    /// Whether a run is in the folder already.
    ///
    /// # Errors
    /// If it is there with another digest.
    pub fn is_there(&self, folder: &ResultFolder, row: &Row) -> Result<bool, Error> {
        match folder.journal.rows.find(&row.point, row.seed)? {
            None => Ok(false),
            Some(known) if known.digest == row.digest => Ok(true),
            Some(known) => {
                let (seed, at, here, there) = (row.seed, row.at(), &known.digest, &row.digest);
                let run = format!("seed {seed}{at} ran in two ways: {here} and {there}");
                let of_classes =
                    |stage: &Stage| stage.key == row.point && !stage.registered.is_empty();
                Err(match self.points.iter().find(of_classes) {
                    Some(stage) => stage.other_algorithm(&run),
                    None => Error::new(ErrorKind::Local, run)
                        .with_remedy("make all runs with the same version of recoup"),
                })
            }
        }
    }
}
