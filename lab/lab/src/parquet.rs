//! Tables as Parquet files: compressed by Snappy, units in the metadata.
use super::table::present;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use recoup_sim::record::Table;
use recoup_sim::record::table::{Cell, Column, Type as Kind, Values};
use std::borrow::Borrow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

/// Rows of a group, at least.
const GROUP_ROWS: usize = 1 << 20;
/// Most bytes of a column's dictionary. Pages of a column wait in memory until its dictionary is written.
const DICTIONARY_BYTES: usize = 128 << 10;

/// Writes a table that comes in pieces: groups of many rows, since a writer keeps metadata of each column of each group.
///
/// # Errors
/// The error of `out`, of a piece, or of a file in `folder`.
pub(crate) fn write<T: Borrow<Table>>(
    pieces: &mut dyn Iterator<Item = io::Result<T>>,
    folder: &Path,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let Some(first) = pieces.next().transpose()? else { return Ok(()) };
    let mut writer = begin(first.borrow(), out).map_err(io::Error::other)?;
    let Some(second) = pieces.next() else {
        put(first.borrow(), &mut writer).map_err(io::Error::other)?;
        return writer.close().map(drop).map_err(io::Error::other);
    };
    let (file, rows, columns) = (tempfile::tempfile_in(folder)?, 0, Vec::new());
    let mut waiting = Waiting { file, rows, columns };
    for piece in [Ok(first), second].into_iter().chain(pieces) {
        waiting.add(piece?.borrow())?;
        if waiting.rows >= GROUP_ROWS {
            waiting.put(&mut writer).map_err(io::Error::other)?;
        }
    }
    if waiting.rows > 0 {
        waiting.put(&mut writer).map_err(io::Error::other)?;
    }
    writer.close().map(drop).map_err(io::Error::other)
}

/// Rows in a file. They come row by row, and go column by column.
struct Waiting {
    file: File,
    rows: usize,
    /// Of each column its type, and where its cells begin and end in each piece.
    columns: Vec<(Kind, Vec<(u64, u64)>)>,
}

impl Waiting {
    fn add(&mut self, piece: &Table) -> io::Result<()> {
        let kinds = piece.columns.iter().map(|column| (column.values.kind(), Vec::new()));
        if self.columns.is_empty() {
            self.columns = kinds.collect();
        }
        let mut place = self.file.stream_position()?;
        let mut out = BufWriter::new(&mut self.file);
        for (column, (_, places)) in piece.columns.iter().zip(&mut self.columns) {
            let begin = place;
            for row in 0..column.values.len() {
                let (number, text) = match column.values.get(row) {
                    Cell::U64(number) => (number, ""),
                    Cell::I64(number) => (number.cast_unsigned(), ""),
                    Cell::F64(number) => (number.to_bits(), ""),
                    Cell::Bool(truth) => (truth.into(), ""),
                    Cell::Text(text) => (text.len() as u64, text),
                };
                out.write_all(&number.to_le_bytes())?;
                out.write_all(text.as_bytes())?;
                place += 8 + text.len() as u64;
            }
            places.push((begin, place));
        }
        self.rows += piece.len();
        out.flush()
    }

    /// Writes all as a row group.
    fn put(&mut self, writer: &mut SerializedFileWriter<impl Write + Send>) -> Result<()> {
        let mut group = writer.next_row_group()?;
        let mut bytes = Vec::new();
        for (kind, places) in &mut self.columns {
            let Some(mut place) = group.next_column()? else { break };
            for (begin, end) in places.drain(..) {
                bytes.resize((end - begin) as usize, 0);
                self.file.seek(SeekFrom::Start(begin))?;
                self.file.read_exact(&mut bytes)?;
                let mut cells = Table::new("", &[("", "", *kind)]);
                let mut rest = bytes.as_slice();
                while let Some(cell) = cell(*kind, &mut rest) {
                    cells.push(&[cell]);
                }
                cells.columns.iter().try_for_each(|cells| values(&cells.values, &mut place))?;
            }
            place.close()?;
        }
        self.rows = 0;
        self.file.rewind()?;
        group.close().map(drop)
    }
}

/// First of these cells, which it leaves out.
fn cell<'a>(kind: Kind, bytes: &mut &'a [u8]) -> Option<Cell<'a>> {
    let (number, rest) = bytes.split_first_chunk()?;
    let number = u64::from_le_bytes(*number);
    *bytes = rest;
    Some(match kind {
        Kind::U64 => Cell::U64(number),
        Kind::I64 => Cell::I64(number.cast_signed()),
        Kind::F64 => Cell::F64(f64::from_bits(number)),
        Kind::Bool => Cell::Bool(number > 0),
        Kind::Text => {
            let (text, rest) = rest.split_at_checked(number as usize)?;
            *bytes = rest;
            Cell::Text(str::from_utf8(text).ok()?)
        }
    })
}

