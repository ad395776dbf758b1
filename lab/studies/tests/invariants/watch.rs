//! A congestion control that checks the invariants of the default after each call.
use recoup_transport::congestion::{
    CongestionControl, Delivered, Loss, LossCause, LossKind, Recoup, RecoupSettings,
};
use recoup_transport::time::{Duration, Instant};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;

/// Rounds of a block, over which shares and rates are compared.
const BLOCK: u64 = 10;
/// Blocks at the beginning that are not judged: start-up overruns a queue once.
const STARTING: usize = 2;
/// Blocks that are remembered.
const BLOCKS: usize = 6;
/// Least transmissions of a block that is judged.
const ENOUGH: u64 = 200;

/// A wrong rule, in the place of one of the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The default itself.
    None,
    /// Each delivery counts three times.
    Thrice,
    /// Losses do not count.
    Deaf,
    /// The window of the last minute is kept.
    Kept,
    /// A loss is never beside a queue.
    Blind,
}

/// Findings of the checks in a simulation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Calls that were checked.
    pub(crate) steps: u64,
    /// Largest window over the bound of (a).
    pub(crate) widest: f64,
    /// Longest time in seconds beside a queue without a probe, (c).
    pub(crate) unprobed: f64,
    /// Largest excess of the estimate of losses over those called random, (d).
    pub(crate) unexplained: f64,
    /// Blocks of ten rounds in which a window half as large again only lost more, (b).
    pub(crate) vain: u64,
    /// Largest share of transmissions lost in a block, (e).
    pub(crate) wasted: f64,
    /// Losses and transmissions after start-up, (e).
    pub(crate) later: (u64, u64),
}

thread_local! {
    /// Base round trip of the simulated path in seconds, and what was found so far.
    pub(crate) static FOUND: RefCell<(f64, Found)> = RefCell::default();
}

/// Ten rounds.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    start: Instant,
    rounds: u64,
    delivered: u64,
    lost: u64,
    random: u64,
    window: f64,
    seconds: f64,
}

impl Block {
    fn rate(&self) -> f64 {
        self.delivered as f64 / self.seconds.max(1e-9)
    }

    fn random_share(&self) -> f64 {
        self.random as f64 / (self.delivered + self.lost).max(1) as f64
    }
}

/// The default, watched.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    inner: Recoup,
    init: f64,
    mutant: Mutant,
    arrivals: VecDeque<Instant>,
    /// Longest round trips of this and the last two seconds; most arrivals within one of this and the last half minute.
    longest: [f64; 2],
    longest_since: Instant,
    most: [usize; 2],
    most_since: Instant,
    is_short: bool,
    through: u64,
    floor: f64,
    /// Since when a queue stands, and the largest window since.
    queued: Option<(Instant, f64)>,
    rounds: u64,
    round: (u64, u64),
    loss: f64,
    block: Block,
    blocks: Vec<Block>,
    count: usize,
    kept: f64,
}

impl Watched {
    /// The default with this rule instead of its own.
    pub(crate) fn new(mutant: Mutant) -> Self {
        let settings = RecoupSettings::default();
        Self {
            inner: Recoup::new(settings),
            init: settings.init_cwnd,
            mutant,
            arrivals: VecDeque::new(),
            longest: [0.0; 2],
            longest_since: Instant::ZERO,
            most: [0; 2],
            most_since: Instant::ZERO,
            is_short: false,
            through: 0,
            floor: f64::INFINITY,
            queued: None,
            rounds: 0,
            round: (0, 0),
            loss: 0.0,
            block: Block::default(),
            blocks: Vec::new(),
            count: 0,
            kept: settings.init_cwnd,
        }
    }

    fn on_arrival(&mut self, now: Instant, rtt: Option<Duration>) {
        let seconds = |since: Instant| now.since(since).as_secs_f64();
        if seconds(self.longest_since) > 2.0 {
            (self.longest, self.longest_since) = ([0.0, self.longest[0]], now);
        }
        if let Some(rtt) = rtt {
            self.longest[0] = self.longest[0].max(rtt.as_secs_f64());
            self.floor = self.floor.min(rtt.as_secs_f64());
        }
        if seconds(self.most_since) > 32.0 {
            (self.most, self.most_since) = ([0, self.most[0]], now);
        }
        self.arrivals.push_back(now);
        let span = self.longest[0].max(self.longest[1]);
        while self.arrivals.front().is_some_and(|first| now.since(*first).as_secs_f64() > span) {
            self.arrivals.pop_front();
        }
        self.most[0] = self.most[0].max(self.arrivals.len());
    }

