//! Links that several hear: what leaves reaches all of them, and what arrives says by itself who sent it.
//!
//! Nothing waits here: what a medium does not take at once is dropped with a reason, and a medium that takes nothing any
//! more ends the link, which is opened again like one that broke.
mod ethernet;
mod multicast;

#[cfg(test)]
pub(crate) use ethernet::framed;
pub(crate) use ethernet::{Ear, EtherAddress};

use crate::driver::DriverOptions;
use crate::face::{CloseReason, DropReason, FaceUri, LARGEST_FRAME_RECEIVED, MediumOptions};
use crate::interface::Interfaces;
use crate::link::{Intake, Link};
use bytes::Bytes;
use ethernet::Ethernet;
use multicast::Group;
use rustix::io::Errno;
use std::fmt::Debug;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::BorrowedFd;

/// Frames read per wake-up.
const READS: usize = 64;
/// Header of a medium in front of a frame, at most.
const HEADER_OCTETS: usize = 64;

/// A socket that reaches several at once.
pub(crate) trait Medium: Debug + Send {
    /// To be waited on.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Sends a frame to everybody.
    fn send(&self, frame: &[u8]) -> io::Result<()>;

    /// Receives into `buffer`: where in it the frame is, and who sent it. `None` if it is none for us.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Heard>>;

    /// Longest frame, in octets.
    fn mtu(&self) -> usize;

    /// Where what we send comes from, if that has an address of IP.
    fn local_address(&self) -> Option<SocketAddr>;
}

/// A frame that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Where it is in the buffer.
    pub(crate) frame: Range<usize>,
    /// A number for who sent it: fragments belong together only if it is the same.
    pub(crate) sender: u64,
}

/// Opens the medium that a face leads to.
///
/// # Errors
/// If the system says no, or the face is no medium.
pub(crate) fn open(
    uri: &FaceUri,
    medium: &MediumOptions,
    options: &DriverOptions,
) -> io::Result<Box<dyn Link>> {
    check_interface(medium.interface.as_deref())?;
    match uri {
        FaceUri::Ether(peer) => {
            let station = Ethernet::open(*peer, medium, options.socket_buffer_octets)?;
            Ok(Box::new(MediumLink::new(station)))
        }
        FaceUri::Udp(to) => {
            let groups = to.resolve().map_err(|_| ErrorKind::AddrNotAvailable)?;
            let group = groups.first().ok_or(ErrorKind::AddrNotAvailable)?;
            let group = Group::join(*group, medium, options.socket_buffer_octets)?;
            Ok(Box::new(MediumLink::new(group)))
        }
        _ => Err(ErrorKind::Unsupported.into()),
    }
}

/// Listens to the stations on an interface of Ethernet.
///
/// # Errors
/// If the system says no, or the interface is missing, down, or no Ethernet.
pub(crate) fn listen(interface: &str, options: &DriverOptions) -> io::Result<Ear> {
    check_interface(Some(interface))?;
    Ear::open(interface, options.socket_buffer_octets)
}

/// An interface that is down takes what it is given, and throws it away.
fn check_interface(interface: Option<&str>) -> io::Result<()> {
    match (interface, Interfaces::of_system()) {
        (Some(name), Ok(interfaces)) if !interfaces.is_up(name) => {
            let what = format!("there is no interface called {name}, or it is down");
            Err(io::Error::new(ErrorKind::NetworkDown, what))
        }
        // Where the system does not say, the socket will.
        _ => Ok(()),
    }
}

/// Whether what keeps a medium from being opened may end by itself.
pub(crate) fn may_pass(error: &io::Error) -> bool {
    use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    !matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

/// A link over a medium.
#[derive(Debug)]
struct MediumLink<M> {
    medium: M,
    buffer: Box<[u8]>,
    /// Why the medium takes nothing any more.
    broken: Option<CloseReason>,
    /// What arrives comes another way.
    is_deaf: bool,
}

impl<M: Medium> MediumLink<M> {
    fn new(medium: M) -> Self {
        let buffer = vec![0; HEADER_OCTETS + LARGEST_FRAME_RECEIVED].into_boxed_slice();
        Self { medium, buffer, broken: None, is_deaf: false }
    }

    /// A link that only speaks: somebody else hears for it.
    fn deaf(medium: M) -> Self {
        Self { medium, buffer: Box::default(), broken: None, is_deaf: true }
    }
}

impl<M: Medium> Link for MediumLink<M> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.medium.fd()
    }

    fn is_deaf(&self) -> bool {
        self.is_deaf
    }

    fn is_open(&self) -> bool {
        true
    }

    fn wants_write(&self) -> bool {
        false
    }

    fn receive(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        for _ in 0..READS {
            match self.medium.receive(&mut self.buffer) {
                Ok(Some(Heard { frame, sender })) => {
                    let frame = self.buffer.get(frame).unwrap_or_default();
                    intake.frames.push(Bytes::copy_from_slice(frame));
                    intake.senders.push(sender);
                }
                Ok(None) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn push(&mut self, frame: Bytes) -> Result<(), DropReason> {
        let Err(error) = self.medium.send(&frame) else {
            return Ok(());
        };
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::AGAIN | Errno::NOBUFS | Errno::INTR) => Err(DropReason::Backlog),
            Some(Errno::MSGSIZE) => Err(DropReason::TooLong),
            // The frame is lost with the link, at the flush that follows.
            _ => {
                self.broken = Some(error.into());
                Ok(())
            }
        }
    }

    fn flush(&mut self) -> Result<(), CloseReason> {
        self.broken.take().map_or(Ok(()), Err)
    }

    fn waiting_octets(&self) -> usize {
        0
    }

    fn mtu(&self) -> Option<usize> {
        Some(self.medium.mtu())
    }

    fn local_address(&self) -> Option<SocketAddr> {
        self.medium.local_address()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    /// Says to each frame what is prepared.
    #[derive(Debug)]
    struct Scripted(UnixStream, Cell<Option<Errno>>);

    impl Medium for Scripted {
        fn fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }

        fn send(&self, _: &[u8]) -> io::Result<()> {
            self.1.take().map_or(Ok(()), |errno| Err(errno.into()))
        }

        fn receive(&self, _: &mut [u8]) -> io::Result<Option<Heard>> {
            Err(ErrorKind::WouldBlock.into())
        }

        fn mtu(&self) -> usize {
            1_500
        }

        fn local_address(&self) -> Option<SocketAddr> {
            None
        }
    }

    #[test]
    fn a_medium_that_is_busy_drops_and_one_that_is_gone_ends() {
        let (socket, _other) = UnixStream::pair().unwrap();
        let mut link = MediumLink::new(Scripted(socket, Cell::new(None)));
        let mut push = |errno| {
            link.medium.1.set(errno);
            (link.push(Bytes::from_static(b"frame")), link.flush())
        };
        assert_eq!(push(None), (Ok(()), Ok(())));
        assert_eq!(push(Some(Errno::NOBUFS)), (Err(DropReason::Backlog), Ok(())));
        assert_eq!(push(Some(Errno::MSGSIZE)), (Err(DropReason::TooLong), Ok(())));
        let (taken, flushed) = push(Some(Errno::NETDOWN));
        assert!(taken.is_ok() && matches!(flushed, Err(CloseReason::Broken(_))), "{flushed:?}");
        assert_eq!(push(None), (Ok(()), Ok(())));
    }
}
