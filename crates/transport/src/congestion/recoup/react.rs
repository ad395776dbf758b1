//! Reactions of the window of [`Recoup`] in each of its states.
use super::super::cause::{Evidence, LossCause};
use super::super::cubic::Cubic;
use super::super::{Delivered, Loss, WindowRule};
use super::Recoup;
use super::compete::Emptied;
use super::constants::{
    ALONE_SHARE, BESIDE_JITTER, BLIND, CALM_PART, CALM_ROUNDS, COMPETING, DEEPER, EMPTY_ROUNDS,
    EMPTY_WINDOW, EXCESS, FAST_GROWTH, FASTER, FOLLOWED_JITTER, HEAVY, LEAST, LEAST_PATIENCE,
    MARKED_SHARE, MOST_CARRIED, MOST_COMPETING, MOST_PATIENCE, MOST_RISING, MOST_STARTING,
    MOST_STARTING_SHORT, OTHERS, OTHERS_STARTUP, RISE_ROUNDS, STEADY_GROWTH, STEADY_ROUNDS, STILL,
};
use super::heavy::Policed;
use super::mode::{Calm, Compete, Drain, Mode, Startup};
use super::path::Seen;
use super::round::RoundFacts;
use super::train::is_short;
use crate::time::Instant;

impl Recoup {
    /// Segments that the path carries without a queue at this rate, at least the least window.
    fn carried(&self, rate: f64) -> f64 {
        self.path.carried(rate).max(LEAST)
    }

    /// Sets the window to what the path carries without a queue at this rate; the least queueing delay was `before`.
    fn drain(&mut self, rate: f64, before: f64) {
        let startup = matches!(self.mode, Mode::Startup(_));
        // Only a test drains while the window competes.
        let tests = matches!(self.mode, Mode::Compete(_));
        let beside_jitter = !tests && self.may_be_jitter();
        let carried = self.carried(rate);
        self.ceiling = carried + rate * self.path.threshold(rate) / 2.0;
        self.begin_drain(Drain {
            from: self.cwnd,
            rate,
            before,
            mark: None,
            end: None,
            floor: f64::INFINITY,
            high: 0.0,
            first: f64::INFINITY,
            blind: 0,
            again: false,
            tests,
            startup,
            beside_jitter,
        });
    }

    fn begin_drain(&mut self, drain: Drain) {
        let part = if drain.again { DEEPER } else { 1.0 };
        let followed =
            if drain.beside_jitter { self.growth.followed_at(self.path.rate()) } else { 0.0 };
        let most = self.path.mean_base() + FOLLOWED_JITTER * self.path.jitter();
        let least = BESIDE_JITTER * followed.min(drain.rate * most);
        self.cwnd = self.cwnd.min((part * self.carried(drain.rate)).max(least));
        self.mode = Mode::Drain(drain);
        self.path.forget_standing();
    }

    /// Measures the excess of queueing delays over their floor without a queue.
    pub(super) fn watch_calm(&mut self, delivered: &Delivered, seen: &Seen) {
        let Some(calm) = &mut self.calm else { return };
        if delivered.order > calm.through {
            if let Some(excess) = calm.excess() {
                self.path.learn_spread(excess);
            }
            self.calm = None;
        } else if let Some(queue) = seen.queue.filter(|_| delivered.order > calm.after) {
            calm.add(queue);
        }
    }

    /// Compares the growth of the rate with that of the window.
    pub(super) fn watch_growth(&mut self, seen: &Seen) {
        let grows = matches!(self.mode, Mode::Startup(_) | Mode::Rise { .. });
        if grows && seen.round.is_some_and(|round| round.in_use) {
            self.growth.end_round(self.cwnd, self.path.rate());
        }
    }

    /// Handles a change of the path: the window doubles from its current size.
    pub(super) fn on_moved(&mut self) {
        if let Mode::Drain(drain) = self.mode {
            self.cwnd = self.cwnd.max(drain.from);
        }
        self.calm = None;
        self.growth.begin();
        self.mode = Mode::Startup(Startup { moved: true, ..Startup::BEGINNING });
    }

