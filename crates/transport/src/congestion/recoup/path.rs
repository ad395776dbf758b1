//! Facts about the path: base round trip, queueing delay, rounds, jitter, delivery rate, loss.
//!
//! All judgements are on the queueing delay: the excess of a round trip over the base of its path class. The round
//! trip itself is not used, so caches and several producers do not look like congestion.
use super::super::cause::{Evidence, LossCause, Queues};
use super::super::delivery_rate::DeliveryRate;
use super::super::extreme::Extreme;
use super::super::{Delivered, Loss};
use super::class::{Above, Classes, Sample};
use super::compete::Bottleneck;
use super::constants::{
    BASE_SPAN, BURST_FALLS, BURST_RISES, FAR_WAITS, LONG_ROUND, LONGEST_SPAN, MARKED_SPAN,
    RECENT_ROUNDS, REORDER_ANSWERS, REORDER_SAMPLES, REORDER_SHARE, SHARED_BASE_SPAN, SHORT_PATH,
    SILENT_FIRST, SILENT_ROUNDS, STANDING, STANDING_PACKETS, STANDING_PART, STANDING_RATE,
    STANDING_SAMPLES, WAIT,
};
use super::heavy::HeavyLoss;
use super::jump::Jump;
use super::marks::Marks;
use super::round::{Round, RoundFacts};
use crate::time::{Duration, Instant};

/// Facts of one delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seen {
    /// Its queueing delay, seconds.
    pub(super) queue: Option<f64>,
    /// The round that it ended.
    pub(super) round: Option<RoundFacts>,
    /// The path has changed: its state was reset.
    pub(super) moved: bool,
    /// Delivery rate while a queue stood, if one stands.
    pub(super) standing: Option<f64>,
    /// Further path classes were found: the apparent queue was none.
    pub(super) split: bool,
}

/// State of the path, from its answers. Times are seconds, rates deliveries per second.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    classes: Classes,
    queues: Queues,
    rates: DeliveryRate,
    pub(super) bottleneck: Bottleneck,
    jump: Jump,
    round: Round,
    rounds: u64,
    /// Scheduling delays of processes may exceed the round trip.
    short: bool,
    /// Highest send order answered by the nearest source without a queue, for a segment sent once.
    answered: u64,
    longest: Extreme,
    smoothed: Option<f64>,
    /// Mean excess of the queueing delay over its floor while no queue stands.
    spread: f64,
    /// Excess by the waits of the far process, if it waits for its processor as this one does.
    waits: f64,
    /// Gap between bursts of deliveries, as on links that aggregate frames.
    burst: f64,
    /// Share of answers that others of the same source overtook, smoothed.
    overtaken: f64,
    /// Deliveries in each of the latest rounds.
    delivered: [u64; RECENT_ROUNDS],
    /// Share of transmissions lost at random, smoothed over rounds.
    loss: f64,
    heavy: HeavyLoss,
    marks: Marks,
    /// Time of the latest mark.
    marked: Option<Instant>,
    last_active: Instant,
    /// Highest send order at the first answer after a silence: what was lost up to here, the silence lost.
    resumed: u64,
}

impl Path {
    pub(super) fn new() -> Self {
        Self {
            classes: Classes::new(Extreme::new(false, BASE_SPAN)),
            queues: Queues::new(),
            rates: DeliveryRate::new(),
            bottleneck: Bottleneck::new(),
            jump: Jump::default(),
            round: Round::default(),
            rounds: 0,
            short: false,
            answered: 0,
            longest: Extreme::new(true, LONGEST_SPAN),
            smoothed: None,
            spread: 0.0,
            waits: 0.0,
            burst: 0.0,
            overtaken: 0.0,
            delivered: [0; RECENT_ROUNDS],
            loss: 0.0,
            heavy: HeavyLoss::new(),
            marks: Marks::default(),
            marked: None,
            last_active: Instant::ZERO,
            resumed: 0,
        }
    }

    /// Minimum recent round trip; on a short path the longest scheduling delay.
    pub(super) fn base(&self) -> f64 {
        if self.short { WAIT } else { self.classes.base().unwrap_or(0.0) }
    }

    /// Whether scheduling delays of processes may exceed the round trip.
    pub(super) fn is_short(&self) -> bool {
        self.short
    }

    fn see_length(&mut self) {
        self.short = self.classes.mean().is_some_and(|base| base < SHORT_PATH);
    }

