//! The open objects, a limited number of them.
use super::number::Numbers;
use super::object::Object;
use super::packet::Origin;
use super::source::{Identified, SourceError};
use super::{BATCH, Context, Missing, Opened, ServeConfig, renewal, version_number};
use recoup_packet::name::Name;

/// Most open versions.
const PLACES: usize = 64;
/// Time between two queries of the library for the latest version.
const RECHECK: std::time::Duration = std::time::Duration::from_millis(100);

// The check of a batch must find each object that the batch has read.
const _: () = assert!(BATCH <= PLACES);

/// The open objects.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    objects: Vec<Object>,
    /// Versions that have left the shelf.
    numbers: Numbers,
    /// Index of the object whose segment was requested last.
    recent: usize,
    clock: u64,
    opened: u64,
}

impl Shelf {
    /// The object of this number.
    pub(super) fn object(&mut self, id: u64) -> Option<&mut Object> {
        let place = match self.objects.get(self.recent) {
            Some(object) if object.id == id => self.recent,
            _ => self.objects.iter().position(|object| object.id == id)?,
        };
        self.objects.get_mut(place)
    }

    /// The open object of a segment name, and the segment's number, if it is in range.
    pub(super) fn named(&mut self, config: &ServeConfig, name: &Name) -> Option<(u64, u64)> {
        let asked = |object: &Object| object.segment_named(config, name);
        let (place, segment) = match self.objects.get(self.recent).and_then(asked) {
            Some(segment) => (self.recent, segment),
            None => {
                let mut found = self.objects.iter().map(asked).enumerate();
                found.find_map(|(place, segment)| Some((place, segment?)))?
            }
        };
        self.recent = place;
        Some((self.touch(place)?, segment))
    }

    /// The open version `version` of the object at `path`.
    pub(super) fn find(&mut self, path: &Name, version: Option<u64>) -> Option<u64> {
        let is_asked = |object: &Object| object.version == version && object.path == *path;
        let place = self.objects.iter().position(is_asked)?;
        self.touch(place)
    }

    /// Keeps the signature of a segment, unless its object is gone.
    pub(super) fn keep_signature(&mut self, origin: Origin, signature: &[u8]) {
        if let Some(object) = self.object(origin.object) {
            object.keep_signature(origin.segment, signature);
        }
    }

    /// The latest version of the object at `path`, opened if necessary.
    pub(super) fn latest(
        &mut self,
        context: &mut Context<'_>,
        path: &Name,
    ) -> Result<u64, Missing> {
        let is_recent = |object: &Object| {
            object.is_latest() && object.path == *path && context.now.since(object.opened) < RECHECK
        };
        if let Some(place) = self.objects.iter().rposition(is_recent)
            && self.goes_on(context, place)?
        {
            return self.touch(place).ok_or(Missing::Unknown);
        }
        let place = self.open(context, path)?;
        self.touch(place).ok_or(Missing::Unknown)
    }

    /// Marks an object as used; returns its number.
    fn touch(&mut self, place: usize) -> Option<u64> {
        self.clock += 1;
        let object = self.objects.get_mut(place)?;
        object.used = self.clock;
        Some(object.id)
    }

    /// Whether an object is still the latest version, if that can be decided now.
    fn goes_on(&mut self, context: &mut Context<'_>, place: usize) -> Result<bool, Missing> {
        let object = self.objects.get_mut(place).ok_or(Missing::Unknown)?;
        object.check(context.now);
        match object.decide(context) {
            Err(Missing::Until(until)) => Err(Missing::Until(until)),
            _ => Ok(object.is_latest()),
        }
    }

    /// Queries the library for the latest version and returns the index of its object.
    fn open(&mut self, context: &mut Context<'_>, path: &Name) -> Result<usize, Missing> {
        let opened = context.open(path)?;
        let is_offered = |object: &Object| {
            object.is_latest() && object.path == *path && object.offered == opened.version
        };
        let Some(place) = self.objects.iter().position(is_offered) else {
            return self.put(context, path, opened);
        };
        if let Some(object) = self.objects.get_mut(place) {
            object.opened = context.now;
            // A fixed number keeps its first content while that exists.
            if !object.is_of(&opened) && context.library.may_renumber() {
                object.compare_with(opened);
            }
        }
        if self.goes_on(context, place)? {
            return Ok(place);
        }
        let opened = context.open(path)?;
        self.put(context, path, opened)
    }

    /// Adds a new object, in place of one that has ended or was used least recently.
    fn put(
        &mut self,
        context: &Context<'_>,
        path: &Name,
        mut opened: Opened,
    ) -> Result<usize, Missing> {
        let identified = identify(&mut opened, context)?;
        let again = self.previous_number(path, &opened);
        let version = again.or_else(|| {
            let offered = opened.version.map(|offered| number(context, offered, identified));
            self.free_number(context, path, offered)
        });
        let version = version.ok_or(Missing::Unknown)?;
        self.opened += 1;
        let object = Object::new(context, self.opened, path, (opened, identified), version);
        let mut object = object.ok_or(Missing::Unknown)?;
        if again.is_some() {
            object.signatures.mark_incomplete();
        }
        if self.objects.len() >= PLACES {
            let oldest =
                (0..self.objects.len()).min_by_key(|place| self.objects[*place].eviction_rank());
            let oldest = oldest.ok_or(Missing::Unknown)?;
            let gone = self.objects.remove(oldest);
            self.numbers.remember(&gone.path, gone.offered, gone.version, gone.lasting_identity());
        }
        self.objects.push(object);
        Ok(self.objects.len() - 1)
    }

    fn is_open(&self, path: &Name, version: Option<u64>) -> bool {
        let mut objects = self.objects.iter();
        objects.any(|object| object.version == version && object.path == *path)
    }

    /// The number of this content when it was on the shelf before.
    fn previous_number(&self, path: &Name, opened: &Opened) -> Option<Option<u64>> {
        let again = self.numbers.again(path, opened.version, opened.source.identity());
        again.filter(|version| !self.is_open(path, *version))
    }

    /// The first unused number from `offered` on; `None` if only `offered` is allowed.
    fn free_number(
        &self,
        context: &Context<'_>,
        path: &Name,
        offered: Option<u64>,
    ) -> Option<Option<u64>> {
        let mut version = offered;
        while self.is_open(path, version) || self.numbers.is_used(path, version) {
            if !context.library.may_renumber() {
                return None;
            }
            version = Some(version?.checked_add(1)?);
        }
        Some(version)
    }
}

/// Identifies the content of a source, if that can be done now.
fn identify(opened: &mut Opened, context: &Context<'_>) -> Result<Identified, Missing> {
    opened.source.identify(context.now).map_err(|error| match error {
        SourceError::Unsettled { until } => Missing::Until(until),
        SourceError::Changed => renewal::later(context.now),
        SourceError::Unreadable => Missing::Unknown,
    })
}

/// The version number of content for which the library offers `offered`.
fn number(context: &Context<'_>, offered: u64, identified: Identified) -> u64 {
    match (context.library.may_renumber(), identified.id()) {
        (true, Some(id)) => version_number(offered, Some(id)),
        _ => offered,
    }
}
