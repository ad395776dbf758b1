//! Attempts to reach a share at all addresses that are announced for it.
//!
//! Anybody can repeat an announcement with another address, and a machine has addresses that do not reach it from here. So
//! all addresses are tried side by side (as in RFC 8305). The first one that answers with the key of the share is used.
use crate::error::{Exit, Failure};
use crate::share::{self, Code, Offer, Search};
use crate::stop::Stop;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use recoup::{Client, Error, FetchOptions, Verify};
use recoup_packet::name::Name;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long an address is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time from a failed attempt to the next one at the same address.
const PAUSE: Duration = Duration::from_secs(1);
/// Most attempts at a time.
const PARALLEL: usize = 64;
/// Fetches that an offer may fail.
const MAX_FAILURES: usize = 2;
/// Interval between two looks at signals and announcements.
const LOOK: Duration = Duration::from_millis(20);
/// Faces that are named when none answers.
const NAMED: usize = 4;

/// A share that proved its key.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Where it was found.
    pub offer: Offer,
    /// Name of the content.
    pub name: Name,
    /// Its key.
    pub verify: Verify,
    /// A folder is shared.
    pub is_folder: bool,
}

/// The outcome of one attempt.
type Ended = (Offer, Result<Found, Failure>);

/// The attempts at the addresses of a share.
pub(super) struct Attempts {
    search: Search,
    code: Code,
    /// When each address is to be tried.
    queue: VecDeque<(Instant, Offer)>,
    running: usize,
    results: Receiver<Ended>,
    sender: Sender<Ended>,
    until: Instant,
    /// Faces that were tried in vain, the first few.
    tried: Vec<String>,
    last: Option<Failure>,
    /// Offers that failed a fetch.
    failed: Vec<Offer>,
}

impl Attempts {
    /// Begins to look for the share, which takes `wait` at most.
    pub(super) fn begin(code: &Code, wait: Duration) -> Result<Self, Failure> {
        let (sender, results) = channel();
        Ok(Self {
            search: Search::begin(code)?,
            code: code.clone(),
            queue: VecDeque::new(),
            running: 0,
            results,
            sender,
            until: Instant::now() + wait,
            tried: Vec::new(),
            last: None,
            failed: Vec::new(),
        })
    }

    /// The next address that proves its key.
    ///
    /// # Errors
    /// None did in time.
    pub(super) fn next(&mut self, stop: &Stop) -> Result<Found, Failure> {
        loop {
            stop.wanted().map_or(Ok(()), Err)?;
            let now = Instant::now();
            let is_over = now >= self.until;
            if !is_over {
                self.begin_due(now);
            } else if self.running == 0 {
                return Err(self.failure());
            }
            let Ok((offer, result)) = self.results.recv_timeout(LOOK) else {
                continue;
            };
            self.running -= 1;
            match result {
                Ok(found) => return Ok(found),
                Err(failure) => self.note(offer, failure),
            }
        }
    }

    /// An offer proved its key and then failed: others come first, for `further` at most.
    pub(super) fn set_aside(&mut self, offer: &Offer, further: Duration) {
        let now = Instant::now();
        self.until = now + further;
        self.failed.push(offer.clone());
        if self.failed.iter().filter(|failed| *failed == offer).count() <= MAX_FAILURES {
            self.queue.push_back((now + PATIENCE, offer.clone()));
        }
    }

    fn begin_due(&mut self, now: Instant) {
        self.queue.extend(self.search.offers().into_iter().map(|offer| (now, offer)));
        while self.running < PARALLEL
            && let Some(due) = self.queue.iter().position(|(due, _)| *due <= now)
            && let Some((_, offer)) = self.queue.remove(due)
        {
            self.begin_one(offer);
        }
    }

    fn begin_one(&mut self, offer: Offer) {
        let (sender, code, ours) = (self.sender.clone(), self.code.clone(), offer.clone());
        let begun = thread::Builder::new().name("attempt".into()).spawn(move || {
            let result = prove(&code, &ours);
            let _ = sender.send((ours, result));
        });
        match begun {
            Ok(_) => self.running += 1,
            Err(error) => {
                let message = format!("no thread can be started: {}", crate::error::reason(&error));
                self.note(offer, Failure::new(Exit::Local, message));
            }
        }
    }

    fn note(&mut self, offer: Offer, failure: Failure) {
        let face = offer.face.to_string();
        if self.tried.len() < NAMED && !self.tried.contains(&face) {
            self.tried.push(face);
        }
        self.last = Some(failure);
        self.queue.push_back((Instant::now() + PAUSE, offer));
    }

    fn failure(&mut self) -> Failure {
        let Some(last) = self.last.take() else {
            return self.search.nothing();
        };
        let (code, faces) = (&self.code, self.tried.join(", "));
        let message = format!(
            "{code} is announced, but no machine proves its key; tried {faces}; the last failure: {}",
            last.message
        );
        Failure::new(last.exit, message).advise(
            "check that `recoup share` still runs, and that its UDP port is not blocked (--port chooses it)",
        )
    }
}

/// Fetches the metadata of an offer, which must be signed with the key of the share.
fn prove(code: &Code, offer: &Offer) -> Result<Found, Failure> {
    let file = offer.file.as_str();
    let name = format!("/{file}").parse::<Name>().ok().filter(|name| name.len() == 1);
    let name = name.as_ref().and_then(|name| name.get(0)).ok_or_else(|| {
        let message = format!("the share announces {file:?}, which is no name of a file");
        Failure::new(Exit::Verification, message)
    })?;
    let name = share::name_of(code, name);
    let verify = Verify::Key(format!("spki:{}", BASE64_STANDARD.encode(&offer.key)));
    let is_folder = is_folder(offer, &name, &verify)?;
    Ok(Found { offer: offer.clone(), name, verify, is_folder })
}

fn is_folder(offer: &Offer, name: &Name, verify: &Verify) -> Result<bool, Error> {
    let verify = verify.clone();
    let options = FetchOptions { no_progress: PATIENCE, verify, ..FetchOptions::default() };
    let client = Client::builder().face(offer.face.to_string()).options(options).connect()?;
    Ok(client.head(name.clone())?.is_folder)
}
