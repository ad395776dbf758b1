//! Names in the paths of URLs.
//!
//! A client may write a path in any way that RFC 3986 (section 6.2.2) calls equivalent, and many escape or unescape more than
//! that. The meaning of a path therefore depends on its decoded segments alone, never on what was escaped:
//!
//! - `/ndn/a/b`: each segment is the name of a file, a generic component. `v=1` is a file of that name.
//! - `/uri/a/v=7`: each segment is a component of an NDN URI. A generic component with `=` is written `8=…`.
use crate::error::Answer;
use axum::http::StatusCode;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use recoup_packet::name::{Component, Name};
use std::fmt::Write;

/// Begins a path whose segments are names of files.
const FILES: &str = "ndn";
/// Begins a path whose segments are components of an NDN URI.
const TYPED: &str = "uri";
/// Longest name. The rest of a packet of 8,800 bytes is for a version, a segment and the fields of an Interest.
const MAX_NAME_BYTES: usize = 8_192;
/// All but the unreserved characters of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The name of a path, and the form of the path.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) name: Name,
    /// The path ends in a slash.
    pub(crate) is_folder: bool,
    /// The path is written as [`of_name`] writes it, apart from escapes.
    pub(crate) is_canonical: bool,
}

impl Place {
    /// The place of a path, still percent-encoded.
    ///
    /// # Errors
    /// 404 if the path has another form, and 400 if a component is malformed. 403 if the name is local, and 414 if no
    /// packet has space for it.
    pub(crate) fn new(path: &str) -> Result<Self, Answer> {
        // Each byte of a name is at most three of a path, and each component costs its slash at least.
        if path.len() > 3 * MAX_NAME_BYTES {
            return Err(too_long());
        }
        let segments = segments(path);
        let (form, rest) =
            segments.split_first().filter(|(_, rest)| !rest.is_empty()).ok_or_else(no_name)?;
        let is_typed = form == TYPED.as_bytes();
        let name: Name = match is_typed {
            true => joined(rest.iter().map(|segment| typed(segment)))?,
            false if form == FILES.as_bytes() => {
                rest.iter().map(|segment| Component::generic(segment)).collect()
            }
            false => return Err(no_name()),
        };
        check(&name)?;
        let is_canonical = is_typed == needs_types(&name);
        Ok(Self { name, is_folder: ends_in_slash(path), is_canonical })
    }
}

fn no_name() -> Answer {
    let text = "paths have the form /ndn/NAME, or /uri/NAME with components as in NDN URIs";
    Answer::new(StatusCode::NOT_FOUND, text)
}

fn too_long() -> Answer {
    let text = format!("the name is longer than {MAX_NAME_BYTES} bytes, which no packet carries");
    Answer::new(StatusCode::URI_TOO_LONG, text)
}

/// Rejects names that no stranger may reach, and names that no packet carries.
fn check(name: &Name) -> Result<(), Answer> {
    if name.has_local_scope() {
        let text = "names below /localhost and /localhop are not reached through a gateway";
        return Err(Answer::new(StatusCode::FORBIDDEN, text));
    }
    if name.encoded_len() > MAX_NAME_BYTES { Err(too_long()) } else { Ok(()) }
}

