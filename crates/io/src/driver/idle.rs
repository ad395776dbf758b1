//! Faces that peers opened and do not use: closed after a time, and where one address has many of them.
use super::face_entry::Face;
use super::room::{Neighbour, PeerKind};
use super::{Driver, DriverOptions, Uses};
use crate::face::{CloseReason, FaceId};
use recoup_transport::time::{Duration, Instant};

/// Least time without a frame after which a connection is idle.
const IDLE_AFTER: Duration = Duration::from_secs(10);

impl Driver {
    /// Time between two looks at silent faces.
    pub(super) fn sweep_interval(&self) -> Duration {
        let DriverOptions { udp_idle, stream_idle, stream_stall, .. } = self.options;
        udp_idle.min(stream_idle).min(stream_stall) / 4
    }

    /// Ends faces that have been silent for too long.
    pub(super) fn sweep(&mut self, now: Instant, uses: Uses<'_>) {
        self.next_sweep = now + self.sweep_interval();
        let idle = self.options.udp_idle;
        let silent = |face: &Face| {
            face.is_connectionless()
                && face.idle_since().is_some_and(|since| now.since(since) > idle)
        };
        let faces: Vec<_> =
            self.sockets.faces.iter().filter(|(_, face)| silent(face)).map(|(id, _)| *id).collect();
        faces.into_iter().for_each(|face| self.end(face, CloseReason::Idle(idle), false));
        self.sweep_stalled(now);
        self.sweep_streams(now, uses);
    }

    /// Ends connections whose peers do not read, those of this machine included.
    fn sweep_stalled(&mut self, now: Instant) {
        let most = self.options.stream_stall;
        let stalls = |face: &Face| {
            face.peer_kind().is_some() && face.stalled_since.is_some_and(|it| now.since(it) > most)
        };
        let faces: Vec<_> =
            self.sockets.faces.iter().filter(|(_, face)| stalls(face)).map(|(id, _)| *id).collect();
        faces.into_iter().for_each(|face| self.end(face, CloseReason::Stalled(most), false));
    }

    /// Ends connections from other machines that have been idle for long, and the longest idle of an address that has many.
    fn sweep_streams(&mut self, now: Instant, uses: Uses<'_>) {
        let idle = |(id, face): (&FaceId, &Face)| {
            let since = face.idle_since().filter(|since| now.since(*since) > IDLE_AFTER)?;
            let is_stream = face.peer_kind() == Some(PeerKind::Stream) && !face.is_local();
            (is_stream && !uses(*id).is_engaged()).then_some((face.neighbour, since, *id))
        };
        let mut all: Vec<(Option<Neighbour>, Instant, FaceId)> =
            self.sockets.faces.iter().filter_map(idle).collect();
        all.sort_unstable();
        for one in all.chunk_by(|one, next| one.0 == next.0) {
            let many = one.len().saturating_sub(self.options.idle_streams_per_address);
            for (place, (_, since, face)) in one.iter().enumerate() {
                if now.since(*since) > self.options.stream_idle {
                    self.end(*face, CloseReason::Idle(self.options.stream_idle), false);
                } else if place < many {
                    self.quotas.counts.evicted += 1;
                    self.end(*face, CloseReason::Evicted, false);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::DriverOptions;
    use crate::memory;
    use recoup_forwarder::face::FaceUse;

    /// A driver with connections from other addresses, by the last byte of these, and the other ends.
    fn driver(from: &[u8]) -> (Driver, Vec<FaceId>, Vec<memory::MemoryEnd>) {
        let options = DriverOptions { idle_streams_per_address: 2, ..DriverOptions::default() };
        let mut driver = Driver::with_options(options).unwrap();
        let (mut faces, mut ends) = (Vec::new(), Vec::new());
        for address in from {
            let (ours, theirs) = memory::pair(1 << 10).unwrap();
            let uri = format!("tcp4://192.0.2.{address}:9").parse().unwrap();
            let neighbour = Some(Neighbour::of([192, 0, 2, *address].into()));
            faces.push(driver.add(Face { neighbour, ..Face::over_link(uri, Box::new(ours)) }));
            ends.push(theirs);
        }
        (driver, faces, ends)
    }

    fn left(driver: &Driver) -> Vec<FaceId> {
        let mut left: Vec<_> = driver.faces().collect();
        left.sort_unstable();
        left
    }

    #[test]
    fn idle_connections_end_unless_they_are_used() {
        let (mut driver, faces, _ends) = driver(&[1, 2, 3]);
        let uses = |face| match face {
            it if it == faces[0] => FaceUse { routes: true, ..FaceUse::default() },
            it if it == faces[1] => FaceUse { pending: true, ..FaceUse::default() },
            _ => FaceUse::default(),
        };
        let idle = driver.options.stream_idle;
        driver.sweep(driver.now() + idle - Duration::from_secs(1), &uses);
        assert_eq!(left(&driver), faces);
        driver.sweep(driver.now() + idle + Duration::from_secs(1), &uses);
        assert_eq!(left(&driver), faces[..2]);
    }

    #[test]
    fn slow_peer_is_no_stalled_one() {
        let (mut driver, faces, _ends) = driver(&[1, 2]);
        let (start, stall) = (driver.now(), driver.options.stream_stall);
        let flush = |driver: &mut Driver, before, waiting, now| {
            let face = driver.sockets.faces.get_mut(&faces[0]).unwrap();
            face.mark_flushed(before, waiting, now);
            driver.outbox.waiting = waiting;
        };
        // One byte in each interval is progress; further bytes that wait are none.
        for step in 1..10 {
            let now = start + stall * step;
            flush(&mut driver, 100, 99, now);
            flush(&mut driver, 200, 200, now + stall / 2);
            driver.sweep_stalled(now + stall);
            assert_eq!(left(&driver), faces);
        }
        driver.sweep_stalled(start + stall * 11);
        assert_eq!(left(&driver), faces[1..]);
    }

    #[test]
    fn one_address_may_have_few_idle_connections() {
        let (mut driver, faces, _ends) = driver(&[1, 1, 2, 1, 1]);
        let unused = |_| FaceUse::default();
        driver.sweep(driver.now() + IDLE_AFTER / 2, &unused);
        assert_eq!(left(&driver), faces);
        driver.sweep(driver.now() + IDLE_AFTER * 2, &unused);
        assert_eq!(left(&driver), [faces[2], faces[3], faces[4]]);
        assert_eq!(driver.admission().evicted, 2);
    }
}
