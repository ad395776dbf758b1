//! The processes of a soak: two forwarders, three servers, and the links between them.

use super::Soak;
use super::random::Random;
use super::relay::Relay;
use crate::chore::{Outcome, command, quiet, root};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time for a process to listen.
const STARTS_WITHIN: Duration = Duration::from_secs(120);
/// Exit code of a server without a forwarder.
const NO_FORWARDER: i32 = 6;
/// Disk of downloads, beside the files and everything else.
const DISKS: [(&str, &str); 2] = [("memory", "size=400m"), ("disk", "size=48m")];
/// Hours by which the clock of all processes is ahead. Certificates are issued at the real time, so that they are valid at
/// each of these.
const AHEAD: (u64, u64) = (1, 48);
/// Lengths of the files that are served: none, one segment more or less, and many.
const LENGTHS: [usize; 10] =
    [0, 1, 7_999, 8_000, 8_001, 100_000, 400_000, 1_000_000, 2_500_000, 6_000_000];

/// Roles of the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The forwarder of the fetches. It is never killed.
    Near,
    /// The forwarder of the servers.
    Far,
    /// A server that signs each segment. It is never killed.
    Steady,
    /// A server that signs manifests.
    Mortal,
    /// A server without a forwarder and without keys. It is never killed.
    Direct,
}

impl Role {
    pub(super) const ALL: [Self; 5] =
        [Self::Near, Self::Far, Self::Steady, Self::Mortal, Self::Direct];
    /// Processes that live as long as the soak.
    pub(super) const LASTING: [Self; 3] = [Self::Near, Self::Steady, Self::Direct];
    /// Processes that are killed and started again.
    pub(super) const KILLED: [Self; 2] = [Self::Far, Self::Mortal];
    /// Servers.
    pub(super) const SERVERS: [Self; 3] = [Self::Steady, Self::Mortal, Self::Direct];

    pub(super) fn name(self) -> &'static str {
        ["near", "far", "steady", "mortal", "direct"][self as usize]
    }
}

/// The processes and their links.
#[derive(Debug)]
pub(super) struct Network {
    recoup: PathBuf,
    /// Sockets, keys, configurations and files.
    memory: PathBuf,
    /// Where downloads are written.
    pub(super) disk: PathBuf,
    logs: PathBuf,
    /// The library that shifts the time of day by the seconds in a file; `None` without a C compiler.
    clock: Option<[PathBuf; 2]>,
    /// The links to `far` and to `direct`.
    pub(super) links: [Relay; 2],
    /// A process of each role, unless it was killed.
    processes: [Mutex<Option<Child>>; 5],
}

impl Network {
    /// Mounts the disks, makes files and keys, and starts all processes.
    pub(super) fn start(soak: &Soak, random: &Random) -> Outcome<Self> {
        let folder = fs::canonicalize(&soak.folder).map_err(|error| error.to_string())?;
        quiet(command("ip").args(["link", "set", "lo", "up"]))?;
        let [memory, disk] = DISKS.map(|(name, size)| {
            let at = folder.join(name);
            fs::create_dir_all(&at).map_err(|error| error.to_string())?;
            quiet(command("mount").args(["-t", "tmpfs", "-o", size, "soak"]).arg(&at)).map(|()| at)
        });
        let links = [
            Relay::start("127.0.0.1:7101", "127.0.0.1:7002", random.stream(2))?,
            Relay::start("127.0.0.1:7103", "127.0.0.1:7003", random.stream(3))?,
        ];
        let network = Self {
            recoup: soak.recoup.clone(),
            memory: memory?,
            disk: disk?,
            logs: folder,
            clock: clock(soak),
            links,
            processes: Default::default(),
        };
        network.jump(random);
        network.prepare(&random.stream(4))?;
        for role in Role::ALL {
            network.spawn(role)?;
        }
        Ok(network)
    }

