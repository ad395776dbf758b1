//! Forwarders and links that run on this machine, from their start to their end.
use super::plan::{Plan, WayPart};
use super::process::Process;
use super::text::{self, End};
use crate::{Error, ErrorKind};
use recoup::reason;
use recoup_io::port::shared;
use recoup_transport::random::Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Any port of this machine that is free.
const ANYWHERE: &str = "udp://127.0.0.1:0";

/// A running network. Fields are dropped in their order: the processes end before their folder goes.
pub struct Net<'a> {
    program: PathBuf,
    plan: &'a Plan,
    links: Vec<Process>,
    nodes: BTreeMap<usize, Process>,
    /// Status pages of nodes.
    pages: BTreeMap<usize, String>,
    folder: TempDir,
}

/// Options of a start, beside the plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetOptions {
    /// Seed of all random choices.
    pub seed: u64,
    /// Nodes have status pages.
    pub pages: bool,
}

impl<'a> Net<'a> {
    /// Starts all links and then all nodes, and waits until they can be reached.
    ///
    /// # Errors
    /// The process that did not start, with its own message.
    pub fn build(program: &Path, plan: &'a Plan, options: NetOptions) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("recoup-").tempdir();
        let folder = folder.map_err(|error| {
            Error::file("make a folder in", std::env::temp_dir().display(), &error)
        })?;
        let (links, nodes, pages) = Default::default();
        let mut net = Self { program: program.to_owned(), plan, links, nodes, pages, folder };
        for kind in ["links", "nodes"] {
            net.make_folder(kind)?;
        }
        // Held until the nodes have them, too.
        let ports = Ports::reserve(plan)?;
        let ends = net.start_links(options.seed, &ports)?;
        for number in plan.nodes.keys() {
            net.start_node(*number, &ends, &ports, options)?;
        }
        for (number, process) in &mut net.nodes {
            let document = process.listening()?;
            net.pages.extend(document["metrics"].as_str().map(|page| (*number, page.to_owned())));
        }
        Ok(net)
    }

    /// The far end of each link, by its place and the sending node.
    fn start_links(&mut self, seed: u64, ports: &Ports) -> Result<Ends, Error> {
        let folder = self.folder.path().join("links");
        for (place, link) in self.plan.links.iter().enumerate() {
            let [near, far] = link.ways.each_ref().map(|way| ports.address(place, way));
            let file = folder.join(format!("link-{place}.toml"));
            write(&file, text::link(link).as_bytes())?;
            let seed = Rng::from_seed(seed).substream(&link.name).next_u64();
            let words = [
                "link".into(),
                "--json".into(),
                format!("--file={}", file.display()),
                format!("--seed={seed}"),
                format!("--peer=udp://{near}"),
                "--between".into(),
                ANYWHERE.into(),
                format!("udp://{far}"),
            ];
            self.links.push(Process::start(
                &self.program,
                &format!("link-{place}"),
                &words,
                &folder,
            )?);
        }
        let mut ends = Ends::new();
        for ((place, link), process) in self.plan.links.iter().enumerate().zip(&mut self.links) {
            let document = process.listening()?;
            for (way, key) in link.ways.iter().zip(["face", "far_face"]) {
                ends.insert(
                    (place, way.from),
                    document[key].as_str().unwrap_or_default().to_owned(),
                );
            }
        }
        Ok(ends)
    }

    fn start_node(
        &mut self,
        number: usize,
        ends: &Ends,
        ports: &Ports,
        options: NetOptions,
    ) -> Result<(), Error> {
        let Some(part) = self.plan.nodes.get(&number) else { return Ok(()) };
        let ends = self.plan.links_of(number).filter_map(|(link, away, _)| {
            let uri = ends.get(&(link, number))?.clone();
            Some(End { link, uri, local: ports.address(link, away) })
        });
        let ends: Vec<End> = ends.collect();
        let config = text::node(self.plan, number, &[self.door(number)], &ends);
        let file = self.nodes_folder().join(format!("{}.toml", part.label));
        write(&file, config.as_bytes())?;
        let mut words: Vec<String> = vec!["forward".into(), "--json".into()];
        words.push(format!("--config={}", file.display()));
        words.extend(options.pages.then(|| "--metrics=127.0.0.1:0".to_owned()));
        let process = Process::start(&self.program, &part.label, &words, &self.nodes_folder())?;
        self.nodes.insert(number, process);
        Ok(())
    }

    /// Checks that no process has ended.
    ///
    /// # Errors
    /// The process that has ended, with its own message.
    pub fn check(&mut self) -> Result<(), Error> {
        for process in self.nodes.values_mut().chain(&mut self.links) {
            process.check()?;
        }
        Ok(())
    }

    /// Ends everything, nodes first; returns the documents of links, and of nodes by number.
    ///
    /// # Errors
    /// A process that does not end, or prints nothing.
    pub fn finish(mut self) -> Result<(Vec<Value>, BTreeMap<usize, Value>), Error> {
        let mut nodes = BTreeMap::new();
        self.nodes.values().for_each(Process::ask_to_end);
        for (number, process) in &mut self.nodes {
            process.finish()?;
            nodes.insert(*number, process.document()?);
        }
        let mut links = Vec::new();
        self.links.iter().for_each(Process::ask_to_end);
        for process in &mut self.links {
            process.finish()?;
            links.push(process.document()?);
        }
        Ok((links, nodes))
    }

    /// Where applications of a node reach their forwarder.
    pub fn door(&self, node: usize) -> String {
        let label = self.plan.nodes.get(&node).map_or("", |part| &part.label);
        format!("unix://{}", self.nodes_folder().join(format!("{label}.sock")).display())
    }

    /// The status page of a node.
    pub fn page(&self, node: usize) -> Option<&str> {
        self.pages.get(&node).map(String::as_str)
    }

    /// Where the sockets of nodes are.
    pub fn nodes_folder(&self) -> PathBuf {
        self.folder.path().join("nodes")
    }

    /// A folder beside the network's own, which goes with them.
    pub fn make_folder(&self, name: &str) -> Result<PathBuf, Error> {
        let path = self.folder.path().join(name);
        std::fs::create_dir(&path).map_err(|error| Error::file("make", path.display(), &error))?;
        Ok(path)
    }
}

/// Where the ends of links are, by their place and the node at that end.
type Ends = BTreeMap<(usize, usize), String>;

/// Ports reserved for nodes, by link and node.
struct Ports(BTreeMap<(usize, usize), (SocketAddr, UdpSocket)>);

impl Ports {
    fn reserve(plan: &Plan) -> Result<Self, Error> {
        let mut held = BTreeMap::new();
        for (place, link) in plan.links.iter().enumerate() {
            for way in &link.ways {
                let socket = shared((Ipv4Addr::LOCALHOST, 0).into());
                let port = socket.and_then(|socket| Ok((socket.local_addr()?, socket)));
                let port = port.map_err(|error| {
                    let message = format!("cannot open a port: {}", reason(&error));
                    Error::new(ErrorKind::Other, message)
                        .with_remedy("allow more open files (ulimit -n)")
                })?;
                held.insert((place, way.from), port);
            }
        }
        Ok(Self(held))
    }

    /// The address of the sending node.
    fn address(&self, link: usize, way: &WayPart) -> SocketAddr {
        let none = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.0.get(&(link, way.from)).map_or(none, |(address, _)| *address)
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), Error> {
    std::fs::write(path, content).map_err(|error| Error::file("write", path.display(), &error))
}
