//! The beginnings of a fetch: its configuration, its sink, and its place in the engine.
use super::{ActiveFetch, Chunks, FetchBuilder, PROGRESS_EVERY, ProgressCallback, Running};
use crate::download::{Download, FilePlace, destination};
use crate::error::{Error, ErrorKind, Partial, Result};
use crate::flow::Flow;
use crate::folder::LISTING_REORDER_BYTES;
use crate::macroflows::prefix_of;
use crate::options::{self, FetchOptions};
use crate::outlet::Outlet;
use crate::reader::Reader;
use crate::transfer::{Budget, Observer, Order, Sink, Transfer};
use crate::trust;
use recoup_packet::name::Name;
use recoup_packet::object_id::ObjectId;
use recoup_transport::fetch::{Belonging, Delivery, Fetch, FetchConfig};
use std::future::poll_fn;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, PoisonError};

impl<M> FetchBuilder<M> {
    /// Fetches into memory.
    pub(crate) async fn collect(mut self) -> Result<Vec<u8>> {
        let most = self.client.settings.max_memory;
        self.max_bytes = Some(self.max_bytes.map_or(most, |asked| asked.min(most)));
        let mut report = self.take_progress();
        let mut content = Vec::new();
        let mut chunks = self.open_chunks().await?;
        let mut reported = std::time::Instant::now();
        while let Some(chunk) = poll_fn(|context| chunks.poll_chunk(context)).await? {
            content.extend_from_slice(&chunk);
            if let Some(report) = report.as_mut().filter(|_| reported.elapsed() > PROGRESS_EVERY) {
                reported = std::time::Instant::now();
                report(chunks.progress());
            }
        }
        report.into_iter().for_each(|mut report| report(chunks.progress()));
        Ok(content)
    }

    /// Begins a fetch of content in order.
    pub(crate) async fn open_chunks(mut self) -> Result<Chunks> {
        let Some((begin, end)) = self.bytes.take() else {
            let running = self.begin(self.segments, None)?;
            return Ok(Chunks { running: Some(running), skip: 0, left: None });
        };
        let max_bytes = self.max_bytes.take();
        let reader = Reader::open(self.into_mode()).await?;
        let Some((segments, skip)) = reader.segments_of(begin, end)? else {
            return Ok(Chunks { running: None, skip: 0, left: Some(0) });
        };
        let mut rest = reader.into_builder();
        rest.max_bytes = max_bytes.map(|most| most.saturating_add(skip));
        let running = rest.begin(segments, None)?;
        Ok(Chunks { running: Some(running), skip, left: end.map(|end| end - begin) })
    }

    /// Begins a fetch into the file at `path`, which the progress callback, if there is one, then watches.
    pub(crate) fn begin_file(
        &mut self,
        path: &Path,
    ) -> Result<(ActiveFetch, Option<ProgressCallback>)> {
        if self.bytes.is_some() {
            return Err(Error::usage("a file is made of whole segments")
                .with_remedy("choose a range in segments, or write what a reader returns"));
        }
        let target = destination(path)?;
        let running = self.begin(self.segments, Some(&target))?;
        Ok((ActiveFetch::new(running), self.take_progress()))
    }

    /// Begins a fetch in order into `out`.
    pub(crate) fn begin_writer(
        &mut self,
        out: impl Write + Send + 'static,
    ) -> Result<(ActiveFetch, Option<ProgressCallback>)> {
        if self.bytes.is_some() {
            return Err(Error::usage("a writer takes whole segments")
                .with_remedy("choose a range in segments, or write what a reader returns"));
        }
        let config = self.config(inclusive(self.segments)?)?;
        let outlet = Outlet::new(out, self.client.link.waker().clone())?;
        let running = self.start(self.in_order(config), Sink::Writer(outlet))?;
        Ok((ActiveFetch::new(running), self.take_progress()))
    }

    /// Starts the fetch of segments into `target`, or in order into memory.
    pub(crate) fn begin(
        &self,
        range: (u64, Option<u64>),
        target: Option<&Path>,
    ) -> Result<Running> {
        let range = inclusive(range)?;
        if let Some(path) = target {
            let (config, download) = self.download(path, range, None)?;
            return self.start(config, download);
        }
        let config = FetchConfig { belonging: self.belonging, ..self.config(range)? };
        self.start(self.in_order(config), Sink::Flow)
    }

    /// The configuration of the fetch loop for the segments `first..=last`.
    fn config(&self, range: (u64, Option<u64>)) -> Result<FetchConfig> {
        let verifier = self.client.settings.opened.reader(&self.options)?;
        options::config(&self.options, verifier, self.name.clone()?, range, self.client.rng()?)
    }

    fn in_order(&self, config: FetchConfig) -> FetchConfig {
        FetchConfig { delivery: Delivery::Ordered { limit_bytes: self.waiting_bytes }, ..config }
    }

    fn download(
        &self,
        target: &Path,
        range: (u64, Option<u64>),
        place: Option<FilePlace>,
    ) -> Result<(FetchConfig, Sink)> {
        let policy = trust::requirement(&self.options);
        let mut config = FetchConfig { belonging: self.belonging, ..self.config(range)? };
        // A record states what verified the content.
        if trust::requirement(&self.options) != policy {
            return Err(Error::new(
                ErrorKind::Local,
                "a key, anchor or schema has changed just now",
            )
            .with_remedy("fetch again"));
        }
        let records = self.client.settings.records.clone();
        let download = Download::new(records, target, &policy, &mut config, self.earlier, place)?;
        let bytes = download.dropped_bytes();
        if let Some(report) = self.changed.as_ref().filter(|_| bytes > 0) {
            let partial = Partial { path: download.part_path(), bytes };
            report.lock().unwrap_or_else(PoisonError::into_inner)(&partial);
        }
        Ok((config, Sink::File(Box::new(download))))
    }

