//! Folders for WebDAV clients, read-only (RFC 4918). The library writes the documents; this is the file system below it.
//!
//! Content itself is answered by [`object`](crate::object): of WebDAV there is only PROPFIND here.
use crate::error::{Answer, status_of};
use crate::path;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use dav_server::davpath::DavPath;
use dav_server::fs::{
    DavDirEntry, DavFile, DavFileSystem, DavMetaData, FsError, FsFuture, FsResult, FsStream,
    OpenOptions, ReadDirMeta,
};
use dav_server::{DavHandler, DavMethodSet};
use futures_util::{FutureExt, StreamExt, stream};
use recoup::asynchronous::Client;
use recoup::{Entry, Error, ObjectInfo};
use recoup_packet::name::{Component, Name};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Concurrent requests for the lengths of listed files.
const HEADS: usize = 8;

/// The field with the wanted levels of a tree.
const DEPTH: HeaderName = HeaderName::from_static("depth");

/// The answer to PROPFIND.
pub(crate) async fn answer(client: Client, mut request: Request) -> Response {
    // With this field the library would walk whole trees.
    request.headers_mut().remove("x-litmus");
    // Without a depth a client means the whole tree (RFC 4918, section 9.1). It gets one level, as from many servers: the library
    // would answer nothing at all.
    request.headers_mut().entry(DEPTH).or_insert(HeaderValue::from_static("1"));
    let names = Names { client, failure: Arc::default() };
    let handler = DavHandler::builder()
        .filesystem(Box::new(names.clone()))
        .methods(DavMethodSet::WEBDAV_RO)
        .build_handler();
    let response = handler.handle(request).await;
    let failure = names.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    match failure.filter(|_| response.status() == StatusCode::INTERNAL_SERVER_ERROR) {
        Some(error) => Answer::from(error).into_response(),
        None => response.map(Body::new),
    }
}

/// Names as files and folders.
#[derive(Clone)]
struct Names {
    client: Client,
    /// The error behind [`FsError::GeneralFailure`].
    failure: Arc<Mutex<Option<Error>>>,
}

impl Names {
    fn failed(&self, error: Error) -> FsError {
        if status_of(error.kind()) == StatusCode::NOT_FOUND {
            return FsError::NotFound;
        }
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        FsError::GeneralFailure
    }

    async fn entry(&self, folder: Name, entry: Entry) -> FsResult<Box<dyn DavDirEntry>> {
        let metadata = match entry.is_folder {
            true => Metadata::Folder,
            false => {
                let name = folder.append(Component::generic(&entry.name));
                let info = self.client.head(name).await;
                Metadata::Object(Box::new(info.map_err(|error| self.failed(error))?))
            }
        };
        Ok(Box::new(Item { entry, metadata }))
    }
}

fn name_of(path: &DavPath) -> FsResult<Name> {
    path::name_of(&path.as_url_string()).ok_or(FsError::NotFound)
}

impl DavFileSystem for Names {
    fn open<'a>(&'a self, _: &'a DavPath, _: OpenOptions) -> FsFuture<'a, Box<dyn DavFile>> {
        std::future::ready(Err(FsError::Forbidden)).boxed()
    }

    fn metadata<'a>(&'a self, path: &'a DavPath) -> FsFuture<'a, Box<dyn DavMetaData>> {
        async move {
            let info =
                self.client.head(name_of(path)?).await.map_err(|error| self.failed(error))?;
            let metadata = match info.is_folder {
                true => Metadata::Folder,
                false => Metadata::Object(Box::new(info)),
            };
            Ok(Box::new(metadata) as Box<dyn DavMetaData>)
        }
        .boxed()
    }

    fn read_dir<'a>(
        &'a self,
        path: &'a DavPath,
        _: ReadDirMeta,
    ) -> FsFuture<'a, FsStream<Box<dyn DavDirEntry>>> {
        async move {
            let folder = name_of(path)?;
            let entries = self.client.list(folder.clone()).await;
            let entries = entries.map_err(|error| self.failed(error))?;
            let this = self.clone();
            let entry = move |entry| {
                let (this, folder) = (this.clone(), folder.clone());
                async move { this.entry(folder, entry).await }
            };
            let items = stream::iter(entries).map(entry).buffered(HEADS);
            Ok(items.boxed() as FsStream<Box<dyn DavDirEntry>>)
        }
        .boxed()
    }
}

/// An entry of a folder.
struct Item {
    entry: Entry,
    metadata: Metadata,
}

impl DavDirEntry for Item {
    fn name(&self) -> Vec<u8> {
        self.entry.name.to_vec()
    }

    fn metadata(&'_ self) -> FsFuture<'_, Box<dyn DavMetaData>> {
        let metadata: Box<dyn DavMetaData> = Box::new(self.metadata.clone());
        std::future::ready(Ok(metadata)).boxed()
    }
}

/// Length, time and version.
#[derive(Clone, Debug)]
enum Metadata {
    Folder,
    Object(Box<ObjectInfo>),
}

impl DavMetaData for Metadata {
    fn len(&self) -> u64 {
        match self {
            Self::Folder => 0,
            Self::Object(info) => info.size.unwrap_or_default(),
        }
    }

    fn modified(&self) -> FsResult<SystemTime> {
        match self {
            Self::Object(info) => info.modified.ok_or(FsError::NotImplemented),
            Self::Folder => Err(FsError::NotImplemented),
        }
    }

    fn is_dir(&self) -> bool {
        matches!(self, Self::Folder)
    }

    /// The version, as in the answers to GET.
    fn etag(&self) -> Option<String> {
        match self {
            Self::Object(info) => info.version().map(|version| version.to_string()),
            Self::Folder => None,
        }
    }
}