    /// Writes files and configurations, and makes keys and certificates.
    fn prepare(&self, random: &Random) -> Outcome {
        let fails = |error: std::io::Error| error.to_string();
        let files = self.files();
        fs::create_dir_all(&files).map_err(fails)?;
        for (number, length) in LENGTHS.into_iter().enumerate() {
            let mut content = vec![0; length];
            random.fill(&mut content);
            fs::write(files.join(number.to_string()), content).map_err(fails)?;
        }
        let listen = |uri: &str| format!("[[listen]]\nuri = \"{uri}\"\n");
        let near = format!(
            "[node]\ncache = 0\n{}{}[[face]]\nname = \"far\"\nuri = \"udp://127.0.0.1:7101\"\n\
             [[route]]\nprefix = \"/\"\nface = \"far\"\n",
            listen(&self.socket(Role::Near)),
            listen("udp://127.0.0.1:7001"),
        );
        let far = format!("{}{}", listen(&self.socket(Role::Far)), listen("udp://127.0.0.1:7002"));
        fs::write(self.memory.join("near.toml"), near).map_err(fails)?;
        fs::write(self.memory.join("far.toml"), far).map_err(fails)?;
        let path = |name: &str| self.memory.join(name).display().to_string();
        let (request, certificate) = (path("request"), path("certificate"));
        for words in [
            &["key", "new", "/soak"][..],
            &["key", "new", "/soak/author"],
            &["key", "sign-request", "/soak/author", "-o", &request],
            &["key", "issue", &request, "--signer", "/soak", "-o", &certificate],
            &["key", "import", &certificate],
            &["key", "export", "/soak", "--public", "-o", &path("root.cert")],
        ] {
            quiet(self.command(false).args(words))?;
        }
        Ok(())
    }

    /// The folder of the originals.
    pub(super) fn files(&self) -> PathBuf {
        self.memory.join("files")
    }

    /// Numbers of the files.
    pub(super) fn numbers() -> std::ops::Range<usize> {
        0..LENGTHS.len()
    }

    fn socket(&self, role: Role) -> String {
        format!("unix://{}", self.memory.join(role.name()).with_extension("sock").display())
    }

    /// The command `recoup`, with the clock that jumps or without it.
    fn command(&self, has_clock: bool) -> Command {
        let mut command = command(&self.recoup);
        command.env("HOME", &self.memory).env_remove("NDN_CLIENT_TRANSPORT");
        for variable in ["XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        if let Some([library, offset]) = self.clock.as_ref().filter(|_| has_clock) {
            command.env("LD_PRELOAD", library).env("RECOUP_SOAK_CLOCK", offset);
        }
        command
    }

    /// A fetch of a file from a server.
    pub(super) fn fetch(&self, from: Role, number: usize, output: &Path) -> Command {
        let mut command = self.command(true);
        let name = format!("/soak/author/{}/{number}", from.name());
        command.args(["fetch", &name, "--resume", "-o"]).arg(output);
        match from {
            Role::Direct => {
                command.args(["--face", "udp://127.0.0.1:7103", "--verify", "digest"]);
            }
            _ => {
                let anchor = self.memory.join("root.cert");
                command.args(["--face", &self.socket(Role::Near), "--trust"]).arg(anchor);
            }
        }
        command
    }

