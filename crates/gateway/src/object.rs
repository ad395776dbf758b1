//! Answers with an object: conditions, ranges, and content as a stream (RFC 9110).
use crate::error::Answer;
use crate::memory::Share;
use crate::path::{self, Place};
use crate::{Gateway, folder};
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use bytes::Bytes;
use futures_util::stream;
use headers::{
    AcceptRanges, ContentLength, ContentRange, ETag, HeaderMapExt, IfMatch, IfModifiedSince,
    IfNoneMatch, IfRange, IfUnmodifiedSince, LastModified,
};
use recoup::ObjectInfo;
use recoup::asynchronous::AsyncReader;
use recoup_packet::name::Name;
use recoup_packet::name::convention::Convention;
use std::io;
use std::ops::Range;

/// The media type of content without a known extension.
const BYTES: &str = "application/octet-stream";
/// A version never changes.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// A newer version may exist at any time: caches ask, by entity tag.
const ASK: &str = "no-cache";

/// The answer to GET and HEAD.
pub(crate) async fn answer(
    gateway: &Gateway,
    request: &Parts,
    place: &Place,
) -> Result<Response, Answer> {
    let name = &place.name;
    if place.is_folder {
        return folder::answer(gateway, &request.headers, name).await;
    }
    let info = gateway.client.head(name.clone()).await?;
    if info.is_folder {
        return Ok(Redirect::temporary(&path::of_name(name, true)).into_response());
    }
    let size = info.size.unwrap_or_default();
    let validators = Validators::new(&info);
    let headers = &request.headers;
    if let Some(status) = validators.failed_condition(headers) {
        let mut response = status.into_response();
        validators.write(response.headers_mut());
        return Ok(response);
    }
    let is_get = request.method == Method::GET;
    // A range is defined for GET alone (RFC 9110, section 14.2).
    let wanted = if is_get { requested_range(headers, size) } else { Wanted::All };
    let range = match wanted {
        Wanted::Part(range) if validators.permits_range(headers) => Some(range),
        Wanted::Beyond if validators.permits_range(headers) => {
            let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            response.headers_mut().typed_insert(ContentRange::unsatisfied_bytes(size));
            return Ok(response);
        }
        _ => None,
    };
    let body = match is_get {
        true => {
            let range = range.clone().unwrap_or(0..size);
            let share = gateway.memory.of_content(range.end - range.start);
            let mut reader = gateway.client.open(&info)?;
            reader.limit_memory(share.bytes);
            body(reader, range, share).await?
        }
        false => Body::empty(),
    };
    let mut response = Response::new(body);
    validators.write(response.headers_mut());
    describe(response.headers_mut(), name, &info);
    let length = range.as_ref().map_or(size, |range| range.end - range.start);
    response.headers_mut().typed_insert(ContentLength(length));
    if let Some(content_range) = range.and_then(|range| ContentRange::bytes(range, size).ok()) {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        response.headers_mut().typed_insert(content_range);
    }
    Ok(response)
}

/// Fields that describe the content.
fn describe(headers: &mut HeaderMap, name: &Name, info: &ObjectInfo) {
    headers.typed_insert(AcceptRanges::bytes());
    let mut insert = |field, text: &str| {
        if let Ok(value) = text.parse() {
            headers.insert(field, value);
        }
    };
    insert(header::CONTENT_TYPE, &media_type(name));
    let is_versioned = *name == info.name && info.version().is_some();
    insert(header::CACHE_CONTROL, if is_versioned { FOREVER } else { ASK });
    insert(header::CONTENT_LOCATION, &path::of_name(&info.name, false));
}

/// The media type of content, by the extension of its name.
pub(crate) fn media_type(name: &Name) -> String {
    let is_file = |component: &_| Convention::of_version(component).is_none();
    let file = name.components().filter(is_file).last();
    let file = file.map(|it| String::from_utf8_lossy(it.value()).into_owned()).unwrap_or_default();
    match mime_guess::from_path(file).first_raw() {
        Some(text) if text.starts_with("text/") => format!("{text}; charset=utf-8"),
        Some(other) => other.to_owned(),
        None => BYTES.to_owned(),
    }
}

/// The requested range.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Part(Range<u64>),
    Beyond,
}

/// The range of `headers` in an object of `size` bytes. Several ranges are answered with the whole object, as RFC 9110 (section
/// 14.2) permits.
fn requested_range(headers: &HeaderMap, size: u64) -> Wanted {
    let Some(text) = headers.get(header::RANGE).and_then(|range| range.to_str().ok()) else {
        return Wanted::All;
    };
    let Ok(parsed) = http_range_header::parse_range_header(text) else { return Wanted::All };
    match parsed.validate(size).as_deref() {
        Ok([range]) => Wanted::Part(*range.start()..range.end() + 1),
        Ok(_) => Wanted::All,
        Err(_) => Wanted::Beyond,
    }
}

