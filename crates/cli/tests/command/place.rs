//! A folder of its own for each test, and the command running in it.

#[path = "place/schema.rs"]
mod schema;

use recoup_io::part::{is_reserved, part_path};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// A folder that is home and working directory at once: nothing on this machine decides how a test goes.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        fs::write(self.path(name), content).expect("a file can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The file that a download to `name` writes until it is complete.
    pub(crate) fn part(&self, name: &str) -> PathBuf {
        part_path(&self.path(name))
    }

    /// Length of that file in bytes; 0 if there is none.
    pub(crate) fn part_bytes(&self, name: &str) -> u64 {
        fs::metadata(self.part(name)).map_or(0, |part| part.len())
    }

    /// Whether a folder for unfinished downloads lies beside `name`.
    pub(crate) fn has_staging(&self, name: &str) -> bool {
        self.part(name).parent().is_some_and(|folder| folder.exists())
    }

    /// Entries of a folder, without the one for unfinished downloads.
    pub(crate) fn listed(&self, folder: &str) -> usize {
        let entries = fs::read_dir(self.path(folder)).expect("a folder").flatten();
        entries.filter(|entry| !is_reserved(entry.file_name().as_ref())).count()
    }

    /// The command with these words, one per space.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(recoup());
        command
            .args(words.split(' ').filter(|word| !word.is_empty()))
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the command to its end.
    pub(crate) fn run(&self, words: &str) -> Ended {
        Ended::of(words, self.command(words).output().expect("the command runs"))
    }

    /// Runs the command to its end, with a terminal as standard output. Returns what that shows as its output.
    pub(crate) fn run_on_terminal(&self, words: &str) -> Ended {
        let (terminal, shown) = terminal();
        let mut command = self.command(words);
        let child = command.stdout(terminal).spawn().expect("the command runs");
        // The terminal ends with the last process that has it.
        drop(command);
        let mut output = child.wait_with_output().expect("it ends");
        output.stdout = shown.join().expect("a reader");
        Ended::of(words, output)
    }

    /// Starts `recoup serve` (or `ping --serve`) and waits until it can be reached.
    pub(crate) fn serve(&self, words: &str) -> Server {
        self.serve_input(words, b"")
    }

    /// As `serve`, with more words, which may have spaces in them.
    pub(crate) fn serve_with(&self, words: &str, more: &[&str]) -> Server {
        let mut command = self.command(words);
        command.args(more);
        Self::start(command, words, b"")
    }

    /// As `serve`, with something on standard input.
    pub(crate) fn serve_input(&self, words: &str, input: &[u8]) -> Server {
        Self::start(self.command(words), words, input)
    }

    /// Starts a server by this command and waits until it can be reached.
    pub(crate) fn start(mut command: Command, words: &str, input: &[u8]) -> Server {
        command.arg("--json").stdin(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input).expect("it reads its input");
        drop(stdin);
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it prints its address");
        let listening = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut log = String::new();
            let _ = child.stderr.take().map(|mut err| err.read_to_string(&mut log));
            panic!("{words}: {line}{log}")
        });
        described(words, &listening);
        Server { child, stdout, listening }
    }
}

/// The program under test as it was built with the tests: that of the laboratory, for the laboratory's tests.
const BUILT: &str = match option_env!("CARGO_BIN_EXE_recoup-lab") {
    Some(built) => built,
    None => match option_env!("CARGO_BIN_EXE_recoup") {
        Some(built) => built,
        None => panic!("no program was built with the tests"),
    },
};

/// The command under test: the program beside `RECOUP_BINARY`, or the one built with the tests.
pub(crate) fn recoup() -> PathBuf {
    let built = PathBuf::from(BUILT);
    match (std::env::var_os("RECOUP_BINARY"), built.file_name()) {
        (Some(given), Some(name)) => PathBuf::from(given).with_file_name(name),
        _ => built,
    }
}

/// A terminal, and a thread that reads what it shows until the last process has closed it.
fn terminal() -> (OwnedFd, JoinHandle<Vec<u8>>) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("it can be opened");
    let name = ptsname(&controller, Vec::new()).expect("its name");
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY;
    let terminal = rustix::fs::open(name, flags, rustix::fs::Mode::empty()).expect("its other end");
    let shown = std::thread::spawn(move || {
        let mut shown = Vec::new();
        // The end of a terminal is an error.
        let _ = fs::File::from(controller).read_to_end(&mut shown);
        shown
    });
    (terminal, shown)
}

/// A server that ends with its test.
pub(crate) struct Server {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) listening: Value,
}

impl Server {
    pub(crate) fn face(&self) -> &str {
        self.listening["face"].as_str().expect("a face")
    }

    /// Sends it a signal by which it does not end.
    pub(crate) fn signal(&self, signal: &str) {
        kill(&self.child, signal);
    }

    /// Stops it. Returns what it has printed on standard error.
    pub(crate) fn stop_with_log(mut self) -> String {
        kill(&self.child, "INT");
        let mut log = String::new();
        let stderr = self.child.stderr.as_mut().expect("a pipe");
        stderr.read_to_string(&mut log).expect("text");
        log
    }

