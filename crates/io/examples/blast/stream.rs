//! A Unix stream with a forwarder at its other end, and how packets are written to it.
use crate::frame::Packet;
use recoup_packet::tlv;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

const BUFFER_BYTES: usize = 1 << 18;

/// How a client behaves.
pub(crate) struct Options {
    pub(crate) payload: usize,
    pub(crate) window: usize,
    pub(crate) span: Duration,
    /// Every packet is written by itself.
    each: bool,
    /// Further work for every packet.
    work: Duration,
    /// Interests are not answered.
    pub(crate) silent: bool,
    /// Interests a second that are offered.
    pub(crate) rate: u64,
    /// Interests of a flood.
    pub(crate) count: u64,
    /// Pause between exchanges.
    pub(crate) interval: Duration,
}

impl Options {
    /// Reads `key=value` words.
    pub(crate) fn read(words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            payload: 100,
            window: 256,
            span: Duration::from_secs(3),
            each: false,
            work: Duration::ZERO,
            silent: false,
            rate: 10_000,
            count: 1_000_000,
            interval: Duration::ZERO,
        };
        for word in words {
            let (key, value) = word.split_once('=').ok_or(format!("{word}: write key=value"))?;
            let number = || value.parse::<u64>().map_err(|error| format!("{word}: {error}"));
            match (key, value) {
                ("style", "batch") => options.each = false,
                ("style", "each") => options.each = true,
                ("payload", _) => options.payload = number()? as usize,
                ("window", _) => options.window = number()? as usize,
                ("seconds", _) => options.span = Duration::from_secs(number()?),
                ("work-ns", _) => options.work = Duration::from_nanos(number()?),
                ("silent", _) => options.silent = number()? > 0,
                ("rate", _) => options.rate = number()?,
                ("count", _) => options.count = number()?,
                ("interval-us", _) => options.interval = Duration::from_micros(number()?),
                _ => return Err(format!("{word}: no such option")),
            }
        }
        Ok(options)
    }
}

/// A connection.
pub(crate) struct Stream {
    socket: UnixStream,
    input: Vec<u8>,
    start: usize,
    end: usize,
    output: Vec<u8>,
    each: bool,
    work: Duration,
}

impl Stream {
    pub(crate) fn connect(path: &str, options: &Options) -> io::Result<Self> {
        Ok(Self {
            socket: UnixStream::connect(path)?,
            input: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            output: Vec::with_capacity(BUFFER_BYTES),
            each: options.each,
            work: options.work,
        })
    }

    /// Another hand on the same connection, for reading.
    pub(crate) fn twin(&self) -> io::Result<Self> {
        Ok(Self {
            socket: self.socket.try_clone()?,
            input: vec![0; BUFFER_BYTES],
            output: Vec::new(),
            ..*self
        })
    }

    /// Sends no more; the other end closes when it has read everything.
    pub(crate) fn shut(&self) -> io::Result<()> {
        self.socket.shutdown(Shutdown::Write)
    }

    pub(crate) fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        self.socket.set_read_timeout(Some(timeout))
    }

    /// Writes a packet, or keeps it for the next [`flush`](Self::flush).
    pub(crate) fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if !self.each {
            self.output.extend_from_slice(frame);
            return Ok(());
        }
        let begun = Instant::now();
        while begun.elapsed() < self.work {
            std::hint::spin_loop();
        }
        self.socket.write_all(frame)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.output)?;
        self.output.clear();
        Ok(())
    }

    /// Waits for more; `false` at the end.
    pub(crate) fn receive(&mut self) -> io::Result<bool> {
        self.input.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let room = self.input.get_mut(self.end..).unwrap_or_default();
        let length = self.socket.read(room)?;
        self.end += length;
        Ok(length > 0)
    }

    /// The next whole packet of what arrived.
    pub(crate) fn next(&mut self) -> io::Result<Option<Packet<'_>>> {
        let bytes = self.input.get(self.start..self.end).unwrap_or_default();
        let garbage = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let length = tlv::frame_len(bytes).map_err(garbage)?;
        let Some(frame) = length.and_then(|length| bytes.get(..length)) else {
            return Ok(None);
        };
        self.start += frame.len();
        Packet::read(frame).map(Some).map_err(garbage)
    }
}