    /// Handles further sources: the apparent queue, or end of start-up, was the path to a farther one.
    pub(super) fn on_split(&mut self) {
        self.path.set_shared(false);
        self.on_moved();
        self.mode = Mode::Startup(Startup::BEGINNING);
    }

    pub(super) fn on_startup(&mut self, delivered: &Delivered, seen: &Seen, mut startup: Startup) {
        if let Some(standing) = seen.standing.filter(|_| !self.is_doubtful(startup)) {
            let rate = standing.max(self.path.latest_rate());
            return self.drain(rate, self.path.standing_floor());
        }
        let short = is_short(delivered.remaining);
        if (startup.in_use || self.in_use) && self.cwnd < self.most_starting(short, startup.moved) {
            let rtt = self.path.smoothed().filter(|_| short);
            self.cwnd += rtt.map_or(1.0, |rtt| self.train.growth(self.cwnd, rtt));
        }
        let Some(round) = seen.round else { return };
        startup.in_use = round.in_use;
        if round.in_use {
            let rate = self.path.rate();
            let faster = rate >= FASTER * startup.rate;
            (startup.rate, startup.still) =
                if faster { (rate, 0) } else { (startup.rate, startup.still + 1) };
        }
        self.mode = Mode::Startup(startup);
        let in_vain = round.in_use && !self.growth.may_follow(self.cwnd);
        if round.heavy || in_vain && self.path.exceeds_usual(round.loss, HEAVY) {
            return self.stop_growing();
        }
        if startup.still >= STILL {
            self.drain(startup.rate, round.floor.unwrap_or(0.0));
        }
    }

    /// Limit of the window in start-up, for a short object or not, on a path that has moved or not.
    fn most_starting(&self, short: bool, moved: bool) -> f64 {
        let times = if short { MOST_STARTING_SHORT } else { MOST_STARTING };
        let delivered = times * self.path.most_in_round();
        let rate = self.path.latest_rate();
        // A base round trip is far from the mean one where jitter changes the order.
        let unknown = short || moved || rate <= 0.0 || self.path.reorders();
        let rtt = self.path.mean_base() + 2.0 * self.path.jitter();
        let carried = if unknown { f64::INFINITY } else { MOST_CARRIED * rate * rtt };
        let most = delivered.min(carried);
        most + self.settings.init_cwnd
    }

    /// A standing queue may be jitter: the rate still rises with the window.
    fn is_doubtful(&self, startup: Startup) -> bool {
        startup.still == 0 && self.may_be_jitter()
    }

    /// Whether a queueing delay may be jitter: jitter decides what a queue is.
    fn may_be_jitter(&self) -> bool {
        self.path.is_jittery(self.path.rate())
    }

    pub(super) fn on_rise(&mut self, seen: &Seen, calm: u32) {
        let jittery = self.may_be_jitter();
        let doubtful = jittery && self.growth.may_follow(self.cwnd);
        if let Some(standing) = seen.standing.filter(|_| !doubtful) {
            let top = self.path.top_rate();
            let rate = if calm >= CALM_ROUNDS { standing.max(top) } else { top };
            return self.drain(rate, self.path.standing_floor());
        }
        let rate = self.path.rate();
        let threshold = self.path.threshold(rate);
        let rtt = self.path.smoothed().unwrap_or(0.0).max(self.path.mean_base());
        let most = MOST_RISING * rate.max(self.path.top_rate()) * rtt + LEAST;
        if self.in_use && self.cwnd < most {
            let policed = self.policed.is_active();
            let fast = calm >= 2 * CALM_ROUNDS && !policed
                || calm >= CALM_ROUNDS && self.cwnd < self.ceiling;
            let step = if policed { 1.0 } else { (rate * threshold / RISE_ROUNDS).max(1.0) };
            self.cwnd += if fast { FAST_GROWTH } else { step / self.cwnd };
        }
        if let Some(round) = seen.round.filter(|round| round.in_use) {
            if round.heavy {
                return self.stop_growing();
            }
            self.end_policed_round(round.loss);
            let jitter = self.path.jitter();
            let part = CALM_PART * (threshold - 2.0 * jitter);
            let below = round.floor.is_some_and(|floor| floor <= part + jitter);
            let is_calm = below || jittery && self.growth.follows();
            self.mode = Mode::Rise { calm: if is_calm { calm + 1 } else { 0 } };
        }
    }