    /// Makes the fetch share a budget, and the congestion control of the path to a folder, with others.
    pub(crate) fn sharing(mut self, budget: Option<Arc<Budget>>, folder: Name) -> Self {
        (self.budget, self.path) = (budget, Some(folder));
        self
    }

    /// A fetch of an entry of this folder, with the same options.
    pub(crate) fn of_entry(&self, name: Name) -> Self {
        let mut this = Self::new(self.client.clone(), Ok(name));
        this.options.clone_from(&self.options);
        this.budget.clone_from(&self.budget);
        this.path.clone_from(&self.path);
        this.limit_as(self);
        (this.earlier, this.is_located) = (self.earlier, true);
        // The listing of a folder stands for its file: its producer chose the kind of each entry.
        this.takes_folders = true;
        this.observer.clone_from(&self.observer);
        this.changed.clone_from(&self.changed);
        this
    }

    /// Begins a fetch of the listing of a folder, in order.
    pub(crate) fn begin_listing(self) -> Result<Running> {
        let mut config = self.config((0, None))?;
        config.delivery = Delivery::Ordered { limit_bytes: LISTING_REORDER_BYTES };
        self.start(config, Sink::Flow)
    }

    /// Begins a fetch into the file at `target` in a folder, whose place is checked before the file is opened and named.
    pub(crate) fn begin_in_folder(&self, target: &Path, place: FilePlace) -> Result<ActiveFetch> {
        let (config, download) = self.download(target, (0, None), Some(place))?;
        Ok(ActiveFetch::new(self.start(config, download)?))
    }

    /// Starts discovery of the newest version and its metadata; segments are not fetched.
    pub(crate) fn begin_discovery(&self) -> Result<Running> {
        let mut config = self.config((0, None))?;
        config.only_discovers = true;
        self.start(config, Sink::Flow)
    }

    fn start(&self, mut config: FetchConfig, sink: Sink) -> Result<Running> {
        let client = &self.client;
        config.first_answer = self.first_answer.or(config.first_answer);
        config.rate_limit.clone_from(&self.rate_limit);
        let name = self.name.clone()?;
        let prefix = self.path.clone().unwrap_or_else(|| prefix_of(&name));
        if !sink.file().is_some_and(Download::is_complete) {
            client.reach()?;
            if !self.is_located {
                client.locate(&name)?;
            }
        }
        let flow = Flow::new(client.link.waker().clone());
        let observer = self.observer.clone().map(|observer| -> Observer {
            Box::new(move |now, event| {
                observer.lock().unwrap_or_else(PoisonError::into_inner)(now, event);
            })
        });
        let order = Order {
            flow: Arc::clone(&flow),
            name,
            range: (config.first, config.last),
            held_segments: config.held.iter().map(|run| run.end - run.start).sum(),
            sink,
            budget: self.budget.clone().or_else(|| self.max_bytes.map(Budget::new)),
            takes_folders: self.takes_folders || config.only_discovers,
            options: self.options.clone(),
            observer,
        };
        tracing::debug!(name = %order.name, "a fetch begins");
        let task = client.link.begin(move |engine, task| {
            let now = engine.session.driver.now();
            let macroflow = engine.macroflow(&prefix, &config);
            // The face has answered before: the first answer for a name may take as long as any.
            config.first_answer = config.first_answer.filter(|_| macroflow.srtt().is_none());
            let fetch = Fetch::joining(&macroflow, now, config);
            let transfer = Transfer::new(order, now, engine.session.upstream_uri());
            engine.start(task, Box::new(fetch), Vec::new(), Box::new(transfer));
        })?;
        Ok(Running { client: client.clone(), flow, task })
    }

    /// Takes over the limits of another fetch, whose rate both share.
    fn limit_as(&mut self, other: &Self) {
        self.first_answer = other.first_answer;
        self.rate_limit.clone_from(&other.rate_limit);
    }

    /// Identifier of the content that is fetched, if it is known.
    pub(crate) fn id(&self) -> Option<ObjectId> {
        self.belonging.id()
    }

    /// A fetch of the version `object` with this content, with the same options.
    pub(crate) fn of_version(&self, object: Name, id: Option<ObjectId>) -> Self {
        let mut this = Self::new(self.client.clone(), Ok(object));
        this.belonging = id.map_or(self.belonging, |id| Belonging::Stated(Some(id)));
        this.options = FetchOptions { discover: false, newer_than: None, ..self.options.clone() };
        (this.cache_bytes, this.is_located) = (self.cache_bytes, true);
        this.waiting_bytes = self.waiting_bytes;
        this.path.clone_from(&self.path);
        this.limit_as(self);
        this.observer.clone_from(&self.observer);
        this
    }
}

/// The first and the last number of a range that is not empty.
fn inclusive(range: (u64, Option<u64>)) -> Result<(u64, Option<u64>)> {
    match range.1 {
        Some(end) if end <= range.0 => Err(Error::usage("the range of segments is empty")),
        end => Ok((range.0, end.map(|end| end - 1))),
    }
}
