//! Grouping datagrams for segmentation offload: the kernel takes many datagrams in one call, but
//! only of equal length (the last may be shorter) and to one destination.

/// Bytes in all that one call carries: what fits in one IPv4 datagram.
pub(crate) const BATCH_BYTES: usize = 65_507;

/// Consecutive datagrams to one destination that one call can send.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    segment: usize,
    count: usize,
    complete: bool,
}

/// How far datagrams may be joined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// Datagrams per call; 1 when the system cannot segment.
    pub(crate) segments: usize,
    /// Longest datagram that the path carries unfragmented; longer ones travel alone.
    pub(crate) datagram: usize,
}

impl Batch {
    /// An empty batch that collects into `bytes`, whatever they contain.
    pub(crate) fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, ..Self::default() }
    }

    /// A batch of one datagram.
    #[cfg(test)]
    pub(crate) fn single(datagram: &[u8]) -> Self {
        Self { bytes: datagram.to_vec(), segment: datagram.len(), count: 1, complete: true }
    }

    /// Whether a datagram of `length` bytes may join.
    pub(crate) fn accepts(&self, length: usize, bounds: Bounds) -> bool {
        self.count == 0
            || (!self.complete
                && length <= self.segment
                && self.count < bounds.segments
                && self.bytes.len() + length <= BATCH_BYTES)
    }

    /// Adds a datagram, in two parts, that the batch accepts.
    pub(crate) fn push(&mut self, head: &[u8], body: &[u8], bounds: Bounds) {
        let length = head.len() + body.len();
        if self.count == 0 {
            self.segment = length;
        }
        self.bytes.extend_from_slice(head);
        self.bytes.extend_from_slice(body);
        self.count += 1;
        self.complete = length < self.segment
            || length > bounds.datagram
            || self.count >= bounds.segments
            || self.bytes.len() + self.segment > BATCH_BYTES;
    }

    /// Nothing more of the same length will fit.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of datagrams.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// All bytes, one datagram after the other.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Length of each datagram but the last, if there are several.
    pub(crate) fn segment_size(&self) -> Option<usize> {
        (self.count > 1).then_some(self.segment)
    }

    /// The datagrams one by one.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(self.segment.max(1))
    }

    /// Empties the batch and gives its memory back.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// The memory, for the next batch.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { segments: 64, datagram: BATCH_BYTES };

    /// Lengths of the datagrams of each batch that a sequence of lengths is split into.
    fn group(lengths: &[usize], bounds: Bounds) -> Vec<Vec<usize>> {
        let (mut groups, mut batch) = (Vec::new(), Batch::default());
        for &length in lengths {
            if !batch.accepts(length, bounds) {
                groups.push(batch.datagrams().map(<[u8]>::len).collect());
                batch = Batch::reusing(batch.into_bytes());
            }
            batch.push(&[], &vec![7; length], bounds);
        }
        groups.push(batch.datagrams().map(<[u8]>::len).collect());
        groups
    }

    #[test]
    fn batch_joins_equal_lengths_and_a_shorter_last() {
        assert_eq!(group(&[9, 9, 4, 9], BOUNDS), [vec![9, 9, 4], vec![9]]);
        assert_eq!(group(&[9, 10, 10], BOUNDS), [vec![9], vec![10, 10]]);
        assert_eq!(group(&[4, 3, 3], BOUNDS), [vec![4, 3], vec![3]]);
    }

    #[test]
    fn batch_is_limited_in_segments_and_bytes() {
        assert_eq!(group(&[1; 65], BOUNDS), [vec![1; 64], vec![1]]);
        assert_eq!(group(&[8_090; 9], BOUNDS), [vec![8_090; 8], vec![8_090]]);
        assert_eq!(group(&[65_507, 1], BOUNDS), [vec![65_507], vec![1]]);
        assert_eq!(group(&[32_753; 3], BOUNDS), [vec![32_753; 2], vec![32_753]]);
    }

    #[test]
    fn datagram_beyond_the_path_mtu_is_sent_alone() {
        let narrow = Bounds { segments: 64, datagram: 1_472 };
        assert_eq!(group(&[8_000, 8_000], narrow), [vec![8_000], vec![8_000]]);
        assert_eq!(group(&[1_472; 3], narrow), [vec![1_472; 3]]);
        let plain = Bounds { segments: 1, datagram: 1_472 };
        assert_eq!(group(&[5; 3], plain), [[5], [5], [5]]);
    }
}
