//! Frames as binary WebSocket messages, one packet each, without encryption (RFC 6455).
//!
//! A browser lets any page connect to this machine in its user's name; the handshake names the
//! page's site (`Origin`). Data of a page from another machine counts as remote, wherever the
//! browser runs.
use crate::face::{CloseReason, DropReason, LARGEST_FRAME_RECEIVED};
use crate::link::{Intake, Link};
use crate::origin::Host;
use crate::stream;
use bytes::Bytes;
use socket2::Socket;
use std::io::{self, ErrorKind, Read, Write};
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tungstenite::client::IntoClientRequest;
use tungstenite::error::{CapacityError, ProtocolError};
use tungstenite::handshake::client::ClientHandshake;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::handshake::{HandshakeError, HandshakeRole, MidHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message};

/// Messages received per wake-up.
const MESSAGES: usize = 256;
/// Most bytes that wait: they are moved in memory with each write, so many would be slow.
const BACKLOG: usize = 1 << 20;
/// Bytes read and written at a time.
const BUFFER: usize = 64 * 1024;

/// The socket, shared so that it can be waited on whatever state the protocol is in.
#[derive(Clone, Debug)]
struct Shared(Arc<Socket>);

impl Read for Shared {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Client = MidHandshake<ClientHandshake<Shared>>;
type Server = MidHandshake<ServerHandshake<Shared, Visitor>>;

/// Whether a page of another machine connects, by the handshake.
#[derive(Clone, Debug, Default)]
struct Visitor(Arc<AtomicBool>);

impl Callback for Visitor {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let mut origins = request.headers().get_all("origin").iter();
        let is_foreign = origins.any(|origin| !is_of_this_machine(origin.as_bytes()));
        self.0.store(is_foreign, Ordering::Relaxed);
        Ok(response)
    }
}

/// Whether a page with this origin came from this machine: from `localhost`, or an address that leads here. Pages without
/// an origin (`null`) may come from anywhere.
fn is_of_this_machine(origin: &[u8]) -> bool {
    let host = std::str::from_utf8(origin).ok().and_then(Host::of_origin);
    host.is_some_and(Host::is_this_machine)
}

#[derive(Debug)]
enum State {
    /// The connection below is not established; then a handshake for this address begins.
    Connecting(String),
    Client(Box<Client>),
    Server(Box<Server>),
    Open(Box<tungstenite::WebSocket<Shared>>),
    Gone,
}

/// A WebSocket with one peer.
#[derive(Debug)]
pub(crate) struct WebSocket {
    socket: Shared,
    state: State,
    unflushed: usize,
    stalled: bool,
    more: bool,
    limit: usize,
    broken: Option<CloseReason>,
    visitor: Visitor,
}

impl WebSocket {
    /// This side begins the handshake for `uri`, as soon as the connection is established.
    pub(crate) fn client(socket: Socket, connecting: bool, uri: &str, limit: usize) -> Self {
        let mut this = Self::new(socket, State::Connecting(uri.to_owned()), limit);
        if !connecting {
            this.broken = this.advance().err();
        }
        this
    }

    /// The peer begins the handshake.
    pub(crate) fn server(socket: Socket, limit: usize) -> Self {
        let mut this = Self::new(socket, State::Gone, limit);
        let (socket, visitor) = (this.socket.clone(), this.visitor.clone());
        let begun = ServerHandshake::start(socket, visitor, Some(config(limit)));
        this.state = State::Server(Box::new(begun));
        this
    }

    fn new(socket: Socket, state: State, limit: usize) -> Self {
        Self {
            socket: Shared(Arc::new(socket)),
            state,
            unflushed: 0,
            stalled: false,
            more: false,
            limit: limit.min(BACKLOG),
            broken: None,
            visitor: Visitor::default(),
        }
    }

    /// Goes on opening.
    fn advance(&mut self) -> Result<(), CloseReason> {
        self.state = match mem::replace(&mut self.state, State::Gone) {
            State::Connecting(uri) => match stream::is_connected(&self.socket.0)? {
                false => State::Connecting(uri),
                true => {
                    let request = uri.as_str().into_client_request().map_err(reason)?;
                    let config = Some(config(self.limit));
                    let begun = ClientHandshake::start(self.socket.clone(), request, config);
                    shake(begun.map_err(reason)?, State::Client, |(open, _)| open)?
                }
            },
            State::Client(handshake) => shake(*handshake, State::Client, |(open, _)| open)?,
            State::Server(handshake) => shake(*handshake, State::Server, |open| open)?,
            state => state,
        };
        // The first messages may have come with the last bytes of the handshake.
        self.more = self.is_open();
        Ok(())
    }

