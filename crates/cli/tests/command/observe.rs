//! Observation of a forwarder: captures of its frames, and its log.
use crate::forward::get;
use crate::place::{Place, kill, noise, until};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};

/// A forwarder with this in its configuration that logs to the file `log`.
struct Observed<'a> {
    place: &'a Place,
    child: Child,
    listen: String,
}

impl<'a> Observed<'a> {
    fn start(place: &'a Place, node: &str, words: &str) -> Self {
        Self::start_as(place, node, place.command(&format!("forward --config node.toml {words}")))
    }

    fn start_as(place: &'a Place, node: &str, mut command: Command) -> Self {
        let listen = format!("[[listen]]\nuri = \"unix://{}\"\n", place.path("socket").display());
        place.write("node.toml", format!("[node]\n{node}\n{listen}").as_bytes());
        let log = std::fs::File::create(place.path("log")).unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().expect("the command runs");
        until("the socket", || place.exists("socket"));
        Self { place, child, listen }
    }

    fn log(&self) -> String {
        String::from_utf8(self.place.read("log")).unwrap()
    }

    /// Another configuration is followed.
    fn reload(&self, node: &str) {
        let before = self.log().lines().count();
        self.place.write("node.toml", format!("[node]\n{node}\n{}", self.listen).as_bytes());
        kill(&self.child, "HUP");
        until("it is read again", || self.log().lines().count() > before);
    }

    /// Serves and fetches a file through it.
    fn carry(&self) {
        let face = format!("--face unix://{}", self.place.path("socket").display());
        self.place.write("data", &noise(100_000));
        let server = self.place.serve(&format!("serve data --name /data {face}"));
        let fetched = self.place.run(&format!("fetch /data -q {face}")).succeeds();
        assert_eq!(fetched.stdout, self.place.read("data"));
        assert_eq!(server.stop("INT").0, Some(0));
    }