fn begin<W: Write + Send>(table: &Table, out: W) -> Result<SerializedFileWriter<W>> {
    let fields: Vec<_> = table.columns.iter().map(field).collect::<Result<_>>()?;
    let schema = Type::group_type_builder(&table.name).with_fields(fields).build()?;
    let units = table.columns.iter().filter(|column| !column.unit.is_empty());
    let mut notes: Vec<_> = units
        .map(|column| KeyValue::new(format!("unit.{}", column.name), column.unit.to_owned()))
        .collect();
    notes.push(KeyValue::new("every".to_owned(), table.every.to_string()));
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES)
        .set_created_by(concat!("recoup ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(notes))
        .build();
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))
}

fn put(table: &Table, writer: &mut SerializedFileWriter<impl Write + Send>) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for column in &table.columns {
        if let Some(mut place) = group.next_column()? {
            values(&column.values, &mut place)?;
            place.close()?;
        }
    }
    group.close().map(drop)
}

fn field(column: &Column) -> Result<Arc<Type>> {
    let (physical, converted) = match &column.values {
        Values::U64(_) => (Physical::INT64, ConvertedType::UINT_64),
        Values::I64(_) => (Physical::INT64, ConvertedType::NONE),
        Values::F64(_) => (Physical::DOUBLE, ConvertedType::NONE),
        Values::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        Values::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE),
    };
    // A number may be absent.
    let repetition = match &column.values {
        Values::F64(_) => Repetition::OPTIONAL,
        _ => Repetition::REQUIRED,
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    builder.with_converted_type(converted).with_repetition(repetition).build().map(Arc::new)
}

fn values(values: &Values, place: &mut SerializedColumnWriter<'_>) -> Result<()> {
    match values {
        Values::U64(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(|number| number.cast_signed()).collect();
            place.typed::<Int64Type>().write_batch(&numbers, None, None)?;
        }
        Values::I64(numbers) => {
            place.typed::<Int64Type>().write_batch(numbers, None, None)?;
        }
        Values::F64(numbers) => {
            let (levels, numbers) = present(numbers);
            place.typed::<DoubleType>().write_batch(&numbers, Some(&levels), None)?;
        }
        Values::Text(words) => {
            let dictionary: Vec<_> =
                words.dictionary.iter().map(|word| ByteArray::from(word.as_str())).collect();
            let word = |place: &u32| dictionary.get(*place as usize).cloned().unwrap_or_default();
            let rows: Vec<_> = words.rows.iter().map(word).collect();
            place.typed::<ByteArrayType>().write_batch(&rows, None, None)?;
        }
        Values::Bool(truths) => {
            place.typed::<BoolType>().write_batch(truths, None, None)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    #[test]
    fn a_reader_of_parquet_finds_every_value() {
        let columns = [
            ("n", "segments", Kind::U64),
            ("i", "", Kind::I64),
            ("x", "s", Kind::F64),
            ("place", "", Kind::Text),
            ("yes", "", Kind::Bool),
        ];
        let mut table = Table::new("all", &columns);
        let rows = [
            (u64::MAX, -1, 0.5, "c1", true),
            (7, 2, f64::NAN, "c2", false),
            (8, 3, f64::INFINITY, "c1", true),
        ];
        for (n, i, x, place, yes) in rows {
            table.push(&[
                Cell::U64(n),
                Cell::I64(i),
                Cell::F64(x),
                Cell::Text(place),
                Cell::Bool(yes),
            ]);
        }
        let mut out = Vec::new();
        let folder = tempfile::tempdir().unwrap();
        write(&mut [Ok(&table), Ok(&table)].into_iter(), folder.path(), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(reader.num_row_groups(), 1);
        let read: Vec<Vec<Field>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect())
            .collect();
        assert_eq!(read.len(), 6);
        assert_eq!(read[..3], read[3..]);
        assert_eq!(
            read[0],
            [
                Field::ULong(u64::MAX),
                Field::Long(-1),
                Field::Double(0.5),
                Field::Str("c1".into()),
                Field::Bool(true)
            ]
        );
        assert_eq!(read[1][2], Field::Null);
        assert_eq!(read[2][2], Field::Double(f64::INFINITY));
        let notes = reader.metadata().file_metadata().key_value_metadata().unwrap();
        assert!(notes.iter().any(|note| note.key == "unit.n"));
    }

    #[test]
    fn empty_table_is_a_file() {
        let mut out = Vec::new();
        let none = Table::new("none", &[("x", "", Kind::F64)]);
        write(&mut std::iter::once(Ok(&none)), Path::new(""), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