    /// Ends the growth after heavy losses without a queue: the path delivers no more than in the last round.
    fn stop_growing(&mut self) {
        self.ceiling = self.path.carried_without_excess(self.path.rate()).max(LEAST);
        self.cwnd = self.cwnd.min(self.ceiling);
        self.policed = Policed::begin(self.cwnd, self.path.rate());
        self.growth.begin();
        self.mode = Mode::Rise { calm: 0 };
    }

    /// Ends a round of slow growth with this share of lost transmissions.
    fn end_policed_round(&mut self, loss: f64) {
        self.policed.end_round();
        if self.policed.is_active() && self.path.exceeds_usual(loss, EXCESS) {
            let rate = self.path.rate();
            self.cwnd = self.cwnd.min(self.path.carried_without_excess(rate).max(LEAST));
            self.cwnd = self.policed.on_reduced(self.cwnd, rate).unwrap_or(self.cwnd);
        }
    }

    pub(super) fn on_drain(
        &mut self,
        now: Instant,
        delivered: &Delivered,
        seen: &Seen,
        mut drain: Drain,
    ) {
        let Delivered { order, highest_order, in_flight, .. } = *delivered;
        if drain.mark.is_none() && f64::from(in_flight) <= self.window + 1.0 {
            drain.mark = Some(highest_order);
        }
        if drain.mark.is_some_and(|mark| order > mark) {
            drain.end.get_or_insert(highest_order);
            drain.floor = seen.queue.map_or(drain.floor, |queue| queue.min(drain.floor));
            drain.high = seen.queue.map_or(drain.high, |queue| queue.max(drain.high));
        }
        if drain.is_over(order) && drain.floor.is_infinite() {
            drain.end = Some(highest_order);
            drain.blind += 1;
        }
        self.mode = Mode::Drain(drain);
        if drain.tests && drain.is_over(order) {
            let (segments, seconds) = (drain.from - self.cwnd, drain.before - drain.floor);
            self.path.bottleneck.on_drained(segments, seconds, drain.rate);
        }
        let vanished = (drain.remains() * drain.before).max(self.path.threshold(drain.rate) / 2.0);
        // Beside jitter the delay does not show whether the queue vanished.
        let over = drain.beside_jitter && drain.is_over(order);
        if drain.blind >= BLIND || drain.floor <= vanished || over {
            self.end_drain(now, highest_order, &drain);
        } else if drain.is_over(order) {
            self.fail_drain(now, drain);
        }
    }

    /// Ends a successful drain: half of the reduction is undone.
    fn end_drain(&mut self, now: Instant, highest_order: u64, drain: &Drain) {
        self.path.set_shared(false);
        if drain.tests {
            self.competed = Some((now, drain.from));
        }
        let carried = self.carried(drain.rate);
        let most = if drain.startup { 1.0 } else { 2.0 };
        let standing = most * drain.rate * self.path.threshold(drain.rate);
        let left = if drain.beside_jitter { self.cwnd } else { 0.0 };
        let window = (carried + (drain.from - carried).clamp(0.0, standing) / 2.0).max(left);
        // What the path carries may have been measured without a round trip, or with another base.
        self.cwnd = window.min(drain.from.max(LEAST));
        self.growth.begin();
        self.calm = drain.mark.map(|after| Calm::new(after, highest_order));
        self.mode = Mode::Rise { calm: 0 };
        self.path.forget_standing();
    }

