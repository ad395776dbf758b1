//! Clients served by other clients, over sockets and pairs of this process.
use recoup::{Client, FetchOptions, Verify};
use recoup_io::key::{KeyStore, KeyType};
use recoup_transport::congestion::Congestion;
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Content that differs from place to place.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

fn alone() -> Client {
    Client::builder().alone().connect().unwrap()
}

/// A face that only one test uses.
fn face() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("memory://client-test-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

fn toward(face: &str) -> Client {
    Client::builder().face(face).connect().unwrap()
}

/// An Ed25519 key in PKCS #8 (RFC 8410): the seed is 32 times this byte.
fn pem(byte: u8) -> String {
    let header = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let der = [&header[..], &[byte; 32]].concat();
    recoup_io::key::PrivateKey::from_der(&der).unwrap().to_pem().unwrap().to_string()
}

#[test]
fn object_arrives_over_udp() {
    let (place, sent) = (alone(), content(1_000_000));
    let server = place.serve("/a/b").listen("udp://127.0.0.1:0").unwrap();
    let server = server.bytes(sent.clone()).unwrap();
    let client = toward(&server.faces()[0]);
    assert!(client.get("/a/b").unwrap() == sent);
    assert!(server.summary().bytes >= 1_000_000, "a busy machine retransmits");
}

#[test]
fn range_in_bytes_is_exact() {
    let (place, sent, face) = (alone(), content(100_001), face());
    let _server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).unwrap();
    let client = toward(&face);
    for range in [0..1, 7_999..8_001, 16_000..24_000, 99_999..100_001, 100_000..200_000, 5..5] {
        let end = (range.end as usize).min(sent.len());
        let wanted = &sent[range.start as usize..end.max(range.start as usize)];
        assert!(client.fetch("/a").bytes(range.clone()).to_vec().unwrap() == wanted, "{range:?}");
    }
    let segments = client.fetch("/a").segments(2..4).to_vec().unwrap();
    assert!(segments == sent[16_000..32_000]);
    assert!(client.fetch("/a").segments(2..2).to_vec().unwrap_err().is_usage());
}

#[test]
fn many_fetches_share_a_client() {
    let (place, sent, face) = (alone(), content(300_000), face());
    let _server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).unwrap();
    let client = toward(&face);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let (client, sent) = (client.clone(), &sent);
            scope.spawn(move || assert!(client.get("/a").unwrap() == *sent));
        }
    });
}

#[test]
fn absent_name_is_not_found() {
    let (place, face) = (alone(), face());
    let _server = place.serve("/a").listen(&face).unwrap().bytes("x").unwrap();
    let error = toward(&face).get("/a/nothing").unwrap_err();
    assert!(error.is_not_found() && error.remedy().is_some(), "{error}");
    assert_eq!(error.kind() as u8, 3);
}

#[test]
fn silent_producer_is_a_timeout() {
    let (place, face) = (alone(), face());
    let server = place.serve("/a").listen(&face).unwrap().silent();
    let _server = server.answer(|_| None).unwrap();
    let options =
        FetchOptions { no_progress: Duration::from_millis(300), ..FetchOptions::default() };
    let error = toward(&face).fetch("/a/b").options(options).to_vec().unwrap_err();
    assert!(error.is_timeout(), "{error}");
}

#[test]
fn wrong_key_is_unverified() {
    let (place, face, folder) = (alone(), face(), tempfile::tempdir().unwrap());
    let _server = place.serve("/a").listen(&face).unwrap().bytes("signed by a digest").unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(&key, pem(7)).unwrap();
    let verify = Verify::Key(key.display().to_string());
    let error = toward(&face).fetch("/a").verify(verify).to_vec().unwrap_err();
    assert!(error.is_unverified(), "{error}");
}

#[test]
fn right_key_verifies() {
    let (place, face, folder) = (alone(), face(), tempfile::tempdir().unwrap());
    let key = folder.path().join("key.pem").display().to_string();
    std::fs::write(&key, pem(9)).unwrap();
    let server = place.serve("/a").listen(&face).unwrap().sign(&key).bytes("signed").unwrap();
    let client = Client::builder().face(&*face).verify(Verify::Key(key)).connect().unwrap();
    assert_eq!(client.get("/a").unwrap(), "signed");
    drop(server);
}