    fn process(&self, role: Role) -> MutexGuard<'_, Option<Child>> {
        self.processes[role as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process.
    pub(super) fn spawn(&self, role: Role) -> Outcome {
        let mut command = self.command(true);
        let config = format!("{}/{}.toml", self.memory.display(), role.name());
        let files = self.files().display().to_string();
        let name = format!("/soak/author/{}", role.name());
        let far = self.socket(Role::Far);
        let words: &[&str] = match role {
            Role::Near | Role::Far => &["forward", "--config", &config],
            Role::Steady | Role::Mortal => {
                &["serve", &files, "--name", &name, "--face", &far, "--sign", "/soak/author"]
            }
            Role::Direct => &["serve", &files, "--name", &name, "--listen", "udp://127.0.0.1:7003"],
        };
        command.args(words).args((role == Role::Mortal).then_some("--manifest"));
        let log = self.logs.join(role.name()).with_extension("log");
        let open = || File::options().create(true).append(true).open(&log);
        let (out, err) = open().and_then(|out| Ok((out, open()?))).map_err(|it| it.to_string())?;
        let before = out.metadata().map_or(0, |it| it.len());
        let child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn();
        let child = child.map_err(|error| error.to_string())?;
        *self.process(role) = Some(child);
        // The first output reports that it listens. A server waits for its forwarder.
        let until = Instant::now() + STARTS_WITHIN;
        while fs::metadata(&log).map_or(0, |it| it.len()) == before && role != Role::Mortal {
            if Instant::now() > until {
                return Err(format!("{} does not start: {}", role.name(), log.display()));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Kills a process (SIGKILL).
    pub(super) fn kill(&self, role: Role) {
        if let Some(mut child) = self.process(role).take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops a process, or lets it continue.
    pub(super) fn stop(&self, role: Role, stops: bool) {
        if let Some(child) = &*self.process(role) {
            let signal = if stops { Signal::STOP } else { Signal::CONT };
            let _ = kill_process(Pid::from_child(child), signal);
        }
    }

    /// The number of a running process.
    pub(super) fn id(&self, role: Role) -> Option<u32> {
        self.process(role).as_ref().map(Child::id)
    }

    /// Records processes that have ended by themselves.
    pub(super) fn check(&self, soak: &Soak) {
        for role in Role::ALL {
            let mut process = self.process(role);
            let ended = process.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if let Some(status) = ended {
                *process = None;
                drop(process);
                self.replace(soak, role, status);
            }
            let log = self.logs.join(role.name()).with_extension("log");
            let printed = fs::read_to_string(log).unwrap_or_default();
            if let Some(line) = printed.lines().find(|line| line.contains("panicked")) {
                soak.fail(format!("{} panicked: {line}", role.name()));
            }
        }
    }

    /// Handles a process that has ended by itself. A server does so if its forwarder is killed while it registers; it is
    /// started again, as a supervisor would do.
    fn replace(&self, soak: &Soak, role: Role, status: ExitStatus) {
        let what = format!("{} ended by itself ({status})", role.name());
        if role != Role::Mortal || status.code() != Some(NO_FORWARDER) {
            return soak.fail(what);
        }
        soak.log(&what);
        if let Err(reason) = self.spawn(role) {
            soak.fail(reason);
        }
    }

    /// Takes the loopback interface down, or up again.
    pub(super) fn set_interface(&self, is_up: bool) -> Outcome {
        quiet(command("ip").args(["link", "set", "lo", if is_up { "up" } else { "down" }]))
    }

    /// Fills the disk of the downloads, or frees it.
    pub(super) fn fill_disk(&self, is_full: bool) {
        let filler = self.disk.join("filler");
        if !is_full {
            let _ = fs::remove_file(filler);
        } else if let Ok(mut file) = File::create(filler) {
            let block = vec![0; 1 << 16];
            while std::io::Write::write_all(&mut file, &block).is_ok() {}
        }
    }

    /// A jump of the time of day. Returns whether clocks can jump.
    pub(super) fn jump(&self, random: &Random) -> bool {
        let Some([_, offset]) = &self.clock else { return false };
        let seconds = random.millis(AHEAD.0 * 3_600, AHEAD.1 * 3_600).as_millis();
        // A reader sees the old or the new file.
        let next = offset.with_extension("next");
        fs::write(&next, seconds.to_string()).and_then(|()| fs::rename(&next, offset)).is_ok()
    }
}

/// Compiles the library of the clock.
fn clock(soak: &Soak) -> Option<[PathBuf; 2]> {
    let library = soak.folder.join("clock.so");
    let mut compiler = command("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library);
    match quiet(compiler.arg(root().join("xtask/src/soak/clock.c"))) {
        Ok(()) => Some([library, soak.folder.join("clock")]),
        Err(reason) => {
            println!("clocks do not jump: {}", reason.lines().next().unwrap_or_default());
            None
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for role in Role::ALL {
            self.kill(role);
        }
        for (name, _) in DISKS {
            let _ = quiet(command("umount").arg("-l").arg(self.logs.join(name)));
        }
    }
}
