//! A forwarder that is looked at: captures of its frames, and what it says while it runs.
use crate::place::{Place, kill, noise, until};
use serde_json::Value;
use std::process::{Child, Stdio};

/// A forwarder with this in its configuration that writes what it says to the file `said`.
struct Observed<'a> {
    place: &'a Place,
    child: Child,
    listen: String,
}

impl<'a> Observed<'a> {
    fn start(place: &'a Place, node: &str, words: &str) -> Self {
        let listen = format!("[[listen]]\nuri = \"unix://{}\"\n", place.path("socket").display());
        place.write("node.toml", format!("[node]\n{node}\n{listen}").as_bytes());
        let said = std::fs::File::create(place.path("said")).unwrap();
        let mut command = place.command(&format!("forward --config node.toml {words}"));
        let child = command.stdout(Stdio::null()).stderr(said).spawn().expect("the command runs");
        until("the socket", || place.exists("socket"));
        Self { place, child, listen }
    }

    fn said(&self) -> String {
        String::from_utf8(self.place.read("said")).unwrap()
    }

    /// Another configuration is followed.
    fn reload(&self, node: &str) {
        let before = self.said().lines().count();
        self.place.write("node.toml", format!("[node]\n{node}\n{}", self.listen).as_bytes());
        kill(&self.child, "HUP");
        until("it is read again", || self.said().lines().count() > before);
    }

    /// Serves and fetches a file through it.
    fn carry(&self) {
        let face = format!("--face unix://{}", self.place.path("socket").display());
        self.place.write("data", &noise(50_000));
        let server = self.place.serve(&format!("serve data --name /data {face}"));
        let fetched = self.place.run(&format!("fetch /data -q {face}")).succeeds();
        assert_eq!(fetched.stdout, self.place.read("data"));
        assert_eq!(server.stop("INT").0, Some(0));
    }

    fn end(mut self) -> String {
        kill(&self.child, "INT");
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.said()
    }
}

impl Drop for Observed<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a capture begins with.
fn is_capture(octets: &[u8]) -> bool {
    octets.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a])
}

#[test]
fn frames_are_captured_from_the_beginning_or_when_a_reload_says_so() {
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
fn a_full_disk_ends_the_capture_with_one_line_and_nothing_else() {
    let place = Place::new();
    let observed = Observed::start(&place, "capture = \"/dev/full\"", "--log json");
    for _ in 0..3 {
        observed.carry();
    }
    until("the line", || observed.said().contains("capture-ended"));
    let said = observed.end();
    let ended: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .filter(|line: &Value| line["event"] == "capture-ended")
        .collect();
    let [line] = ended.as_slice() else { panic!("{said}") };
    assert_eq!(line["level"], "warn");
    let text = line["text"].as_str().unwrap();
    assert!(text.contains("/dev/full") && text.contains("no space left"), "{text}");
}

#[test]
fn a_capture_that_cannot_begin_is_one_line_and_after_a_reload_the_forwarder_goes_on() {
    let place = Place::new();
    place.write(
        "node.toml",
        b"[node]\ncapture = \"none/x\"\n[[listen]]\nuri = \"udp://127.0.0.1:0\"\n",
    );
    place.run("forward --config node.toml").fails(4, &["none/x", "no such file"]);
    let observed = Observed::start(&place, "", "");
    observed.reload("capture = \"none/x\"");
    until("the line", || observed.said().contains("none/x"));
    observed.carry();
    observed.end();
}

#[test]
fn events_are_objects_with_time_and_level_and_as_many_as_are_wanted() {
    let place = Place::new();
    let observed = Observed::start(&place, "log = \"json\"\nlog-level = \"debug\"", "");
    let is_there = |name: &str, piece: &str| {
        let said = observed.said();
        let mut lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.any(|line| line["event"] == name && line.to_string().contains(piece))
    };
    place.write("data", b"content");
    let face = format!("unix://{}", place.path("socket").display());
    let server = place.serve(&format!("serve data --name /data --face {face}"));
    until("the route", || is_there("route", "\"prefix\":\"/data\""));
    assert_eq!(server.stop("INT").0, Some(0));
    until("the route that has gone", || is_there("route", "\"cost\":null"));
    assert!(is_there("forwarding", "/socket"), "{}", observed.said());
    assert!(is_there("face", "\"change\":\"up\"") && is_there("face", "\"change\":\"closed\""));
    place.write("node.toml", b"nonsense = 1\n");
    kill(&observed.child, "HUP");
    until("the failure", || is_there("failed", "nonsense"));
    let said = observed.end();
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert!(line["time_s"].as_f64().unwrap() > 1.7e9 && line["level"].is_string(), "{line}");
    }
}

#[test]
fn faces_are_told_of_only_where_that_is_wanted() {
    let place = Place::new();
    for (words, lines) in [("", 1), ("--quiet", 0), ("--log-level warn", 0)] {
        let observed = Observed::start(&place, "", words);
        observed.carry();
        let said = observed.end();
        assert_eq!(said.lines().count(), lines, "{words}: {said}");
        std::fs::remove_file(place.path("socket")).ok();
    }
    let observed = Observed::start(&place, "", "--verbose");
    observed.carry();
    assert!(observed.end().contains(" is up"));
    place.run("forward --verbose --quiet").refuses(&["--quiet"]);
    place.run("forward --log xml").refuses(&["xml", "json"]);
}
