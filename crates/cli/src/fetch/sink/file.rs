//! A download into a file, which can be continued.
use super::Sink;
use crate::error::Failure;
use crate::terminal::path_line;
use crate::{format, output};
use bytes::Bytes;
use recoup::download::{Download, Earlier, FilePlace};
use recoup_io::part::Records;
use recoup_packet::metadata::Metadata;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::fetch::FetchConfig;
use std::path::Path;

/// A file under construction, which can be continued until it is complete.
#[derive(Debug)]
pub(crate) struct FileSink(Download);

impl FileSink {
    /// A download to `target`; see [`Download::new`].
    pub(crate) fn new(
        target: &Path,
        verification: &str,
        config: &mut FetchConfig,
        earlier: Earlier,
        place: Option<FilePlace>,
    ) -> Result<Self, Failure> {
        let records = Records::of_user();
        let download = Download::new(records, target, verification, config, earlier, place);
        let download = download.map_err(|error| {
            let failure = Failure::from(error);
            match target.is_dir() {
                true => failure.advise("name a file after -o"),
                false => failure,
            }
        })?;
        if download.dropped_bytes() > 0 {
            output::eprint(&format!(
                "{} has changed since it was written: {} are fetched again",
                path_line(&download.part_path()),
                format::bytes(download.dropped_bytes())
            ));
        }
        Ok(Self(download))
    }
}

impl Sink for FileSink {
    fn is_complete(&self) -> bool {
        self.0.is_complete()
    }

    fn begin(&mut self, object: &Name) -> Result<(), Failure> {
        Ok(self.0.begin(object)?)
    }

    fn describe(&mut self, metadata: &Metadata) {
        self.0.describe(metadata);
    }

    fn keep(&mut self) {
        self.0.keep();
    }

    fn is_kept(&self) -> bool {
        self.0.is_kept()
    }

    fn holds_unverified(&self) -> bool {
        self.0.holds_unverified()
    }

    fn identified(&mut self, id: ObjectId) -> Result<(), Failure> {
        Ok(self.0.identified(id)?)
    }

    fn unverified(&mut self) {
        self.0.unverified();
    }

    fn end_known(&mut self, last: u64) -> Result<(), Failure> {
        Ok(self.0.end_known(last)?)
    }

    fn content(&mut self, segment: u64, content: Bytes) -> Result<(), Failure> {
        Ok(self.0.content(segment, content)?)
    }

    fn flush(&mut self) -> Result<u64, Failure> {
        Ok(self.0.flush().map(|()| 0)?)
    }

    fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.0.finish()?)
    }

    fn held_bytes(&self) -> u64 {
        self.0.held_bytes()
    }

    fn abandon(&mut self, failure: &Failure) -> Option<String> {
        let bytes = self.0.abandon();
        let (path, kept) = (self.0.part_path(), format::bytes(bytes));
        let path = path_line(&path);
        match (bytes, failure.permanent) {
            (0, _) => None,
            (_, false) => {
                Some(format!("{kept} are kept in {path}: the same command with --resume goes on"))
            }
            (_, true) => Some(format!(
                "{path} holds {kept} of it: the same command with --restart begins anew"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;
    use recoup::options::{self, FetchOptions};
    use recoup_transport::random::Rng;

    #[test]
    fn permanent_failure_does_not_advise_to_resume() {
        let folder = tempfile::tempdir().unwrap();
        for (second, advice) in [(10, "--resume"), (11, "--restart begins anew")] {
            let target = folder.path().join(format!("file{second}"));
            let (name, rng) = ("/a".parse().unwrap(), Rng::from_seed(1));
            let config = options::config(&FetchOptions::default(), name, (0, None), rng);
            let mut sink =
                FileSink::new(&target, "digest", &mut config.unwrap(), Earlier::Reject, None)
                    .unwrap();
            sink.begin(&"/a/v=1".parse().unwrap()).unwrap();
            sink.end_known(5).unwrap();
            sink.content(0, vec![0; 10].into()).unwrap();
            let failure = match sink.content(1, vec![0; second].into()) {
                Err(failure) => failure,
                Ok(()) => Failure::new(Exit::TimedOut, "nothing new arrived"),
            };
            let kept = sink.abandon(&failure).unwrap();
            assert!(kept.contains(advice), "{kept}");
        }
    }
}