/// The segments of a path, decoded, without empty and dot segments (RFC 3986, section 5.2.4).
fn segments(path: &str) -> Vec<Vec<u8>> {
    let mut segments = Vec::new();
    for segment in path.split('/').map(decoded) {
        match &*segment {
            b"" | b"." => {}
            b".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    segments
}

fn ends_in_slash(path: &str) -> bool {
    let last = path.rsplit('/').next().map(decoded).unwrap_or_default();
    matches!(&*last, b"" | b"." | b"..")
}

fn decoded(segment: &str) -> Vec<u8> {
    percent_decode_str(segment).collect()
}

/// The component of an NDN URI that a decoded segment is, as a name.
fn typed(segment: &[u8]) -> Result<Name, Answer> {
    let mut parts = segment.splitn(2, |byte| *byte == b'=');
    let mut text = String::new();
    for part in parts.by_ref() {
        let lead = if text.is_empty() { "/" } else { "=" };
        // Writing into a string cannot fail.
        let _ = write!(text, "{lead}{}", percent_encode(part, NON_ALPHANUMERIC));
    }
    // The words `params-sha256` and `sha256digest` are the only ones with a hyphen.
    text.replace("%2D", "-")
        .parse()
        .map_err(|error| Answer::new(StatusCode::BAD_REQUEST, format!("{error}")))
}

fn joined(parts: impl Iterator<Item = Result<Name, Answer>>) -> Result<Name, Answer> {
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(parts.iter().flat_map(Name::components).collect())
}

/// The name that a person typed: an NDN URI, with or without a scheme. A component that no URI has is the name of a file.
pub(crate) fn name_of_uri(text: &str) -> Option<Name> {
    let text = text.strip_prefix("ndn:").unwrap_or(text);
    let parts = text.split('/').filter(|part| !part.is_empty()).map(|part| {
        let file = || Name::default().append(Component::generic(&decoded(part)));
        format!("/{part}").parse().unwrap_or_else(|_| file())
    });
    let parts: Vec<Name> = parts.collect();
    let name: Name = parts.iter().flat_map(Name::components).collect();
    (!name.is_empty()).then_some(name)
}

/// The path of a URL for a name; of a folder if it ends in a slash.
pub(crate) fn of_name(name: &Name, is_folder: bool) -> String {
    let is_typed = needs_types(name);
    let mut path = format!("/{}", if is_typed { TYPED } else { FILES });
    for component in name {
        let _ = write!(path, "/{}", written(&component, is_typed));
    }
    if is_folder {
        path.push('/');
    }
    path
}

/// The reference to an entry of `folder`, relative to it.
pub(crate) fn relative(folder: &Name, file: &[u8], is_folder: bool) -> String {
    let file = written(&Component::generic(file), needs_types(folder));
    // A component with a colon in front of any slash would be a scheme (RFC 3986, section 4.2).
    format!("./{file}{}", if is_folder { "/" } else { "" })
}

/// Whether segments that are names of files cannot express the name.
fn needs_types(name: &Name) -> bool {
    let generic = Component::generic(&[]).typ();
    name.components().any(|it| it.typ() != generic || matches!(it.value(), b"" | b"." | b".."))
}

fn written(component: &Component<'_>, is_typed: bool) -> String {
    let is_generic = component.typ() == Component::generic(&[]).typ();
    match is_typed {
        false => percent_encode(component.value(), ESCAPED).to_string(),
        true if is_generic && component.value().contains(&b'=') => format!("8={component}"),
        true => component.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(path: &str) -> Result<Name, u16> {
        Place::new(path).map(|it| it.name).map_err(|answer| answer.status.as_u16())
    }

    fn uri(path: &str) -> Result<String, u16> {
        name_of(path).map(|name| name.to_string())
    }

    /// All ways to write a segment that clients use: as it is, and with each escape that is allowed.
    fn spellings(file: &[u8]) -> [String; 4] {
        const RESERVED: &AsciiSet =
            &ESCAPED.remove(b'=').remove(b':').remove(b'@').remove(b'&').remove(b'+');
        let every = |byte: &u8| format!("%{byte:02x}");
        [
            percent_encode(file, ESCAPED).to_string(),
            percent_encode(file, NON_ALPHANUMERIC).to_string(),
            percent_encode(file, RESERVED).to_string(),
            file.iter().map(every).collect(),
        ]
    }

    const FILE_NAMES: [&str; 22] = [
        "sea.jpg",
        "x=1.csv",
        "v=1",
        "v=07",
        "t=5",
        "seg=3",
        "8=foo",
        "32=ls",
        "32=metadata",
        "a:b.txt",
        "=",
        "...",
        "....",
        "..x",
        "café au lait",
        "50%",
        "a?b#c",
        "\"<&>\"",
        "a+b",
        "~x",
        "sha256digest=00",
        "8=%3D",
    ];

    #[test]
    fn every_spelling_of_a_file_is_one_name() {
        for file in FILE_NAMES {
            let expected: Name =
                [&b"folder"[..], file.as_bytes()].into_iter().map(Component::generic).collect();
            for spelling in spellings(file.as_bytes()) {
                for path in [
                    format!("/ndn/folder/{spelling}"),
                    format!("/%6edn/./x/%2E%2e//folder/{spelling}/"),
                ] {
                    assert_eq!(name_of(&path).as_ref(), Ok(&expected), "{path}");
                }
            }
            assert_eq!(name_of(&of_name(&expected, false)), Ok(expected), "{file}");
        }
    }

    #[test]
    fn spellings_of_a_typed_name_are_one_name() {
        for file in FILE_NAMES {
            let typed: Name = "/folder/32=ls/v=7/50=%00%2F".parse().unwrap();
            let name = typed.append(Component::generic(file.as_bytes()));
            let path = of_name(&name, false);
            let (front, last) = path.rsplit_once('/').unwrap();
            for spelling in spellings(&decoded(last)) {
                let path = format!("{}/{spelling}", front.replace('=', "%3d"));
                assert_eq!(name_of(&path).as_ref(), Ok(&name), "{path}");
            }
        }
        assert_eq!(uri("/uri/a/.../v=7").as_deref(), Ok("/a/.../v=7"));
        let digest = format!("/a/params-sha256={}", "0f".repeat(32));
        assert_eq!(uri(&format!("/uri{digest}")), Ok(digest));
        for path in ["/uri/a/x=1", "/uri/a/v=x", "/uri/a/0=b"] {
            assert_eq!(uri(path), Err(400), "{path}");
        }
    }

    #[test]
    fn dot_segments_are_removed() {
        for (path, name) in [
            ("/ndn/./a", Ok("/a")),
            ("/ndn/a/../b", Ok("/b")),
            ("/ndn/a/b/%2e%2E/c/.", Ok("/a/c")),
            ("/x/../ndn/a", Ok("/a")),
            ("/../../ndn/a", Ok("/a")),
            ("/ndn/a/../../open", Err(404)),
            ("/ndn/..", Err(404)),
        ] {
            assert_eq!(uri(path), name.map(str::to_owned), "{path}");
        }
        for (path, is_folder) in
            [("/ndn/a", false), ("/ndn/a/", true), ("/ndn/a/.", true), ("/ndn/a/b/%2e.", true)]
        {
            assert_eq!(Place::new(path).unwrap().is_folder, is_folder, "{path}");
        }
    }

    #[test]
    fn other_paths_lead_nowhere() {
        for path in ["/", "/ndn", "/ndn/", "/uri/", "*", "", "/other/a", "/ndna/b"] {
            assert_eq!(uri(path), Err(404), "{path}");
        }
    }

    #[test]
    fn local_names_are_rejected_however_written() {
        for path in [
            "/ndn/localhost/nfd/faces/create/x",
            "/ndn/%6cocalhost",
            "/ndn/a/../localhop/nfd",
            "/ndn//localhost/a",
            "/uri/localhost/nfd/32=x",
            "/uri/8=localhop/nfd",
            "/uri/8%3Dlocalhost",
        ] {
            assert_eq!(uri(path), Err(403), "{path}");
        }
        assert!(uri("/ndn/a/localhost").is_ok() && uri("/ndn/localhosts").is_ok());
    }

    #[test]
    fn name_beyond_a_packet_is_rejected() {
        for path in
            ["a".repeat(9_000), "a/".repeat(5_000), "%61".repeat(9_000), "a/".repeat(500_000)]
        {
            assert_eq!(uri(&format!("/ndn/{path}")), Err(414), "{} bytes", path.len());
        }
        assert!(uri(&format!("/ndn/{}", "%61".repeat(8_000))).is_ok());
    }

    #[test]
    fn typed_text_is_a_name() {
        for text in ["ndn:/site/a", "/site/a", "site/a", "/site/a/"] {
            assert_eq!(name_of_uri(text).unwrap().to_string(), "/site/a", "{text}");
        }
        assert!(name_of_uri("").is_none() && name_of_uri("ndn:/").is_none());
        for (text, path) in [
            ("/site/movie.mp4", "/ndn/site/movie.mp4"),
            ("ndn:/site/movie.mp4/v=7", "/uri/site/movie.mp4/v=7"),
            ("/site/x=1.csv", "/ndn/site/x%3D1.csv"),
            ("/site/x%3D1.csv", "/ndn/site/x%3D1.csv"),
            ("/32=x/a%3Db", "/uri/32=x/8=a%3Db"),
        ] {
            assert_eq!(of_name(&name_of_uri(text).unwrap(), false), path, "{text}");
        }
    }

    #[test]
    fn references_lead_back_to_their_names() {
        for (folder, file) in
            ["/folder", "/folder/32=x"].iter().flat_map(|it| FILE_NAMES.map(|file| (*it, file)))
        {
            let folder: Name = folder.parse().unwrap();
            let reference = relative(&folder, file.as_bytes(), false);
            let path =
                format!("{}{}", of_name(&folder, true), reference.strip_prefix("./").unwrap());
            let expected = folder.append(Component::generic(file.as_bytes()));
            assert_eq!(name_of(&path), Ok(expected), "{path}");
            assert!(!reference.contains(['"', '<', '>', '&', '?', '#', ' ']), "{reference}");
        }
    }
}
