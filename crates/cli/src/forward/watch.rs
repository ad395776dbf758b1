//! Detects changes that cause no event: routes, limits and the state of faces.
//!
//! The watch compares counters once a second, so a flood of packets makes no flood of lines.
use super::log::{Event, Level, Log, SHORT_OF_DESCRIPTORS};
use recoup_forwarder::drop::DropReason as NodeDrop;
use recoup_forwarder::node::Node;
use recoup_io::driver::{Admission, Driver};
use recoup_io::face::{DropReason as FaceDrop, FaceChange, FaceEvent, FaceId};
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Interval of comparisons.
const LOOK: Duration = Duration::from_secs(1);
/// Shortest interval of reports of the same limit.
const REPEAT: Duration = Duration::from_secs(10);
/// Time without closed idle connections that ends an episode.
const CALM: Duration = Duration::from_secs(60);
/// The limits of a node.
const NODE: [NodeDrop; 3] = [NodeDrop::PitFull, NodeDrop::TooManyPending, NodeDrop::TooFast];
/// The limits of faces.
const FACES: [FaceDrop; 2] = [FaceDrop::NoRoom, FaceDrop::Backlog];

/// The limit of newcomers: an Interest of each was dropped with its face.
const NEWCOMERS: &str = "newcomer-evicted";

/// A prefix, a face and an origin.
type RouteKey = (String, u64, u64);

/// State at the last comparison.
#[derive(Debug, Default)]
pub(super) struct Watch {
    looked: Option<Instant>,
    routes: BTreeMap<RouteKey, u64>,
    limits: Limits,
    crowd: Crowd,
    /// Permanent faces that are down.
    away: BTreeSet<FaceId>,
}

impl Watch {
    /// The event of a face. Only the first failed attempt to reach a neighbour is a warning.
    pub(super) fn face(&mut self, event: &FaceEvent) -> Event {
        let is_news = match event.change {
            FaceChange::Down { retry: Some(_), .. } => self.away.insert(event.face),
            FaceChange::Down { retry: None, .. } | FaceChange::Up => self.away.remove(&event.face),
            FaceChange::Unreachable(_) | FaceChange::MtuLowered(_) => false,
        };
        let level = match event.change {
            FaceChange::Down { retry: Some(_), .. } if is_news => Level::Warn,
            FaceChange::Up if is_news => Level::Info,
            _ => Level::Debug,
        };
        Event::face(event, level)
    }

    /// Compares, if it is time, and logs changes.
    pub(super) fn look(&mut self, driver: &Driver, node: &Node, log: &Log) {
        let now = driver.now();
        if self.looked.is_some_and(|looked| now.since(looked) < LOOK) {
            return;
        }
        self.looked = Some(now);
        if log.is_enabled(Level::Warn) {
            let totals = driver.totals();
            let of_node = NODE.map(|reason| {
                let dropped = driver.node_drops().get(&reason).copied().unwrap_or_default();
                (reason.to_string(), dropped)
            });
            let of_faces = FACES.map(|reason| (format!("face-{reason}"), totals.dropped(reason)));
            let evicted = (NEWCOMERS.to_owned(), driver.admission().newcomers_evicted);
            for (reason, dropped) in of_node.into_iter().chain(of_faces).chain([evicted]) {
                let event = self.limits.hit(now, reason, dropped);
                event.iter().for_each(|event| log.write(event));
            }
            let crowded = self.crowd.grows(now, driver.admission(), driver.descriptors());
            crowded.iter().for_each(|event| log.write(event));
        }
        if log.is_enabled(Level::Debug) {
            let routes = routes(node, now);
            changes(&self.routes, &routes).for_each(|event| log.write(&event));
            self.routes = routes;
        }
    }
}

/// All registered routes, with their costs.
fn routes(node: &Node, now: Instant) -> BTreeMap<RouteKey, u64> {
    let entries = node.rib_entries(now).flat_map(|entry| {
        let prefix = entry.name.to_string();
        entry.routes.into_iter().map(move |it| ((prefix.clone(), it.face_id, it.origin), it.cost))
    });
    entries.collect()
}

/// Added, removed and changed routes.
fn changes<'a>(
    before: &'a BTreeMap<RouteKey, u64>,
    now: &'a BTreeMap<RouteKey, u64>,
) -> impl Iterator<Item = Event> + 'a {
    let event = |(prefix, face, origin): &RouteKey, cost| Event::Route {
        prefix: prefix.clone(),
        face: *face,
        origin: *origin,
        cost,
    };
    let gone = before.keys().filter(|route| !now.contains_key(*route));
    let come = now.iter().filter(|(route, cost)| before.get(*route) != Some(*cost));
    gone.map(move |route| event(route, None))
        .chain(come.map(move |(route, cost)| event(route, Some(*cost))))
}

/// Reports of limits.
#[derive(Debug, Default)]
struct Limits {
    /// Time and drops of the last report of each limit.
    reported: BTreeMap<String, (Instant, u64)>,
}

