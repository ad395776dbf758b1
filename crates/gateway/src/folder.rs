//! Answers with the listing of a folder: a page, or JSON for programs. Lines are made as their reader takes them.
use crate::Gateway;
use crate::error::Answer;
use crate::memory::{MAX_LISTING_BYTES, Share};
use crate::object::Validators;
use crate::path;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use htmlescape::encode_minimal;
use recoup::ErrorKind::{TimedOut, Unreachable};
use recoup::{Entry, Listing, ObjectInfo};
use recoup_core::figure;
use recoup_packet::name::{Component, Name};
use serde::Serialize;
use std::convert::Infallible;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// About so many bytes of an answer are made at a time.
const PIECE_BYTES: usize = 16 << 10;
/// Most files of a folder whose sizes and times the page shows: each costs an exchange.
const MAX_DESCRIBED: u64 = 1_000;
/// Concurrent requests for the metadata of listed files.
pub(crate) const HEADS: usize = 8;
/// Entries that are written together.
pub(crate) const TOGETHER: usize = 32;

/// A listing, with its memory.
pub(crate) struct Entries {
    pub(crate) listing: Listing,
    _share: Share,
}

impl Entries {
    /// The entries of `folder`.
    pub(crate) async fn fetch(gateway: &Gateway, folder: &Name) -> Result<Self, Answer> {
        let mut share = gateway.memory.of_listing().await?;
        let listing = gateway.client.listing(folder.clone(), MAX_LISTING_BYTES).await?;
        share.shrink(listing.remaining_bytes() as u64);
        Ok(Self { listing, _share: share })
    }
}

impl Iterator for Entries {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        self.listing.find_map(Result::ok)
    }
}

/// The answer to GET and HEAD of a path that ends in a slash.
pub(crate) async fn answer(
    gateway: &Gateway,
    headers: &HeaderMap,
    name: &Name,
) -> Result<Response, Answer> {
    let entries = Entries::fetch(gateway, name).await?;
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let (kind, body) = match accepted.is_some_and(|it| it.contains("application/json")) {
        true => ("application/json", body(json(name.clone(), entries))),
        false => ("text/html; charset=utf-8", page(gateway.clone(), name.clone(), entries)),
    };
    let fields = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "Accept"),
    ];
    Ok((StatusCode::OK, fields, body).into_response())
}

/// A body of lines, a piece at a time. If one piece has them all, the length is known.
fn body(mut lines: impl Iterator<Item = String> + Send + 'static) -> Body {
    let mut piece = move || {
        let mut piece = lines.next()?;
        while piece.len() < PIECE_BYTES {
            match lines.next() {
                Some(line) => piece.push_str(&line),
                None => return Some((piece, true)),
            }
        }
        Some((piece, false))
    };
    match piece() {
        Some((first, false)) => {
            let rest = iter::from_fn(move || piece().map(|(piece, _)| piece));
            let pieces = iter::once(first).chain(rest);
            Body::from_stream(stream::iter(pieces.map(|it| Ok::<_, Infallible>(Bytes::from(it)))))
        }
        whole => whole.map(|(piece, _)| piece).unwrap_or_default().into(),
    }
}

/// An entry for programs.
#[derive(Serialize)]
struct Line {
    /// Name of the file; bytes that are no UTF-8 are replaced.
    name: String,
    folder: bool,
    /// Relative to the folder.
    href: String,
}

impl Line {
    fn new(folder: &Name, entry: &Entry) -> Self {
        Self {
            name: String::from_utf8_lossy(&entry.name).into_owned(),
            folder: entry.is_folder,
            href: path::relative(folder, &entry.name, entry.is_folder),
        }
    }
}

fn json(folder: Name, entries: Entries) -> impl Iterator<Item = String> {
    let lines = entries.enumerate().map(move |(index, entry)| {
        // An object of text and flags is always JSON.
        let line = serde_json::to_string(&Line::new(&folder, &entry)).unwrap_or_default();
        if index == 0 { line } else { format!(",{line}") }
    });
    iter::once("[".to_owned()).chain(lines).chain(iter::once("]".to_owned()))
}

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<meta name=\"color-scheme\" content=\"light dark\">
<style>
html { background: Canvas; color: CanvasText }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td { padding: 0 0 0 1rem; white-space: nowrap; text-align: right; font-variant-numeric: tabular-nums }
td:first-child { padding: 0; white-space: normal; text-align: left; overflow-wrap: anywhere }
@media (max-width: 40rem) { body { margin: 1rem auto } td { font-size: .85rem } td:first-child { font-size: 1rem } .time { display: none } }
</style>
";

/// The page, with sizes and times of files if the folder has not too many. A file without metadata has neither; if the
/// producer does not answer, the files behind have neither.
fn page(gateway: Gateway, folder: Name, entries: Entries) -> Body {
    let title = encode_minimal(&folder.to_string());
    let up = if folder.len() > 1 { "../" } else { "/" };
    let head = format!(
        "{HEAD}<title>{title}</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<table>\n\
         <tr><td><a href=\"{up}\">../</a></td></tr>\n"
    );
    let is_described = Arc::new(AtomicBool::new(entries.listing.files() <= MAX_DESCRIBED));
    let rows = stream::iter(entries).map(move |entry| {
        let line = Line::new(&folder, &entry);
        let name = folder.append(Component::generic(&entry.name));
        let (gateway, is_described) = (gateway.clone(), is_described.clone());
        async move {
            if line.folder || !is_described.load(Relaxed) {
                return row(&line, None);
            }
            let info = gateway.client.head(name).await;
            if info.as_ref().is_err_and(|it| matches!(it.kind(), TimedOut | Unreachable)) {
                is_described.store(false, Relaxed);
            }
            row(&line, info.ok().as_ref())
        }
    });
    let rows = rows.buffered(HEADS).ready_chunks(TOGETHER).map(|some| some.concat());
    let tail = stream::iter(["</table>\n</main>\n</body>\n</html>\n".to_owned()]);
    let pieces = stream::iter([head]).chain(rows).chain(tail);
    Body::from_stream(pieces.map(|it| Ok::<_, Infallible>(Bytes::from(it))))
}

fn row(line: &Line, info: Option<&ObjectInfo>) -> String {
    let Line { name, href, folder } = line;
    let slash = if *folder { "/" } else { "" };
    let size = info.and_then(|it| it.size).map(figure::bytes).unwrap_or_default();
    let mut fields = HeaderMap::new();
    if let Some(info) = info {
        Validators::new(info).write(&mut fields);
    }
    let time = fields.get(header::LAST_MODIFIED).and_then(|it| it.to_str().ok());
    format!(
        "<tr><td><a href=\"{href}\">{}{slash}</a></td><td>{size}</td><td class=\"time\">{}</td></tr>\n",
        encode_minimal(name),
        time.unwrap_or_default()
    )
}
