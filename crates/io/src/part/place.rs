//! Where in the file a segment belongs.
//!
//! All segments but the last have one length, which is learned from the first segment that cannot
//! be the last: because the last is known, or because a later one has arrived. Until then a single
//! segment waits in memory. Whatever contradicts the one length is an error that names the segment.
use super::batch::Piece;
use super::{PartError, PartFile};
use bytes::Bytes;

impl PartFile {
    /// Learns the segment size, if it is unknown, and places the segment, or lets it wait.
    pub(super) fn settle(&mut self, segment: u64, content: Bytes) -> Result<(), PartError> {
        if self.journal.segment_size.is_some() {
            return self.place(segment, content);
        }
        if self.journal.final_segment.is_some_and(|last| last != segment) {
            return self.learn(segment, content);
        }
        if self.journal.last() == Some(segment) && self.journal.identity.first == segment {
            return self.place(segment, content);
        }
        let Some((other, earlier)) = self.waiting.take() else {
            self.accepted.insert(segment);
            self.waiting = Some((segment, content));
            return Ok(());
        };
        let both = [(other, earlier), (segment, content)];
        let [low, high] = if other < segment {
            both
        } else {
            let [a, b] = both;
            [b, a]
        };
        self.learn(low.0, low.1)?;
        self.place(high.0, high.1)
    }

    /// The segment is not the last one, so its length is the segment size.
    fn learn(&mut self, segment: u64, content: Bytes) -> Result<(), PartError> {
        if content.is_empty() {
            return Err(PartError::EmptySegment { segment });
        }
        self.journal.segment_size = Some(content.len() as u64);
        if let Some((other, earlier)) = self.waiting.take() {
            self.place(other, earlier)?;
        }
        self.place(segment, content)
    }

    fn place(&mut self, segment: u64, content: Bytes) -> Result<(), PartError> {
        let length = content.len() as u64;
        let even = self.journal.segment_size == Some(length);
        if even && let Some((tail, length)) = self.journal.tail.filter(|&(tail, _)| tail < segment)
        {
            return Err(self.uneven(tail, length));
        }
        if !even && !self.can_be_tail(segment, length) {
            return Err(self.uneven(segment, length));
        }
        let offset = self.journal.extent(segment, length).ok_or(PartError::TooFar { segment })?;
        if !even {
            self.journal.tail = Some((segment, length));
        }
        self.accepted.insert(segment);
        self.buffered_bytes += content.len();
        self.pieces.push(Piece { segment, offset, content });
        Ok(())
    }

    fn can_be_tail(&self, segment: u64, length: u64) -> bool {
        self.journal.tail.is_none()
            && self.journal.segment_size.is_none_or(|size| length < size)
            && self.journal.final_segment.is_none_or(|last| last == segment)
            && self.accepted.last().is_none_or(|last| last <= segment)
    }

    pub(super) fn uneven(&self, segment: u64, length: u64) -> PartError {
        let expected = self.journal.segment_size.unwrap_or(length);
        PartError::SegmentSize { segment, length, expected }
    }

    pub(super) fn out_of_range(&self, segment: u64, last: Option<u64>) -> PartError {
        PartError::OutOfRange { segment, first: self.journal.identity.first, last }
    }
}
