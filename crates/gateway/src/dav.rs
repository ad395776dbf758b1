//! Folders for WebDAV clients, read-only: PROPFIND (RFC 4918, section 9.1). Content is answered by [`object`](crate::object).
//!
//! The kind and media type of an entry come from the listing of its folder. Length, entity tag and time of a file cost an
//! exchange each. They are fetched only if the client wants one of them, as it reads the answer.
use crate::Gateway;
use crate::error::{Answer, status_of};
use crate::folder::{Entries, HEADS, TOGETHER};
use crate::object::{Validators, media_type};
use crate::path;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use htmlescape::encode_minimal;
use recoup::ObjectInfo;
use recoup_packet::name::{Component, Name};
use std::fmt::Write;
use std::io;
use std::time::Duration;

/// Most files of a folder whose metadata one PROPFIND may request.
pub(crate) const MAX_DESCRIBED: u64 = 10_000;
/// Longest body of a request, in bytes.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Longest time until the body of a request is complete.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// Most properties in a request.
const MAX_PROPERTIES: usize = 100;
/// The namespace of WebDAV.
const DAV: &str = "DAV:";
/// Properties that the listing does not have.
const DESCRIBED: [&str; 3] = ["getcontentlength", "getetag", "getlastmodified"];

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:multistatus xmlns:D=\"DAV:\">\n";
const TAIL: &str = "</D:multistatus>\n";
const INFINITE: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n";
const XML: &str = "application/xml; charset=utf-8";

/// The answer to PROPFIND.
pub(crate) async fn answer(
    gateway: &Gateway,
    request: Request,
    name: &Name,
) -> Result<Response, Answer> {
    let (parts, body) = request.into_parts();
    // Without a depth a client means the whole tree (RFC 4918, section 9.1). It gets one level, as from many servers.
    let depth = parts.headers.get("depth").map_or(&b"1"[..], |depth| depth.as_bytes());
    let with_entries = match depth {
        b"0" => false,
        b"1" => true,
        _ if depth.eq_ignore_ascii_case(b"infinity") => {
            let fields = [(header::CONTENT_TYPE, XML)];
            return Ok((StatusCode::FORBIDDEN, fields, INFINITE).into_response());
        }
        _ => return Err(Answer::new(StatusCode::BAD_REQUEST, "a depth is 0, 1 or infinity")),
    };
    let wanted = Wanted::read(body).await?;
    let info = gateway.client.head(name.clone()).await?;
    let root = wanted.response(name, info.is_folder, Some(&info));
    let fields = [(header::CONTENT_TYPE, XML), (header::CACHE_CONTROL, "no-cache")];
    let body = match with_entries && info.is_folder {
        true => listed(gateway.clone(), name.clone(), wanted, root).await?,
        false => Body::from(format!("{HEAD}{root}{TAIL}")),
    };
    Ok((StatusCode::MULTI_STATUS, fields, body).into_response())
}

/// A body with the response for a folder and those for its entries.
///
/// An entry that is gone since it was listed is left out. Another error breaks the connection off, so that no client takes a
/// part of the folder for the whole.
async fn listed(
    gateway: Gateway,
    folder: Name,
    wanted: Wanted,
    root: String,
) -> Result<Body, Answer> {
    let entries = Entries::fetch(&gateway, &folder).await?;
    if wanted.needs_metadata() && entries.listing.files() > MAX_DESCRIBED {
        let text = format!(
            "the folder has more than {MAX_DESCRIBED} files; request resourcetype alone, or GET its listing"
        );
        return Err(Answer::new(StatusCode::INSUFFICIENT_STORAGE, text));
    }
    let responses = stream::iter(entries).map(move |entry| {
        let name = folder.append(Component::generic(&entry.name));
        let (gateway, wanted) = (gateway.clone(), wanted.clone());
        async move {
            let info = match entry.is_folder || !wanted.needs_metadata() {
                true => None,
                false => match gateway.client.head(name.clone()).await {
                    Ok(info) => Some(info),
                    Err(error) if status_of(error.kind()) == StatusCode::NOT_FOUND => {
                        return Ok(String::new());
                    }
                    Err(error) => return Err(io::Error::from(error)),
                },
            };
            Ok(wanted.response(&name, entry.is_folder, info.as_ref()))
        }
    });
    let together = responses.buffered(HEADS).ready_chunks(TOGETHER);
    let pieces = together.map(|some| some.into_iter().collect::<Result<String, io::Error>>());
    let head = stream::iter([Ok(format!("{HEAD}{root}"))]);
    Ok(Body::from_stream(head.chain(pieces).chain(stream::iter([Ok(TAIL.to_owned())]))))
}

