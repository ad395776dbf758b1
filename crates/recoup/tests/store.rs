//! A served folder as an object store.
#![cfg(feature = "object-store")]
use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::{Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt};
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use recoup::asynchronous::Client;
use recoup::store::NamedStore;
use recoup::{ServeSummary, Server};
use std::collections::BTreeSet;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::runtime::Handle;

const SEGMENT_BYTES: u64 = 8_000;
const ROWS: i64 = 20_000;

/// Ten row groups of two columns, about 3 MB.
fn write_table(path: &Path) {
    let schema = "message row { required int64 key; required int64 value; }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties)).unwrap();
    for group in 0..10 {
        let mut row_group = writer.next_row_group().unwrap();
        for factor in [1, 7] {
            let values: Vec<i64> = (0..ROWS).map(|row| (group * ROWS + row) * factor).collect();
            let mut column = row_group.next_column().unwrap().unwrap();
            let ColumnWriter::Int64ColumnWriter(typed) = column.untyped() else { panic!() };
            typed.write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        row_group.close().unwrap();
    }
    writer.close().unwrap();
}

/// An object of a store as the Parquet reader wants it; it notes the ranges that are read.
struct Table {
    store: NamedStore,
    runtime: Handle,
    size: u64,
    ranges: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Table {
    fn range(&self, range: Range<u64>) -> Bytes {
        self.ranges.lock().unwrap().push(range.clone());
        self.runtime.block_on(self.store.get_range(&"tables/t.parquet".into(), range)).unwrap()
    }
}

impl Length for Table {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Table {
    type T = Box<dyn Read>;

    /// For page headers, which are short.
    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(Box::new(Cursor::new(self.range(start..self.size.min(start + 200)))))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        Ok(self.range(start..start + length as u64))
    }
}

/// A folder with `tables/t.parquet`, `tables/more/a` and `b`, served over UDP.
async fn served(folder: &Path) -> (Server, NamedStore) {
    std::fs::create_dir_all(folder.join("tables/more")).unwrap();
    write_table(&folder.join("tables/t.parquet"));
    std::fs::write(folder.join("tables/more/a"), "first").unwrap();
    std::fs::write(folder.join("b"), vec![7; 20_000]).unwrap();
    let place = Client::builder().alone().connect().await.unwrap();
    let server = place.serve("/data").listen("udp://127.0.0.1:0").unwrap();
    let server = server.folder(folder).await.unwrap();
    let client = Client::builder().face(&server.faces()[0]).connect().await.unwrap();
    (server, NamedStore::new(client, "/data").unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_group_fetches_its_segments_only() {
    let folder = tempfile::tempdir().unwrap();
    let (server, store) = served(folder.path()).await;
    let size = store.head(&"tables/t.parquet".into()).await.unwrap().size;
    assert_eq!(server.summary().segments, 0, "metadata has the size");
    let ranges = Arc::default();
    let runtime = Handle::current();
    let table = Table { store, runtime, size, ranges: Arc::clone(&ranges) };
    let read = move || {
        let file = SerializedFileReader::new(table).unwrap();
        let group = file.get_row_group(6).unwrap();
        let rows = group.get_row_iter(None).unwrap();
        rows.map(|row| row.unwrap().to_string()).collect::<Vec<_>>()
    };
    let rows = tokio::task::spawn_blocking(read).await.unwrap();
    assert_eq!(rows.len() as i64, ROWS);
    assert_eq!(rows[5], "{key: 120005, value: 840035}");
    let segments =
        |range: &Range<u64>| range.start / SEGMENT_BYTES..range.end.div_ceil(SEGMENT_BYTES);
    let wanted: BTreeSet<u64> = ranges.lock().unwrap().iter().flat_map(segments).collect();
    let ServeSummary { segments, .. } = server.summary();
    assert_eq!(segments, wanted.len() as u64, "of {}", size.div_ceil(SEGMENT_BYTES));
    assert!(segments < size.div_ceil(SEGMENT_BYTES) / 5, "{segments}");
}

#[tokio::test]
async fn folder_is_listed_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, store) = served(folder.path()).await;
    let objects: Vec<_> = store.list(None).try_collect().await.unwrap();
    let found: Vec<_> = objects.iter().map(|object| object.location.to_string()).collect();
    assert_eq!(found, ["b", "tables/more/a", "tables/t.parquet"]);
    assert_eq!((objects[0].size, objects[1].size), (20_000, 5));
    let level = store.list_with_delimiter(Some(&"tables".into())).await.unwrap();
    assert_eq!(level.common_prefixes, ["tables/more".into()]);
    assert_eq!(level.objects[0].location, "tables/t.parquet".into());
    let whole = store.get(&"b".into()).await.unwrap().bytes().await.unwrap();
    assert_eq!(whole, vec![7; 20_000]);
    let options = GetOptions::new().with_range(Some(GetRange::Suffix(3)));
    let tail = store.get_opts(&"tables/more/a".into(), options).await.unwrap();
    assert_eq!((tail.range.clone(), tail.bytes().await.unwrap()), (2..5, "rst".into()));
}

#[tokio::test]
async fn absent_objects_and_writes_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let (_server, store) = served(folder.path()).await;
    let absent = store.get(&"none".into()).await;
    assert!(matches!(absent, Err(Error::NotFound { .. })), "{absent:?}");
    let written = store.put(&"b".into(), "new".into()).await;
    assert!(matches!(written, Err(Error::NotSupported { .. })), "{written:?}");
    let beyond = store.get_range(&"tables/more/a".into(), 9..12).await;
    assert!(beyond.is_err(), "{beyond:?}");
}