    /// Mean base round trip of the answers: that of their classes; on a short path the longest scheduling delay.
    pub(super) fn mean_base(&self) -> f64 {
        if self.short { WAIT } else { self.classes.mean().unwrap_or(0.0) }
    }

    /// Smoothed round trip, once there is a sample.
    pub(super) fn smoothed(&self) -> Option<f64> {
        self.smoothed
    }

    /// Longest recent round trip.
    pub(super) fn longest(&self) -> Option<f64> {
        self.longest.get()
    }

    /// Rate of the last round; 0 before any.
    pub(super) fn rate(&self) -> f64 {
        self.rates.last()
    }

    /// Highest recent rate.
    pub(super) fn top_rate(&self) -> f64 {
        self.rates.top(self.burst > self.base() / 10.0)
    }

    /// Deliveries at the highest recent rate in the longest recent round trip.
    pub(super) fn most_delivered(&self) -> f64 {
        self.top_rate() * self.longest().unwrap_or(0.0)
    }

    /// Most deliveries in one of the recent rounds, the current one included.
    pub(super) fn most_in_round(&self) -> f64 {
        self.delivered.iter().fold(self.round.delivered, |most, of| most.max(*of)) as f64
    }

    /// Highest recent rate, the current round included.
    pub(super) fn latest_rate(&self) -> f64 {
        self.rates.latest().max(self.top_rate())
    }

    /// Share of the bottleneck in the last round; infinite if its capacity is unknown.
    pub(super) fn share(&self) -> f64 {
        self.rate() / self.bottleneck.capacity()
    }

    /// Share of the bottleneck in the fastest recent round; infinite if its capacity is unknown.
    pub(super) fn top_share(&self) -> f64 {
        self.top_rate() / self.bottleneck.capacity()
    }

    /// Whether deliveries in bunches hide the capacity of the bottleneck.
    pub(super) fn hides_capacity(&self) -> bool {
        self.bottleneck.capacity() == 0.0 && self.jitter() > 0.0
    }

    /// Whether there was a mark recently.
    pub(super) fn is_marked(&self, now: Instant) -> bool {
        self.marked.is_some_and(|at| now.since(at) < MARKED_SPAN)
    }

    /// Completed rounds, and the share of transmissions lost at random, smoothed over them.
    pub(super) fn explained_loss(&self) -> (u64, f64) {
        (self.rounds, self.loss)
    }

    /// Segments that the path carries without a queue at this rate.
    pub(super) fn carried(&self, rate: f64) -> f64 {
        let base = self.mean_base() + self.spread.max(self.waits);
        libm::ceil(rate * base / (1.0 - self.loss.min(0.5)))
    }

    /// Segments that the path carries at this rate with the usual loss.
    pub(super) fn carried_without_excess(&self, rate: f64) -> f64 {
        rate * self.classes.mean().unwrap_or(0.0) / (1.0 - self.heavy.usual().min(0.5))
    }

    /// Whether a share of lost transmissions exceeds the usual one by this much. With several sources late answers of
    /// a far one look lost.
    pub(super) fn exceeds_usual(&self, loss: f64, by: f64) -> bool {
        self.classes.is_single() && loss > self.heavy.usual() + by
    }

    /// Factor of the window at a congestion mark.
    pub(super) fn left_by_mark(&self) -> f64 {
        self.marks.left()
    }

    /// Records a marked answer, which was delivered nevertheless.
    pub(super) fn on_marked(&mut self, now: Instant) {
        self.marks.on_marked();
        self.marked = Some(now);
        self.rates.on_delivered(now, self.mean_base());
        self.round.delivered += 1;
        self.last_active = now;
    }

    /// Threshold of a standing queue at this rate.
    pub(super) fn threshold(&self, rate: f64) -> f64 {
        self.threshold_beyond(self.mean_base(), rate)
    }

    /// Standing-queue threshold of a class with that base round trip.
    fn threshold_beyond(&self, base: f64, rate: f64) -> f64 {
        let part = STANDING_PART * base;
        if rate <= 0.0 {
            return part;
        }
        let standing = STANDING * libm::sqrt(STANDING_RATE / rate);
        let wait = if self.short { WAIT } else { 0.0 };
        let least = wait.max(STANDING_PACKETS / self.rates.fastest().max(rate));
        standing.min(part).max(least) + 2.0 * self.jitter()
    }

