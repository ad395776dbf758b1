//! The receiver's side of block acknowledgement: what came, and in which order it is released.
//!
//! IEEE Std 802.11-2016, §10.24.7: a window of 64 sequence numbers. Frames are released in order; a frame
//! beyond the window, or a request for acknowledgement, moves the window and releases what is before it,
//! holes or not.
/// Frames that a window holds.
pub(super) const WINDOW: u16 = 64;
const NUMBERS: u16 = 4096;

/// Frames that wait for earlier ones.
#[derive(Debug)]
pub(super) struct Reorder<L> {
    /// The first number that is missing.
    start: u16,
    /// A bit for each number from there on that came.
    came: u64,
    /// Loads that wait, by number modulo the window; none before the first frame waits.
    slots: Vec<Vec<L>>,
}

/// The distance from `start` to `sequence`, going up.
pub(super) fn distance(start: u16, sequence: u16) -> u16 {
    sequence.wrapping_sub(start) % NUMBERS
}

impl<L> Reorder<L> {
    pub(super) fn new() -> Self {
        Self { start: 0, came: 0, slots: Vec::new() }
    }

    /// A frame came; `false` if it had come before. What can be released goes to `release`.
    pub(super) fn accept(
        &mut self,
        sequence: u16,
        loads: impl IntoIterator<Item = L>,
        release: &mut impl FnMut(L),
    ) -> bool {
        let mut place = distance(self.start, sequence);
        if place >= NUMBERS / 2 {
            return false;
        }
        while place >= WINDOW {
            self.shift(release);
            place -= 1;
        }
        if self.came >> place & 1 == 1 {
            return false;
        }
        self.came |= 1 << place;
        if place > 0 {
            self.slots.resize_with(usize::from(WINDOW), Vec::new);
            self.slots[slot(sequence)].extend(loads);
        } else {
            loads.into_iter().for_each(&mut *release);
        }
        self.release(release);
        true
    }

    /// Frames before `start` are given up.
    pub(super) fn advance(&mut self, start: u16, release: &mut impl FnMut(L)) {
        let steps = distance(self.start, start);
        if steps < NUMBERS / 2 {
            (0..steps).for_each(|_| self.shift(release));
            self.release(release);
        }
    }

    /// The first number that is missing, and a bit for each of the 64 from there that came.
    pub(super) fn acknowledgement(&self) -> (u16, u64) {
        (self.start, self.came)
    }

    /// The held frames.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &L> {
        (0..WINDOW).filter_map(|place| self.slots.get(slot(self.start + place))).flatten()
    }

    /// Removes the waiting frames; their numbers stay received.
    pub(super) fn take_waiting(&mut self) -> Vec<L> {
        let mut taken = Vec::new();
        for place in 0..WINDOW {
            if let Some(waiting) = self.slots.get_mut(slot(self.start + place)) {
                taken.append(waiting);
            }
        }
        taken
    }

    /// Releases what waits for no earlier frame any more.
    fn release(&mut self, release: &mut impl FnMut(L)) {
        while self.came & 1 == 1 {
            self.shift(release);
        }
    }

    fn shift(&mut self, release: &mut impl FnMut(L)) {
        if self.came & 1 == 1
            && let Some(waiting) = self.slots.get_mut(slot(self.start))
        {
            waiting.drain(..).for_each(release);
        }
        self.came >>= 1;
        self.start = (self.start + 1) % NUMBERS;
    }
}

