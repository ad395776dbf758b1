//! A small read-only HTTP server for operators, in threads of its own.
//!
//! Each connection gets one answer. A request must arrive whole within [`REQUEST_TIMEOUT`], or the connection ends. At most [`MAX_CONNECTIONS`] are served at a time. A further connection ends the
//! oldest one that waits for its peer, of the address with the most connections. A slow reader
//! therefore cannot block others. The Host must be an address or `localhost`; any other is rejected, against
//! DNS rebinding. Pages of other origins may link here and include nothing.
use crate::origin::Host;
use std::cmp::Reverse;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a request, and then its answer, may take.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that are served at a time.
pub const MAX_CONNECTIONS: usize = 16;
/// Longest request, in bytes.
const MAX_REQUEST_BYTES: usize = 8 << 10;
/// Most header fields of a request.
const MAX_FIELDS: usize = 64;

/// Content of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Such as `text/html; charset=utf-8`.
    pub content_type: &'static str,
    /// The whole of it.
    pub body: Vec<u8>,
}

/// Page of a path, if there is one.
pub type Pages = Arc<dyn Fn(&str) -> Option<Page> + Send + Sync>;

/// A server, until it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
}

impl HttpServer {
    /// Serves `pages` at `address`.
    ///
    /// # Errors
    /// If the address is taken or not ours, or there can be no more threads.
    pub fn start(address: SocketAddr, pages: Pages) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let ended = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&ended);
        let work = move || accept(&listener, &until, &pages);
        thread::Builder::new().name("http".into()).spawn(work)?;
        Ok(Self { address, ended })
    }

    /// Where it listens, with the port that the system chose if it was left open.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // It waits for connections, and gets one.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

/// The connections that are served.
#[derive(Debug, Default)]
struct Connections {
    open: Mutex<Vec<Connection>>,
    freed: Condvar,
}

/// One of them.
#[derive(Debug)]
struct Connection {
    stream: Arc<TcpStream>,
    from: IpAddr,
    /// Its page is being made.
    makes_page: bool,
    /// The connection was ended in favour of another.
    is_ended: bool,
}

/// A connection that is served, until it is dropped.
struct Served {
    stream: Arc<TcpStream>,
    all: Arc<Connections>,
}

