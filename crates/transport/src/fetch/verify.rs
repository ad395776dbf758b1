//! Which verifier a fetch uses.
use std::fmt;
use std::str::FromStr;

/// How content is verified. Parses from and prints as `auto`, `digest`, `key=FILE` or `none`.
///
/// ```
/// use recoup_transport::fetch::Verify;
/// assert_eq!("key=publisher.cert".parse(), Ok(Verify::Key("publisher.cert".into())));
/// assert_eq!(Verify::default(), Verify::Auto);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// A digest is checked where there is one; a signature by an unknown key counts as not verified.
    #[default]
    Auto,
    /// Nothing but content with a correct digest is accepted.
    Digest,
    /// Nothing but content signed by this key is accepted: a file (PEM, certificate, SafeBag), or the name of a key in the
    /// key store.
    Key(String),
    /// Everything is accepted.
    None,
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
                _ => Err("write auto, digest, key=FILE or none".into()),
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
        }
    }
}