    /// Asks it to stop by a signal. Returns its exit code and its last document.
    pub(crate) fn stop(mut self, signal: &str) -> (Option<i32>, Value) {
        kill(&self.child, signal);
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("it prints its counters");
        let code = self.child.wait().expect("it ends").code();
        let document = serde_json::from_str(&line).expect("a document");
        described("the last line", &document);
        (code, document)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that ends with its test.
pub(crate) struct Ends(pub(crate) Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal by its name.
pub(crate) fn kill(child: &Child, signal: &str) {
    let killed = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
    assert!(killed.expect("kill runs").success());
}

/// Whether a test can mount a file system that only its children see; prints a line if not.
pub(crate) fn can_mount() -> bool {
    let mounted = Command::new("unshare")
        .args(["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("skipped: this system does not let a test mount a file system of its own");
    }
    mounted
}

/// Runs `body` in a network of its own, in which only the loopback interface is up; `test` is the path of the test that calls.
/// Prints a line if this system does not let a test make a network.
pub(crate) fn in_own_network(test: &str, body: impl FnOnce()) {
    const INSIDE: &str = "RECOUP_TEST_NETWORK";
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let unshare = || {
        let mut unshare = Command::new("unshare");
        unshare.args([
            "--map-root-user",
            "--net",
            "sh",
            "-c",
            "ip link set lo up && exec \"$@\"",
            "-",
        ]);
        unshare
    };
    if !unshare().arg("true").output().is_ok_and(|output| output.status.success()) {
        let required = std::env::var_os("RECOUP_REQUIRE_NAMESPACES").is_some();
        assert!(!required, "no network namespace can be made");
        return eprintln!("skipped: this system does not let a test make a network of its own");
    }
    let this = std::env::current_exe().expect("its own path");
    let mut inside = unshare();
    inside.arg(this).args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    let output = inside.output().expect("the test runs");
    let log = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && log.contains("1 passed"), "{log}{complained}");
}

/// A second machine, in a network that [`in_own_network`] made: the link between them is `near` here and `far` there.
pub(crate) struct Neighbour(Child);

impl Neighbour {
    /// A machine without addresses.
    pub(crate) fn new() -> Self {
        let mut holder = Command::new("unshare");
        let child = holder.args(["--net", "sleep", "1000"]).spawn().expect("unshare runs");
        let there = Self(child);
        let own = std::fs::read_link("/proc/self/ns/net").unwrap();
        let its = format!("/proc/{}/ns/net", there.0.id());
        until("another network", || std::fs::read_link(&its).is_ok_and(|it| it != own));
        ip("link add near type veth peer name far");
        ip("link set near addrgenmode none");
        ip(&format!("link set far netns {}", there.0.id()));
        there.ip("link set lo up");
        there.ip("link set far addrgenmode none");
        ip("link set near up");
        there.ip("link set far up");
        there
    }

    /// Runs `ip` there.
    pub(crate) fn ip(&self, words: &str) {
        let mut command = self.entering();
        assert!(command.arg("ip").args(words.split(' ')).status().unwrap().success(), "{words}");
    }

    /// The command, there.
    pub(crate) fn command(&self, place: &Place, words: &str) -> Command {
        let (mut command, ours) = (self.entering(), place.command(words));
        command.arg(ours.get_program()).args(ours.get_args());
        for (key, value) in ours.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command.current_dir(place.path(""));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn entering(&self) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["--net", "--target", &self.0.id().to_string()]);
        command
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `ip` in this network.
pub(crate) fn ip(words: &str) {
    assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success(), "{words}");
}

/// How a command ended.
pub(crate) struct Ended {
    words: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ended {
    pub(crate) fn of(words: &str, output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).expect("text");
        Self { words: words.to_owned(), code: output.status.code(), stdout: output.stdout, stderr }
    }

    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}: {}", self.words, self.stderr);
        self
    }

    /// The command failed with this code, and with one line that holds all these pieces and no trace.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, pieces: &[&str]) -> Self {
        let Self { words, stderr, .. } = &self;
        assert_eq!(self.code, Some(code), "{words}: {stderr}");
        let lines: Vec<_> = stderr.lines().filter(|line| line.starts_with("recoup: ")).collect();
        assert_eq!(lines.len(), 1, "{words}: {stderr}");
        for piece in pieces {
            assert!(lines[0].contains(piece), "{words}: no {piece:?} in {stderr}");
        }
        assert!(!stderr.contains("panicked") && !stderr.contains("os error"), "{stderr}");
        self
    }

    /// The command rejects this as wrong usage.
    #[track_caller]
    pub(crate) fn fails_as_usage(self, pieces: &[&str]) -> Self {
        let Self { words, stderr, .. } = &self;
        assert_eq!(self.code, Some(2), "{words}: {stderr}");
        for piece in pieces {
            assert!(stderr.contains(piece), "{words}: no {piece:?} in {stderr}");
        }
        self
    }

    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        let document = serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.words, self.stderr));
        described(&self.words, &document);
        document
    }
}

/// Fails for a document that the schema does not describe.
#[track_caller]
pub(crate) fn described(words: &str, document: &Value) {
    if let Err(error) = schema::check(document) {
        panic!("{words}: not as in generate/documents.json: {error}");
    }
}

/// Waits until something is so. The limit counts looks, because a busy machine delays the test as it delays the command.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} never came about");
}

/// Bytes that differ everywhere.
pub(crate) fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..bytes).map(|_| next()).collect()
}
