//! Commands of the user that run on the nodes of a network.
use super::guard;
use crate::error::{Exit, Failure, reason};
use recoup_io::process::Group;
use recoup_lab::emulate::net::Net;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a command that runs beside others may take to register a prefix.
const SETTLE: Duration = Duration::from_secs(5);
/// Time between two looks whether it has.
const LOOK: Duration = Duration::from_millis(50);
/// How long a command may take to end when it was asked to.
const END_GRACE: Duration = Duration::from_secs(2);

/// A command as it was given, with the node that it runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Number and name of the node; none for a command that is for all of them.
    pub node: Option<(usize, String)>,
    /// The command: text for a shell where it is for a node, else a program with its words.
    pub words: Vec<OsString>,
}

impl Order {
    /// A text for a shell on a node.
    pub(super) fn on(node: usize, name: &str, text: &str) -> Self {
        let words = ["sh", "-c", text].map(OsString::from).into();
        Self { node: Some((node, name.to_owned())), words }
    }

    /// Its name in messages.
    fn title(&self) -> String {
        let last = |words: &[OsString]| words.last().map(|it| it.to_string_lossy().into_owned());
        match &self.node {
            Some((_, name)) => format!("`{}` on {name}", last(&self.words).unwrap_or_default()),
            None => {
                let words: Vec<_> = self.words.iter().map(|it| it.to_string_lossy()).collect();
                format!("`{}`", words.join(" "))
            }
        }
    }
}

/// Environment of commands.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// Where the sockets of all nodes are.
    nodes: PathBuf,
    /// Places of programs, with this one first.
    path: OsString,
}

impl Surroundings {
    /// Those of a network; this program is there under its own name, whatever its file is called.
    pub(super) fn of(net: &Net<'_>) -> Result<Self, Failure> {
        let folder = net.make_folder("bin")?;
        let link = folder.join("recoup");
        let linked = crate::program().and_then(|it| std::os::unix::fs::symlink(it, &link));
        linked.map_err(|error| Failure::file("make", link.display(), &error))?;
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(folder).chain(std::env::split_paths(&others));
        let path = std::env::join_paths(all).unwrap_or(others);
        Ok(Self { nodes: net.nodes_folder(), path })
    }
}

/// A command that runs.
#[derive(Debug)]
pub(super) struct Running {
    title: String,
    group: Group,
}

impl Running {
    /// Starts it; `door` is where its node is reached.
    ///
    /// # Errors
    /// If there is no such program.
    pub(super) fn start(
        order: &Order,
        door: Option<&str>,
        around: &Surroundings,
    ) -> Result<Self, Failure> {
        let title = order.title();
        let Some((program, words)) = order.words.split_first() else {
            return Err(Failure::usage("there is no command after `--`"));
        };
        let failed = |error: io::Error| {
            let message = format!("cannot run {title}: {}", reason(&error));
            Failure::new(Exit::Local, message).advise("name a program that is there")
        };
        let program = found(program, &around.path);
        // The guard would find out too late to be asked why.
        std::fs::metadata(&program).map_err(failed)?;
        let mut command = guard::command(&program, words).map_err(failed)?;
        command.env("PATH", &around.path).env("RECOUP_NODES", &around.nodes);
        match door {
            Some(door) => command.env("NDN_CLIENT_TRANSPORT", door),
            None => command.env_remove("NDN_CLIENT_TRANSPORT"),
        };
        // The terminal belongs to our own group; a pipe or file is read from any.
        if std::io::stdin().is_terminal() || order.node.is_some() {
            command.stdin(Stdio::null());
        }
        let group = Group::start(&mut command).map_err(failed)?;
        Ok(Self { title, group })
    }

    /// Whether it has ended; an error if it failed.
    pub(super) fn ended(&self) -> Result<bool, Failure> {
        match self.group.code() {
            Ok(None) => Ok(false),
            Ok(Some(0)) => Ok(true),
            Ok(Some(code)) => {
                let message = format!("{} ended with exit code {code}", self.title);
                Err(Failure { code: Some(code), ..Failure::new(Exit::Other, message) })
            }
            Err(error) => {
                Err(Failure::new(Exit::Other, format!("{}: {}", self.title, reason(&error))))
            }
        }
    }

    /// Waits until a forwarder with `before` prefixes has another one, or the command has ended, or it is long enough.
    ///
    /// # Errors
    /// If the command fails meanwhile.
    pub(super) fn settle(
        &self,
        door: &str,
        before: usize,
        stopped: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        while !self.ended()? && begun.elapsed() < SETTLE && !stopped() {
            if prefixes(door) > before {
                break;
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// Ends it, with all that it has started.
    pub(super) fn end(self) {
        self.group.end(END_GRACE);
    }
}

/// How many prefixes are registered with a forwarder; none if it does not answer.
pub(super) fn prefixes(door: &str) -> usize {
    let asked = crate::program().and_then(|program| {
        let words = ["ctl", "--json", "--face", door, "route", "list"];
        Command::new(program).args(words).stdin(Stdio::null()).stderr(Stdio::null()).output()
    });
    let answer = asked.map(|asked| asked.stdout).unwrap_or_default();
    let document = serde_json::from_slice::<serde_json::Value>(&answer).unwrap_or_default();
    document.as_array().map_or(0, Vec::len)
}

/// A program, where only its name is given, as commands themselves would find it.
fn found(program: &OsStr, path: &OsStr) -> PathBuf {
    if program.as_encoded_bytes().contains(&b'/') {
        return program.into();
    }
    let mut places = std::env::split_paths(path).map(|folder| folder.join(program));
    places.find(|place| place.is_file()).unwrap_or_else(|| program.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_command_is_called_by_what_was_given() {
        let order = Order::on(3, "c", "recoup ping /a | tail");
        assert_eq!(order.title(), "`recoup ping /a | tail` on c");
        let words = ["./run.sh", "7"].map(OsString::from).into();
        assert_eq!(Order { node: None, words }.title(), "`./run.sh 7`");
    }

    #[test]
    fn program_is_found_in_path_order() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("sh");
        std::fs::write(&own, "").unwrap();
        let path = std::env::join_paths([folder.path(), Path::new("/bin")]).unwrap();
        assert_eq!(found(OsStr::new("sh"), &path), own);
        assert_eq!(found(OsStr::new("/bin/sh"), &path), Path::new("/bin/sh"));
        assert_eq!(found(OsStr::new("no such"), &path), Path::new("no such"));
    }
}
