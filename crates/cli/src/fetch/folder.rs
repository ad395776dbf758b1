//! A folder: its listing, the files in it, the folders in it.
use crate::error::{Exit, Failure, one_line};
use crate::fetch::observer::Observer;
use crate::fetch::plan::Plan;
use crate::fetch::sink::{FileSink, MemorySink};
use crate::fetch::{in_order, transfer};
use crate::output;
use crate::session::{self, Session};
use recoup_io::library::{Entry, read_listing};
use recoup_packet::name::{Component, Name};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Folders inside folders at most: whoever serves may be malicious.
const MAX_DEPTH: usize = 64;
/// Largest listing, in octets.
const MAX_LISTING: usize = 16 << 20;

/// Fetches folders.
pub(crate) struct Folders<'a> {
    /// Where from.
    pub session: &'a mut Session,
    /// How.
    pub plan: &'a Plan<'a>,
    /// Who watches.
    pub observer: &'a mut Observer,
    /// Files that are there already are left as they are.
    pub resume: bool,
    /// A line for every file.
    pub verbose: bool,
    /// What was listed and is not served: how much, and the first of it.
    pub absent: Option<(u64, Failure)>,
}

impl Folders<'_> {
    /// Fetches the folder `name`, with everything in it, into the folder `target`. Returns the name of its listing.
    ///
    /// # Errors
    /// Also if something that is listed is not served (removed, or not to be read there): all the rest is fetched then.
    pub(crate) fn run(mut self, name: &Name, target: &Path) -> Result<Name, Failure> {
        let listing = self.fetch(name, target, 0)?;
        let Some((count, first)) = self.absent else {
            return Ok(listing);
        };
        let message = match count {
            1 => first.message,
            _ => format!("{count} files or folders in {name} cannot be had: {}", first.message),
        };
        let advice = first.advice.unwrap_or_default();
        Err(Failure::new(first.exit, message).advise(format!("{advice}; all the rest is there")))
    }

    fn fetch(&mut self, name: &Name, target: &Path, depth: usize) -> Result<Name, Failure> {
        if depth > MAX_DEPTH {
            let message = format!("{name} lies {MAX_DEPTH} folders deep");
            return Err(Failure::new(Exit::Other, message));
        }
        let (listing, entries) = self.list(name)?;
        fs::create_dir_all(target)
            .map_err(|error| Failure::file("make the folder", target.display(), &error))?;
        for entry in entries {
            let name = name.append(Component::generic(&entry.name));
            let target = target.join(OsStr::from_bytes(&entry.name));
            let fetched = match entry.is_folder {
                true => self.fetch(&name, &target, depth + 1).map(|_| ()),
                false => self.file(&name, &target),
            };
            match fetched {
                Err(failure) if failure.absent => {
                    self.absent.get_or_insert((0, failure)).0 += 1;
                }
                fetched => fetched?,
            }
        }
        Ok(listing)
    }

    fn list(&mut self, name: &Name) -> Result<(Name, Vec<Entry>), Failure> {
        let mut config = self.plan.config(name.clone(), session::seed()?)?;
        config.delivery = in_order();
        let mut sink = MemorySink::new(MAX_LISTING);
        let listing = transfer::run(self.session, config, &mut sink, self.observer)?;
        let is_listing = listing.components().any(|component| component.is_keyword(b"ls"));
        match read_listing(&sink.content).filter(|_| is_listing) {
            Some(entries) => Ok((listing, entries)),
            None => Err(Failure::new(Exit::Other, format!("{name} is not a folder"))
                .advise("fetch it without -r")),
        }
    }

    fn file(&mut self, name: &Name, target: &Path) -> Result<(), Failure> {
        if self.resume && target.is_file() {
            return Ok(());
        }
        if self.verbose {
            // Who serves it has chosen what it is called.
            output::tell(&one_line(&format!("{name} -> {}", target.display())));
        }
        let mut config = self.plan.config(name.clone(), session::seed()?)?;
        super::resume(&mut config, target, self.resume)?;
        let mut sink = FileSink::new(target, &self.plan.verification(), (0, None), self.resume)?;
        transfer::run(self.session, config, &mut sink, self.observer).map(|_| ())
    }
}
