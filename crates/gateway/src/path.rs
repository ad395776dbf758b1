//! Names in the paths of URLs.
//!
//! A path is `/ndn` and the components of a name as NDN URIs write them. Programs that know nothing of NDN write names of files
//! in their own way, for example with an unescaped `=`: a component that is none of a typed name is therefore the name of a
//! file.
use crate::PREFIX;
use percent_encoding::percent_decode_str;
use recoup_packet::name::{Component, Name};
use std::fmt::Write;

/// The name in the path of a URL, still percent-encoded. `None`: the path does not lead to a name.
pub(crate) fn name_of(path: &str) -> Option<Name> {
    let rest = path.strip_prefix(PREFIX)?.strip_prefix('/')?;
    let parts = rest.strip_suffix('/').unwrap_or(rest).split('/');
    parts
        .map(Part::new)
        .try_fold(Name::default(), |name, part| Some(name.append(part?.component())))
}

/// The name that a person typed, with or without a scheme.
pub(crate) fn name_of_uri(text: &str) -> Option<Name> {
    let text = text.strip_prefix("ndn:").unwrap_or(text);
    name_of(&format!("{PREFIX}/{}", text.trim_start_matches('/')))
}

/// The path of a URL for a name; of a folder if it ends in a slash.
pub(crate) fn of_name(name: &Name, is_folder: bool) -> String {
    let mut path = format!("{PREFIX}{name}");
    if is_folder {
        path.push('/');
    }
    path
}

/// One component in a URL, as a relative reference.
pub(crate) fn relative(file: &[u8], is_folder: bool) -> String {
    let name = Name::default().append(Component::generic(file)).to_string();
    // A component with a colon in front of any slash would be a scheme (RFC 3986, section 4.2).
    let mut reference = format!(".{name}");
    if is_folder {
        let _ = reference.write_char('/');
    }
    reference
}

/// A component between two slashes.
enum Part {
    /// Typed, or a file whose name needs no escape.
    Uri(Name),
    /// A file.
    File(Vec<u8>),
}

impl Part {
    fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        match format!("/{text}").parse::<Name>() {
            Ok(name) if name.len() == 1 => Some(Self::Uri(name)),
            _ => Some(Self::File(percent_decode_str(text).collect())),
        }
    }

    fn component(&self) -> Component<'_> {
        match self {
            Self::Uri(name) => name.get(0).unwrap_or(Component::generic(&[])),
            Self::File(file) => Component::generic(file),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(path: &str) -> Option<String> {
        name_of(path).map(|name| name.to_string())
    }

    #[test]
    fn path_is_a_name() {
        assert_eq!(uri("/ndn/site/sea.jpg").as_deref(), Some("/site/sea.jpg"));
        assert_eq!(uri("/ndn/site/photos/").as_deref(), Some("/site/photos"));
        assert_eq!(uri("/ndn/a/v=7").as_deref(), Some("/a/v=7"));
        assert_eq!(uri("/ndn/a/32=ls").as_deref(), Some("/a/32=ls"));
        for path in ["/", "/ndn", "/ndn/", "/ndn//a", "/ndn/a//", "/other/a", "/ndna/b"] {
            assert_eq!(uri(path), None, "{path}");
        }
    }

    #[test]
    fn file_names_need_no_escape() {
        let name = name_of("/ndn/a/x=1.csv").unwrap();
        assert_eq!(name.last().unwrap().value(), b"x=1.csv");
        assert_eq!(name_of("/ndn/a/x%3D1.csv").unwrap(), name);
        assert_eq!(name_of("/ndn/a/caf%C3%A9").unwrap().last().unwrap().value(), "café".as_bytes());
        assert_eq!(name_of("/ndn/a/caf%C3%A9%20au%20lait").unwrap().len(), 2);
    }

    #[test]
    fn typed_text_is_a_name() {
        for text in ["ndn:/site/a", "/site/a", "site/a", "/site/a/"] {
            assert_eq!(name_of_uri(text).unwrap().to_string(), "/site/a", "{text}");
        }
        assert!(name_of_uri("").is_none());
    }

    #[test]
    fn references_lead_back_to_their_names() {
        for file in
            ["sea.jpg", "x=1.csv", "a:b", "..x", "café au lait", "50%", "a?b#c", "\"<&>\"", "v=7"]
        {
            let reference = relative(file.as_bytes(), false);
            let path = format!("/ndn/folder/{}", reference.strip_prefix("./").unwrap());
            assert_eq!(name_of(&path).unwrap().last().unwrap().value(), file.as_bytes(), "{path}");
            assert!(!reference.contains(['"', '<', '>', '&', '?', '#', ' ']), "{reference}");
        }
    }
}
