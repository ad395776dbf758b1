//! The association of a client: its view of beacons, and its choice of access points.
//!
//! The rule is hysteresis. RSSI of beacons is smoothed per access point. The client joins another access point whose
//! beacons were stronger by a margin so many times in a row, unless it has just joined. The standard leaves the time of
//! a handoff open; its procedure is that of IEEE Std 802.11-2016, §11.3: authentication, then association, each with a
//! request and a response.
//!
//! Differences: there is one channel. The time that a scan of others would take is a parameter, in which the client
//! neither sends nor receives.
use super::StationId;
use super::plan::Infrastructure;

/// Missed beacons after which an access point is forgotten.
const STALE_BEACONS: u64 = 5;
/// Timeout of an answer from an access point, in ns.
const ANSWER_NANOS: u64 = 500_000_000;

/// A known access point.
#[derive(Clone, Copy, Debug)]
struct KnownPoint {
    point: StationId,
    /// Smoothed RSSI, in dBm.
    dbm: f64,
    at: u64,
    /// Beacons in a row that were stronger than those of the current one by the margin.
    better: u32,
}

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Unassociated, with no access point in view.
    Alone,
    /// Scanning before authentication.
    Scanning { point: StationId, until: u64 },
    /// Waiting for a response.
    Asking { point: StationId, until: u64 },
    /// Associated.
    Member { point: StationId, since: u64 },
}

/// Actions of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Leaves an access point, for another one or because its beacons are missing.
    Leave(StationId),
    /// Neither sends nor receives until the next request.
    Fall,
    /// Asks an access point to let it in.
    Ask(StationId),
}

/// A client's view of the access points.
#[derive(Clone, Debug)]
pub(super) struct Association {
    plan: Infrastructure,
    known: Vec<KnownPoint>,
    standing: Standing,
    /// Its last access point.
    before: Option<StationId>,
}

impl Association {
    pub(super) fn new(plan: Infrastructure) -> Self {
        Self { plan, known: Vec::new(), standing: Standing::Alone, before: None }
    }

    /// Forgets all access points.
    pub(super) fn reset(&mut self) {
        (self.standing, self.known) = (Standing::Alone, Vec::new());
    }

    /// Associates from the beginning, with that RSSI.
    pub(super) fn begin(&mut self, point: StationId, dbm: f64) {
        self.known.push(KnownPoint { point, dbm, at: 0, better: 0 });
        self.joined(0, point);
    }

    /// The access point that it belongs to.
    pub(super) fn point(&self) -> Option<StationId> {
        match self.standing {
            Standing::Member { point, .. } => Some(point),
            _ => None,
        }
    }

    /// The access point that it has asked.
    pub(super) fn asked(&self) -> Option<StationId> {
        match self.standing {
            Standing::Asking { point, .. } => Some(point),
            _ => None,
        }
    }

    /// The access point before it left.
    pub(super) fn before(&self) -> Option<StationId> {
        self.before
    }

    /// A beacon came.
    pub(super) fn on_beacon(&mut self, now: u64, point: StationId, dbm: f64) {
        let smoothing = self.plan.smoothing;
        let stale = now.saturating_sub(STALE_BEACONS * self.interval());
        let current = self.point();
        self.known.retain(|known| {
            known.at >= stale || known.point == point || Some(known.point) == current
        });
        let place = match self.known.iter().position(|known| known.point == point) {
            Some(place) => place,
            None => {
                self.known.push(KnownPoint { point, dbm, at: now, better: 0 });
                self.known.len() - 1
            }
        };
        let known = &mut self.known[place];
        if known.at < stale {
            (known.dbm, known.better) = (dbm, 0);
        }
        known.dbm += smoothing * (dbm - known.dbm);
        known.at = now;
        let rival = known.dbm;
        let is_better = self.current().is_some_and(|current| {
            current.point != point
                && rival >= current.dbm + self.plan.hysteresis_db
                && self.plan.low_dbm.is_none_or(|low| current.dbm < low)
        });
        let better = &mut self.known[place].better;
        *better = if is_better { *better + 1 } else { 0 };
    }

    /// An access point has let it in.
    pub(super) fn joined(&mut self, now: u64, point: StationId) {
        self.standing = Standing::Member { point, since: now };
        self.before = Some(point);
        self.known.iter_mut().for_each(|known| known.better = 0);
    }

    /// The request failed: the client scans again.
    pub(super) fn rejected(&mut self) {
        if matches!(self.standing, Standing::Asking { .. }) {
            self.standing = Standing::Alone;
        }
    }

    /// Next action at `now`.
    pub(super) fn step(&mut self, now: u64) -> Option<Step> {
        match self.standing {
            Standing::Member { point, since } => {
                let next = self.rival(now, since);
                let is_lost = now >= self.lost_at(point, since);
                if next.is_none() && !is_lost {
                    return None;
                }
                self.standing = match next.or_else(|| self.best(now, Some(point))) {
                    Some(next) => Standing::Scanning { point: next, until: u64::MAX },
                    None => Standing::Alone,
                };
                Some(Step::Leave(point))
            }
            Standing::Alone => {
                let point = self.best(now, None)?;
                self.standing = Standing::Scanning { point, until: u64::MAX };
                self.step(now)
            }
            Standing::Scanning { point, until: u64::MAX } if self.plan.scan_nanos > 0 => {
                self.standing = Standing::Scanning { point, until: now + self.plan.scan_nanos };
                Some(Step::Fall)
            }
            Standing::Scanning { point, until } if until <= now || until == u64::MAX => {
                self.standing = Standing::Asking { point, until: now + ANSWER_NANOS };
                Some(Step::Ask(point))
            }
            Standing::Asking { until, .. } if until <= now => {
                self.standing = Standing::Alone;
                self.step(now)
            }
            Standing::Scanning { .. } | Standing::Asking { .. } => None,
        }
    }

