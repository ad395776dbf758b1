//! Tables as Arrow streams, by the Arrow C stream interface.
//!
//! Polars, pyarrow, pandas and DuckDB read an object with `__arrow_c_stream__`; none of them is a dependency.
use arrow_array::builder::{StringDictionaryBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::UInt32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use recoup_sim::record::Table;
use recoup_sim::record::table::{Column, Values, Words};
use std::collections::HashMap;
use std::sync::Arc;

/// The table as a capsule that holds an Arrow stream of one batch. Units of columns are in the metadata of fields (`unit`).
pub(crate) fn stream<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = batch(table).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let schema = batch.schema();
    let reader = RecordBatchIterator::new([Ok::<_, ArrowError>(batch)], schema);
    let stream = FFI_ArrowArrayStream::new(Box::new(reader));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<_> = table.columns.iter().map(field).collect();
    let every = HashMap::from([("every".to_owned(), table.every.to_string())]);
    let schema = Arc::new(Schema::new(fields).with_metadata(every));
    if table.columns.is_empty() {
        return Ok(RecordBatch::new_empty(schema));
    }
    let columns: Result<Vec<_>, _> = table.columns.iter().map(|it| array(&it.values)).collect();
    RecordBatch::try_new(schema, columns?)
}

fn field(column: &Column) -> Field {
    let kind = match &column.values {
        Values::U64(_) => DataType::UInt64,
        Values::I64(_) => DataType::Int64,
        Values::F64(_) => DataType::Float64,
        Values::Text(_) => {
            DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8))
        }
        Values::Bool(_) => DataType::Boolean,
    };
    // Only numbers may be absent.
    let field = Field::new(&column.name, kind, matches!(column.values, Values::F64(_)));
    match column.unit {
        "" => field,
        unit => field.with_metadata(HashMap::from([("unit".to_owned(), unit.to_owned())])),
    }
}

fn array(values: &Values) -> Result<ArrayRef, ArrowError> {
    Ok(match values {
        Values::U64(numbers) => {
            let mut builder = UInt64Builder::with_capacity(numbers.len());
            builder.append_slice(numbers);
            Arc::new(builder.finish())
        }
        Values::I64(numbers) => Arc::new(Int64Array::from(numbers.clone())),
        Values::F64(numbers) => {
            let present = numbers.iter().map(|number| Some(*number).filter(|it| !it.is_nan()));
            Arc::new(present.collect::<Float64Array>())
        }
        Values::Text(words) => text(words)?,
        Values::Bool(truths) => Arc::new(BooleanArray::from(truths.clone())),
    })
}

fn text(words: &Words) -> Result<ArrayRef, ArrowError> {
    let dictionary = StringArray::from_iter_values(&words.dictionary);
    let mut builder =
        StringDictionaryBuilder::<UInt32Type>::new_with_dictionary(words.rows.len(), &dictionary)?;
    for word in words.iter() {
        builder.append(word)?;
    }
    Ok(Arc::new(builder.finish()))
}