#[test]
fn face_without_a_peer_is_unreachable() {
    let error = Client::builder().face("memory://no-such-place").connect().unwrap_err();
    assert!(error.is_unreachable(), "{error}");
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = toward(&format!("udp://{port}")).get("/a").unwrap_err();
    assert!(error.is_unreachable(), "{error}");
}

#[test]
fn cancelled_download_is_resumed() {
    let (place, sent, face) = (alone(), content(40_000_000), face());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let _server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).unwrap();
    let client = toward(&face);
    // Slow, so that the fetch is in flight when it is cancelled.
    let slow =
        FetchOptions { congestion: "fixed(window=1)".parse().unwrap(), ..FetchOptions::default() };
    let fetch = client.fetch("/a").options(slow).start_file(&path).unwrap();
    while fetch.progress().segments < 20 {
        assert!(!fetch.has_ended());
        sleep(Duration::from_millis(1));
    }
    assert!(fetch.cancel().unwrap_err().is_cancelled());
    assert!(!path.exists());
    let error = client.fetch("/a").to_file(&path).unwrap_err();
    assert!(error.is_local(), "{error}");
    let summary = client.fetch("/a").resume(true).to_file(&path).unwrap();
    let before_this = summary.stats.run.segments_before;
    assert!(before_this >= 20, "{before_this}");
    assert_eq!(summary.stats.segments + before_this, 5_000);
    assert!(std::fs::read(&path).unwrap() == sent);
}

#[test]
fn dropped_fetch_sends_no_more_interests() {
    let (place, face) = (alone(), face());
    let server = place.serve("/a").listen(&face).unwrap().bytes(content(8_000_000)).unwrap();
    let client = toward(&face);
    let slow =
        FetchOptions { congestion: "fixed(window=1)".parse().unwrap(), ..FetchOptions::default() };
    let mut chunks = client.fetch("/a").options(slow).chunks().unwrap();
    assert!(chunks.next().unwrap().is_ok());
    drop(chunks);
    // The client answers after it has cancelled the fetch.
    assert!(client.get("/a/nothing").is_err());
    let mut before = u64::MAX;
    while server.summary().segments != before {
        before = server.summary().segments;
        sleep(Duration::from_millis(100));
    }
    assert!(before < 1_000, "{before}");
}

#[test]
fn slow_reader_slows_the_producer() {
    let (place, face) = (alone(), face());
    let sent = content(40_000_000);
    let server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).unwrap();
    let client = toward(&face);
    let mut chunks = client.fetch("/a").chunks().unwrap();
    let first = chunks.next().unwrap().unwrap();
    let mut before = u64::MAX;
    while server.summary().bytes != before {
        before = server.summary().bytes;
        sleep(Duration::from_millis(300));
    }
    // The limit is 16 MiB; some segments are served twice.
    assert!(
        before < 20_000_000,
        "{before} bytes were served to a reader that took {}",
        first.len()
    );
    let rest: Vec<u8> = chunks.flat_map(|chunk| chunk.unwrap()).collect();
    assert!(rest == sent[first.len()..]);
}

#[test]
fn reader_fetches_what_is_read() {
    let (place, sent, face) = (alone(), content(4_000_100), face());
    let server = place.serve("/a").listen(&face).unwrap().bytes(sent.clone()).unwrap();
    let client = toward(&face);
    let mut reader = client.fetch("/a").cache(100_000).reader().unwrap();
    assert_eq!(reader.size().unwrap(), 4_000_100);
    assert!(reader.read_range(2_000_000, 2_016_000).unwrap() == sent[2_000_000..2_016_000]);
    assert_eq!(reader.fetched_segments(), 2);
    assert_eq!(server.summary().segments, 2);
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(all == sent);
    reader.seek(SeekFrom::End(-50)).unwrap();
    let mut tail = [0; 50];
    reader.read_exact(&mut tail).unwrap();
    assert!(tail == sent[4_000_050..]);
    assert_eq!(reader.read(&mut tail).unwrap(), 0);
    assert!(reader.seek(SeekFrom::Current(-5_000_000)).is_err());
}

