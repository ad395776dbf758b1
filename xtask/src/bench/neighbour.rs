//! Other software, where its binaries are named in the environment: through its own forwarder over
//! Unix sockets, its own tools and ours.

use super::Case;
use super::process::{Room, Running};
use super::sample::Sample;
use super::transfer::{fetch, serve};
use crate::chore::Outcome;
use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

/// Binaries of a neighbour, from the environment.
#[derive(Clone)]
pub(crate) struct Neighbour {
    pub(crate) name: &'static str,
    forwarder: PathBuf,
    producer: PathBuf,
    consumer: PathBuf,
    /// Writes the forwarder's configuration for a socket.
    configuration: fn(&Path) -> String,
    /// Arguments before the path of the configuration.
    forwarder_words: &'static [&'static str],
    producer_words: &'static [&'static str],
    consumer_words: &'static [&'static str],
}

/// The neighbours that are named; a note for each that is not.
pub(crate) fn given(notes: &mut Vec<String>) -> Vec<Neighbour> {
    [ndnd(notes), nfd(notes)].into_iter().flatten().collect()
}

/// Cases for each neighbour that is named; a note for each that is not.
pub(crate) fn cases(recoup: &Path, room: &Rc<Room>, notes: &mut Vec<String>) -> Vec<Case> {
    let mut cases = Vec::new();
    for neighbour in given(notes) {
        // A name is used once, so that no content store answers for the producer.
        let turn = Rc::new(Cell::new(0));
        let (theirs, ours) = (neighbour.clone(), neighbour);
        let (room_of_theirs, room_of_ours) = (room.clone(), room.clone());
        let (recoup, ours_turn) = (recoup.to_path_buf(), turn.clone());
        cases.push(Case {
            name: format!("{}: its forwarder, its tools, Unix", theirs.name),
            run: Box::new(move || their_tools(&theirs, &room_of_theirs, next(&turn))),
        });
        cases.push(Case {
            name: format!("recoup: through the forwarder of {}, Unix", ours.name),
            run: Box::new(move || our_tools(&ours, &recoup, &room_of_ours, next(&ours_turn))),
        });
    }
    cases
}

fn next(turn: &Cell<u32>) -> u32 {
    turn.set(turn.get() + 1);
    turn.get()
}

fn their_tools(neighbour: &Neighbour, room: &Room, turn: u32) -> Outcome<Sample> {
    let (_forwarder, face) = start(neighbour, room)?;
    let name = format!("/bench/{turn}");
    let mut producer = Command::new(&neighbour.producer);
    producer.args(neighbour.producer_words).arg(&name).env("NDN_CLIENT_TRANSPORT", &face);
    producer.stdin(File::open(&room.original).map_err(|error| error.to_string())?);
    let mut producer = Running::start(&mut producer, &room.path("producer"))?;
    producer.settle()?;
    let mut consumer = Command::new(&neighbour.consumer);
    consumer.args(neighbour.consumer_words).arg(&name).env("NDN_CLIENT_TRANSPORT", &face);
    room.time(&mut consumer, true)
}

fn our_tools(neighbour: &Neighbour, recoup: &Path, room: &Room, turn: u32) -> Outcome<Sample> {
    let (_forwarder, face) = start(neighbour, room)?;
    let version = turn.to_string();
    let mut server = serve(recoup, &room.original, "8000");
    let (mut server, _) = Running::serve(server.args(["--version", &version, "--face", &face]))?;
    server.settle()?;
    room.time(fetch(recoup, &room.copy).args(["--face", &face]), false)
}

/// Starts the neighbour's forwarder with a socket of its own.
pub(crate) fn start(neighbour: &Neighbour, room: &Room) -> Outcome<(Running, String)> {
    let socket = room.path("forwarder-socket");
    let _ = fs::remove_file(&socket);
    let configuration = room.path("forwarder-configuration.yml");
    fs::write(&configuration, (neighbour.configuration)(&socket))
        .map_err(|error| error.to_string())?;
    let mut command = Command::new(&neighbour.forwarder);
    command.args(neighbour.forwarder_words).arg(&configuration).env("HOME", room.folder());
    let mut running = Running::start(&mut command, &room.path("forwarder"))?;
    running.settle()?;
    Ok((running, format!("unix://{}", socket.display())))
}

fn ndnd(notes: &mut Vec<String>) -> Option<Neighbour> {
    let [ndnd] = named(["RECOUP_PEER_NDND"], "ndnd", notes)?;
    Some(Neighbour {
        name: "ndnd",
        forwarder: ndnd.clone(),
        producer: ndnd.clone(),
        consumer: ndnd,
        configuration: |socket| {
            format!(
                "faces:\n  udp: {{enabled_unicast: false, enabled_multicast: false}}\n  \
                 tcp: {{enabled: false}}\n  websocket: {{enabled: false}}\n  \
                 unix: {{enabled: true, socket_path: {}}}\n",
                socket.display()
            )
        },
        forwarder_words: &["fw", "run"],
        producer_words: &["put"],
        consumer_words: &["cat"],
    })
}

fn nfd(notes: &mut Vec<String>) -> Option<Neighbour> {
    let variables = ["RECOUP_PEER_NFD", "RECOUP_PEER_NDNSERVE", "RECOUP_PEER_NDNGET"];
    let [nfd, ndnserve, ndnget] = named(variables, "NFD", notes)?;
    Some(Neighbour {
        name: "NFD",
        forwarder: nfd,
        producer: ndnserve,
        consumer: ndnget,
        configuration: |socket| {
            format!(
                "log {{ default_level WARN }}\n\
                 tables {{ cs_max_packets 65536 }}\n\
                 face_system {{ unix {{ path {} }} }}\n\
                 authorizations {{ authorize {{ certfile any privileges {{ faces fib cs \
                 strategy-choice }} }} }}\n\
                 rib {{ localhost_security {{ trust-anchor {{ type any }} }} \
                 prefix_announcement_validation {{ trust-anchor {{ type any }} }} }}\n",
                socket.display()
            )
            .replace(" }", "\n}\n")
            .replace("{ ", "{\n")
        },
        forwarder_words: &["--config"],
        // Without this it signs with whatever key its user has; the others sign with a digest.
        producer_words: &["-S", "id:/localhost/identity/digest-sha256"],
        consumer_words: &[],
    })
}

/// Paths in environment variables, or a note on the missing ones.
fn named<const N: usize>(
    variables: [&str; N],
    neighbour: &str,
    notes: &mut Vec<String>,
) -> Option<[PathBuf; N]> {
    let missing = variables.iter().find(|name| std::env::var_os(name).is_none());
    if let Some(missing) = missing {
        notes.push(format!("{neighbour} is not measured: {missing} names no binary"));
        return None;
    }
    Some(variables.map(|name| std::env::var_os(name).unwrap_or_default().into()))
}
