//! Links of faces that come and go.
use super::port::{Link, Port, Service};
use super::timer::Duty;
use super::value::Value;
use super::wire::Wire;
use super::{Links, Shared, place, port};
use crate::drop::DropReason;
use crate::face::{FaceAttributes, FaceForm, FaceId};
use crate::observer::Observer;
use crate::outbox::Outbox;
use recoup_transport::management::FaceCounters;
use recoup_transport::time::Instant;

impl Links {
    /// Adds a face that is up; returns whether it keeps its link. Call [`open`](Self::open) afterwards.
    pub(crate) fn up(&mut self, id: FaceId, attributes: &FaceAttributes) -> bool {
        self.recoveries.any |= !attributes.recovery.is_off();
        if let Some(port) = port(&mut self.ports, id)
            && port.changes_to(attributes)
        {
            return true;
        }
        let link = match attributes.form {
            FaceForm::Wire { mtu } => {
                Link::Wire(Box::new(Service::new(Wire::new(mtu, attributes), attributes)))
            }
            FaceForm::Value { queue } => {
                Link::Value(Box::new(Service::new(Value::new(queue), attributes)))
            }
        };
        let mut new = Port {
            link,
            is_local: attributes.local,
            recovers: !attributes.recovery.is_off(),
            counters: FaceCounters::default(),
            scheduler: None,
            fragments_due: None,
        };
        match place(&self.ports, id) {
            Ok(place) => {
                let port = &mut self.ports[place].1;
                let Shared { timers, .. } = &mut self.shared;
                timers.set(&mut port.fragments_due, Duty::Fragments, id, None);
                self.recoveries.rest(id, &mut port.link);
                new.scheduler = port.scheduler.take();
                **port = new;
            }
            Err(place) => self.ports.insert(place, (id, Box::new(new))),
        }
        false
    }

    /// Opens the link of a face that is up: its scheduler, and its recovery. Call [`drain`](Self::drain) afterwards.
    pub(crate) fn open<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        attributes: &FaceAttributes,
        out: &mut Outbox<O>,
    ) {
        self.open_scheduler(now, id, out);
        let Self { ports, shared, recoveries, .. } = self;
        if let Some(port) = port(ports, id) {
            recoveries.up(now, id, attributes, &mut port.link, &mut shared.timers);
        }
    }

    /// Handles a face that is down. The recovery of its link is kept if it may come up again. Returns the traffic sent
    /// since it came up, and the bytes of frames in both directions.
    pub(crate) fn down<O: Observer>(
        &mut self,
        now: Instant,
        id: FaceId,
        keep: bool,
        out: &mut Outbox<O>,
    ) -> Option<FaceCounters> {
        let place = place(&self.ports, id).ok()?;
        let (_, mut port) = self.ports.remove(place);
        let timers = &mut self.shared.timers;
        timers.set(&mut port.fragments_due, Duty::Fragments, id, None);
        if let Some(mut scheduler) = port.scheduler.take() {
            self.schedulers -= 1;
            scheduler.arm(id, timers, None);
            while let Some(packet) = scheduler.evict() {
                out.drop_packet(id, &packet, DropReason::NoFace);
            }
        }
        self.recoveries.down(now, id, &mut port.link, keep, timers);
        match &mut port.link {
            Link::Value(link) => {
                while let Some((packet, _)) = link.medium.ready(now) {
                    out.drop_packet(id, &packet, DropReason::NoFace);
                }
            }
            Link::Wire(link) => {
                for _ in 0..link.medium.give_up() {
                    out.dropped(id, None, DropReason::NoFace);
                }
            }
        }
        Some(port.counters)
    }

    /// Removes a face for good.
    pub(crate) fn forget(&mut self, id: FaceId) {
        let Self { ports, shared, recoveries, .. } = self;
        if let Some(port) = port(ports, id) {
            recoveries.rest(id, &mut port.link);
        }
        recoveries.forget(id, &mut shared.timers);
    }
}
