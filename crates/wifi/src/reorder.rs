//! The receiver's side of block acknowledgement: what came, and in which order it is released.
//!
//! IEEE Std 802.11-2016, §10.24.7: a window of 64 sequence numbers. Frames are released in order; a frame
//! beyond the window, or a request for acknowledgement, moves the window and releases what is before it,
//! holes or not.
use std::collections::VecDeque;

/// Frames that a window holds.
pub(super) const WINDOW: u16 = 64;
const NUMBERS: u16 = 4096;

/// Frames that wait for earlier ones.
#[derive(Debug)]
pub(super) struct Reorder<L> {
    start: u16,
    slots: VecDeque<Option<Vec<L>>>,
}

/// The distance from `start` to `sequence`, going up.
pub(super) fn distance(start: u16, sequence: u16) -> u16 {
    sequence.wrapping_sub(start) % NUMBERS
}

impl<L> Reorder<L> {
    pub(super) fn new() -> Self {
        Self { start: 0, slots: (0..WINDOW).map(|_| None).collect() }
    }

    /// A frame came; `false` if it had come before. What can be released goes to `released`.
    pub(super) fn accept(&mut self, sequence: u16, loads: Vec<L>, released: &mut Vec<L>) -> bool {
        let mut place = distance(self.start, sequence);
        if place >= NUMBERS / 2 {
            return false;
        }
        while place >= WINDOW {
            self.shift(released);
            place -= 1;
        }
        let slot = &mut self.slots[usize::from(place)];
        let is_new = slot.is_none();
        if is_new {
            *slot = Some(loads);
        }
        self.release(released);
        is_new
    }

    /// Frames before `start` are given up.
    pub(super) fn advance(&mut self, start: u16, released: &mut Vec<L>) {
        let steps = distance(self.start, start);
        if steps < NUMBERS / 2 {
            (0..steps).for_each(|_| self.shift(released));
            self.release(released);
        }
    }

    /// The first number that is missing, and a bit for each of the 64 from there that came.
    pub(super) fn acknowledgement(&self) -> (u16, u64) {
        let bits = self.slots.iter().enumerate();
        (self.start, bits.fold(0, |bits, (place, slot)| bits | u64::from(slot.is_some()) << place))
    }

    /// The held frames.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &L> {
        self.slots.iter().flatten().flatten()
    }

    /// Takes what waits away; that it came stays known.
    pub(super) fn take_waiting(&mut self) -> Vec<L> {
        self.slots.iter_mut().flatten().flat_map(std::mem::take).collect()
    }

    /// Takes the held frames, at a reset of the numbers.
    pub(super) fn into_waiting(self) -> impl Iterator<Item = L> {
        self.slots.into_iter().flatten().flatten()
    }

    fn release(&mut self, released: &mut Vec<L>) {
        while self.slots.front().is_some_and(Option::is_some) {
            self.shift(released);
        }
    }

    fn shift(&mut self, released: &mut Vec<L>) {
        released.extend(self.slots.pop_front().flatten().into_iter().flatten());
        self.slots.push_back(None);
        self.start = (self.start + 1) % NUMBERS;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_those_before_it() {
        let (mut reorder, mut released) = (Reorder::new(), Vec::new());
        assert!(reorder.accept(1, vec!['b'], &mut released));
        assert!(released.is_empty());
        assert_eq!(reorder.acknowledgement(), (0, 0b10));
        assert!(reorder.accept(0, vec!['a'], &mut released));
        assert!(!reorder.accept(1, vec!['b'], &mut released), "it came before");
        assert_eq!((released, reorder.acknowledgement()), (vec!['a', 'b'], (2, 0)));
    }

    #[test]
    fn frame_beyond_the_window_moves_it() {
        let (mut reorder, mut released) = (Reorder::new(), Vec::new());
        reorder.accept(3, vec![3], &mut released);
        reorder.accept(66, vec![66], &mut released);
        assert_eq!(released, [3], "what the window leaves behind is not waited for");
        reorder.accept(67, vec![67], &mut released);
        assert_eq!((released.as_slice(), reorder.acknowledgement().0), (&[3][..], 4));
        reorder.advance(66, &mut released);
        assert_eq!((released, reorder.acknowledgement()), (vec![3, 66, 67], (68, 0)));
    }

    #[test]
    fn numbers_go_on_after_the_highest() {
        let (mut reorder, mut released) = (Reorder::new(), Vec::new());
        reorder.advance(2_000, &mut released);
        reorder.advance(4_000, &mut released);
        reorder.advance(4_095, &mut released);
        reorder.accept(0, vec!['b'], &mut released);
        reorder.accept(4_095, vec!['a'], &mut released);
        assert_eq!((released, reorder.acknowledgement().0), (vec!['a', 'b'], 1));
    }
}