    /// Ends an unsuccessful drain: another drain goes deeper, or others fill the queue.
    fn fail_drain(&mut self, now: Instant, drain: Drain) {
        let competed = self.competed_recently(now);
        if !drain.again && !drain.tests && competed.is_none() {
            let rate = self.path.rate().min(drain.rate);
            let (mark, end, floor, first) = (None, None, f64::INFINITY, drain.floor);
            let again = Drain { rate, mark, end, floor, high: 0.0, first, again: true, ..drain };
            return self.begin_drain(again);
        }
        if drain.again && drain.changes_nothing() {
            self.cwnd = drain.from;
            self.path.forget(now, self.path.base() + drain.floor);
            return self.on_moved();
        }
        if let Some(window) = competed {
            self.cwnd = drain.from.max(window);
        } else if drain.tests {
            self.cwnd = drain.from;
        } else {
            let filled = self.path.top_rate() * (self.path.base() + drain.before);
            self.cwnd = drain.from.min(filled.max(LEAST));
            self.cubic = Cubic::default();
        }
        let new = competed.is_none() && !drain.tests;
        self.patience = if new { LEAST_PATIENCE } else { (2.0 * self.patience).min(MOST_PATIENCE) };
        self.compete(now);
    }

    pub(super) fn compete(&mut self, now: Instant) {
        self.path.set_shared(true);
        self.path.bottleneck.begin();
        let (steady, emptied) = ((0.0, self.cwnd), Emptied::default());
        let compete = Compete { since: now, rounds: 0, steady, still: 0, emptied, empty: 0 };
        self.mode = Mode::Compete(compete);
    }

    pub(super) fn on_compete(
        &mut self,
        now: Instant,
        delivered: &Delivered,
        seen: &Seen,
        mut compete: Compete,
    ) {
        compete.emptied.add(seen.queue.unwrap_or(0.0));
        self.mode = Mode::Compete(compete);
        if self.in_use {
            let step = self.cubic.increase(now, self.cwnd, delivered);
            let threshold = self.path.threshold(self.path.rate());
            let queues = seen.queue.is_some_and(|queue| queue > threshold);
            let bottleneck = &self.path.bottleneck;
            if bottleneck.is_exceeded() && queues {
                self.cwnd = (self.cwnd - bottleneck.shrink(self.cwnd, step)).max(LEAST);
            } else if self.cwnd < MOST_COMPETING * self.path.most_delivered() + LEAST {
                self.cwnd += step;
            }
        }
        if let Some(round) = seen.round {
            self.on_compete_round(now, &round, compete);
        }
    }

    fn on_compete_round(&mut self, now: Instant, round: &RoundFacts, mut compete: Compete) {
        let (floor, base) = (round.floor.unwrap_or(0.0), self.path.base());
        let threshold = self.path.threshold(self.path.rate());
        self.path.bottleneck.end_round(self.path.rate());
        if round.heavy {
            // Jitter may hide the queue from its losses.
            self.cwnd = self.cubic.decrease(now, self.cwnd).max(LEAST.min(self.cwnd));
        }
        let (steady, window) = compete.steady;
        (compete.rounds, compete.still) = (compete.rounds + 1, compete.still + 1);
        if (floor - steady).abs() > threshold / 4.0 || round.loss > 0.0 {
            (compete.steady, compete.still) = ((floor, self.cwnd), 0);
        }
        // Jitter delays even an empty queue: it does not show that a queue vanished.
        let vanishing = (threshold - 2.0 * self.path.jitter()) / 2.0;
        let vanished = round.floor.is_some_and(|floor| floor < vanishing);
        let is_full = |delay| self.path.is_full(delay);
        let is_empty = round.floor.is_some() && round.high < vanishing;
        compete.empty = if is_empty { compete.empty + 1 } else { 0 };
        let emptied = compete.emptied.end_round(vanished, threshold, is_full)
            || compete.empty >= EMPTY_ROUNDS;
        // Marks keep a queue short that any flow may fill.
        let marked = self.path.is_marked(now);
        let alone = !self.path.hides_capacity() && self.path.top_share() > ALONE_SHARE;
        let ends = if marked { alone } else { emptied };
        if ends && self.cwnd >= EMPTY_WINDOW && !self.path.is_short() {
            return self.end_competition(now);
        }
        self.mode = Mode::Compete(compete);
        let stays = compete.still >= STEADY_ROUNDS && self.cwnd >= STEADY_GROWTH * window;
        let due = now.since(compete.since).as_secs_f64() >= self.patience;
        if stays && floor > base.max(threshold) {
            // A delay that is constant while the window grows is no queue.
            self.path.forget(now, base + floor);
            self.on_moved();
        } else if due && compete.rounds >= COMPETING && floor > threshold {
            self.drain(self.path.top_rate(), floor);
        }
    }

