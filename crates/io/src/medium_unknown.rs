//! Systems where no face can be opened that several share.
use crate::driver::DriverOptions;
use crate::face::{FaceUri, MediumOptions};
use crate::link::Link;
use bytes::Bytes;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;

/// Opens the medium that a face leads to.
///
/// # Errors
/// Always.
pub(crate) fn open(_: &FaceUri, _: &MediumOptions, _: &DriverOptions) -> io::Result<Box<dyn Link>> {
    Err(io::Error::new(ErrorKind::Unsupported, "faces that several share need Linux"))
}

/// The address of a station.
pub(crate) type EtherAddress = [u8; 6];

/// Receives from Ethernet stations: not supported.
#[derive(Debug)]
pub(crate) enum StationReceiver {}

impl StationReceiver {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match *self {}
    }

    pub(crate) fn receive(&mut self) -> io::Result<Option<(EtherAddress, Bytes)>> {
        match *self {}
    }

    pub(crate) fn link_to(&self, _: EtherAddress) -> Box<dyn Link> {
        match *self {}
    }
}

/// Listens to the stations on an interface of Ethernet.
///
/// # Errors
/// Always.
pub(crate) fn listen(_: &str, _: &DriverOptions) -> io::Result<StationReceiver> {
    Err(io::Error::new(ErrorKind::Unsupported, "listening on an interface needs Linux"))
}

/// Whether what keeps a medium from being opened may end by itself.
pub(crate) fn may_pass(_: &io::Error) -> bool {
    false
}
