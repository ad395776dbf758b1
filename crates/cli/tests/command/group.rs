//! Encrypted content: only members of the group read it.
use crate::place::{Ended, Place, Server, noise};

/// A producer with a group, and two readers, of whom Alice is a member.
struct Site {
    producer: Place,
    alice: Place,
    bob: Place,
}

impl Site {
    fn new() -> Self {
        let (producer, alice, bob) = (Place::new(), Place::new(), Place::new());
        producer.run("key new /site").succeeds();
        producer.run("key export /site --public -o site.cert").succeeds();
        producer.run("group new /site/reports").succeeds();
        for (reader, name) in [(&alice, "/alice"), (&bob, "/bob")] {
            reader.run(&format!("key new {name} --type rsa")).succeeds();
            reader.run(&format!("key export {name} --public -o own.cert")).succeeds();
            reader.write("site.cert", &producer.read("site.cert"));
        }
        let site = Self { producer, alice, bob };
        site.add(&site.alice);
        site
    }

    fn add(&self, reader: &Place) {
        self.producer.write("reader.cert", &reader.read("own.cert"));
        self.producer.run("group add /site/reports reader.cert").succeeds();
    }

    fn serve(&self, path: &str, more: &str) -> Server {
        let name = "/site/reports/may";
        let words = "--listen tcp://127.0.0.1:0 --sign /site --encrypt /site/reports";
        self.producer.serve(&format!("serve {path} --name {name} {words} {more}"))
    }
}

/// Fetches the report to `copy`.
fn fetch(reader: &Place, server: &Server, more: &str) -> Ended {
    let words = format!("fetch /site/reports/may -o copy --face {}", server.face());
    reader.run(&format!("{words} --verify key=site.cert {more}"))
}

#[test]
fn members_read_what_others_cannot() {
    let site = Site::new();
    let listed = site.producer.run("group list /site/reports --json").succeeds().document();
    assert_eq!(listed["members"].as_array().map(Vec::len), Some(1), "{listed}");
    for bytes in [0, 5, 100_000] {
        let report = noise(bytes);
        site.producer.write("may", &report);
        let server = site.serve("may", "");
        let document = fetch(&site.alice, &server, "--decrypt /alice --json").succeeds().document();
        assert_eq!(document["verification"]["not_verified"], 0, "{document}");
        assert!(site.alice.read("copy") == report, "{bytes}");
        let stranger = fetch(&site.bob, &server, "--decrypt /bob --retries 2");
        stranger.fails(5, &["is encrypted", "recoup group add"]);
        assert!(!site.bob.exists("copy"));
        let log = fetch(&site.bob, &server, "").succeeds().stderr;
        assert!(log.contains("members of its group read it with --decrypt"), "{log}");
        assert!(site.bob.read("copy") != report);
        for reader in [&site.alice, &site.bob] {
            std::fs::remove_file(reader.path("copy")).unwrap();
        }
    }
}

#[test]
fn new_member_reads_the_same_packets() {
    let site = Site::new();
    site.producer.write("may", &noise(50_000));
    let encrypted = |server: &Server| {
        fetch(&site.alice, server, "").succeeds();
        let content = site.alice.read("copy");
        std::fs::remove_file(site.alice.path("copy")).unwrap();
        content
    };
    let before = encrypted(&site.serve("may", ""));
    site.add(&site.bob);
    let server = site.serve("may", "--manifest");
    assert!(encrypted(&server) == before);
    fetch(&site.bob, &server, "--decrypt /bob").succeeds();
    assert!(site.bob.read("copy") == noise(50_000));
}

#[test]
fn parts_and_resumed_fetches_are_decrypted() {
    let site = Site::new();
    let report = noise(300_000);
    site.producer.write("may", &report);
    let server = site.serve("may", "");
    let decrypt = "--decrypt /alice";
    fetch(&site.alice, &server, &format!("{decrypt} --range 2..4")).succeeds();
    let part = site.alice.read("copy");
    let at = report.windows(part.len()).position(|window| window == part);
    assert_eq!(at, Some(part.len()), "segments 2 and 3 follow as many bytes");
    std::fs::remove_file(site.alice.path("copy")).unwrap();
    fetch(&site.alice, &server, &format!("{decrypt} --max-size 100kB")).fails(8, &["holds"]);
    fetch(&site.alice, &server, "--resume").fails(4, &["verif"]);
    fetch(&site.alice, &server, &format!("{decrypt} --resume")).succeeds();
    assert!(site.alice.read("copy") == report);
}

#[test]
fn second_key_excludes_earlier_members() {
    let site = Site::new();
    site.producer.write("may", &noise(10_000));
    site.producer.run("group new /site/reports").succeeds();
    site.add(&site.bob);
    let server = site.serve("may", "");
    fetch(&site.bob, &server, "--decrypt /bob").succeeds();
    fetch(&site.alice, &server, "--decrypt /alice --retries 2").fails(5, &["is encrypted"]);
}

#[test]
fn folders_are_encrypted_with_their_listings() {
    let site = Site::new();
    std::fs::create_dir(site.producer.path("may")).unwrap();
    let files = [("may/a", 20_000), ("may/b", 3), ("may/c", 9_000)];
    for (name, bytes) in files {
        site.producer.write(name, &noise(bytes));
    }
    let server = site.serve("may", "");
    fetch(&site.alice, &server, "-r --decrypt /alice").succeeds();
    for (name, bytes) in files {
        let copy = name.replace("may", "copy");
        assert!(site.alice.read(&copy) == noise(bytes), "{name}");
    }
}