impl Limits {
    /// The event to log when a limit has dropped `dropped` packets in all, if it is due.
    fn hit(&mut self, now: Instant, reason: String, dropped: u64) -> Option<Event> {
        let reported = self.reported.get(&reason).copied();
        let before = reported.map_or(0, |(_, before)| before);
        let is_due = reported.is_none_or(|(at, _)| now.since(at) >= REPEAT);
        if dropped <= before || !is_due {
            return None;
        }
        self.reported.insert(reason.clone(), (now, dropped));
        Some(Event::Limit { reason, dropped: dropped - before })
    }
}

/// Idle connections closed for new ones.
#[derive(Debug, Default)]
struct Crowd {
    /// Counters at the last comparison.
    before: Admission,
    /// Time of the last closed connection of this episode.
    last: Option<Instant>,
}

impl Crowd {
    /// The event that begins an episode.
    fn grows(&mut self, now: Instant, admission: Admission, descriptors: usize) -> Option<Event> {
        let before = std::mem::replace(&mut self.before, admission);
        let is_short = admission.shortages > before.shortages;
        if !is_short && admission.evicted == before.evicted {
            return None;
        }
        let last = self.last.replace(now);
        let short = if is_short { SHORT_OF_DESCRIPTORS } else { "faces" };
        let begins = last.is_none_or(|last| now.since(last) > CALM);
        begins.then_some(Event::Crowded { short, descriptors })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recoup_io::face::CloseReason;

    #[test]
    fn limit_is_reported_at_once_then_periodically() {
        let mut limits = Limits::default();
        let mut hit = |seconds: u64, dropped| {
            let event =
                limits.hit(Instant::from_millis(seconds * 1000), "pit-full".into(), dropped);
            event.map(|event| match event {
                Event::Limit { dropped, .. } => dropped,
                other => panic!("{other:?}"),
            })
        };
        let found = [(1, 0), (2, 5), (3, 9), (11, 20), (12, 21), (13, 21), (30, 21), (31, 22)]
            .map(|(seconds, dropped)| hit(seconds, dropped));
        assert_eq!(found, [None, Some(5), None, None, Some(16), None, None, Some(1)]);
    }

    #[test]
    fn crowd_is_reported_once_in_an_episode() {
        let mut crowd = Crowd::default();
        let mut grows = |seconds: u64, evicted, shortages| {
            let admission = Admission { evicted, shortages, ..Admission::default() };
            match crowd.grows(Instant::from_millis(seconds * 1_000), admission, 99) {
                Some(Event::Crowded { short, .. }) => short,
                _ => "",
            }
        };
        let looks = [(1, 0, 0), (2, 3, 0), (3, 4, 1), (50, 9, 1), (100, 10, 1), (200, 10, 1)];
        let found = looks.map(|(seconds, evicted, shortages)| grows(seconds, evicted, shortages));
        assert_eq!(found, ["", "faces", "", "", "", ""]);
        assert_eq!(grows(300, 10, 2), "descriptors");
    }

    #[test]
    fn added_removed_and_changed_routes_are_reported() {
        let route = |prefix: &str, face, cost| ((prefix.to_owned(), face, 0), cost);
        let before = BTreeMap::from([route("/a", 1, 0), route("/b", 1, 0), route("/c", 1, 5)]);
        let now = BTreeMap::from([route("/a", 1, 0), route("/a", 2, 0), route("/c", 1, 6)]);
        let events: Vec<_> = changes(&before, &now).map(|event| event.to_string()).collect();
        let wanted = [
            "/b is no longer reached by face 1",
            "/a is reached by face 2 at cost 0",
            "/c is reached by face 1 at cost 6",
        ];
        assert_eq!(events, wanted);
        assert_eq!(changes(&now, &now).count(), 0);
    }

    #[test]
    fn unreachable_neighbour_is_reported_once() {
        let mut watch = Watch::default();
        let retry = Some(Duration::from_secs(1));
        let down = |retry| FaceChange::Down { reason: CloseReason::Ended, retry };
        let mut level = |number, change| {
            let uri = "tcp4://192.0.2.7:6363".parse().unwrap();
            match watch.face(&FaceEvent { face: FaceId(number), uri, change }) {
                Event::Face { level, .. } => level,
                other => panic!("{other:?}"),
            }
        };
        let changes =
            [FaceChange::Up, down(retry), down(retry), FaceChange::Up, FaceChange::Up, down(retry)];
        let found = changes.map(|change| level(1, change));
        assert_eq!(
            found,
            [Level::Debug, Level::Warn, Level::Debug, Level::Info, Level::Debug, Level::Warn]
        );
        // Closed faces are forgotten; on-demand faces come and go.
        let found = [down(None), FaceChange::Up].map(|change| level(1, change));
        assert_eq!(found, [Level::Debug; 2]);
        assert_eq!(level(2, down(None)), Level::Debug);
    }
}