    /// Ends a competition: others drain the queue, too, and the window rises from what the path carries.
    fn end_competition(&mut self, now: Instant) {
        self.path.set_shared(false);
        self.competed = Some((now, self.cwnd));
        self.cwnd = self.cwnd.min(self.carried(self.path.top_rate()));
        self.growth.begin();
        self.mode = Mode::Rise { calm: 0 };
        self.path.forget_standing();
    }

    /// Whether congestion with this evidence shows that others fill the queue: it is not this consumer's doing.
    fn others_fill(&self, evidence: Evidence) -> bool {
        let startup = matches!(self.mode, Mode::Startup(_));
        match evidence {
            Evidence::Queue { .. } | Evidence::Rank if startup => {
                self.path.share() < OTHERS_STARTUP
            }
            // Where jitter hides the capacity, the share may be anything.
            Evidence::Queue { .. } | Evidence::Rank => {
                self.path.hides_capacity() || self.path.share() < OTHERS
            }
            Evidence::Mark => {
                !startup && (self.path.hides_capacity() || self.path.top_share() < MARKED_SHARE)
            }
            Evidence::Nack | Evidence::ShortPath => false,
        }
    }

    /// Window at the end of a recent competition.
    fn competed_recently(&self, now: Instant) -> Option<f64> {
        let (at, window) = self.competed?;
        (now.since(at).as_secs_f64() < self.patience).then_some(window)
    }

    /// Begins a competition with a reduced window. If one ended recently, drains have left the queue to others since.
    fn give_way(&mut self, now: Instant) {
        let startup = matches!(self.mode, Mode::Startup(_));
        let excess = if startup { 2.0 } else { 1.0 };
        let before =
            self.competed_recently(now).filter(|window| !startup && *window >= EMPTY_WINDOW);
        self.cwnd = self.cwnd.max(before.unwrap_or(0.0));
        self.cubic = Cubic::default();
        self.cwnd = self.cubic.decrease(now, self.cwnd / excess).max(LEAST);
        self.compete(now);
    }

    /// Reacts to a loss by its cause; true if that is congestion.
    pub(super) fn react(&mut self, now: Instant, loss: &Loss, cause: LossCause) -> bool {
        let LossCause::Congestion(evidence) = cause else { return false };
        let left = match evidence {
            Evidence::Mark => self.path.left_by_mark(),
            Evidence::Nack => self.settings.beta,
            Evidence::Queue { .. } | Evidence::Rank | Evidence::ShortPath => 1.0,
        };
        let queue = self.path.beside(loss.order);
        match self.mode {
            Mode::Compete(_) => {
                self.cwnd = self.cubic.decrease(now, self.cwnd).max(LEAST.min(self.cwnd));
            }
            _ if self.path.is_short() => {
                // A queue that cannot be measured cannot be drained. Start-up sends twice what the path carries.
                self.give_way(now);
            }
            Mode::Startup(_) | Mode::Rise { .. } if self.others_fill(evidence) => {
                // Drains would leave the queue to others, whose windows shrink at each loss and mark.
                self.patience = LEAST_PATIENCE;
                self.give_way(now);
            }
            Mode::Drain(_) => {}
            Mode::Startup(_) => self.drain(self.path.latest_rate(), queue),
            Mode::Rise { .. } => self.drain(self.path.top_rate(), queue),
        }
        self.cwnd = self.cwnd.min((left * self.cwnd).max(1.0));
        true
    }
}