#[test]
fn producer_elsewhere_has_the_public_key_only() {
    let site = Site::new();
    let other = Place::new();
    site.producer.run("group export /site/reports --sign /site -o reports.kek").succeeds();
    other.write("reports.kek", &site.producer.read("reports.kek"));
    other.write("news", &noise(30_000));
    let listen = "--listen tcp://127.0.0.1:0";
    let server = other.serve(&format!("serve news --name /news {listen} --encrypt reports.kek"));
    let words = format!("fetch /news -o copy --face {} --decrypt /alice", server.face());
    // The group's own server has the keys of members.
    site.alice.run(&format!("{words} --retries 1")).fails(5, &["encrypted"]);
    other.write("alice.cert", &site.alice.read("own.cert"));
    other.run("group add reports.kek alice.cert").fails(4, &["only the public key"]);
}

/// A producer with a group, whose member is Alice, that encrypts without a key to sign with.
fn unsigned(more: &str) -> (Site, Server) {
    let site = Site::new();
    site.producer.write("may", &noise(30_000));
    let words = "serve may --name /site/reports/may --listen tcp://127.0.0.1:0 --encrypt";
    let server = site.producer.serve(&format!("{words} /site/reports {more}"));
    (site, server)
}

#[test]
fn unknown_author_is_never_called_verified() {
    let (site, server) = unsigned("");
    let words =
        format!("fetch /site/reports/may -o copy --face {} --decrypt /alice", server.face());
    for verify in ["auto", "digest", "none"] {
        let log = site.alice.run(&format!("{words} --verify {verify}")).succeeds().stderr;
        assert!(log.contains("; decrypted, author not verified"), "{verify}: {log}");
        assert!(log.contains("warning: anybody can encrypt"), "{verify}: {log}");
        assert!(site.alice.read("copy") == noise(30_000));
        std::fs::remove_file(site.alice.path("copy")).unwrap();
    }
}

#[test]
fn cbc_is_read_of_verified_authors_only() {
    let site = Site::new();
    site.producer.write("may", &noise(30_000));
    let server = site.serve("may", "--encrypt-cbc");
    let words =
        format!("fetch /site/reports/may -o copy --face {} --decrypt /alice", server.face());
    for verify in ["auto", "none"] {
        let ended = site.alice.run(&format!("{words} --verify {verify}"));
        ended.fails(5, &["AES-CBC", "--verify key=FILE or --trust"]);
        assert!(!site.alice.exists("copy"));
    }
    fetch(&site.alice, &server, "--decrypt /alice").succeeds();
    assert!(site.alice.read("copy") == noise(30_000));
    let unsigned = "serve may --name /may --listen tcp://127.0.0.1:0 --encrypt /site/reports";
    site.producer
        .run(&format!("{unsigned} --encrypt-cbc"))
        .fails(2, &["AES-CBC", "sign with a key"]);
}

/// Result of one fetch by Alice of bytes that a stranger serves under a name: exit code, reason, Interests for segments.
fn attempt(site: &Site, name: &str, bytes: &[u8]) -> (Option<i32>, String, u64) {
    let stranger = Place::new();
    stranger.write("chosen", bytes);
    let server = stranger.serve(&format!("serve chosen --name {name} --listen tcp://127.0.0.1:0"));
    let words = format!("fetch {name} -o copy --face {} --decrypt /alice --json", server.face());
    let ended = site.alice.run(&words);
    assert!(!site.alice.exists("copy"));
    let document: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    let message = document["error"]["message"].as_str().unwrap();
    let reason = message.split_once("cannot be trusted").unwrap().1.to_owned();
    (ended.code, reason, document["interests"]["sent"].as_u64().unwrap())
}

#[test]
fn stranger_learns_nothing_from_chosen_bytes() {
    let (site, server) = unsigned("");
    let face = server.face();
    site.alice.run(&format!("fetch /site/reports/may -o raw --face {face}")).succeeds();
    let raw = site.alice.read("raw");
    let answers: Vec<_> = (0..8)
        .map(|at| {
            let mut chosen = raw.clone();
            let place = chosen.len() - 1 - at * 3_000;
            chosen[place] ^= 1 << at;
            let name = if at % 2 == 0 { "/evil/one" } else { "/site/reports/two" };
            attempt(&site, name, &chosen)
        })
        .collect();
    assert_eq!(answers[0].0, Some(5));
    for answer in &answers {
        assert_eq!((answer.0, &answer.1), (answers[0].0, &answers[0].1), "{answers:?}");
    }
}

#[test]
fn wrong_names_are_explained() {
    let place = Place::new();
    place.write("may", b"content");
    let serve = "serve may --name /may --listen tcp://127.0.0.1:0";
    place.run(&format!("{serve} --encrypt /site")).fails(4, &["no group", "recoup group new"]);
    place.run("key new /alice").succeeds();
    place.run("fetch /may --decrypt /alice --face tcp://127.0.0.1:1").fails(4, &["--type rsa"]);
    place.run("group new /site").succeeds();
    place.run("group add /site /alice").fails(4, &["--type rsa"]);
}
