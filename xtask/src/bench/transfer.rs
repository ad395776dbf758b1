//! Our own fetch and serve, directly connected.

use super::Case;
use super::process::{Room, Running, transfer_limit};
use super::sample::Sample;
use crate::chore::Outcome;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// A transfer: the faces in between, and how the content is cut.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) name: &'static str,
    transport: &'static str,
    segment: &'static str,
}

pub(crate) const PLANS: [Plan; 4] = [
    Plan { name: "recoup: UDP, 8000-byte segments", transport: "udp", segment: "8000" },
    Plan { name: "recoup: UDP, 1300-byte segments", transport: "udp", segment: "1300" },
    Plan { name: "recoup: Unix, 8000-byte segments", transport: "unix", segment: "8000" },
    Plan { name: "recoup: TCP, 8000-byte segments", transport: "tcp", segment: "8000" },
];

/// Transfers of the room's file.
pub(crate) fn cases(recoup: &Path, room: &Rc<Room>) -> Vec<Case> {
    PLANS
        .iter()
        .map(|plan| {
            let (recoup, room, plan) = (recoup.to_path_buf(), room.clone(), *plan);
            let run = move || transfer(&recoup, &room, plan);
            Case { name: plan.name.to_string(), run: Box::new(run) }
        })
        .collect()
}

/// One transfer. The server ends as it would by hand, so that it can write what it has to.
pub(crate) fn transfer(recoup: &Path, room: &Room, plan: Plan) -> Outcome<Sample> {
    let listen = listen_uri(plan.transport, room.path("socket"));
    let mut server = serve(recoup, &room.original, plan.segment);
    let (mut server, face) = Running::serve(server.args(["--listen", &listen]))?;
    let sample = room.time(fetch(recoup, &room.copy).args(["--face", &face]), false)?;
    server.limit(transfer_limit(0))?;
    server.end()?;
    Ok(sample)
}

/// Where a server listens; a number of its own choice where numbers are used.
pub(crate) fn listen_uri(transport: &str, socket: PathBuf) -> String {
    match transport {
        "unix" => format!("unix://{}", socket.display()),
        other => format!("{other}://127.0.0.1:0"),
    }
}

/// Our server of a file, without saying where.
pub(crate) fn serve(recoup: &Path, file: &Path, segment: &str) -> Command {
    let mut serve = Command::new(recoup);
    serve.arg("serve").arg(file).args(["--name", "/bench", "--json", "--segment-size", segment]);
    serve
}

/// Our consumer into a file, without saying from where.
pub(crate) fn fetch(recoup: &Path, file: &Path) -> Command {
    let mut fetch = Command::new(recoup);
    fetch.args(["fetch", "/bench", "--json", "--verify", "digest", "-o"]).arg(file);
    fetch
}
