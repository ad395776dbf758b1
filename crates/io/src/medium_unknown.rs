//! Systems where no face can be opened that several share.
use crate::driver::DriverOptions;
use crate::face::{FaceUri, MediumOptions};
use crate::link::Link;
use std::io::{self, ErrorKind};

/// Opens the medium that a face leads to.
///
/// # Errors
/// Always.
pub(crate) fn open(_: &FaceUri, _: &MediumOptions, _: &DriverOptions) -> io::Result<Box<dyn Link>> {
    Err(io::Error::new(ErrorKind::Unsupported, "faces that several share need Linux"))
}