    /// Jitter of the delays, by packets and by bursts, seconds. Jitter that changes the order leaves the least delay of
    /// half a round trip as it is, and does not count.
    pub(super) fn jitter(&self) -> f64 {
        self.burst + self.waits.max(if self.reorders() { 0.0 } else { self.spread })
    }

    /// Whether jitter changes the order of many answers.
    pub(super) fn reorders(&self) -> bool {
        self.overtaken > REORDER_SHARE && self.classes.is_single()
    }

    /// Whether jitter determines the threshold of a standing queue at this rate, so that the queue may be none.
    pub(super) fn is_jittery(&self, rate: f64) -> bool {
        3.0 * self.jitter() >= self.threshold(rate)
    }

    /// The cause of a loss.
    pub(super) fn cause(&self, loss: &Loss) -> LossCause {
        // A packet in the queue may be of others.
        let rate = self.rate().max(self.bottleneck.capacity());
        match self.queues.judge(loss, self.rounds, rate) {
            LossCause::Random if self.short => LossCause::Congestion(Evidence::ShortPath),
            cause => cause,
        }
    }

    /// Whether a queueing delay, in seconds, indicates a full queue.
    pub(super) fn is_full(&self, delay: f64) -> bool {
        self.queues.is_full(delay)
    }

    /// Queueing delay next to a transmission; 0 if none is known.
    pub(super) fn beside(&self, order: u64) -> f64 {
        self.queues.beside(order).unwrap_or(0.0)
    }

    /// Sets whether others fill the queue. They hide the base round trip, which is then remembered for longer.
    pub(super) fn set_shared(&mut self, shared: bool) {
        self.classes.set_span(if shared { SHARED_BASE_SPAN } else { BASE_SPAN });
    }

    /// Records the wait of this process for its processor. Both ends of a path within a machine share processors.
    pub(super) fn on_waited(&mut self, wait: Option<Duration>) {
        self.waits = wait.map_or(0.0, |wait| FAR_WAITS * wait.as_secs_f64());
    }

    /// Records the mean excess of the queueing delay over its floor without a queue.
    pub(super) fn learn_spread(&mut self, excess: f64) {
        self.spread += (excess - self.spread) / 4.0;
    }

    /// Records a lost transmission and its cause.
    pub(super) fn on_lost(&mut self, loss: &Loss, cause: LossCause) {
        self.queues.on_lost(loss);
        if loss.order <= self.resumed {
            return;
        }
        self.round.lost += 1;
        if !matches!(cause, LossCause::Congestion(_)) {
            self.round.random += 1;
            self.heavy.on_lost(loss.order);
        }
    }

    /// Records a delivery, with the window of that time.
    pub(super) fn on_delivered(
        &mut self,
        now: Instant,
        window: f64,
        delivered: &Delivered,
    ) -> Seen {
        self.bottleneck.on_delivered(now, delivered);
        self.rates.on_delivered(now, self.mean_base());
        let in_use = f64::from(delivered.in_flight) + 1.0 >= libm::floor(window);
        if self.smoothed.is_some() && self.is_silent(now) {
            self.resumed = delivered.highest_order;
            (self.round.lost, self.round.random) = (0, 0);
            self.heavy.forget();
        }
        self.round.on_delivered(now.since(self.last_active).as_secs_f64(), in_use);
        self.last_active = now;
        let mut seen = Seen::default();
        if let Some(rtt) = delivered.rtt {
            let rtt = rtt.as_secs_f64().min(1e6);
            if let Some(base) = self.jump.add(now, delivered.order, rtt, self.base()) {
                if self.classes.explain(rtt) {
                    // The source is known, but a nearer one has answered recently.
                    self.rates.forget(now);
                } else {
                    self.forget(now, base);
                }
                seen.moved = true;
            }
            let overtaken = delivered.order < self.answered;
            self.overtaken += (f64::from(u8::from(overtaken)) - self.overtaken) / REORDER_ANSWERS;
            if self.classes.is_near(rtt) {
                self.answered = self.answered.max(delivered.order);
            }
            let sample = Sample { rtt, overtaken, provider: delivered.path };
            seen.queue = Some(self.sample(now, &sample, delivered.order));
            seen.split = self.look_for_classes(now);
            seen.standing = self.standing(now);
        }
        if delivered.order > self.round.through && self.is_round_over(now) {
            seen.round = self.end_round(now, delivered.highest_order);
        }
        seen
    }