/// The properties that a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    All,
    /// Their names alone.
    Names,
    /// By namespace and name.
    Some(Vec<(String, String)>),
}

impl Wanted {
    async fn read(body: Body) -> Result<Self, Answer> {
        let body = axum::body::to_bytes(body, MAX_BODY_BYTES);
        let body = match tokio::time::timeout(BODY_TIMEOUT, body).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => {
                let text = format!("the body is longer than {MAX_BODY_BYTES} bytes, or incomplete");
                return Err(Answer::new(StatusCode::PAYLOAD_TOO_LARGE, text));
            }
            Err(_) => {
                let text = "the body of the request did not arrive in time";
                return Err(Answer::new(StatusCode::REQUEST_TIMEOUT, text));
            }
        };
        if body.is_empty() {
            return Ok(Self::All);
        }
        let wanted = std::str::from_utf8(&body).map_err(|error| error.to_string());
        wanted
            .and_then(Self::parse)
            .map_err(|error| Answer::new(StatusCode::BAD_REQUEST, format!("no PROPFIND: {error}")))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
        let root = document.root_element();
        // Namespaces in XML 1.0, section 2.2: no prefix has an empty namespace.
        let is_nameless =
            |it: &roxmltree::Namespace<'_>| it.name().is_some() && it.uri().is_empty();
        if document.descendants().any(|node| node.namespaces().any(is_nameless)) {
            return Err("a prefix has an empty namespace".into());
        }
        if !root.has_tag_name((DAV, "propfind")) {
            return Err("the root element is not DAV:propfind".into());
        }
        for child in root.children().filter(|it| it.tag_name().namespace() == Some(DAV)) {
            match child.tag_name().name() {
                "allprop" => return Ok(Self::All),
                "propname" => return Ok(Self::Names),
                "prop" => return Self::of_list(child),
                _ => {}
            }
        }
        Err("it has neither prop nor allprop nor propname".into())
    }

    fn of_list(list: roxmltree::Node<'_, '_>) -> Result<Self, String> {
        let names = list.children().filter(roxmltree::Node::is_element).map(|it| it.tag_name());
        let names: Vec<_> = names
            .map(|it| (it.namespace().unwrap_or_default().to_owned(), it.name().to_owned()))
            .collect();
        match names.len() {
            0..=MAX_PROPERTIES => Ok(Self::Some(names)),
            _ => Err(format!("it has more than {MAX_PROPERTIES} properties")),
        }
    }

    /// Whether the listing of a folder is not enough.
    fn needs_metadata(&self) -> bool {
        match self {
            Self::All => true,
            Self::Names => false,
            Self::Some(names) => {
                names.iter().any(|(space, name)| space == DAV && DESCRIBED.contains(&name.as_str()))
            }
        }
    }

    /// The response for one file or folder.
    fn response(&self, name: &Name, is_folder: bool, info: Option<&ObjectInfo>) -> String {
        let known = properties(name, is_folder, info);
        let (mut found, mut missing) = (String::new(), String::new());
        // Writing into a string cannot fail.
        let mut put = |name: &str, value: &str| {
            let _ = write!(found, "<D:{name}>{value}</D:{name}>");
        };
        match self {
            Self::All => known.iter().for_each(|(name, value)| put(name, value)),
            Self::Names => {
                let described = DESCRIBED.iter().filter(|_| !is_folder).copied();
                let listed = known.iter().map(|(name, _)| *name);
                let listed = listed.filter(|name| !DESCRIBED.contains(name));
                listed.chain(described).for_each(|name| put(name, ""));
            }
            Self::Some(names) => {
                for (space, wanted) in names {
                    let known = known.iter().find(|(name, _)| space == DAV && name == wanted);
                    if let Some((name, value)) = known {
                        put(name, value);
                    } else {
                        let space = encode_minimal(space);
                        let _ = write!(missing, "<{wanted} xmlns=\"{space}\"/>");
                    }
                }
            }
        }
        let href = path::of_name(name, is_folder);
        let mut response = format!("<D:response><D:href>{href}</D:href>");
        let is_empty = found.is_empty() && missing.is_empty();
        for (properties, status) in [(found, "200 OK"), (missing, "404 Not Found")] {
            if !properties.is_empty() || (is_empty && status == "200 OK") {
                let _ = write!(
                    response,
                    "<D:propstat><D:prop>{properties}</D:prop><D:status>HTTP/1.1 {status}</D:status></D:propstat>"
                );
            }
        }
        response + "</D:response>\n"
    }
}

