//! Multi-access links: all nodes receive a frame, and each frame carries its sender.
//!
//! Nothing is queued here. A frame that a medium does not take at once is dropped with a reason. A
//! medium that fails ends the link, which is reopened like a broken connection.
mod ethernet;
mod multicast;

#[cfg(test)]
pub(crate) use ethernet::framed;
pub(crate) use ethernet::{EtherAddress, StationReceiver};

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
const HEADER_BYTES: usize = 64;

/// A socket that reaches several at once.
pub(crate) trait Medium: Debug + Send {
    /// To be waited on.
    fn fd(&self) -> BorrowedFd<'_>;

    /// Sends a frame to everybody.
    fn send(&self, frame: &[u8]) -> io::Result<()>;

    /// Receives into `buffer`; returns the range of the frame and its sender, or `None` for a frame
    /// of others.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<Received>>;

    /// Longest frame, in bytes.
    fn mtu(&self) -> usize;

    /// Where what we send comes from, if that has an address of IP.
    fn local_address(&self) -> Option<SocketAddr>;
}

/// A frame that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    /// Where it is in the buffer.
    pub(crate) frame: Range<usize>,
    /// Identifies the sender: only fragments of one sender are reassembled.
    pub(crate) sender: u64,
}

/// Opens the medium that a face leads to.
///
/// # Errors
/// If the system rejects it, or the URI is no medium.
pub(crate) fn open(
    uri: &FaceUri,
    medium: &MediumOptions,
    options: &DriverOptions,
) -> io::Result<Box<dyn Link>> {
    check_interface(medium.interface.as_deref())?;
    match uri {
        FaceUri::Ether(peer) => {
            let station = Ethernet::open(*peer, medium, options.socket_buffer_bytes)?;
            Ok(Box::new(MediumLink::new(station)))
        }
        FaceUri::Udp(to) => {
            let groups = to.resolve().map_err(|_| ErrorKind::AddrNotAvailable)?;
            let group = groups.first().ok_or(ErrorKind::AddrNotAvailable)?;
            let group = Group::join(*group, medium, options.socket_buffer_bytes)?;
            Ok(Box::new(MediumLink::new(group)))
        }
        _ => Err(ErrorKind::Unsupported.into()),
    }
}

/// Listens to the stations on an interface of Ethernet.
///
/// # Errors
/// If the system rejects it, or the interface is missing, down, or not Ethernet.
pub(crate) fn listen(interface: &str, options: &DriverOptions) -> io::Result<StationReceiver> {
    check_interface(Some(interface))?;
    StationReceiver::open(interface, options.socket_buffer_bytes)
}

/// An interface that is down takes what it is given, and throws it away.
fn check_interface(interface: Option<&str>) -> io::Result<()> {
    match (interface, Interfaces::of_system()) {
        (Some(name), Ok(interfaces)) if !interfaces.is_up(name) => {
            let what = format!("there is no interface called {name}, or it is down");
            Err(io::Error::new(ErrorKind::NetworkDown, what))
        }
        // If the system reports nothing, opening the socket will.
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
    /// Another socket receives for this link.
    is_send_only: bool,
}

impl<M: Medium> MediumLink<M> {
    fn new(medium: M) -> Self {
        let buffer = vec![0; HEADER_BYTES + LARGEST_FRAME_RECEIVED].into_boxed_slice();
        Self { medium, buffer, broken: None, is_send_only: false }
    }

    /// A link that only sends; another socket receives for it.
    fn deaf(medium: M) -> Self {
        Self { medium, buffer: Box::default(), broken: None, is_send_only: true }
    }
}

impl<M: Medium> Link for MediumLink<M> {
    fn fd(&self) -> BorrowedFd<'_> {
        self.medium.fd()
    }

    fn is_send_only(&self) -> bool {
        self.is_send_only
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
                Ok(Some(Received { frame, sender })) => {
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

    fn waiting_bytes(&self) -> usize {
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

    /// Returns a prepared result for each frame.
    #[derive(Debug)]
    struct Scripted(UnixStream, Cell<Option<Errno>>);

    impl Medium for Scripted {
        fn fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }

        fn send(&self, _: &[u8]) -> io::Result<()> {
            self.1.take().map_or(Ok(()), |errno| Err(errno.into()))
        }

        fn receive(&self, _: &mut [u8]) -> io::Result<Option<Received>> {
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
    fn busy_medium_drops_and_absent_medium_ends() {
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
