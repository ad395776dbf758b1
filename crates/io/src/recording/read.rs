//! Reading a recording, and doing again what stands in it.
use super::record::Record;
use super::{Heading, MAGIC, MAX_BLOCK, MAX_TEXT, VERSION, Wanted};
use bytes::Bytes;
use recoup_forwarder::node::{Machine, Output};
use recoup_transport::time::Instant;
use std::io::{self, ErrorKind, Read};

/// Why a recording cannot be read, or is not done again.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file is no recording.
    #[error("is no recording: it does not begin with RECOUPRC")]
    Foreign,
    /// Another version of the format.
    #[error("is a recording of version {0}, and this program reads version {VERSION}")]
    Version(u8),
    /// Its bytes are not those that were written.
    #[error("is damaged in block {block}")]
    Damaged {
        /// Number of the block, from 1; 0 is the heading.
        block: u64,
    },
    /// The machine did something else than the one that was recorded.
    #[error(
        "was not done again: in block {block}, until {:.6} s, {replayed} outputs differ from the {recorded} recorded",
        at.as_secs_f64()
    )]
    Diverged {
        /// Number of the block, from 1.
        block: u64,
        /// Instant at the end of the block.
        at: std::time::Duration,
        /// Outputs that were recorded until then.
        recorded: u64,
        /// Outputs that there were.
        replayed: u64,
    },
}

/// Reads a recording, record by record.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    heading: Heading,
    block: Bytes,
    blocks: u64,
    last: Instant,
}

impl<R: Read> Reader<R> {
    /// Reads the heading.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(mut input: R) -> Result<Self, RecordingError> {
        let mut magic = [0; 8];
        if !fill(&mut input, &mut magic)? || magic != *MAGIC {
            return Err(RecordingError::Foreign);
        }
        let mut bytes = [0; 17];
        if !fill(&mut input, &mut bytes)? {
            return Err(RecordingError::Damaged { block: 0 });
        }
        let [version, rest @ ..] = bytes;
        if version != VERSION {
            return Err(RecordingError::Version(version));
        }
        let (seed, sizes) = rest.split_at(8);
        let (len, crc) = (number(sizes), number(sizes.get(4..).unwrap_or_default()));
        let text = exactly(&mut input, len, MAX_TEXT)?
            .filter(|text| crc32fast::hash(text) == crc)
            .and_then(|text| String::from_utf8(text).ok())
            .ok_or(RecordingError::Damaged { block: 0 })?;
        let seed = seed.try_into().map_or(0, u64::from_le_bytes);
        let heading = Heading { seed, text };
        Ok(Self { input, heading, block: Bytes::new(), blocks: 0, last: Instant::ZERO })
    }

    /// Description of the recorded machine.
    pub fn heading(&self) -> &Heading {
        &self.heading
    }

    /// The block that is being read, counted from 1.
    pub fn block(&self) -> u64 {
        self.blocks
    }

    /// The next record; `None` where the file ends or was cut off.
    ///
    /// # Errors
    /// If the bytes are not those that were written.
    pub fn next_record(&mut self) -> Result<Option<Record>, RecordingError> {
        while self.block.is_empty() {
            if !self.next_block()? {
                return Ok(None);
            }
        }
        let record = Record::take(&mut self.block, &mut self.last);
        record.map(Some).ok_or(RecordingError::Damaged { block: self.blocks })
    }

    fn next_block(&mut self) -> Result<bool, RecordingError> {
        let mut head = [0; 8];
        if !fill(&mut self.input, &mut head)? {
            return Ok(false);
        }
        self.blocks += 1;
        let (len, crc) = (number(&head), number(&head[4..]));
        if len as usize > MAX_BLOCK {
            return Err(RecordingError::Damaged { block: self.blocks });
        }
        let Some(block) = exactly(&mut self.input, len, MAX_BLOCK)? else {
            return Ok(false);
        };
        if crc32fast::hash(&block) != crc {
            return Err(RecordingError::Damaged { block: self.blocks });
        }
        self.block = block.into();
        Ok(true)
    }
}

/// Outcome of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Inputs of the machine.
    pub inputs: u64,
    /// Things that it wanted.
    pub outputs: u64,
    /// Outputs that were compared with the recording.
    pub compared: u64,
    /// Instant of the last record.
    pub last: Instant,
    /// The recording has its end; or else it was cut off.
    pub complete: bool,
}

/// Feeds `machine` with the inputs of a recording and compares its outputs. `on` receives every
/// record and, after each poll, every output.
///
/// # Errors
/// If the recording cannot be read, or the machine wants something else.
pub fn replay<R: Read>(
    reader: &mut Reader<R>,
    machine: &mut dyn Machine,
    on: &mut dyn FnMut(Instant, Step<'_>),
) -> Result<Replayed, RecordingError> {
    let (mut wanted, mut done) = (Wanted::default(), Replayed::default());
    while let Some(record) = reader.next_record()? {
        match record {
            Record::Input { now, input } => {
                done.inputs += 1;
                done.last = now;
                on(now, Step::Input(&input));
                machine.handle(now, input);
            }
            Record::Poll { now } => {
                done.last = now;
                while let Some(output) = machine.poll(now) {
                    wanted.add(&output);
                    on(now, Step::Output(&output));
                }
                done.outputs = wanted.outputs;
            }
            Record::Check { outputs, digest, end } => {
                if (outputs, digest) != (wanted.outputs, wanted.digest()) {
                    return Err(RecordingError::Diverged {
                        block: reader.block(),
                        at: done.last.since(Instant::ZERO),
                        recorded: outputs,
                        replayed: wanted.outputs,
                    });
                }
                done.compared = outputs;
                if end {
                    return Ok(Replayed { complete: true, ..done });
                }
            }
        }
    }
    Ok(done)
}

/// One step of a replay.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// An input of the machine.
    Input(&'a recoup_forwarder::node::Input),
    /// The machine wants something.
    Output(&'a Output),
}

fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Fills `place`; `false` if the input ends before.
fn fill(input: &mut impl Read, place: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(place) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// So many bytes; `None` if there are fewer, or if that is more than `most`.
fn exactly(input: &mut impl Read, len: u32, most: usize) -> io::Result<Option<Vec<u8>>> {
    if len as usize > most {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    input.take(u64::from(len)).read_to_end(&mut bytes)?;
    Ok((bytes.len() == len as usize).then_some(bytes))
}
