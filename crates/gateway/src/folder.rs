//! Answers with the listing of a folder: a page, or JSON for programs.
use crate::error::Answer;
use crate::path;
use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Response};
use htmlescape::encode_minimal;
use recoup::Entry;
use recoup::asynchronous::Client;
use recoup_packet::name::Name;
use serde::Serialize;
use std::fmt::Write;

/// The answer to GET and HEAD of a path that ends in a slash.
pub(crate) async fn answer(
    client: &Client,
    headers: &HeaderMap,
    name: &Name,
) -> Result<Response, Answer> {
    let entries = client.list(name.clone()).await?;
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let mut response = match accepted.is_some_and(|it| it.contains("application/json")) {
        true => Json(entries.iter().map(Line::new).collect::<Vec<_>>()).into_response(),
        false => Html(page(name, &entries)).into_response(),
    };
    let fields = [(header::CACHE_CONTROL, "no-cache"), (header::VARY, "Accept")];
    for (field, value) in fields {
        response.headers_mut().insert(field, header::HeaderValue::from_static(value));
    }
    Ok(response)
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
    fn new(entry: &Entry) -> Self {
        Self {
            name: String::from_utf8_lossy(&entry.name).into_owned(),
            folder: entry.is_folder,
            href: path::relative(&entry.name, entry.is_folder),
        }
    }
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

fn page(name: &Name, entries: &[Entry]) -> String {
    let title = encode_minimal(&name.to_string());
    let mut page =
        format!("{HEAD}<title>{title}</title>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<ul>\n");
    if name.len() > 1 {
        page.push_str("<li><a href=\"../\">../</a></li>\n");
    }
    for Line { name, folder, href } in entries.iter().map(Line::new) {
        let slash = if folder { "/" } else { "" };
        // Writing into a string cannot fail.
        let _ = writeln!(page, "<li><a href=\"{href}\">{}{slash}</a></li>", encode_minimal(&name));
    }
    page.push_str("</ul>\n</main>\n</body>\n</html>\n");
    page
}
