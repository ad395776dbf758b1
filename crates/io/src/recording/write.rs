//! Recording: between a driver and its machine.
use super::record::Record;
use super::{Heading, MAGIC, MAX_TEXT, VERSION, Wanted};
use recoup_forwarder::face::{FaceId, FaceUse};
use recoup_forwarder::node::{Input, Machine, Output};
use recoup_transport::time::{Duration, Instant};
use std::io::{self, ErrorKind, Write};

/// A block is written when it is longer than this.
const BLOCK: usize = 1 << 15;
/// A block is written when it began longer ago.
const BLOCK_AGE: Duration = Duration::from_secs(1);

/// A machine whose inputs are recorded, or not.
#[derive(Debug)]
pub struct Recorder<M, W> {
    machine: M,
    paper: Option<Paper<W>>,
}

#[derive(Debug)]
struct Paper<W> {
    out: W,
    block: Vec<u8>,
    /// Instant of the last record.
    last: Instant,
    written: Instant,
    wanted: Wanted,
    /// The machine is being asked what it wants, at this instant.
    polling: Option<Instant>,
    error: Option<io::Error>,
}

impl<M, W: Write> Recorder<M, W> {
    /// A machine without a recording.
    pub fn off(machine: M) -> Self {
        Self { machine, paper: None }
    }

    /// Records `machine`, from which nothing was wanted so far.
    ///
    /// # Errors
    /// If the heading is too long or cannot be written.
    pub fn new(machine: M, heading: &Heading, mut out: W) -> io::Result<Self> {
        let text = heading.text.as_bytes();
        if text.len() > MAX_TEXT {
            return Err(ErrorKind::FileTooLarge.into());
        }
        out.write_all(MAGIC)?;
        out.write_all(&[VERSION])?;
        out.write_all(&heading.seed.to_le_bytes())?;
        out.write_all(&(text.len() as u32).to_le_bytes())?;
        out.write_all(&crc32fast::hash(text).to_le_bytes())?;
        out.write_all(text)?;
        let paper = Paper {
            out,
            block: Vec::new(),
            last: Instant::ZERO,
            written: Instant::ZERO,
            wanted: Wanted::default(),
            polling: None,
            error: None,
        };
        Ok(Self { machine, paper: Some(paper) })
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine; its inputs by this reference are not recorded.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Ends the recording if it could not be written, and returns why; the machine continues.
    pub fn give_up(&mut self) -> Option<io::Error> {
        let error = self.paper.as_mut()?.error.take()?;
        self.paper = None;
        Some(error)
    }

    /// Ends the recording, if it was not given up.
    ///
    /// # Errors
    /// If its end, or something before it, could not be written.
    pub fn finish(&mut self) -> io::Result<()> {
        let Some(mut paper) = self.paper.take() else {
            return Ok(());
        };
        paper.write(true);
        match paper.error {
            Some(error) => Err(error),
            None => paper.out.flush(),
        }
    }
}

impl<W: Write> Paper<W> {
    /// Appends a record to the block; `false` if recordings hold no such input.
    fn put(&mut self, record: &Record) -> bool {
        record.put(&mut self.block, &mut self.last)
    }

    fn input(&mut self, now: Instant, input: Input) {
        // Inputs between two polls may exceed a block.
        if self.polling.take().is_none() && self.block.len() > BLOCK {
            self.turn_page(now);
        }
        if !self.put(&Record::Input { now, input }) && self.error.is_none() {
            self.error = Some(ErrorKind::Unsupported.into());
        }
    }

    fn poll(&mut self, now: Instant) {
        if self.polling != Some(now) {
            self.polling = Some(now);
            self.put(&Record::Poll { now });
        }
    }

    fn polled(&mut self, now: Instant, output: Option<&Output>) {
        match output {
            Some(output) => self.wanted.add(output),
            None => {
                self.polling = None;
                let due = self.block.len() + self.wanted.bytes.len() > BLOCK;
                if due || now.since(self.written) > BLOCK_AGE {
                    self.turn_page(now);
                }
            }
        }
    }

    fn turn_page(&mut self, now: Instant) {
        self.written = now;
        self.write(false);
    }

    fn write(&mut self, end: bool) {
        let (outputs, digest) = (self.wanted.outputs, self.wanted.digest());
        self.put(&Record::Check { outputs, digest, end });
        let block = std::mem::take(&mut self.block);
        let mut head = (block.len() as u32).to_le_bytes().to_vec();
        head.extend(crc32fast::hash(&block).to_le_bytes());
        if self.error.is_none()
            && let Err(error) = self.out.write_all(&head).and_then(|()| self.out.write_all(&block))
        {
            self.error = Some(error);
        }
    }
}

impl<M: Machine, W: Write> Machine for Recorder<M, W> {
    fn handle(&mut self, now: Instant, input: Input) {
        if let Some(paper) = &mut self.paper {
            paper.input(now, input.clone());
        }
        self.machine.handle(now, input);
    }

    fn poll(&mut self, now: Instant) -> Option<Output> {
        if let Some(paper) = &mut self.paper {
            paper.poll(now);
        }
        let output = self.machine.poll(now);
        if let Some(paper) = &mut self.paper {
            paper.polled(now, output.as_ref());
        }
        output
    }

    fn deadline(&self) -> Option<Instant> {
        self.machine.deadline()
    }

    fn face_use(&self, face: FaceId) -> FaceUse {
        self.machine.face_use(face)
    }
}
