//! Readers that do not read, and producers whose folders are long.
use super::*;
use crate::peers::Limits;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinHandle;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Long answers of each kind, over sockets.
struct Long {
    address: SocketAddr,
    gateway: JoinHandle<()>,
    _servers: [Server; 3],
    _folder: tempfile::TempDir,
}

/// Each kind of answer that is longer than what the sockets take.
const REQUESTS: [&str; 4] = [
    "GET /ndn/long HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /ndn/names/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /ndn/names/ HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n",
    "PROPFIND /ndn/folder/ HTTP/1.1\r\nHost: localhost\r\nDepth: 1\r\nContent-Length: 62\r\n\r\n\
     <propfind xmlns=\"DAV:\"><prop><resourcetype/></prop></propfind>",
];

impl Long {
    async fn new(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..4_000 {
            let name = format!("{number:05}{}", "=".repeat(240));
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let client = Client::builder().alone().connect().await.unwrap();
        let servers = [
            client.serve("/long").bytes(vec![7; 16 << 20]).await.unwrap(),
            client.serve("/names/32=ls").bytes(listing(200_000)).await.unwrap(),
            client.serve("/folder").folder(folder.path()).await.unwrap(),
        ];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = router(client, Hosts::default());
        let gateway = server::serve_within(limits, listener, router, std::future::pending());
        Self { address, gateway: tokio::spawn(gateway), _servers: servers, _folder: folder }
    }

    /// A connection that sends `request` and takes nothing but the first byte of the answer.
    async fn slow_reader(&self, request: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let mut stream = socket.connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        if request.ends_with('>') || request.ends_with("\r\n\r\n") {
            stream.peek(&mut [0]).await.unwrap();
        }
        stream
    }

    /// The status of an answer to a reader that reads.
    async fn status(&self) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer.lines().next().unwrap_or_default().to_owned()
    }
}

impl Drop for Long {
    fn drop(&mut self) {
        self.gateway.abort();
    }
}

/// The listing of so many files.
pub(super) fn listing(files: u32) -> Vec<u8> {
    (0..files).flat_map(|number| format!("{number:012}\0").into_bytes()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_do_not_block_others() {
    let limits = Limits { connections: 3, per_client: 3, stall: PATIENCE };
    let long = Long::new(limits).await;
    for request in REQUESTS.into_iter().chain(["", "G"]) {
        let mut slow = Vec::new();
        for _ in 0..limits.connections + 2 {
            slow.push(long.slow_reader(request).await);
        }
        // A reader is slow once the sockets are full: until then its connection is at work.
        let answered = async {
            while long.status().await != "HTTP/1.1 200 OK" {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, answered).await.expect(request);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_that_does_not_read_is_ended() {
    let limits = Limits { connections: 8, per_client: 8, stall: Duration::from_millis(200) };
    let long = Long::new(limits).await;
    for request in REQUESTS {
        let mut slow = long.slow_reader(request).await;
        let ended = async {
            while slow.write_all(b"\r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.expect(request);
    }
}

#[tokio::test]
async fn long_listing_is_rejected() {
    let client = Client::builder().alone().connect().await.unwrap();
    let _long = client.serve("/long/32=ls").bytes(listing(1_000_000)).await.unwrap();
    let _short = client.serve("/short/32=ls").bytes(listing(10_000)).await.unwrap();
    let router = router(client, Hosts::default());
    for (path, accept, status, entries) in [
        ("/ndn/long/", "*/*", 502, 0),
        ("/ndn/long/", "application/json", 502, 0),
        ("/ndn/short/", "*/*", 200, 10_000),
        ("/ndn/short/", "application/json", 200, 10_000),
    ] {
        let request = Request::builder().uri(path).header("host", "localhost");
        let request = request.header("accept", accept).body(Body::empty()).unwrap();
        let (got, _, text) = read(router.clone().oneshot(request).await.unwrap()).await;
        assert_eq!(got.as_u16(), status, "{path} {accept}");
        assert_eq!(String::from_utf8(text).unwrap().matches("\"./0").count(), entries);
    }
}

/// The cost of a request, in packets of the network.
#[tokio::test]
async fn kinds_of_entries_cost_the_listing_alone() {
    let kinds = "<resourcetype/><getcontenttype/>";
    let lengths = "<resourcetype/><getcontentlength/>";
    let many = dav::MAX_DESCRIBED as usize + 1;
    let place = Client::builder().alone().connect().await.unwrap();
    for (files, rows) in [
        (200, [(kinds, 207, 20), (lengths, 207, 220)]),
        (many, [(kinds, 207, 100), (lengths, 507, 100)]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        (0..files).for_each(|it| std::fs::write(folder.path().join(it.to_string()), "").unwrap());
        let server = place.serve("/many").folder(folder.path()).await.unwrap();
        let router = router(place.clone(), Hosts::default());
        let cost = || {
            let sent = server.summary();
            sent.segments + sent.metadata + sent.unknown
        };
        for (properties, status, most) in rows {
            let before = cost();
            let body = format!("<propfind xmlns=\"DAV:\"><prop>{properties}</prop></propfind>");
            let request = Request::builder().method("PROPFIND").uri("/ndn/many/");
            let request = request.header("host", "localhost").body(Body::from(body)).unwrap();
            let (got, _, body) = read(router.clone().oneshot(request).await.unwrap()).await;
            assert_eq!(got.as_u16(), status, "{files} files, {properties}");
            let entries = String::from_utf8(body).unwrap().matches("<D:href>").count();
            assert_eq!(entries, if status == 207 { files + 1 } else { 0 });
            assert!(cost() - before <= most, "{files} files, {properties}: {}", cost() - before);
        }
    }
}