/// Where the loads of a number wait.
fn slot(sequence: u16) -> usize {
    usize::from(sequence % WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A window and what it has released.
    struct Receiver {
        reorder: Reorder<u16>,
        released: Vec<u16>,
    }

    impl Receiver {
        fn new() -> Self {
            Self { reorder: Reorder::new(), released: Vec::new() }
        }

        fn accept(&mut self, sequence: u16, load: u16) -> bool {
            self.reorder.accept(sequence, [load], &mut |load| self.released.push(load))
        }

        fn advance(&mut self, start: u16) {
            self.reorder.advance(start, &mut |load| self.released.push(load));
        }
    }

    #[test]
    fn a_frame_waits_for_those_before_it() {
        let mut receiver = Receiver::new();
        assert!(receiver.accept(1, 11));
        assert!(receiver.released.is_empty());
        assert_eq!(receiver.reorder.waiting().collect::<Vec<_>>(), [&11]);
        assert_eq!(receiver.reorder.acknowledgement(), (0, 0b10));
        assert!(receiver.accept(0, 10));
        assert!(!receiver.accept(1, 11), "it came before");
        assert_eq!(receiver.released, [10, 11]);
        assert_eq!(receiver.reorder.acknowledgement(), (2, 0));
    }

    #[test]
    fn frame_beyond_the_window_moves_it() {
        let mut receiver = Receiver::new();
        receiver.accept(3, 3);
        receiver.accept(66, 66);
        assert_eq!(receiver.released, [3], "what the window leaves behind is not waited for");
        receiver.accept(67, 67);
        assert_eq!((receiver.released.len(), receiver.reorder.acknowledgement().0), (1, 4));
        receiver.advance(66);
        assert_eq!(receiver.released, [3, 66, 67]);
        assert_eq!(receiver.reorder.acknowledgement(), (68, 0));
    }

    #[test]
    fn numbers_go_on_after_the_highest() {
        let mut receiver = Receiver::new();
        for start in [2_000, 4_000, 4_095] {
            receiver.advance(start);
        }
        receiver.accept(0, 1);
        receiver.accept(4_095, 0);
        assert_eq!(receiver.released, [0, 1]);
        assert_eq!(receiver.reorder.acknowledgement().0, 1);
    }

    #[test]
    fn taken_frames_stay_acknowledged() {
        let mut receiver = Receiver::new();
        receiver.accept(2, 12);
        receiver.accept(1, 11);
        assert_eq!(receiver.reorder.take_waiting(), [11, 12]);
        assert_eq!(receiver.reorder.acknowledgement(), (0, 0b110));
        assert!(!receiver.accept(2, 13));
        receiver.accept(0, 10);
        assert_eq!((receiver.released, receiver.reorder.acknowledgement()), (vec![10], (3, 0)));
    }

    /// Absolute numbers of the frames that wait, and the first that is missing.
    #[derive(Default)]
    struct Model {
        start: u64,
        waiting: BTreeMap<u64, u16>,
        released: Vec<u16>,
    }

    impl Model {
        fn absolute(&self, sequence: u16) -> Option<u64> {
            let ahead = (u64::from(sequence) + 4096 - self.start % 4096) % 4096;
            (ahead < 2048).then_some(self.start + ahead)
        }

        fn advance(&mut self, start: u64) {
            self.start = self.start.max(start);
            let kept = self.waiting.split_off(&self.start);
            self.released.extend(std::mem::replace(&mut self.waiting, kept).into_values());
            while let Some(load) = self.waiting.remove(&self.start) {
                self.released.push(load);
                self.start += 1;
            }
        }

        fn accept(&mut self, sequence: u16, load: u16) -> bool {
            let Some(number) = self.absolute(sequence) else { return false };
            if self.waiting.contains_key(&number) {
                return false;
            }
            // A frame beyond the window releases what the window leaves behind, and no more.
            let start = self.start.max(number.saturating_sub(63));
            self.start = start;
            let kept = self.waiting.split_off(&start);
            self.released.extend(std::mem::replace(&mut self.waiting, kept).into_values());
            self.waiting.insert(number, load);
            self.advance(start);
            true
        }
    }

    proptest! {
        #[test]
        fn window_behaves_like_a_sorted_map(
            steps in prop::collection::vec((0..3_u8, 0..90_u16), 0..400),
        ) {
            let (mut receiver, mut model) = (Receiver::new(), Model::default());
            for (load, (kind, offset)) in (0..).zip(steps) {
                let sequence = (model.start as u16).wrapping_add(offset).wrapping_sub(6) % 4096;
                if kind > 0 {
                    prop_assert_eq!(receiver.accept(sequence, load), model.accept(sequence, load));
                } else {
                    receiver.advance(sequence);
                    if let Some(start) = model.absolute(sequence) {
                        model.advance(start);
                    }
                }
                let (start, came) = receiver.reorder.acknowledgement();
                prop_assert_eq!(u64::from(start), model.start % 4096);
                let bits = model.waiting.keys().fold(0, |bits, at| bits | 1 << (at - model.start));
                prop_assert_eq!(came, bits);
                let waiting: Vec<&u16> = receiver.reorder.waiting().collect();
                prop_assert_eq!(waiting, model.waiting.values().collect::<Vec<_>>());
                prop_assert_eq!(&receiver.released, &model.released);
            }
        }
    }
}