/// The properties that are known, with their values as XML.
fn properties(
    name: &Name,
    is_folder: bool,
    info: Option<&ObjectInfo>,
) -> Vec<(&'static str, String)> {
    if is_folder {
        return vec![("resourcetype", "<D:collection/>".to_owned())];
    }
    let mut known = vec![
        ("resourcetype", String::new()),
        ("getcontenttype", encode_minimal(&media_type(name))),
    ];
    let Some(info) = info else { return known };
    let mut fields = HeaderMap::new();
    Validators::new(info).write(&mut fields);
    let field = |name| fields.get(name).and_then(|value| value.to_str().ok()).map(encode_minimal);
    known.extend(info.size.map(|size| ("getcontentlength", size.to_string())));
    known.extend(field(header::ETAG).map(|tag| ("getetag", tag)));
    known.extend(field(header::LAST_MODIFIED).map(|time| ("getlastmodified", time)));
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn propfind(inside: &str) -> Result<Wanted, String> {
        Wanted::parse(&format!("<propfind xmlns=\"DAV:\" xmlns:x=\"urn:x\">{inside}</propfind>"))
    }

    #[test]
    fn request_names_its_properties() {
        let list = |names: &[(&str, &str)]| {
            let names = names.iter().map(|(space, name)| ((*space).into(), (*name).into()));
            Ok(Wanted::Some(names.collect()))
        };
        assert_eq!(propfind("<allprop/>"), Ok(Wanted::All));
        assert_eq!(propfind("<x:other/><propname/>"), Ok(Wanted::Names));
        assert_eq!(
            propfind("<prop> <getetag/><x:a/><b xmlns=\"\"/> </prop>"),
            list(&[("DAV:", "getetag"), ("urn:x", "a"), ("", "b")])
        );
        let many = "<getetag/>".repeat(MAX_PROPERTIES + 1);
        for wrong in ["", "<x:prop/>", "<prop>", &format!("<prop>{many}</prop>")] {
            assert!(propfind(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            "",
            "text",
            "<propfind><allprop/></propfind>",
            "<D:propfind xmlns:D=\"DAV:\"><D:prop><b:c xmlns:b=\"\"/></D:prop></D:propfind>",
            "<!DOCTYPE a [<!ENTITY b \"c\">]><propfind xmlns=\"DAV:\">&b;</propfind>",
        ] {
            assert!(Wanted::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unknown_properties_are_not_found() {
        let wanted = propfind("<prop><resourcetype/><quota/><x:resourcetype/></prop>").unwrap();
        assert!(!wanted.needs_metadata());
        assert_eq!(
            wanted.response(&"/a/b".parse().unwrap(), true, None),
            "<D:response><D:href>/ndn/a/b/</D:href><D:propstat><D:prop>\
             <D:resourcetype><D:collection/></D:resourcetype></D:prop>\
             <D:status>HTTP/1.1 200 OK</D:status></D:propstat><D:propstat><D:prop>\
             <quota xmlns=\"DAV:\"/><resourcetype xmlns=\"urn:x\"/></D:prop>\
             <D:status>HTTP/1.1 404 Not Found</D:status></D:propstat></D:response>\n"
        );
    }
}
