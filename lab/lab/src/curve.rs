//! Curves of figures, from the tables that records made.
use crate::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::path::Path;

/// Columns of numbers of one recorded run, by column name; all of one length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The columns.
    pub columns: BTreeMap<String, Vec<f64>>,
}

impl Curve {
    /// The column of that name; empty if there is none.
    pub fn column(&self, name: &str) -> &[f64] {
        self.columns.get(name).map_or(&[], Vec::as_slice)
    }

    /// Two columns as points.
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        self.column(x).iter().copied().zip(self.column(y).iter().copied()).collect()
    }
}

/// Reads a table in a file of comma-separated values: the curve of each application in it. Columns of
/// words and columns that are empty anywhere are left out.
///
/// # Errors
/// If there is no such file, or it holds no table.
pub fn read(path: &Path) -> Result<BTreeMap<String, Curve>, Error> {
    let wrong = |error: csv::Error| {
        Error::new(ErrorKind::Local, format!("cannot read {}: {error}", path.display()))
            .with_remedy("begin anew with --fresh")
    };
    let mut reader = csv::Reader::from_path(path).map_err(wrong)?;
    let heads = reader.headers().map_err(wrong)?.clone();
    let owner = heads.iter().position(|head| head == "application");
    let mut rows: BTreeMap<String, Vec<csv::StringRecord>> = BTreeMap::new();
    for row in reader.into_records() {
        let row = row.map_err(wrong)?;
        let owner = owner.and_then(|place| row.get(place)).unwrap_or_default();
        rows.entry(owner.to_owned()).or_default().push(row);
    }
    Ok(rows.into_iter().map(|(owner, rows)| (owner, curve(&heads, &rows))).collect())
}

fn curve(heads: &csv::StringRecord, rows: &[csv::StringRecord]) -> Curve {
    let number = |row: &csv::StringRecord, place| row.get(place)?.parse::<f64>().ok();
    let column = |place| rows.iter().map(|row| number(row, place)).collect::<Option<Vec<f64>>>();
    let columns = heads.iter().enumerate();
    let columns = columns.filter_map(|(place, head)| Some((head.to_owned(), column(place)?)));
    Curve { columns: columns.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_application_has_a_curve_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("window.csv");
        let text = "design,seed,time_s,application,window,ssthresh\n\
                    \"#1, a\",1,0.5,c1,2,inf\n#1,1,0.6,c2,3.5,200\n#1,1,0.7,c1,1,\n";
        std::fs::write(&path, text).unwrap();
        let curves = read(&path).unwrap();
        assert_eq!(curves.keys().collect::<Vec<_>>(), ["c1", "c2"]);
        let columns = &curves["c1"].columns;
        assert_eq!(columns["time_s"], [0.5, 0.7]);
        assert_eq!(columns["window"], [2.0, 1.0]);
        assert!(!columns.contains_key("ssthresh") && !columns.contains_key("application"));
        assert!(
            read(&folder.path().join("none.csv")).unwrap_err().to_string().contains("none.csv")
        );
    }
}