    fn read(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        let State::Open(open) = &mut self.state else {
            return Err(CloseReason::Ended);
        };
        self.more = false;
        for _ in 0..MESSAGES {
            match open.read() {
                Ok(Message::Binary(frame)) => intake.frames.push(frame),
                Ok(Message::Text(_)) => intake.discard(DropReason::Text),
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(reason(error)),
            }
        }
        self.more = true;
        Ok(())
    }
}

/// One more step of a handshake.
fn shake<R>(
    handshake: MidHandshake<R>,
    undone: fn(Box<MidHandshake<R>>) -> State,
    done: fn(R::FinalResult) -> tungstenite::WebSocket<Shared>,
) -> Result<State, CloseReason>
where
    R: HandshakeRole,
{
    match handshake.handshake() {
        Ok(result) => Ok(State::Open(Box::new(done(result)))),
        Err(HandshakeError::Interrupted(rest)) => Ok(undone(Box::new(rest))),
        Err(HandshakeError::Failure(error)) => Err(reason(error)),
    }
}

fn config(limit: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_write_buffer_size(limit.max(BUFFER + 2 * LARGEST_FRAME_RECEIVED))
        .max_message_size(Some(LARGEST_FRAME_RECEIVED))
        .max_frame_size(Some(LARGEST_FRAME_RECEIVED))
}

fn reason(error: Error) -> CloseReason {
    match error {
        Error::ConnectionClosed
        | Error::AlreadyClosed
        | Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => CloseReason::Ended,
        Error::Io(error) => error.into(),
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            CloseReason::TooLong { length: size, limit: max_size }
        }
        Error::Http(answer) => {
            CloseReason::WebSocket(format!("the server answered {}", answer.status()))
        }
        error => CloseReason::WebSocket(error.to_string()),
    }
}

impl Link for WebSocket {
    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.0.as_fd()
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    fn speaks_for_others(&self) -> bool {
        self.visitor.0.load(Ordering::Relaxed)
    }

    fn wants_write(&self) -> bool {
        self.stalled || matches!(self.state, State::Connecting(_))
    }

    fn has_more(&self) -> bool {
        self.more || self.broken.is_some()
    }

    fn receive(&mut self, intake: &mut Intake) -> Result<(), CloseReason> {
        match self.broken.take() {
            Some(reason) => Err(reason),
            None if self.is_open() => self.read(intake),
            None => self.advance(),
        }
    }

    fn push(&mut self, frame: Bytes) -> Result<(), DropReason> {
        let State::Open(open) = &mut self.state else {
            return Err(DropReason::Down);
        };
        if self.unflushed + frame.len() > self.limit {
            return Err(DropReason::Backlog);
        }
        let length = frame.len();
        match open.write(Message::Binary(frame)) {
            Ok(()) => {}
            Err(Error::WriteBufferFull(_)) => return Err(DropReason::Backlog),
            // The message was taken all the same.
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => self.stalled = true,
            Err(error) => {
                self.broken = Some(reason(error));
                return Err(DropReason::Down);
            }
        }
        self.unflushed += length;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), CloseReason> {
        if let Some(reason) = self.broken.take() {
            return Err(reason);
        }
        let State::Open(open) = &mut self.state else {
            return Ok(());
        };
        match open.flush() {
            Ok(()) => {
                self.stalled = false;
                self.unflushed = 0;
                Ok(())
            }
            Err(Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                self.stalled = true;
                Ok(())
            }
            Err(error) => Err(reason(error)),
        }
    }

    fn waiting_bytes(&self) -> usize {
        self.unflushed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_origins_are_local() {
        for ours in [
            "http://localhost",
            "http://localhost:5173",
            "https://127.0.0.1:8443",
            "http://[::1]:80",
            "http://[::ffff:127.0.0.1]",
        ] {
            assert!(is_of_this_machine(ours.as_bytes()), "{ours}");
        }
        for foreign in [
            "null",
            "",
            "https://example.net",
            "https://localhost.example.net",
            "https://127.0.0.1.example.net:9696",
            "http://192.0.2.7",
            "http://[2001:db8::1]",
            "file://",
            "localhost",
            "http://localhost@evil.example",
            "http://localhost:80@evil.example",
            "http://127.0.0.1:80@evil.example/",
            "http://[::1]@evil.example",
            "http://[::1]evil.example",
            "http://localhost/",
            "http://localhost:",
            "http://localhost:99999",
            "http://localhost:80 http://evil.example",
            "://localhost",
        ] {
            assert!(!is_of_this_machine(foreign.as_bytes()), "{foreign}");
        }
        assert!(!is_of_this_machine(b"http://\xff"));
    }
}