    fn end_round(&mut self, now: Instant, highest: u64) {
        self.through = highest;
        let base = FOUND.with_borrow(|(base, _)| *base);
        let stands = self.floor > 1.25 * base && self.floor.is_finite();
        self.queued = self.queued.filter(|_| stands).or(stands.then_some((now, 0.0)));
        self.floor = f64::INFINITY;
        let block = &mut self.block;
        block.rounds += 1;
        block.window += self.inner.window();
        if block.rounds < BLOCK {
            return;
        }
        let mut block =
            std::mem::replace(&mut self.block, Block { start: now, ..Block::default() });
        block.seconds = now.since(block.start).as_secs_f64();
        self.count += 1;
        if block.delivered + block.lost < ENOUGH || self.count <= STARTING {
            return;
        }
        let vain = self.blocks.iter().any(|before| {
            block.window >= 1.5 * before.window
                && block.rate() <= 1.05 * before.rate()
                && block.random_share() >= before.random_share() + 0.1
        });
        FOUND.with_borrow_mut(|(_, found)| {
            found.wasted =
                found.wasted.max(block.lost as f64 / (block.delivered + block.lost) as f64);
            found.vain += u64::from(vain);
            found.later.0 += block.lost;
            found.later.1 += block.delivered + block.lost;
        });
        self.blocks.push(block);
        if self.blocks.len() > BLOCKS {
            self.blocks.remove(0);
        }
    }

    fn check(&mut self, now: Instant) {
        let window = self.window();
        let times = if self.is_short { 7.0 } else { 3.0 };
        let bound = times * self.most[0].max(self.most[1]) as f64 + self.init;
        let mut probe = 0.0;
        if let Some((since, widest)) = &mut self.queued {
            *widest = widest.max(window);
            probe = now.since(*since).as_secs_f64();
            if window <= 0.8 * *widest || window <= 3.0 {
                (*since, *widest) = (now, window);
            }
        }
        let excess = self.inner.explained_loss().1 - self.loss;
        FOUND.with_borrow_mut(|(_, found)| {
            found.steps += 1;
            found.widest = found.widest.max(window / bound);
            found.unprobed = found.unprobed.max(probe);
            found.unexplained = found.unexplained.max(excess);
        });
    }
}

impl CongestionControl for Watched {
    fn window(&self) -> f64 {
        if self.mutant == Mutant::Kept { self.kept } else { self.inner.window() }
    }

    fn ssthresh(&self) -> f64 {
        self.inner.ssthresh()
    }

    fn pacing_rate(&self, remaining: Option<u64>) -> Option<f64> {
        self.inner.pacing_rate(remaining)
    }

    fn least_timeout(&self) -> Option<Duration> {
        self.inner.least_timeout()
    }

    fn silence_timeout(&self) -> Option<Duration> {
        self.inner.silence_timeout()
    }

    fn on_delivered(&mut self, now: Instant, delivered: &Delivered) {
        self.is_short |= delivered.remaining.is_some_and(|left| left <= 128);
        self.on_arrival(now, delivered.rtt);
        let times = if self.mutant == Mutant::Thrice { 3 } else { 1 };
        for _ in 0..times {
            self.inner.on_delivered(now, delivered);
        }
        self.kept = self.kept.max(self.inner.window());
        self.round.0 += 1;
        self.block.delivered += 1;
        let rounds = self.inner.explained_loss().0;
        if rounds != self.rounds && rounds > 1 {
            let (delivered, random) = std::mem::take(&mut self.round);
            let share = random as f64 / (delivered + random).max(1) as f64;
            self.loss += (share - self.loss) / 8.0;
        }
        if rounds == 1 && self.rounds == 0 {
            self.round = (0, 0);
        }
        self.rounds = rounds;
        if delivered.order > self.through {
            self.end_round(now, delivered.highest_order);
        }
        self.check(now);
    }

    fn cause(&self, loss: &Loss) -> Option<LossCause> {
        self.inner.cause(loss)
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) -> bool {
        let cause = self.inner.cause(loss);
        match loss.kind {
            LossKind::Mark => self.round.0 += 1,
            _ => {
                let random = u64::from(cause == Some(LossCause::Random));
                self.round.1 += random;
                self.block.random += random;
                self.block.lost += 1;
            }
        }
        let event = match self.mutant {
            Mutant::Deaf => false,
            Mutant::Blind => {
                self.inner.on_loss(now, &Loss { order: loss.order + (1 << 40), ..*loss })
            }
            _ => self.inner.on_loss(now, loss),
        };
        self.check(now);
        event
    }

    fn on_repaired(&mut self, now: Instant, loss: &Loss) -> bool {
        self.inner.on_repaired(now, loss)
    }

    fn set_limit(&mut self, max_window: f64) {
        self.inner.set_limit(max_window);
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("watched")
    }
}
