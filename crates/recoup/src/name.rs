//! Names from text.
use crate::error::{Error, Result};
use recoup_packet::name::Name;
use recoup_packet::tlv::MAX_PACKET_SIZE;

/// Bytes of a packet beside the name of its object: version, segment, digest, and the fields that each packet has.
const BESIDE: usize = 128;

/// Checks that packets can carry the name of an object.
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage): it is too long.
pub fn check_length(name: &Name) -> Result<()> {
    let bytes = name.value().len();
    if bytes + BESIDE <= MAX_PACKET_SIZE {
        return Ok(());
    }
    let message =
        format!("the name is {bytes} bytes long, and a packet has {MAX_PACKET_SIZE} bytes");
    Err(Error::usage(message).with_remedy("take a shorter name").permanent().of_entry())
}

/// Conversion to the name of an object: a [`Name`], or its URI such as `/movie/v=7` or `ndn:/movie`.
pub trait ToName {
    /// The name.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage): the text is no name.
    fn to_name(&self) -> Result<Name>;
}

impl ToName for Name {
    fn to_name(&self) -> Result<Name> {
        Ok(self.clone())
    }
}

impl ToName for str {
    fn to_name(&self) -> Result<Name> {
        self.parse().map_err(|error| {
            Error::usage(format!("{self:?} is no name: {error}"))
                .with_remedy("write it as /component/component")
        })
    }
}

impl ToName for String {
    fn to_name(&self) -> Result<Name> {
        self.as_str().to_name()
    }
}

impl<T: ToName + ?Sized> ToName for &T {
    fn to_name(&self) -> Result<Name> {
        (**self).to_name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_packet::name::Component;

    #[test]
    fn name_longer_than_a_packet_is_usage() {
        let name = |bytes: usize| Name::root().append(Component::generic(&vec![b'a'; bytes]));
        assert!(check_length(&name(8_600)).is_ok());
        for bytes in [8_700, 8_790] {
            assert_eq!(check_length(&name(bytes)).unwrap_err().kind(), crate::ErrorKind::Usage);
        }
    }
}
