//! Congestion marks from the length of a queue, as in NFD (`GenericLinkService::checkCongestionLevel`).
use crate::face::Marking;
use recoup_transport::time::Instant;

#[derive(Debug)]
pub(crate) struct Marker {
    marking: Marking,
    next: Option<Instant>,
    marked: u32,
}

impl Marker {
    pub(crate) fn new(marking: Marking) -> Self {
        Self { marking, next: None, marked: 0 }
    }

    pub(crate) fn on_enqueue(&mut self, now: Instant, octets: u64) -> bool {
        if octets <= self.marking.threshold_octets {
            (self.next, self.marked) = (None, 0);
            return false;
        }
        let Some(next) = self.next else {
            self.next = Some(now + self.marking.interval);
            return false;
        };
        if now < next {
            return false;
        }
        self.marked += 1;
        let pause = self.marking.interval.as_secs_f64() / f64::from(self.marked + 1).sqrt();
        self.next = Some(next + recoup_transport::time::Duration::from_secs_f64(pause));
        true
    }
}
