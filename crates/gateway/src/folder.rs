//! Answers with the listing of a folder: a page, or JSON for programs. Lines are made as their reader takes them.
use crate::Gateway;
use crate::error::Answer;
use crate::memory::{MAX_LISTING_BYTES, Share};
use crate::path;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use htmlescape::encode_minimal;
use recoup::{Entry, Listing};
use recoup_packet::name::Name;
use serde::Serialize;
use std::convert::Infallible;
use std::iter;

/// About so many bytes of an answer are made at a time.
const PIECE_BYTES: usize = 16 << 10;

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
        false => ("text/html; charset=utf-8", body(page(name.clone(), entries))),
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
ul { list-style: none; padding: 0 }
li { overflow-wrap: anywhere }
</style>
";

fn page(folder: Name, entries: Entries) -> impl Iterator<Item = String> {
    let title = encode_minimal(&folder.to_string());
    let mut head =
        format!("{HEAD}<title>{title}</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<ul>\n");
    if folder.len() > 1 {
        head.push_str("<li><a href=\"../\">../</a></li>\n");
    }
    let lines = entries.map(move |entry| {
        let Line { name, href, .. } = Line::new(&folder, &entry);
        let slash = if entry.is_folder { "/" } else { "" };
        format!("<li><a href=\"{href}\">{}{slash}</a></li>\n", encode_minimal(&name))
    });
    let tail = iter::once("</ul>\n</main>\n</body>\n</html>\n".to_owned());
    iter::once(head).chain(lines).chain(tail)
}
