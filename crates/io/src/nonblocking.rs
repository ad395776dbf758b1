//! Writing to a stream of the process without ever waiting for its reader.
//!
//! The description of standard error is shared with other processes, so that it must not be made non-blocking. A pipe or a
//! terminal is opened once more instead, and a socket is asked not to wait for each message.
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::io::{Errno, write};
use rustix::net::{SendFlags, send};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// A reader that is gone is an error, not a signal, which Rust's runtime ignores anyway where there is no such flag.
#[cfg(target_os = "linux")]
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(not(target_os = "linux"))]
const SEND: SendFlags = SendFlags::DONTWAIT;

/// A stream to which writes never wait.
#[derive(Debug)]
pub struct NonBlocking {
    stream: OwnedFd,
    is_socket: bool,
}

impl NonBlocking {
    /// For what `stream` leads to. `None` if that is a file, or if the system rejects.
    pub fn of(stream: impl AsFd) -> Option<Self> {
        let stream = stream.as_fd();
        match FileType::from_raw_mode(fstat(stream).ok()?.st_mode) {
            FileType::Socket => {
                let stream = stream.try_clone_to_owned().ok()?;
                Some(Self { stream, is_socket: true })
            }
            FileType::Fifo | FileType::CharacterDevice => {
                let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
                let path = format!("/proc/self/fd/{}", stream.as_raw_fd());
                let stream = open(path, flags, Mode::empty()).ok()?;
                Some(Self { stream, is_socket: false })
            }
            _ => None,
        }
    }

    /// Writes as many bytes as the pipe or socket takes; returns their number.
    ///
    /// # Errors
    /// If the reader has closed its end.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = match self.is_socket {
            true => send(&self.stream, bytes, SEND),
            false => write(&self.stream, bytes),
        };
        match written {
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            written => Ok(written?),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    /// Writes until the buffer is full, reads all, and writes again.
    fn fill(reader: &mut impl Read, stream: &impl AsFd) {
        let stream = NonBlocking::of(stream).unwrap();
        let mut written = 0;
        loop {
            match stream.write(&[7; 1_000]).unwrap() {
                0 => break,
                bytes => written += bytes,
            }
        }
        assert!(written >= 1_000);
        reader.read_exact(&mut vec![0; written]).unwrap();
        assert_eq!(stream.write(b"again").unwrap(), 5);
    }

    #[test]
    fn writes_end_where_there_is_no_room() {
        let (mut reader, writer) = io::pipe().unwrap();
        fill(&mut reader, &writer);
        let (mut reader, writer) = UnixStream::pair().unwrap();
        fill(&mut reader, &writer);
        assert!(NonBlocking::of(tempfile::tempfile().unwrap()).is_none());
    }

    #[test]
    fn write_without_reader_is_an_error() {
        let (reader, writer) = io::pipe().unwrap();
        let stream = NonBlocking::of(&writer).unwrap();
        drop(reader);
        assert_eq!(stream.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
