//! Queued packets of a scheduler: many lists in one allocation.
//!
//! A list takes twelve bytes, so an empty flow costs little, and the number of queued packets is limited as a whole.
use super::Load;

const NONE: u32 = u32::MAX;

/// Slots for packets in lists.
#[derive(Debug)]
pub(super) struct Shelf<T> {
    places: Vec<Place<T>>,
    free: u32,
    len: u64,
    bytes: u64,
}

#[derive(Debug)]
struct Place<T> {
    item: Option<T>,
    charge_bytes: u32,
    next: u32,
}

/// Packets of a flow, in order.
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
        Self { places: Vec::new(), free: NONE, len: 0, bytes: 0 }
    }

    /// Number of packets in all lists.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of these packets.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a packet to a list.
    pub(super) fn push(&mut self, line: &mut Line, item: T, charge_bytes: u32) {
        self.len += 1;
        self.bytes += u64::from(item.bytes());
        let place = Place { item: Some(item), charge_bytes, next: NONE };
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

    /// Charge of the first packet of a list.
    pub(super) fn first_charge(&self, line: &Line) -> Option<u32> {
        if line.is_empty() {
            return None;
        }
        self.places.get(line.first as usize).map(|place| place.charge_bytes)
    }

    /// Removes the first packet of a list; returns it with its charge.
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
        self.bytes = self.bytes.saturating_sub(u64::from(item.bytes()));
        Some((item, place.charge_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn lists_keep_order_and_reuse_slots() {
        let mut shelf = Shelf::new();
        let (mut odd, mut even) = (Line::default(), Line::default());
        for round in 0..3 {
            for number in 0..6_u8 {
                let line = if number % 2 == 1 { &mut odd } else { &mut even };
                shelf.push(line, Bytes::from(vec![number; 10]), u32::from(number));
            }
            assert_eq!((shelf.len(), shelf.bytes()), (6, 60), "round {round}");
            assert_eq!(shelf.first_charge(&odd), Some(1));
            for number in [1, 3, 5, 0, 2, 4_u8] {
                let line = if number % 2 == 1 { &mut odd } else { &mut even };
                let (item, charge) = shelf.pop(line).unwrap();
                assert_eq!((item[0], charge), (number, u32::from(number)));
            }
            assert!(shelf.pop(&mut odd).is_none() && even.is_empty());
            assert_eq!((shelf.len(), shelf.bytes(), shelf.first_charge(&odd)), (0, 0, None));
        }
        assert_eq!(shelf.places.len(), 6);
    }
}
