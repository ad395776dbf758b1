//! Room for newcomers: how many faces peers may open, in all and from one neighbour, and who has to go for another.
use super::face_entry::Face;
use super::{Driver, ListenerId};
use crate::face::{CloseReason, FaceId};
use hashbrown::HashMap;
use recoup_transport::time::{Duration, Instant};
use std::net::{IpAddr, Ipv6Addr};

/// An on-demand face that was heard more recently is not evicted for a newcomer.
const EVICTION_AGE: Duration = Duration::from_secs(1);

/// Who lives where.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// By neighbour of which anybody has a face.
    neighbours: HashMap<Neighbour, Tenancy>,
    /// Before that nobody can be evicted.
    full_until: Instant,
}

/// The faces of one neighbour.
#[derive(Clone, Copy, Debug, Default)]
struct Tenancy {
    faces: usize,
    /// Before that none of them can be evicted.
    full_until: Instant,
}

/// Whose faces count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Neighbour {
    /// An IPv4 address, or all of a network of IPv6, of which everybody has plenty.
    Address(IpAddr),
    /// All stations on an interface: whoever is there calls itself as it likes.
    Stations(ListenerId),
}

impl Neighbour {
    pub(super) fn of(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(ip) => Ipv6Addr::from(u128::from(ip) >> 64 << 64).into(),
            ip => ip,
        })
    }
}

impl Driver {
    /// Whether one more on-demand face may be opened, by this neighbour if it is counted; the longest silent one may
    /// have to go.
    pub(super) fn make_room(&mut self, now: Instant, neighbour: Option<Neighbour>) -> bool {
        let tenancy = neighbour.and_then(|it| self.room.neighbours.get(&it).copied());
        if let Some(Tenancy { faces, full_until }) = tenancy
            && faces >= self.options.faces_per_address
        {
            let found = self.evict(now, full_until, |whose| whose == neighbour);
            let found = found.map_err(|until| {
                let tenancy = neighbour.and_then(|it| self.room.neighbours.get_mut(&it));
                tenancy.map(|it| it.full_until = until)
            });
            return found.is_ok();
        }
        let faces = self.faces.len() + self.elsewhere.len();
        if self.on_demand < self.options.on_demand_faces && faces < self.options.faces {
            return true;
        }
        let found = self.evict(now, self.room.full_until, |_| true);
        found.map_err(|until| self.room.full_until = until).is_ok()
    }

    /// Ends the longest silent of some on-demand faces, or says from when on one of them will have been silent for long
    /// enough: before that nobody needs to look again.
    fn evict(
        &mut self,
        now: Instant,
        full_until: Instant,
        may_go: impl Fn(Option<Neighbour>) -> bool,
    ) -> Result<(), Instant> {
        if now <= full_until {
            return Err(full_until);
        }
        let faces = self.faces.iter().filter(|(_, face)| may_go(face.neighbour));
        let silent = |(id, face): (&FaceId, &Face)| Some((face.silent_since()?, *id));
        match faces.filter_map(silent).chain(self.silent_elsewhere(&may_go)).min() {
            Some((since, id)) if now.since(since) > EVICTION_AGE => {
                match self.faces.contains_key(&id) {
                    true => self.end(id, CloseReason::Evicted, false),
                    false => self.close_elsewhere(id, CloseReason::Evicted),
                }
                Ok(())
            }
            oldest => Err(oldest.map_or(now, |(since, _)| since) + EVICTION_AGE),
        }
    }

    /// A face moves in.
    pub(super) fn move_in(&mut self, neighbour: Option<Neighbour>) {
        if let Some(neighbour) = neighbour {
            self.room.neighbours.entry(neighbour).or_default().faces += 1;
        }
    }

    /// A face moves out.
    pub(super) fn move_out(&mut self, neighbour: Option<Neighbour>) {
        let Some(neighbour) = neighbour else {
            return;
        };
        if let Some(tenancy) = self.room.neighbours.get_mut(&neighbour) {
            tenancy.faces -= 1;
            if tenancy.faces == 0 {
                self.room.neighbours.remove(&neighbour);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_ipv6_is_one_neighbour_and_an_address_of_ipv4_is() {
        let of = |text: &str| Neighbour::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::7"), of("2001:db8::1:2:3:4"));
        assert_ne!(of("2001:db8::7"), of("2001:db8:0:1::7"));
        let plain = Neighbour::Address("192.0.2.7".parse().unwrap());
        assert_eq!((of("192.0.2.7"), of("::ffff:192.0.2.7")), (plain, plain));
    }
}
