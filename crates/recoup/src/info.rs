//! Metadata of an object, before its content is fetched.
use crate::client::Client;
use crate::error::{Error, Result};
use crate::fetch::FetchBuilder;
use crate::mode::Blocking;
use crate::name::ToName;
use crate::reader::Reader;
use crate::transfer::is_listing;
use crate::wait::block_on;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use recoup_packet::object_id::ObjectId;
use std::time::{Duration, SystemTime};

/// A producer's metadata of the newest version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectInfo {
    /// Its name, with the version.
    pub name: Name,
    /// Length in bytes.
    pub size: Option<u64>,
    /// Length of every segment but the last, in bytes.
    pub segment_bytes: Option<u64>,
    /// Number of the last segment.
    pub last_segment: Option<u64>,
    /// Time of the last change.
    pub modified: Option<SystemTime>,
    /// Whether it is the listing of a folder.
    pub is_folder: bool,
    /// Identifier of the content, which differs for other content of the same name; `None` if its producer states none.
    pub id: Option<ObjectId>,
}

impl ObjectInfo {
    /// Number of the version, if the name ends in one.
    pub fn version(&self) -> Option<u64> {
        let last = self.name.last()?;
        Convention::of_version(&last)?.parse_version(&last)
    }

    pub(crate) fn new(name: Name) -> Self {
        Self {
            name,
            size: None,
            segment_bytes: None,
            last_segment: None,
            modified: None,
            is_folder: false,
            id: None,
        }
    }

    fn of_metadata(asked: &Name, metadata: Metadata) -> Self {
        let since_1970 = |ns| SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(ns));
        Self {
            is_folder: is_listing(asked, &metadata.versioned),
            id: metadata.object_id,
            name: metadata.versioned,
            size: metadata.size,
            segment_bytes: metadata.segment_size,
            last_segment: metadata.final_block,
            modified: metadata.mtime_ns.and_then(since_1970),
        }
    }

    /// Finds the newest version of the object of `builder`. Without metadata only its name is known.
    pub(crate) async fn discover<M>(builder: &FetchBuilder<M>) -> Result<Self> {
        let discovery = builder.begin_discovery()?;
        discovery.end().await?;
        let (object, metadata) = {
            let mut state = discovery.flow.lock();
            (state.object.clone(), state.metadata.take())
        };
        let asked = builder.name.clone()?;
        Ok(match metadata {
            Some(metadata) => Self::of_metadata(&asked, *metadata),
            None => Self::new(object.unwrap_or(asked)),
        })
    }

    /// As [`discover`](Self::discover); without metadata the first and the last segment give the length.
    pub(crate) async fn find(builder: FetchBuilder) -> Result<Self> {
        let info = Self::discover(&builder).await?;
        if info.is_folder || info.layout().is_some() {
            return Ok(info);
        }
        Reader::open(builder).await?.info().await
    }

    /// Segment length in bytes and number of the last segment, if they agree with the length.
    pub(crate) fn layout(&self) -> Option<(u64, u64)> {
        let (size, segment_bytes, last) = (self.size?, self.segment_bytes?, self.last_segment?);
        let agrees = segment_bytes > 0 && size.div_ceil(segment_bytes).saturating_sub(1) == last;
        agrees.then_some((segment_bytes, last))
    }
}

impl Client {
    /// Metadata of the newest version of `name`, in one exchange if the producer has metadata.
    ///
    /// # Errors
    /// Those of a fetch, such as [`is_not_found`](crate::Error::is_not_found).
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let _server = client.serve("/greeting").bytes("hello")?;
    /// assert_eq!(client.head("/greeting")?.size, Some(5));
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn head(&self, name: impl ToName) -> Result<ObjectInfo> {
        let mut builder = FetchBuilder::<Blocking>::new(self.clone(), name.to_name());
        builder.locate()?;
        block_on(ObjectInfo::find(builder))
    }

    /// Reads the object that [`head`](Self::head) of this client described, without another discovery.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage): `info` describes a folder, or an object of unknown length.
    ///
    /// ```
    /// # let client = recoup::Client::builder().alone().connect()?;
    /// let _server = client.serve("/greeting").bytes("hello")?;
    /// let info = client.head("/greeting")?;
    /// assert_eq!(client.open(&info)?.read_range(1, 3)?, "el");
    /// # Ok::<(), recoup::Error>(())
    /// ```
    pub fn open(&self, info: &ObjectInfo) -> Result<Reader> {
        if info.is_folder || info.layout().is_none() {
            let text = format!("{} cannot be read at an offset", info.name);
            return Err(Error::usage(text).with_remedy("fetch a folder as a folder"));
        }
        Ok(Reader::of_object(&self.fetch(info.name.clone()), info))
    }
}
