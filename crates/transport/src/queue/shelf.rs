//! The packets that wait in a scheduler: many lines in one piece of memory.
//!
//! A line is twelve octets, so a flow costs little while nothing of it waits, and what waits is bounded as a whole.
use super::Load;

const NONE: u32 = u32::MAX;

/// Room for packets in lines.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    places: Vec<Place<T>>,
    free: u32,
    len: u64,
    octets: u64,
}

#[derive(Debug)]
struct Place<T> {
    item: Option<T>,
    charge_octets: u32,
    next: u32,
}

/// Packets that leave in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Line {
    fn default() -> Self {
        Self { first: NONE, last: NONE, len: 0 }
    }
}

impl Line {
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Load> Shelf<T> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), free: NONE, len: 0, octets: 0 }
    }

    /// Packets in all lines.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Octets of them.
    pub(super) fn octets(&self) -> u64 {
        self.octets
    }

    /// Puts a packet at the end of a line.
    pub(super) fn push(&mut self, line: &mut Line, item: T, charge_octets: u32) {
        self.len += 1;
        self.octets += u64::from(item.octets());
        let place = Place { item: Some(item), charge_octets, next: NONE };
        let at = match self.places.get_mut(self.free as usize) {
            Some(vacant) => {
                let at = self.free;
                self.free = vacant.next;
                *vacant = place;
                at
            }
            None => {
                self.places.push(place);
                self.places.len() as u32 - 1
            }
        };
        match self.places.get_mut(line.last as usize) {
            Some(last) if line.len > 0 => last.next = at,
            _ => line.first = at,
        }
        line.last = at;
        line.len += 1;
    }

    /// What the first of a line is charged with.
    pub(super) fn first_charge(&self, line: &Line) -> Option<u32> {
        if line.is_empty() {
            return None;
        }
        self.places.get(line.first as usize).map(|place| place.charge_octets)
    }

    /// Takes the first of a line, with what it is charged with.
    pub(super) fn pop(&mut self, line: &mut Line) -> Option<(T, u32)> {
        if line.is_empty() {
            return None;
        }
        let at = line.first;
        let place = self.places.get_mut(at as usize)?;
        let item = place.item.take()?;
        line.first = std::mem::replace(&mut place.next, self.free);
        line.len -= 1;
        self.free = at;
        self.len -= 1;
        self.octets = self.octets.saturating_sub(u64::from(item.octets()));
        Some((item, place.charge_octets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn lines_keep_their_order_and_places_are_used_again() {
        let mut shelf = Shelf::new();
        let (mut odd, mut even) = (Line::default(), Line::default());
        for round in 0..3 {
            for number in 0..6_u8 {
                let line = if number % 2 == 1 { &mut odd } else { &mut even };
                shelf.push(line, Bytes::from(vec![number; 10]), u32::from(number));
            }
            assert_eq!((shelf.len(), shelf.octets()), (6, 60), "round {round}");
            assert_eq!(shelf.first_charge(&odd), Some(1));
            for number in [1, 3, 5, 0, 2, 4_u8] {
                let line = if number % 2 == 1 { &mut odd } else { &mut even };
                let (item, charge) = shelf.pop(line).unwrap();
                assert_eq!((item[0], charge), (number, u32::from(number)));
            }
            assert!(shelf.pop(&mut odd).is_none() && even.is_empty());
            assert_eq!((shelf.len(), shelf.octets(), shelf.first_charge(&odd)), (0, 0, None));
        }
        assert_eq!(shelf.places.len(), 6);
    }
}