    /// Whether nothing has arrived for longer than a short pause takes.
    pub(super) fn is_silent(&self, now: Instant) -> bool {
        let silence = self.smoothed.map_or(SILENT_FIRST, |rtt| SILENT_ROUNDS * rtt);
        now.since(self.last_active).as_secs_f64() > silence
    }

    /// Resets the state of the path, except for its base round trip.
    pub(super) fn forget(&mut self, now: Instant, base: f64) {
        self.classes = Classes::new(Extreme::new(false, BASE_SPAN));
        self.classes.add(now, &Sample { rtt: base, overtaken: false, provider: None });
        self.see_length();
        self.queues.forget(now);
        self.rates.forget(now);
        self.jump = Jump::default();
        self.bottleneck.forget_drains();
        self.spread = 0.0;
        self.smoothed = Some(base);
    }

    fn sample(&mut self, now: Instant, sample: &Sample, order: u64) -> f64 {
        let rtt = sample.rtt;
        self.longest.add(now, rtt);
        let smoothed = self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0);
        self.smoothed = Some(smoothed);
        let delivered = self.rates.delivered();
        let (class, queue) = self.classes.add(now, sample);
        let above = queue > self.threshold_beyond(self.classes.base_of(class), self.rate());
        self.classes.mark(now, class, above.then_some((delivered, queue)));
        self.queues.add(now, order, queue);
        self.round.on_sample(queue);
        self.see_length();
        queue
    }

    fn look_for_classes(&mut self, now: Instant) -> bool {
        let found = self.classes.look(now);
        if found {
            self.queues.forget(now);
            self.queues.set_sources(self.classes.len());
            self.rounds = 1;
        }
        found
    }

    /// Whether the sources of several classes have answered, not the nearest one alone.
    fn is_round_over(&self, now: Instant) -> bool {
        self.classes.is_single() || now.since(self.round.start).as_secs_f64() >= self.mean_base()
    }

    /// Delivery rate while a queue stood, if one stands: no sample was below the threshold for half a round trip.
    fn standing(&self, now: Instant) -> Option<f64> {
        let elapsed = |above: &Above| now.since(above.since).as_secs_f64();
        // Jitter that changes the order delays a few samples in a row by chance, but not all of a round.
        let round = self.most_in_round() as u64;
        let least = if self.reorders() { REORDER_SAMPLES.min(round) } else { STANDING_SAMPLES };
        let least = least.max(STANDING_SAMPLES);
        let stands = |(above, base): &(Above, f64)| {
            above.samples >= least && elapsed(above) >= base / 2.0 && elapsed(above) > 0.0
        };
        let (above, _) = self.classes.above().find(stands).filter(|_| self.rate() > 0.0)?;
        Some((self.rates.delivered() - above.delivered) as f64 / elapsed(&above))
    }

    /// Least queueing delay of the samples that indicate a standing queue.
    pub(super) fn standing_floor(&self) -> f64 {
        self.classes.above().map(|(above, _)| above.least).fold(0.0, f64::max)
    }

    /// Resets the detection of a standing queue, which then needs new samples.
    pub(super) fn forget_standing(&mut self) {
        self.classes.forget_above();
    }

    fn end_round(&mut self, now: Instant, highest_order: u64) -> Option<RoundFacts> {
        let round = std::mem::replace(&mut self.round, Round::new(now, highest_order));
        // A round that lasts longer repairs its own losses, or waits in a queue.
        let base = LONG_ROUND * self.mean_base();
        let part = match base > 0.0 {
            true => base / now.since(round.start).as_secs_f64().max(base),
            false => 1.0,
        };
        let place = (self.rounds % RECENT_ROUNDS as u64) as usize;
        self.delivered[place] = (round.delivered as f64 * part) as u64;
        self.rounds += 1;
        if self.rounds == 1 {
            return None;
        }
        self.rates.end_round(now, round.delivered, now.since(round.start));
        self.loss += (round.random_loss() - self.loss) / 8.0;
        self.marks.end_round(round.delivered);
        if self.rate() > 0.0 && round.in_use {
            let excess = (round.gap() - 1.0 / self.rate()).max(0.0).min(self.base() / 4.0);
            let gain = if excess > self.burst { BURST_RISES } else { BURST_FALLS };
            self.burst += gain * (excess - self.burst);
        }
        self.classes.end_round();
        self.queues.set_sources(self.classes.len());
        // Losses with several sources may be late answers of a far one, hidden by those of a nearer one.
        let heavy = self.heavy.end_round(now, round.delivered) && self.classes.is_single();
        Some(RoundFacts { heavy, ..round.facts() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::LossKind;
    use super::*;

    /// A path with answers of these round trips in milliseconds, one each tenth of it.
    fn path(rtts: impl IntoIterator<Item = f64>) -> (Path, bool) {
        answered((1..).zip(rtts))
    }

    /// A path with answers to transmissions of these send orders, and their round trips in milliseconds.
    fn answered(answers: impl IntoIterator<Item = (u64, f64)>) -> (Path, bool) {
        let (mut path, mut now, mut stood) = (Path::new(), Instant::ZERO, false);
        for (order, rtt) in answers {
            let rtt = Duration::from_secs_f64(rtt / 1e3);
            now += rtt / 10;
            let delivered = Delivered {
                path: None,
                segment: order,
                order,
                highest_order: order + 10,
                rtt: Some(rtt),
                srtt: None,
                min_rtt: None,
                in_flight: 10,
                advance: 1,
                remaining: None,
            };
            stood |= path.on_delivered(now, 10.0, &delivered).standing.is_some();
        }
        (path, stood)
    }

    #[test]
    fn waiting_process_is_no_queue() {
        let with_queue = |base: f64| {
            let calm = std::iter::repeat_n(base, 100);
            path(calm.chain(std::iter::repeat_n(base + 3.0, 100)))
        };
        let ((short, on_short), (long, on_long)) = (with_queue(0.2), with_queue(2.0));
        assert_eq!((short.is_short(), on_short), (true, false));
        assert_eq!((long.is_short(), on_long), (false, true));
        assert_eq!((short.base(), long.base()), (WAIT, 0.002));
        // Deliveries during a scheduling delay.
        assert_eq!(short.carried(1_000.0), 1_000.0 * WAIT);
    }

    #[test]
    fn jitter_that_changes_the_order_raises_no_threshold() {
        let threshold = |answers: &dyn Fn(u64) -> u64| {
            let (mut path, _) = answered((1..=200).map(|n| (answers(n), 40.0)));
            let before = path.threshold(1_000.0);
            (0..100).for_each(|_| path.learn_spread(0.002));
            path.threshold(1_000.0) - before
        };
        let in_order = threshold(&|n| n);
        assert!((in_order - 0.004).abs() < 1e-6, "twice the jitter: {in_order}");
        // Each second answer overtakes the one before it.
        assert_eq!(threshold(&|n| if n % 2 == 0 { n - 1 } else { n + 1 }), 0.0);
    }

    #[test]
    fn waits_of_this_process_count_as_jitter() {
        let (mut path, _) = path(std::iter::repeat_n(40.0, 200));
        let before = path.threshold(1_000.0);
        path.on_waited(Some(Duration::from_millis(1)));
        assert!((path.threshold(1_000.0) - before - 0.008).abs() < 1e-9);
        path.on_waited(None);
        assert_eq!(path.threshold(1_000.0), before);
    }

    /// Whether losses are heavy in a round with half of it lost, after rounds without loss, with this many providers.
    fn is_heavy(providers: u64) -> bool {
        let (mut path, mut heavy) = (Path::new(), false);
        for order in 1..=800 {
            let delivered = Delivered {
                path: Some(order % providers),
                segment: order,
                order,
                highest_order: order + 10,
                rtt: Some(Duration::from_millis(20)),
                srtt: None,
                min_rtt: None,
                in_flight: 10,
                advance: 1,
                remaining: None,
            };
            if order > 400 {
                let loss = Loss {
                    kind: LossKind::Order,
                    order: 2 * order,
                    highest_order: order + 10,
                    high_data: 0,
                    high_interest: 0,
                    in_flight: 10,
                    evidence: 1,
                    srtt: None,
                    min_rtt: None,
                };
                path.on_lost(&loss, LossCause::Random);
            }
            let seen = path.on_delivered(Instant::from_millis(2 * order), 10.0, &delivered);
            heavy |= seen.round.is_some_and(|round| round.heavy);
        }
        heavy
    }

    #[test]
    fn losses_beside_several_sources_are_not_heavy() {
        assert!(is_heavy(1));
        assert!(!is_heavy(2));
    }

    #[test]
    fn short_path_queue_outlasts_a_waiting_process() {
        let calm = std::iter::repeat_n(0.2, 100);
        assert!(path(calm.chain(std::iter::repeat_n(30.0, 100))).1);
    }
}