    /// When it does something although nothing happens.
    pub(super) fn deadline(&self) -> u64 {
        match self.standing {
            Standing::Alone => u64::MAX,
            Standing::Scanning { until, .. } | Standing::Asking { until, .. } => until,
            Standing::Member { point, since } => self.lost_at(point, since),
        }
    }

    fn interval(&self) -> u64 {
        self.plan.beacon_nanos
    }

    fn current(&self) -> Option<KnownPoint> {
        let point = self.point()?;
        self.known.iter().find(|known| known.point == point).copied()
    }

    /// The access point that has been better for long enough.
    fn rival(&self, now: u64, since: u64) -> Option<StationId> {
        if now < since.saturating_add(self.plan.dwell_nanos) {
            return None;
        }
        let rivals = self.known.iter().filter(|known| known.better >= self.plan.beacons);
        strongest(rivals)
    }

    /// The strongest recently received access point.
    fn best(&self, now: u64, except: Option<StationId>) -> Option<StationId> {
        let stale = now.saturating_sub(STALE_BEACONS * self.interval());
        strongest(self.known.iter().filter(|h| h.at >= stale && Some(h.point) != except))
    }

    /// When so many beacons in a row will have been missed.
    fn lost_at(&self, point: StationId, since: u64) -> u64 {
        let known = self.known.iter().find(|known| known.point == point);
        let last = known.map_or(since, |known| known.at.max(since));
        last + u64::from(self.plan.missed) * self.interval()
    }
}

/// The strongest; of equals the one with the lower number.
fn strongest<'a>(known: impl Iterator<Item = &'a KnownPoint>) -> Option<StationId> {
    let better =
        |a: &&KnownPoint, b: &&KnownPoint| a.dbm.total_cmp(&b.dbm).then(b.point.cmp(&a.point));
    known.max_by(better).map(|known| known.point)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: StationId = StationId(0);
    const B: StationId = StationId(1);
    const BEACON: u64 = 102_400_000;

    fn client(plan: Infrastructure) -> Association {
        let mut client = Association::new(plan);
        client.begin(A, -60.0);
        client
    }

    /// Feeds a beacon of each, beacon by beacon from `from` on, until the client acts; returns the time.
    fn until_step(client: &mut Association, from: u64, a: f64, b: f64) -> Option<(u64, Step)> {
        (from..from + 100).find_map(|turn| {
            client.on_beacon(turn * BEACON, A, a);
            client.on_beacon(turn * BEACON + 1_000_000, B, b);
            client.step(turn * BEACON + 1_000_000).map(|step| (turn, step))
        })
    }

    #[test]
    fn client_moves_after_three_stronger_beacons() {
        let plan = Infrastructure { smoothing: 1.0, ..Infrastructure::default() };
        let mut here = client(plan);
        assert_eq!(until_step(&mut here, 30, -60.0, -55.1), None, "not by the margin of 5 dB");
        let mut here = client(plan);
        assert_eq!(until_step(&mut here, 30, -60.0, -55.0), Some((32, Step::Leave(A))));
        assert_eq!(here.step(32 * BEACON + 1_000_000), Some(Step::Ask(B)));
        here.joined(33 * BEACON, B);
        assert_eq!((here.point(), here.step(33 * BEACON)), (Some(B), None));
    }

    #[test]
    fn client_stays_after_a_handoff() {
        let plan = Infrastructure { smoothing: 1.0, ..Infrastructure::default() };
        let mut here = client(plan);
        let (turn, step) = until_step(&mut here, 1, -60.0, -40.0).unwrap();
        assert_eq!(step, Step::Leave(A));
        let dwell = (plan.dwell_nanos as f64 / BEACON as f64).floor() as u64;
        assert!((dwell..=dwell + 1).contains(&turn), "{turn}");
    }

    #[test]
    fn smoothing_makes_a_single_strong_beacon_count_little() {
        let mut here = client(Infrastructure::default());
        assert_eq!(until_step(&mut here, 30, -60.0, -62.0), None);
        for turn in 130..133 {
            here.on_beacon(turn * BEACON, A, -60.0);
            here.on_beacon(turn * BEACON, B, if turn == 130 { -50.0 } else { -62.0 });
            assert_eq!(here.step(turn * BEACON), None);
        }
    }

    #[test]
    fn silent_access_point_is_left() {
        let plan = Infrastructure::default();
        let mut here = client(plan);
        here.on_beacon(0, A, -60.0);
        let lost_at = here.deadline();
        assert_eq!(lost_at, u64::from(plan.missed) * BEACON);
        here.on_beacon(lost_at - 1, B, -80.0);
        assert_eq!(here.step(lost_at - 1), None);
        assert_eq!(here.step(lost_at), Some(Step::Leave(A)));
        assert_eq!(here.step(lost_at), Some(Step::Ask(B)));
    }

    #[test]
    fn scan_takes_time_and_answers_time_out() {
        let plan = Infrastructure { scan_nanos: 100_000_000, ..Infrastructure::default() };
        let mut here = Association::new(plan);
        assert_eq!((here.step(0), here.deadline()), (None, u64::MAX), "no beacons received");
        here.on_beacon(5, A, -60.0);
        assert_eq!((here.step(5), here.step(6)), (Some(Step::Fall), None));
        assert_eq!(here.deadline(), 100_000_005);
        assert_eq!(here.step(100_000_005), Some(Step::Ask(A)));
        assert_eq!(here.asked(), Some(A));
        assert_eq!(here.step(600_000_005), None, "those beacons are stale");
        here.on_beacon(600_000_006, A, -60.0);
        assert_eq!(here.step(600_000_006), Some(Step::Fall));
    }
}
