//! Choice of the verifier of a fetch.
use crate::spec::nearest;
use std::fmt;
use std::str::FromStr;

/// Verification of content. Parses from and prints as `auto`, `digest`, `key=FILE`, `trust=FILE`,
/// `trust=FILE,schema=FILE` or `none`.
///
/// ```
/// use recoup_transport::fetch::Verify;
/// assert_eq!("key=publisher.cert".parse(), Ok(Verify::Key("publisher.cert".into())));
/// let schema = Some("policy.tlv".into());
/// let trust = Verify::Trust { anchors: vec!["root.cert".into()], schema };
/// assert_eq!("trust=root.cert,schema=policy.tlv".parse(), Ok(trust.clone()));
/// assert_eq!(trust.to_string(), "trust=root.cert,schema=policy.tlv");
/// assert_eq!(Verify::default(), Verify::Auto);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// A digest is checked where there is one; a signature by an unknown key counts as not verified.
    #[default]
    Auto,
    /// Nothing but content with a correct digest is accepted.
    Digest,
    /// Nothing but content signed by this key is accepted: a file (PEM, certificate, SafeBag), the name of a key in the
    /// key store, or `spki:` and a SubjectPublicKeyInfo in base64.
    Key(String),
    /// Only content is accepted whose signature leads to a trust anchor by a chain of certificates. Missing
    /// certificates are fetched.
    Trust {
        /// The anchors: files of certificates, or names of keys in the key store. At least one.
        anchors: Vec<String>,
        /// File of the trust schema, compiled or as text: it defines which key may sign which name. Without one, a key
        /// may sign names below that of its owner.
        schema: Option<String>,
    },
    /// Everything is accepted.
    None,
}

impl Verify {
    /// Whether only packets of certain authors are accepted.
    #[must_use]
    pub fn names_authors(&self) -> bool {
        matches!(self, Self::Key(_) | Self::Trust { .. })
    }

    /// The only accepted key, in the spelling of the user; `None` for other choices.
    pub(crate) fn wanted(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            _ => None,
        }
    }
}

impl FromStr for Verify {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "digest" => Ok(Self::Digest),
            "none" => Ok(Self::None),
            _ => match text.strip_prefix("key=") {
                Some(key) if !key.is_empty() => Ok(Self::Key(key.to_owned())),
                _ => trust(text).ok_or_else(|| format!("{FORMS}{}", intended(text))),
            },
        }
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Digest => f.pad("digest"),
            Self::None => f.pad("none"),
            Self::Key(key) => write!(f, "key={key}"),
            Self::Trust { anchors, schema } => {
                let anchors = anchors.iter().map(|anchor| format!("trust={anchor}"));
                let schema = schema.iter().map(|schema| format!("schema={schema}"));
                f.write_str(&anchors.chain(schema).collect::<Vec<_>>().join(","))
            }
        }
    }
}

const FORMS: &str = "write auto, digest, key=FILE, trust=FILE, trust=FILE,schema=FILE or none";

/// The end of an error that suggests a form: the nearest word, or else the key of a file or name.
fn intended(text: &str) -> String {
    let form = match nearest(text, ["auto", "digest", "none"]) {
        Some(word) => word.to_owned(),
        None if text.is_empty() || text.contains(['=', ' ']) => return String::new(),
        None => format!("key={text}"),
    };
    format!("; did you mean {form}?")
}

/// Reads `trust=FILE` and `schema=FILE`, separated by commas.
fn trust(text: &str) -> Option<Verify> {
    let (mut anchors, mut schema) = (Vec::new(), None);
    for word in text.split(',') {
        match word.split_once('=')? {
            (_, "") => return None,
            ("trust", file) => anchors.push(file.to_owned()),
            ("schema", file) if schema.is_none() => schema = Some(file.to_owned()),
            _ => return None,
        }
    }
    (!anchors.is_empty()).then_some(Verify::Trust { anchors, schema })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_choice_is_answered_with_the_nearest() {
        let message = |text: &str| text.parse::<Verify>().unwrap_err();
        assert!(message("alice.cert").ends_with("did you mean key=alice.cert?"));
        assert!(message("/alice").ends_with("did you mean key=/alice?"));
        assert!(message("digets").ends_with("did you mean digest?"));
        for other in ["", "key=", "trust=", "a b"] {
            assert!(!message(other).contains("did you mean"), "{other}");
        }
    }
}
