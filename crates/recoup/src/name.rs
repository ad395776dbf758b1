//! Names from text.
use crate::error::{Error, Result};
use recoup_packet::name::Name;

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