impl Connections {
    /// Takes a connection in. If the limit is reached, a connection that waits for its peer is ended in exchange.
    fn take(self: &Arc<Self>, stream: TcpStream, from: IpAddr) -> Served {
        let stream = Arc::new(stream);
        let mut open = self.lock();
        while open.len() >= MAX_CONNECTIONS {
            if open.iter().all(|it| !it.is_ended) {
                end_slowest(&mut open);
            }
            open = self.freed.wait(open).unwrap_or_else(PoisonError::into_inner);
        }
        let (makes_page, is_ended) = (false, false);
        open.push(Connection { stream: Arc::clone(&stream), from, makes_page, is_ended });
        Served { stream, all: Arc::clone(self) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the oldest connection that waits for its peer, of the address that has the most.
fn end_slowest(open: &mut [Connection]) {
    let count = |from| open.iter().filter(|it| it.from == from).count();
    let waiting = open.iter().enumerate().filter(|(_, it)| !it.makes_page);
    let slowest = waiting.min_by_key(|(_, it)| Reverse(count(it.from))).map(|(place, _)| place);
    if let Some(slowest) = slowest.and_then(|place| open.get_mut(place)) {
        slowest.is_ended = true;
        // Its thread wakes with an error.
        let _ = slowest.stream.shutdown(Shutdown::Both);
    }
}

impl Served {
    /// Its page is being made from here on, or has been.
    fn set_makes_page(&self, makes_page: bool) {
        let mut open = self.all.lock();
        if let Some(it) = open.iter_mut().find(|it| Arc::ptr_eq(&it.stream, &self.stream)) {
            it.makes_page = makes_page;
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.all.lock().retain(|it| !Arc::ptr_eq(&it.stream, &self.stream));
        self.all.freed.notify_one();
    }
}

fn accept(listener: &TcpListener, ended: &Arc<AtomicBool>, pages: &Pages) {
    let connections = Arc::new(Connections::default());
    loop {
        let accepted = listener.accept();
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let Ok((stream, from)) = accepted else {
            // No descriptor is left, or the peer was gone again.
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        let (pages, served) = (Arc::clone(pages), connections.take(stream, from.ip()));
        let work = move || {
            // A failed write means that the peer is gone.
            let _ = answer(&served, &pages);
        };
        let _ = thread::Builder::new().name("http-peer".into()).spawn(work);
    }
}

fn answer(served: &Served, pages: &Pages) -> io::Result<()> {
    let mut stream = &*served.stream;
    let reply = match read(&mut stream, soon())? {
        Request::Get { path, head } => {
            served.set_makes_page(true);
            let page = pages(&path);
            served.set_makes_page(false);
            match page {
                Some(page) => Reply { code: "200 OK", page, head },
                None => Reply::error("404 Not Found"),
            }
        }
        Request::Invalid(code) => Reply::error(code),
    };
    write(&mut stream, &reply.bytes(), soon())?;
    stream.shutdown(Shutdown::Both)
}

/// When an answer must be complete.
fn soon() -> Instant {
    Instant::now() + REQUEST_TIMEOUT
}

/// Outcome of parsing a request.
#[derive(Debug, PartialEq, Eq)]
enum Request {
    Get { path: String, head: bool },
    Invalid(&'static str),
}

struct Reply {
    code: &'static str,
    page: Page,
    head: bool,
}

impl Reply {
    fn error(code: &'static str) -> Self {
        let page = Page { content_type: "text/plain", body: format!("{code}\n").into_bytes() };
        Self { code, page, head: false }
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { code, page: Page { content_type, body }, head } = self;
        let text = format!(
            "HTTP/1.1 {code}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
             Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Content-Security-Policy: default-src 'self' 'unsafe-inline'\r\n\r\n",
            body.len()
        );
        let mut bytes = text.into_bytes();
        if !head {
            bytes.extend(body);
        }
        bytes
    }
}

/// Reads a request, whatever its peer does until then.
fn read(stream: &mut &TcpStream, until: Instant) -> io::Result<Request> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 1_024]);
    loop {
        stream.set_read_timeout(Some(left(until)?))?;
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend(piece.get(..count).unwrap_or_default());
        if bytes.len() > MAX_REQUEST_BYTES {
            return Ok(Request::Invalid("431 Request Header Fields Too Large"));
        }
        if let Some(request) = parse(&bytes) {
            return Ok(request);
        }
    }
}

fn write(stream: &mut &TcpStream, mut bytes: &[u8], until: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(until)?))?;
        let count = stream.write(bytes)?;
        bytes = bytes.get(count..).unwrap_or_default();
    }
    Ok(())
}

fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Parses a request; `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Option<Request> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(_) => return Some(Request::Invalid("400 Bad Request")),
    }
    let mut hosts = fields_of(&request, "host");
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Some(Request::Invalid("400 Bad Request"));
    };
    let (authority, path) = target(request.path.unwrap_or_default());
    if !is_ours(authority.map_or(host, str::as_bytes)) || !is_own_or_link(&request) {
        return Some(Request::Invalid("403 Forbidden"));
    }
    let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
    Some(match request.method {
        Some("GET") => Request::Get { path, head: false },
        Some("HEAD") => Request::Get { path, head: true },
        _ => Request::Invalid("405 Method Not Allowed"),
    })
}

/// The values of all fields of a name.
fn fields_of<'a>(
    request: &'a httparse::Request<'_, '_>,
    name: &'a str,
) -> impl Iterator<Item = &'a [u8]> {
    let fields = request.headers.iter().filter(move |it| it.name.eq_ignore_ascii_case(name));
    fields.map(|it| it.value)
}

/// The host of an absolute target, which replaces the Host field (RFC 9112, section 3.2.2), and the path.
fn target(text: &str) -> (Option<&str>, &str) {
    match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            (Some(authority), if path.is_empty() { "/" } else { path })
        }
        _ => (None, text),
    }
}

/// Whether a request comes from a page of this server or from a followed link (Fetch Metadata, W3C). Programs that are no
/// browsers send no such fields.
fn is_own_or_link(request: &httparse::Request<'_, '_>) -> bool {
    let field = |name| fields_of(request, name).next();
    let is_own = matches!(field("sec-fetch-site"), None | Some(b"same-origin" | b"none"));
    let is_link = field("sec-fetch-mode") == Some(b"navigate")
        && field("sec-fetch-dest") == Some(b"document");
    is_own || is_link
}

/// Whether a Host header names an address or this machine.
fn is_ours(host: &[u8]) -> bool {
    match std::str::from_utf8(host).ok().and_then(Host::of_authority) {
        Some(Host::Address(_)) => true,
        Some(host) => host.is_this_machine(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> HttpServer {
        let pages: Pages = Arc::new(|path| {
            let page = Page { content_type: "text/plain", body: b"content".to_vec() };
            match path {
                "/a" => Some(page),
                _ => None,
            }
        });
        HttpServer::start(SocketAddr::from(([127, 0, 0, 1], 0)), pages).unwrap()
    }

    fn exchange(server: &HttpServer, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn page_is_found_by_its_path() {
        let server = server();
        let found = exchange(&server, "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:9\r\n\r\n");
        assert!(found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with("\r\n\r\ncontent"));
        let head = exchange(&server, "HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(head.contains("Content-Length: 7\r\n") && head.ends_with("\r\n\r\n"));
        for (request, code) in [
            ("GET /b HTTP/1.1\r\nHost: [::1]:9\r\n\r\n", "404"),
            ("POST /a HTTP/1.1\r\nHost: localhost:9\r\n\r\n", "405"),
            ("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
            ("GET /a HTTP/1.1\r\n\r\n", "400"),
            ("GET /a HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "400"),
            ("GET http://localhost:9/a HTTP/1.1\r\nHost: localhost\r\n\r\n", "200"),
            ("GET http://evil.example/a HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"),
            ("GET http://localhost@evil.example/a HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"),
            ("\0\r\n\r\n", "400"),
        ] {
            let answer = exchange(&server, request);
            assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{request:?}: {answer}");
        }
    }

    #[test]
    fn other_origins_may_link_and_not_include() {
        let server = server();
        for (origin, mode, destination, code) in [
            ("none", "navigate", "document", "200"),
            ("same-origin", "cors", "empty", "200"),
            ("cross-site", "navigate", "document", "200"),
            ("cross-site", "no-cors", "script", "403"),
            ("cross-site", "navigate", "iframe", "403"),
            ("same-site", "no-cors", "image", "403"),
        ] {
            let answer = exchange(
                &server,
                &format!(
                    "GET /a HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: {origin}\r\n\
                     Sec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {destination}\r\n\r\n"
                ),
            );
            assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{origin} {mode}: {answer}");
            assert!(answer.contains("\r\nCross-Origin-Resource-Policy: same-origin\r\n"));
        }
    }

    #[test]
    fn a_request_without_end_is_cut_short() {
        let server = server();
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let line = format!("GET /{} HTTP/1.1\r\n", "x".repeat(MAX_REQUEST_BYTES));
        stream.write_all(line.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"), "{answer:?}");
    }

    #[test]
    fn idle_connections_leave_one_for_others() {
        let server = server();
        let idle: Vec<_> = (0..MAX_CONNECTIONS - 1)
            .map(|_| TcpStream::connect(server.address()).unwrap())
            .collect();
        let found = exchange(&server, "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(found.ends_with("content"), "one seat is left: {found}");
        drop(idle);
    }

    #[test]
    fn slow_readers_do_not_block_others() {
        let body = vec![b'x'; 8 << 20];
        let pages: Pages = Arc::new(move |path| {
            let body = if path == "/large" { body.clone() } else { b"content".to_vec() };
            Some(Page { content_type: "text/plain", body })
        });
        let server = HttpServer::start(SocketAddr::from(([127, 0, 0, 1], 0)), pages).unwrap();
        let mut slow = Vec::new();
        for number in 0..4 * MAX_CONNECTIONS {
            let mut stream = TcpStream::connect(server.address()).unwrap();
            let request: &[u8] = match number % 3 {
                0 => b"",
                1 => b"G",
                _ => b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n",
            };
            let _ = stream.write_all(request);
            slow.push(stream);
        }
        for _ in 0..3 {
            let begun = Instant::now();
            let found = exchange(&server, "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
            assert!(found.ends_with("content"), "{found}");
            assert!(begun.elapsed() < REQUEST_TIMEOUT / 2, "answered after {:?}", begun.elapsed());
        }
    }

    #[test]
    fn host_with_user_information_is_rejected() {
        let server = server();
        for host in ["localhost:80@evil.example", "localhost@evil.example", "[::1]]", "localhost:"]
        {
            let answer = exchange(&server, &format!("GET /a HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
        }
    }
}
