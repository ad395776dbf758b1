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
use recoup_sim::record::table::{Column, Values};
use std::borrow::Borrow;
use std::io::{self, Write};
use std::sync::Arc;

/// Writes a table that comes in pieces, each as a row group.
///
/// # Errors
/// The error of `out` or of a piece.
pub(crate) fn write<T: Borrow<Table>>(
    pieces: &mut dyn Iterator<Item = io::Result<T>>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let Some(first) = pieces.next().transpose()? else { return Ok(()) };
    let mut writer = begin(first.borrow(), out).map_err(io::Error::other)?;
    for piece in std::iter::once(Ok(first)).chain(pieces) {
        put(piece?.borrow(), &mut writer).map_err(io::Error::other)?;
    }
    writer.close().map(drop).map_err(io::Error::other)
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
    use recoup_sim::record::table::{Cell, Type as Kind};

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
        write(&mut [Ok(&table), Ok(&table)].into_iter(), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
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
        write(&mut std::iter::once(Ok(&none)), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