/// Validators of a version (RFC 9110, section 8.8).
pub(crate) struct Validators {
    tag: Option<ETag>,
    modified: Option<LastModified>,
}

impl Validators {
    pub(crate) fn new(info: &ObjectInfo) -> Self {
        Self { tag: tag(info), modified: info.modified.map(LastModified::from) }
    }

    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        if let Some(tag) = self.tag.clone() {
            headers.typed_insert(tag);
        }
        if let Some(modified) = self.modified {
            headers.typed_insert(modified);
        }
    }

    /// The status that a condition of the request leads to, in the order of RFC 9110, section 13.2.2.
    fn failed_condition(&self, headers: &HeaderMap) -> Option<StatusCode> {
        let modified = self.modified.map(std::time::SystemTime::from);
        let fails = match headers.typed_get::<IfMatch>() {
            Some(condition) => {
                !self.tag.as_ref().is_some_and(|it| condition.precondition_passes(it))
            }
            None => headers
                .typed_get::<IfUnmodifiedSince>()
                .zip(modified)
                .is_some_and(|(condition, modified)| !condition.precondition_passes(modified)),
        };
        if fails {
            return Some(StatusCode::PRECONDITION_FAILED);
        }
        let is_known = match headers.typed_get::<IfNoneMatch>() {
            Some(condition) => {
                self.tag.as_ref().is_some_and(|it| !condition.precondition_passes(it))
            }
            None => headers
                .typed_get::<IfModifiedSince>()
                .zip(modified)
                .is_some_and(|(condition, modified)| !condition.is_modified(modified)),
        };
        is_known.then_some(StatusCode::NOT_MODIFIED)
    }

    /// Whether the reader's part belongs to this version.
    fn permits_range(&self, headers: &HeaderMap) -> bool {
        let condition = headers.typed_get::<IfRange>();
        condition.is_none_or(|it| !it.is_modified(self.tag.as_ref(), self.modified.as_ref()))
    }
}

/// The entity tag: the version and the identifier of the content, as two contents may have one version.
fn tag(info: &ObjectInfo) -> Option<ETag> {
    let (version, id) = (info.version().map(|it| it.to_string()), info.id.map(|it| it.to_string()));
    let parts: Vec<String> = version.into_iter().chain(id).collect();
    format!("\"{}\"", parts.join("-")).parse().ok().filter(|_| !parts.is_empty())
}

/// The bytes of `range`. Waits for the first piece, so that an error before it becomes a status; an error after it breaks the
/// connection off.
async fn body(mut reader: AsyncReader, range: Range<u64>, share: Share) -> Result<Body, Answer> {
    if range.is_empty() {
        return Ok(Body::empty());
    }
    let first = reader.read_piece(range.start, range.end).await?.unwrap_or_default();
    let rest = range.start + first.len() as u64..range.end;
    let state = (reader, Some(first), rest, share);
    Ok(Body::from_stream(stream::try_unfold(
        state,
        |(mut reader, first, mut rest, share)| async move {
            if let Some(first) = first {
                return Ok(Some((first, (reader, None, rest, share))));
            }
            if rest.is_empty() {
                return Ok(None);
            }
            let piece = reader.read_piece(rest.start, rest.end).await.map_err(io::Error::from)?;
            let piece: Bytes = piece.ok_or(io::ErrorKind::UnexpectedEof)?;
            rest.start += piece.len() as u64;
            Ok::<_, io::Error>(Some((piece, (reader, None, rest, share))))
        },
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Wanted {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, text.parse().unwrap());
        requested_range(&headers, 1000)
    }

    #[test]
    fn one_range_is_answered() {
        assert_eq!(requested_range(&HeaderMap::new(), 1000), Wanted::All);
        assert_eq!(range("bytes=0-99"), Wanted::Part(0..100));
        assert_eq!(range("bytes=900-"), Wanted::Part(900..1000));
        assert_eq!(range("bytes=-1"), Wanted::Part(999..1000));
        assert_eq!(range("bytes=999-5000"), Wanted::Part(999..1000));
        assert_eq!(range("bytes=1000-"), Wanted::Beyond);
        assert_eq!(range("bytes=0-1,5-6"), Wanted::All);
        assert_eq!(range("pages=1-2"), Wanted::All);
        assert_eq!(range("bytes=x"), Wanted::All);
    }

    #[test]
    fn name_gives_the_media_type() {
        let media = |uri: &str| media_type(&uri.parse().unwrap());
        assert_eq!(media("/a/sea.jpg"), "image/jpeg");
        assert_eq!(media("/a/sea.jpg/v=7"), "image/jpeg");
        assert_eq!(media("/a/page.html"), "text/html; charset=utf-8");
        assert_eq!(media("/a/movie"), BYTES);
    }
}
