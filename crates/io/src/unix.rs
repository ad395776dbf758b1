//! Unix stream sockets.
use crate::stream;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Connections that may wait to be accepted; the system grants fewer (`net.core.somaxconn`, 4,096 on stock systems).
const QUEUE: i32 = 4_096;
/// Requested kernel buffer; stock systems grant 208 KiB.
const SOCKET_BUFFER: usize = 1 << 20;

/// Connects, without waiting.
pub(crate) fn dial(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    tune(&socket);
    stream::dial(&socket, &address(path)?)?;
    Ok(socket)
}

/// Requests buffers that hold a batch, so that a batch is one system call.
pub(crate) fn tune(socket: &Socket) {
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
}

/// A listening socket and its file, which is removed with it.
#[derive(Debug)]
pub(crate) struct UnixListener {
    socket: Socket,
    path: PathBuf,
    identity: (u64, u64),
}

impl UnixListener {
    /// Listens at `path`. A stale socket file is replaced; any other file is left alone.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let address = address(path)?;
        remove_if_stale(path, &address)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.bind(&address)?;
        let identity = identity(path)?;
        let listener = Self { socket, path: path.to_owned(), identity };
        listener.socket.listen(QUEUE)?;
        listener.socket.set_nonblocking(true)?;
        Ok(listener)
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }
}

impl Drop for UnixListener {
    fn drop(&mut self) {
        // Unless another process has replaced the socket meanwhile.
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn address(path: &Path) -> io::Result<SockAddr> {
    SockAddr::unix(path).map_err(|error| {
        let what = "the path of a socket may have 107 bytes: choose a shorter one";
        io::Error::new(error.kind(), what)
    })
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

fn remove_if_stale(path: &Path, address: &SockAddr) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => {
            let what = "what is there is no socket: remove it, or choose another path";
            return Err(io::Error::new(ErrorKind::AlreadyExists, what));
        }
        Ok(_) => {}
    }
    let probe = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    match stream::dial(&probe, address) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(ErrorKind::AddrInUse.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_socket_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nfd.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let listener = UnixListener::bind(&path).unwrap();
        assert!(path.exists());
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn used_socket_and_other_files_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nfd.sock");
        let _first = UnixListener::bind(&path).unwrap();
        assert_eq!(UnixListener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
        let file = folder.path().join("file");
        fs::write(&file, "precious").unwrap();
        assert_eq!(UnixListener::bind(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&file).unwrap(), b"precious");
    }

    #[test]
    fn overlong_socket_path_is_an_error() {
        let path = PathBuf::from("/tmp").join("a".repeat(200));
        for error in [UnixListener::bind(&path).unwrap_err(), dial(&path).unwrap_err()] {
            assert!(error.to_string().contains("107 bytes"), "{error}");
        }
    }

    #[test]
    fn the_file_of_a_successor_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nfd.sock");
        let first = UnixListener::bind(&path).unwrap();
        fs::rename(&path, folder.path().join("old")).unwrap();
        let _second = UnixListener::bind(&path).unwrap();
        drop(first);
        assert!(path.exists());
    }
}