    fn end(mut self) -> String {
        kill(&self.child, "INT");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.log()
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the bytes begin a capture.
fn is_capture(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
}

#[test]
fn capture_begins_at_start_or_reload() {
    let place = Place::new();
    let observed = Observed::start(&place, "capture = \"all.pcapng\"", "");
    observed.carry();
    observed.reload("");
    let all = place.read("all.pcapng");
    assert!(is_capture(&all) && all.len() > 100_000, "both faces carried it: {}", all.len());
    observed.carry();
    assert_eq!(place.read("all.pcapng").len(), all.len());
    observed.reload("capture = \"more.pcapng\"\ncapture-frame = \"32 B\"");
    observed.carry();
    observed.end();
    let more = place.read("more.pcapng");
    assert!(is_capture(&more) && more.len() < all.len() / 2, "{}", more.len());
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_only_ends_the_capture() {
    let place = Place::new();
    let observed = Observed::start(&place, "capture = \"/dev/full\"", "--log json");
    for _ in 0..3 {
        observed.carry();
    }
    until("the line", || observed.log().contains("capture-ended"));
    let log = observed.end();
    let ended: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .filter(|line: &Value| line["event"] == "capture-ended")
        .collect();
    let [line] = ended.as_slice() else { panic!("{log}") };
    assert_eq!(line["level"], "warn");
    let text = line["text"].as_str().unwrap();
    assert!(text.contains("/dev/full") && text.contains("no space left"), "{text}");
}

/// The lines of standard error that are events of that name.
fn events(log: &str, name: &str) -> Vec<Value> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == name).collect()
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk_only_ends_the_trace() {
    let place = Place::new();
    let observed = Observed::start(&place, "", "--log json --trace /dev/full");
    observed.carry();
    until("the line", || observed.log().contains("trace-ended"));
    observed.carry();
    let ended = events(&observed.end(), "trace-ended");
    let [line] = ended.as_slice() else { panic!("{ended:?}") };
    let text = line["text"].as_str().unwrap();
    assert!(text.contains("/dev/full") && text.contains("no space left"), "{text}");
}

/// Connects and disconnects so often.
fn come_and_go(place: &Place, times: usize) {
    for _ in 0..times {
        UnixStream::connect(place.path("socket")).expect("it listens");
    }
}

#[test]
fn an_unread_standard_error_stops_nothing() {
    for form in ["text", "json"] {
        let place = Place::new();
        let listen = format!("[[listen]]\nuri = \"unix://{}\"\n", place.path("socket").display());
        place.write("node.toml", format!("[node]\nmetrics = \"127.0.0.1:0\"\n{listen}").as_bytes());
        let words = "forward --config node.toml --json --log-level debug --log";
        let mut child = place.command(&format!("{words} {form}")).spawn().expect("it runs");
        let mut first = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdout.read_line(&mut first).expect("it prints its address");
        let listening: Value = serde_json::from_str(&first).unwrap();
        let status = || -> Value {
            let status = get(listening["metrics"].as_str().unwrap(), "/status.json");
            serde_json::from_str(&status).unwrap()
        };
        let left_out = || status()["log_lines_left_out"].as_u64().unwrap();
        // A pipe holds 64 KiB, and the forwarder 256 KiB more.
        until("lines are left out", || {
            come_and_go(&place, 1_000);
            left_out() > 0
        });
        until("the connections are gone", || status()["faces"].as_array().unwrap().len() < 9);
        let mut observed = Observed { place: &place, child, listen };
        observed.carry();
        let mut reader = BufReader::new(observed.child.stderr.take().expect("a pipe"));
        let mut reported: u64 = 0;
        let dropped = left_out();
        while reported < dropped {
            let mut line = String::new();
            reader.read_line(&mut line).expect("it goes on");
            reported += gap(&line);
        }
        assert!(reported >= dropped, "{reported} of {dropped}");
        // It ends although the pipe has no reader.
        come_and_go(&place, 4_000);
        kill(&observed.child, "TERM");
        until("the end", || observed.child.try_wait().unwrap().is_some());
        assert_eq!(observed.child.wait().unwrap().code(), Some(0));
    }
}

/// Number of missing lines that a line reports.
fn gap(line: &str) -> u64 {
    if let Ok(line) = serde_json::from_str::<Value>(line) {
        return line["lines"].as_u64().filter(|_| line["event"] == "lines-left-out").unwrap_or(0);
    }
    let number = line.split_once(" lines were left out").map(|(before, _)| before);
    number.map_or(0, |before| before.trim_start_matches("recoup: ").parse().expect("a number"))
}

#[test]
fn failed_capture_does_not_stop_a_reload() {
    let place = Place::new();
    place.write(
        "node.toml",
        b"[node]\ncapture = \"none/x\"\n[[listen]]\nuri = \"udp://127.0.0.1:0\"\n",
    );
    place.run("forward --config node.toml").fails(4, &["none/x", "no such file"]);
    let observed = Observed::start(&place, "", "");
    observed.reload("capture = \"none/x\"");
    until("the line", || observed.log().contains("none/x"));
    observed.carry();
    observed.end();
}

#[test]
fn events_are_json_objects_up_to_the_level() {
    let place = Place::new();
    let observed = Observed::start(&place, "log = \"json\"\nlog-level = \"debug\"", "");
    let is_there = |name: &str, piece: &str| {
        let log = observed.log();
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.any(|line| line["event"] == name && line.to_string().contains(piece))
    };
    place.write("data", b"content");
    let face = format!("unix://{}", place.path("socket").display());
    let server = place.serve(&format!("serve data --name /data --face {face}"));
    until("the route", || is_there("route", "\"prefix\":\"/data\""));
    assert_eq!(server.stop("INT").0, Some(0));
    until("the route that has gone", || is_there("route", "\"cost\":null"));
    assert!(is_there("forwarding", "/socket"), "{}", observed.log());
    assert!(is_there("face", "\"change\":\"up\"") && is_there("face", "\"change\":\"closed\""));
    place.write("node.toml", b"nonsense = 1\n");
    kill(&observed.child, "HUP");
    until("the failure", || is_there("failed", "nonsense"));
    let log = observed.end();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(line["time_s"].as_f64().unwrap() > 1.7e9 && line["level"].is_string(), "{line}");
    }
}

#[test]
fn faces_are_logged_only_on_request() {
    let place = Place::new();
    for (words, lines) in [("", 1), ("--quiet", 0), ("--log-level warn", 0)] {
        let observed = Observed::start(&place, "", words);
        observed.carry();
        let log = observed.end();
        assert_eq!(log.lines().count(), lines, "{words}: {log}");
        std::fs::remove_file(place.path("socket")).ok();
    }
    let observed = Observed::start(&place, "", "--verbose");
    observed.carry();
    assert!(observed.end().contains(" is up"));
    place.run("forward --verbose --quiet").fails_as_usage(&["--quiet"]);
    place.run("forward --log xml").fails_as_usage(&["xml", "json"]);
}

#[test]
fn an_unread_standard_error_stops_no_transfer() {
    let place = Place::new();
    let content = noise(20_000_000);
    place.write("data", &content);
    // The server's output has no reader either: it ends with the test.
    let server = place.serve("serve data --name /data --verbose --listen unix://socket");
    let words = format!("fetch /data --verbose -o copy --face {}", server.face());
    let mut child = place.command(&words).spawn().expect("it runs");
    until("the end without a reader", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.read("copy") == content);
    assert_eq!(server.stop("INT").0, Some(0));
}