#[test]
fn folder_is_served_by_paths() {
    let (place, face, folder) = (alone(), face(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("one"), "first").unwrap();
    let _server = place.serve("/f").listen(&face).unwrap().folder(folder.path()).unwrap();
    let client = toward(&face);
    assert_eq!(client.get("/f/one").unwrap(), "first");
    assert!(client.get("/f").unwrap_err().to_string().contains("is a folder"));
    let missing = place.serve("/g").file(folder.path().join("two")).unwrap_err();
    assert!(missing.is_local(), "{missing}");
}

#[test]
fn function_answers_interests() {
    let (place, face) = (alone(), face());
    let server = place.serve("/s").listen(&face).unwrap();
    let mut count = 0;
    let server = server.answer(move |interest| {
        count += 1;
        match interest.name.to_string().as_str() {
            "/s/panic" => panic!("a test"),
            "/s/none" => None,
            "/s/long" => Some(vec![0; 9_000].into()),
            _ => Some(format!("answer {count}").into()),
        }
    });
    let (server, client) = (server.unwrap(), toward(&face));
    assert_eq!(client.get_packet("/s/x").unwrap(), "answer 1");
    assert!(client.get_packet("/s/none").unwrap_err().is_not_found());
    assert!(client.get_packet("/s/long").unwrap_err().is_not_found());
    assert!(client.get_packet("/s/panic").unwrap_err().is_not_found());
    // On a busy machine a trace of the panic takes longer than the timer of its Interest.
    let again = client.get_packet("/s/x").unwrap();
    assert!(again.starts_with(b"answer ") && again != "answer 1", "{again:?}");
    assert!(server.summary().segments >= 2 && server.summary().unknown >= 3);
}

/// Runs a test once more, in a process with a key store of its own. Returns `true` there.
fn has_own_keys(test: &str) -> bool {
    const MARK: &str = "RECOUP_TEST_HAS_OWN_KEYS";
    if std::env::var_os(MARK).is_some() {
        return true;
    }
    let data = tempfile::tempdir().unwrap();
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", test]).env(MARK, "1").env("XDG_DATA_HOME", data.path());
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    false
}

#[test]
fn members_read_encrypted_content() {
    if !has_own_keys("members_read_encrypted_content") {
        return;
    }
    let (keys, name) = (KeyStore::open_default(), |text: &str| text.parse().unwrap());
    for reader in ["/alice", "/bob"] {
        keys.generate(&name(reader), KeyType::Rsa).unwrap();
    }
    keys.new_group(&name("/site")).unwrap();
    keys.grant("/site", &keys.certificate("/alice").unwrap()).unwrap();
    let (place, face) = (alone(), face());
    let server = place.serve("/site/report").listen(&face).unwrap().encrypt("/site");
    let content = vec![7; 30_000];
    let _server = server.bytes(content.clone()).unwrap();
    let client = toward(&face);
    let fetch = || client.fetch("/site/report");
    assert_eq!(fetch().decrypt("/alice").to_vec().unwrap(), content);
    assert_eq!(fetch().decrypt("/alice").bytes(10_000..10_020).to_vec().unwrap(), [7; 20]);
    assert_ne!(fetch().to_vec().unwrap(), content);
    let error = fetch().decrypt("/bob").to_vec().unwrap_err();
    assert!(error.is_unverified() && error.to_string().contains("is encrypted"), "{error}");
}

#[test]
fn callback_cannot_wait_for_its_client() {
    let client = alone();
    let inner = client.clone();
    let server = client.serve("/s").answer(move |_| {
        let error = inner.get("/x").unwrap_err();
        Some(error.is_usage().to_string().into())
    });
    assert_eq!(client.get_packet("/s/x").unwrap(), "true");
    drop(server);
}

#[test]
fn limits_of_memory_hold() {
    let (place, face) = (alone(), face());
    let _server = place.serve("/a").listen(&face).unwrap().bytes(content(100_000)).unwrap();
    let client = Client::builder().face(&*face).max_memory(50_000).connect().unwrap();
    assert!(client.get("/a").unwrap_err().is_condition());
    let client = toward(&face);
    assert!(client.fetch("/a").max_size(99_999).to_vec().unwrap_err().is_condition());
    assert_eq!(client.fetch("/a").max_size(100_000).to_vec().unwrap().len(), 100_000);
}

#[test]
fn wrong_arguments_are_usage_errors() {
    let wrong = "no-such-window".parse::<Congestion>().map_err(recoup::Error::from);
    assert!(wrong.unwrap_err().is_usage());
    let client = alone();
    assert!(client.get("http://a").unwrap_err().is_usage());
    assert!(client.fetch("/a").bytes(0..1).to_file("x").unwrap_err().is_usage());
}

#[test]
fn same_seed_draws_the_same_nonces() {
    let nonces = || {
        let client = Client::builder().alone().seed(7).connect().unwrap();
        let (sender, nonces) = std::sync::mpsc::channel();
        let server = client.serve("/s").answer(move |interest| {
            sender.send(interest.nonce).unwrap();
            Some("x".into())
        });
        client.get_packet("/s/a").unwrap();
        client.get_packet("/s/b").unwrap();
        drop(server);
        nonces.iter().take(2).collect::<Vec<_>>()
    };
    assert_eq!(nonces(), nonces());
}

/// Names with a meaning of their own at the node that they reach. The last one is a command of a repository.
const LOCAL: [&str; 5] = [
    "/localhost",
    "/localhost/nfd/status/general",
    "/localhop/nfd",
    "/localhost/nfd/faces/create/h/t/nonce/%16%03%1b%01%00/%17%00",
    "/repo/delete/h/t/KEY/%16%03%1b%01%00/%17%00",
];

#[test]
fn name_of_local_meaning_is_no_request() {
    let (place, face) = (alone(), face());
    let server = place.serve("/").listen(&face).unwrap().bytes("hello").unwrap();
    let (client, folder) = (toward(&face), tempfile::tempdir().unwrap());
    let path = |file: &str| folder.path().join(file);
    for name in LOCAL {
        let results = [
            client.get(name).map(drop),
            client.get_packet(name).map(drop),
            client.head(name).map(drop),
            client.ping(name).map(drop),
            client.fetch(name).bytes(0..1).to_vec().map(drop),
            client.fetch(name).segments(0..1).to_vec().map(drop),
            client.fetch(name).reader().map(drop),
            client.fetch(name).chunks().map(drop),
            client.fetch(name).to_file(path("file")).map(drop),
            client.fetch(name).start_file(path("file")).map(drop),
            client.fetch_folder(name).to_folder(path("folder")).map(drop),
        ];
        for (entry, result) in results.into_iter().enumerate() {
            let error = result.expect_err(name);
            assert!(error.is_usage() && error.is_permanent(), "{entry}: {error}");
        }
        // The listing is an object below the folder, so that a command is none any more.
        let listing = client.list(name);
        assert!(name.starts_with("/repo") || listing.is_err_and(|it| it.is_usage()), "{name}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    let summary = server.summary();
    assert_eq!((summary.segments, summary.metadata), (0, 0), "no Interest has left");
}

#[test]
fn allowed_local_name_is_fetched() {
    let (place, face) = (alone(), face());
    let _server = place.serve("/localhost/app").listen(&face).unwrap().bytes("hello").unwrap();
    let client = Client::builder().face(&face).allow_local_names(true).connect().unwrap();
    assert_eq!(client.get("/localhost/app").unwrap(), "hello");
}

#[test]
fn figures_over_streams_infer_no_cause() {
    let (place, folder) = (alone(), tempfile::tempdir().unwrap());
    for (uri, is_stream) in [
        (face(), true),
        ("tcp://127.0.0.1:0".into(), true),
        (format!("unix://{}", folder.path().join("socket").display()), true),
        ("udp://127.0.0.1:0".into(), false),
    ] {
        let server = place.serve("/a").listen(&uri).unwrap().bytes(content(100_000)).unwrap();
        let client = toward(&server.faces()[0]);
        let summary = client.fetch("/a").to_file(folder.path().join("copy")).unwrap();
        assert_eq!(summary.stats.run.is_stream, is_stream, "{uri}");
        let causes = summary.stats.causes();
        let inferred = causes.congestion + causes.random;
        assert!(!is_stream || inferred == 0, "{uri}");
        drop(server);
    }
}

#[test]
fn packet_of_another_signer_names_it() {
    let (place, folder, face) = (alone(), tempfile::tempdir().unwrap(), face());
    let key = |byte: u8| {
        let path = folder.path().join(format!("{byte}.pem"));
        std::fs::write(&path, pem(byte)).unwrap();
        path.display().to_string()
    };
    let server = place.serve("/sensor").listen(&face).unwrap().sign(&key(1));
    let _server = server.answer(|_| Some("21.5".into())).unwrap();
    let options = FetchOptions { verify: Verify::Key(key(2)), ..FetchOptions::default() };
    let client = Client::builder().face(&face).options(options).connect().unwrap();
    let error = client.get_packet("/sensor/temperature").unwrap_err();
    assert!(error.is_unverified(), "{error}");
    assert!(error.message().contains("not signed by the given key"), "{error}");
}

/// The packet of one of the files `file-00` to `file-31` in a datagram: name of the file, and of the segment unless it is metadata.
fn file_of(datagram: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let has = |word: &[u8]| datagram.windows(word.len()).any(|it| it == word);
    let at = datagram.windows(5).position(|it| it == b"file-")?;
    if has(b"\x20\x02ls") {
        // The listing has the names of all files.
        return None;
    }
    let file = datagram.get(at..at + 7)?.to_vec();
    if has(b"metadata") {
        return Some((file, None));
    }
    // Version and segment number follow, each with a byte of type and of length.
    let version_end = at + 9 + usize::from(*datagram.get(at + 8)?);
    let segment_end = version_end + 2 + usize::from(*datagram.get(version_end + 1)?);
    Some((file, Some(datagram.get(at..segment_end)?.to_vec())))
}

/// Pause after which a client waits for answers.
const QUIET: Duration = Duration::from_millis(300);

/// A path between a client and a server. Segments are held back until so many files have answered with metadata, and the
/// client has sent nothing for [`QUIET`] since.
struct HoldingPath {
    address: String,
    stop: Arc<AtomicBool>,
    /// Returns the number of segments that were requested until then.
    relay: std::thread::JoinHandle<usize>,
}

fn hold_segments(server: &str, files: usize) -> HoldingPath {
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    far.connect(server.split_once("://").unwrap().1).unwrap();
    for socket in [&near, &far] {
        socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    let address = format!("udp://{}", near.local_addr().unwrap());
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let relay = std::thread::spawn(move || {
        let (mut requested, mut answered) = (BTreeSet::new(), BTreeSet::new());
        let (mut client, mut early, mut held) = (None, 0, Vec::new());
        let (mut datagram, mut received, mut holds) = ([0; 9_000], Instant::now(), true);
        while !stopped.load(Ordering::Relaxed) {
            while let Ok((length, from)) = near.recv_from(&mut datagram) {
                (client, received) = (Some(from), Instant::now());
                requested.extend(file_of(&datagram[..length]).and_then(|(_, segment)| segment));
                far.send(&datagram[..length]).unwrap();
            }
            while let (Some(client), Ok(length)) = (client, far.recv(&mut datagram)) {
                match file_of(&datagram[..length]) {
                    Some((_, Some(_))) if holds => held.push(datagram[..length].to_vec()),
                    of => {
                        near.send_to(&datagram[..length], client).unwrap();
                        answered.extend(of.map(|(file, _)| file));
                    }
                }
            }
            let begun = answered.len() == files && !requested.is_empty();
            if holds && begun && received.elapsed() > QUIET {
                (holds, early) = (false, requested.len());
                for datagram in held.drain(..) {
                    near.send_to(&datagram, client.unwrap()).unwrap();
                }
            }
        }
        early
    });
    HoldingPath { address, stop, relay }
}

#[test]
fn files_of_a_folder_start_once() {
    let (place, folder) = (alone(), tempfile::tempdir().unwrap());
    for number in 0..32 {
        std::fs::write(folder.path().join(format!("file-{number:02}")), content(5_000)).unwrap();
    }
    let server = place.serve("/a").listen("udp://127.0.0.1:0").unwrap().segment_size(1_000);
    let server = server.folder(folder.path()).unwrap();
    let path = hold_segments(&server.faces()[0], 32);
    // Nothing is lost, so nothing is sent twice.
    let options = FetchOptions {
        rto: "constant(rto=1h)".parse().unwrap(),
        loss: "timeout".parse().unwrap(),
        ..FetchOptions::default()
    };
    let client =
        Client::builder().face(&path.address).recovery("off").options(options).connect().unwrap();
    let target = tempfile::tempdir().unwrap();
    let files = client.fetch_folder("/a").jobs(32).to_folder(target.path().join("a")).unwrap();
    assert_eq!(files.fetched, 32);
    assert!(std::fs::read(target.path().join("a/file-31")).unwrap() == content(5_000));
    path.stop.store(true, Ordering::Relaxed);
    let early = path.relay.join().unwrap();
    assert!((1..=12).contains(&early), "{early} segments were requested before one arrived");
}
