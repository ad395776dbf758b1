//! The end of an object: from metadata, from the FinalBlockId of its segments, or from the requested range. A later
//! value replaces it.

/// The known end of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct End {
    announced: Option<u64>,
    requested: Option<u64>,
}

impl End {
    /// An end that neither metadata nor Data have announced; `requested` is the last segment of the requested range,
    /// if any.
    pub(crate) fn new(requested: Option<u64>) -> Self {
        Self { announced: None, requested }
    }

    /// Records the last segment that the producer announced. Returns true if it has changed.
    pub(crate) fn announce(&mut self, last: u64) -> bool {
        self.announced.replace(last) != Some(last)
    }

    /// The last segment to fetch, if known.
    pub(crate) fn last(&self) -> Option<u64> {
        match (self.announced, self.requested) {
            (Some(announced), Some(requested)) => Some(announced.min(requested)),
            (announced, requested) => announced.or(requested),
        }
    }

    /// Whether `segment` may belong to the content to fetch.
    pub(crate) fn may_include(&self, segment: u64) -> bool {
        self.last().is_none_or(|last| segment <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fetch_ends_at_range_or_object_end() {
        let mut end = End::new(Some(9));
        assert_eq!(end.last(), Some(9));
        assert!(end.announce(4));
        assert_eq!(end.last(), Some(4));
        assert!(end.announce(20), "it may move");
        assert!(!end.announce(20));
        assert_eq!(end.last(), Some(9));
    }

    #[test]
    fn an_unknown_end_includes_everything() {
        assert!(End::default().may_include(u64::MAX));
    }
}
