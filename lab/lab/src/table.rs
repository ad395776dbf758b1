//! Writing tables as files.
use recoup_sim::record::Table;
use recoup_sim::record::table::{Cell, Column, Type};
use std::borrow::{Borrow, Cow};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Format of the tables in a result folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Format {
    /// Comma-separated values
    #[cfg_attr(not(feature = "parquet"), default)]
    Csv,
    /// Parquet: smaller, typed, quick to read
    #[cfg_attr(feature = "parquet", default)]
    Parquet,
}

impl Format {
    /// File name extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Writes a table.
///
/// # Errors
/// The error of `out`, or that this program was built without the format.
pub fn write(table: &Table, format: Format, out: &mut (impl Write + Send)) -> io::Result<()> {
    match format {
        Format::Csv => {
            let mut out = BufWriter::new(out);
            table.write_csv(&mut out)?;
            out.flush()
        }
        Format::Parquet => write_parquet(&mut std::iter::once(Ok(table)), Path::new(""), out),
    }
}

/// Writes a table as Parquet that comes in pieces with the same columns, which need not be in memory together: several
/// wait in a file in `folder`.
///
/// # Errors
/// As [`write()`], or the error of a piece.
pub fn write_parquet<T: Borrow<Table>>(
    pieces: &mut dyn Iterator<Item = io::Result<T>>,
    folder: &Path,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    #[cfg(feature = "parquet")]
    return super::parquet::write(pieces, folder, out);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (pieces, folder, out);
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this recoup was built without the feature `parquet`; use --format csv",
        ))
    }
}

/// The table with the values of a sweep and the seed as its first columns, the same in each row.
pub fn labelled(table: &Table, values: &[(String, String)], seed: u64) -> Table {
    let own = table.columns.iter().map(|column| column.name.as_str());
    let own: Vec<_> = own.chain(["seed"]).collect();
    let heads: Vec<_> = values.iter().map(|(axis, _)| head(axis, &own)).collect();
    let columns: Vec<_> = heads.iter().map(|head| (head.as_ref(), "", Type::Text)).collect();
    let mut whole =
        Table::new(&table.name, &[columns.as_slice(), &[("seed", "", Type::U64)]].concat());
    let mut cells: Vec<_> = values.iter().map(|(_, value)| Cell::Text(value)).collect();
    cells.push(Cell::U64(seed));
    for _ in 0..table.len() {
        whole.push(&cells);
    }
    whole.every = table.every;
    whole.columns.extend(table.columns.iter().map(Column::clone));
    whole
}

/// Heading of the column of an axis beside columns of these names.
pub fn head<'a>(axis: &'a str, others: &[&str]) -> Cow<'a, str> {
    if others.contains(&axis) { format!("sweep.{axis}").into() } else { axis.into() }
}

/// A column that may lack values: definition levels and the values that are numbers.
#[cfg(feature = "parquet")]
pub fn present(values: &[f64]) -> (Vec<i16>, Vec<f64>) {
    let levels = values.iter().map(|value| i16::from(!value.is_nan())).collect();
    (levels, values.iter().copied().filter(|value| !value.is_nan()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_carries_its_point_and_its_seed() {
        let mut table = Table::new("window", &[("time_s", "s", Type::F64)]);
        table.push(&[Cell::F64(0.5)]);
        table.push(&[Cell::F64(f64::NAN)]);
        let whole = labelled(&table, &[("link.delay".into(), "10 ms".into())], 7);
        let mut out = Vec::new();
        write(&whole, Format::Csv, &mut out).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "link.delay,seed,time_s\n10 ms,7,0.5\n10 ms,7,\n"
        );
        let axes = ["time_s", "seed"].map(|axis| (axis.to_owned(), "a".to_owned()));
        let heads: Vec<_> =
            labelled(&table, &axes, 7).columns.into_iter().map(|column| column.name).collect();
        assert_eq!(heads, ["sweep.time_s", "sweep.seed", "seed", "time_s"]);
    }
}
