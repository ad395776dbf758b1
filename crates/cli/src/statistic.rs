//! Statistics files: tab-separated tables with a header line, for plotting.
//!
//! `cwnd.tsv` and `rtt.tsv` begin with the columns that ndnget writes, so existing scripts read them.
use crate::error::Failure;
use crate::format::ms;
use recoup_transport::event::Event;
use recoup_transport::time::{Duration, Instant};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// One table that is being written.
#[derive(Debug)]
struct Table {
    path: PathBuf,
    rows: BufWriter<File>,
}

impl Table {
    fn create(folder: &Path, name: &str, header: &str) -> Result<Self, Failure> {
        let path = folder.join(name);
        let create = || -> io::Result<BufWriter<File>> {
            let mut rows = BufWriter::new(File::create(&path)?);
            writeln!(rows, "{header}")?;
            Ok(rows)
        };
        match create() {
            Ok(rows) => Ok(Self { path, rows }),
            Err(error) => Err(Failure::file("write", path.display(), &error)),
        }
    }

    fn row(&mut self, row: std::fmt::Arguments<'_>) -> Result<(), Failure> {
        writeln!(self.rows, "{row}")
            .map_err(|error| Failure::file("write", self.path.display(), &error))
    }

    fn finish(&mut self) -> Result<(), Failure> {
        self.rows.flush().map_err(|error| Failure::file("write", self.path.display(), &error))
    }
}

/// The three tables of one fetch.
#[derive(Debug)]
pub(crate) struct Statistics {
    cwnd: Table,
    rtt: Table,
    segments: Table,
    began: Option<Instant>,
    /// Timeout in force when a segment that has not arrived was last sent.
    pending: HashMap<u64, Duration>,
}

impl Statistics {
    /// Makes the folder and the tables with their headers.
    pub(crate) fn create(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::file("make the folder", folder.display(), &error))?;
        Ok(Self {
            cwnd: Table::create(folder, "cwnd.tsv", "time\tcwndsize")?,
            rtt: Table::create(folder, "rtt.tsv", "segment\trtt\trttvar\tsrtt\trto\ttime")?,
            segments: Table::create(
                folder,
                "segments.tsv",
                "segment\tfirst_sent\tarrived\trtt\trto\ttransmissions",
            )?,
            began: None,
            pending: HashMap::new(),
        })
    }

    /// Writes the rows that an event gives.
    pub(crate) fn record(&mut self, now: Instant, event: &Event) -> Result<(), Failure> {
        let began = *self.began.get_or_insert(now);
        let time = now.since(began).as_secs_f64();
        match *event {
            Event::Window { window, .. } => self.cwnd.row(format_args!("{time:.6}\t{window:.4}")),
            Event::Sampled { segment, rtt, srtt, rttvar, rto } => self.rtt.row(format_args!(
                "{segment}\t{:.4}\t{:.4}\t{:.4}\t{:.4}\t{time:.6}",
                ms(rtt.into()),
                ms(rttvar.into()),
                ms(srtt.into()),
                ms(rto.into())
            )),
            Event::Sent { segment, rto, .. } => {
                self.pending.insert(segment, rto.into());
                Ok(())
            }
            Event::Received { segment, rtt, delay, transmissions, .. } => {
                let rto = self.pending.remove(&segment).unwrap_or_default();
                let first_sent = (now - delay.duration()).since(began).as_secs_f64();
                self.segments.row(format_args!(
                    "{segment}\t{first_sent:.6}\t{time:.6}\t{:.4}\t{:.4}\t{transmissions}",
                    ms(rtt.into()),
                    ms(rto)
                ))
            }
            _ => Ok(()),
        }
    }

    /// Writes what is still buffered.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        self.cwnd.finish()?;
        self.rtt.finish()?;
        self.segments.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_transport::event::Span;

    #[test]
    fn the_tables_have_the_columns_that_scripts_expect() {
        let folder = tempfile::tempdir().unwrap();
        let mut tables = Statistics::create(folder.path()).unwrap();
        let at = Instant::from_millis;
        let (rtt, rto) = (Duration::from_millis(50), Duration::from_millis(200));
        let half = Span::from(rtt / 2);
        let (rtt, rto) = (Span::from(rtt), Span::from(rto));
        let sent = Event::Sent { segment: 3, transmissions: 1, rto };
        tables.record(at(1000), &sent).unwrap();
        let window = Event::Window { window: 2.5, ssthresh: f64::INFINITY, delay_window: 0.0 };
        tables.record(at(1000), &window).unwrap();
        let sampled = Event::Sampled { segment: 3, rtt, srtt: rtt, rttvar: half, rto };
        tables.record(at(1050), &sampled).unwrap();
        let received = Event::Received {
            segment: 3,
            content_bytes: 1,
            wire_bytes: 2,
            rtt,
            delay: rtt,
            transmissions: 1,
        };
        tables.record(at(1050), &received).unwrap();
        tables.finish().unwrap();
        let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("cwnd.tsv"), "time\tcwndsize\n0.000000\t2.5000\n");
        assert_eq!(
            read("rtt.tsv"),
            "segment\trtt\trttvar\tsrtt\trto\ttime\n3\t50.0000\t25.0000\t50.0000\t200.0000\t0.050000\n"
        );
        assert_eq!(
            read("segments.tsv").lines().nth(1).unwrap(),
            "3\t0.000000\t0.050000\t50.0000\t200.0000\t1"
        );
    }
}
