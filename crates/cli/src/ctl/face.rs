//! A face on the command line: a number or a URI.
use crate::error::Failure;
use crate::session::face_failure;
use recoup_io::face::{Authority, FaceUri};
use std::str::FromStr;

/// A face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaceRef {
    /// Its number.
    Number(u64),
    /// Its URI.
    Uri(FaceUri),
    /// A URI that only the forwarder understands.
    Text(String),
}

impl FromStr for FaceRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(number) = text.parse() {
            return Ok(Self::Number(number));
        }
        match text.parse::<FaceUri>() {
            Ok(FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_)) => {
                Ok(Self::Text(text.to_owned()))
            }
            Ok(uri) => Ok(Self::Uri(uri)),
            Err(_) if text.contains("://") => Ok(Self::Text(text.to_owned())),
            Err(error) => Err(format!("it is no number of a face, and {error}")),
        }
    }
}

/// The URI with an address instead of a host name, as forwarders write it.
pub(crate) fn canonical(uri: &FaceUri) -> Result<String, Failure> {
    let resolve = |to: &Authority| {
        let all = to.resolve().map_err(|error| face_failure(&error))?;
        let first = all.first().copied().map(Authority::from);
        first.ok_or_else(|| Failure::usage(format!("{uri} has no address")))
    };
    Ok(match uri {
        FaceUri::Udp(to) => FaceUri::Udp(resolve(to)?).to_string(),
        FaceUri::Tcp(to) => FaceUri::Tcp(resolve(to)?).to_string(),
        FaceUri::WebSocket(to, path) => FaceUri::WebSocket(resolve(to)?, path.clone()).to_string(),
        FaceUri::Unix(_) | FaceUri::Memory(_) | FaceUri::Ether(_) | FaceUri::Dev(_) => {
            uri.to_string()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn face_is_a_number_or_a_uri() {
        assert_eq!("262".parse(), Ok(FaceRef::Number(262)));
        assert_eq!("fd://20".parse(), Ok(FaceRef::Text("fd://20".into())));
        assert!(matches!("udp4://192.0.2.7".parse(), Ok(FaceRef::Uri(_))));
        let error = "north".parse::<FaceRef>().unwrap_err();
        assert!(error.contains("no number of a face"), "{error}");
        let uri = "udp://192.0.2.7".parse().unwrap();
        assert_eq!(canonical(&uri).unwrap(), "udp4://192.0.2.7:6363");
    }
}
