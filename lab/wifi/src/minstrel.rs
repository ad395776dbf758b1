//! Minstrel-HT: the rate that gets most through, found by trying.
//!
//! Fietkau, `minstrel_ht` of Linux, as ns-3.37 has it: groups by guard interval and width, a weighted mean
//! of success per 50 ms, a chain of retries, and samples of other rates.
//!
//! Differences: one stream only. A try counts for the rate that the station meant to use, in the order in
//! which the answers come.
use super::rate::{Band, Rate};
use recoup_core::random::Rng;

const UPDATE_NANOS: u64 = 50_000_000;
/// Weight of what was known before, in per cent.
const OLD: f64 = 75.0;
const COLUMNS: usize = 10;
const RATES: usize = 8;
/// Bytes of the frame by whose time rates are compared.
const FRAME_BYTES: f64 = 1_200.0;
/// Longest time that the tries at one rate may take.
const SEGMENT_NANOS: f64 = 6e6;
const MOST_TRIES: u32 = 7;
const SLOT_NANOS: f64 = 9_000.0;
/// SIFS and a block acknowledgement at the lowest rate.
const ANSWER_NANOS: f64 = 16_000.0 + 68_000.0;

#[derive(Clone, Copy, Debug)]
struct Entry {
    rate: Rate,
    attempts: u32,
    successes: u32,
    /// Mean success, in per cent.
    mean: f64,
    throughput: f64,
    was_successful: bool,
    skipped: u32,
    tries: u32,
    first_nanos: f64,
    next_nanos: f64,
}

/// Statistics of one station about the rates to another.
#[derive(Clone, Debug)]
pub(super) struct Minstrel {
    /// Group after group, eight rates each.
    entries: Vec<Entry>,
    /// By group and column: the order in which rates are sampled.
    samples: Vec<[[u8; RATES]; COLUMNS]>,
    /// By group: place in its column, and column.
    cursors: Vec<(usize, usize)>,
    group: usize,
    current: usize,
    best: usize,
    second: usize,
    surest: usize,
    is_sampling: bool,
    failures: u32,
    update_at: u64,
    sample_wait: u32,
    sample_tries: u32,
    sample_count: u32,
    slow_samples: u32,
    packets: u64,
    aggregates: u32,
    aggregated: u32,
    aggregate_mean: f64,
}

impl Minstrel {
    pub(super) fn new(now: u64, wide: bool, short_guard: bool, rng: &mut Rng) -> Self {
        let mut groups = Vec::new();
        for wide in [false, true].into_iter().take(1 + usize::from(wide)) {
            for short in [false, true].into_iter().take(1 + usize::from(short_guard)) {
                groups.push((wide, short));
            }
        }
        let entries = groups.iter().flat_map(|(wide, short_guard)| {
            (0..RATES as u8).map(|mcs| Entry::new(mcs, *wide, *short_guard))
        });
        let mut minstrel = Self {
            entries: entries.collect(),
            samples: groups.iter().map(|_| columns(rng)).collect(),
            cursors: vec![(0, 0); groups.len()],
            group: 0,
            current: 0,
            best: 0,
            second: 0,
            surest: 0,
            is_sampling: false,
            failures: 0,
            update_at: now + UPDATE_NANOS,
            sample_wait: 0,
            sample_tries: 4,
            sample_count: 8 * groups.len() as u32,
            slow_samples: 0,
            packets: 0,
            aggregates: 0,
            aggregated: 0,
            aggregate_mean: 1.0,
        };
        minstrel.next_sample();
        minstrel
    }

    /// The rate of the next frame.
    pub(super) fn rate(&self) -> Rate {
        self.entries[self.current].rate
    }

    /// Result of an aggregate: numbers of MPDUs received and not received.
    pub(super) fn on_aggregate(&mut self, now: u64, received: u32, lost: u32) {
        self.aggregates += 1;
        self.aggregated += received + lost;
        self.count(received, lost);
        let entry = &mut self.entries[self.current];
        entry.successes += received;
        entry.attempts += received + lost;
        if received == 0 && self.failures < self.most_failures() {
            self.fall_back();
        } else {
            self.conclude(now);
        }
    }

    /// A single frame was acknowledged.
    pub(super) fn on_success(&mut self, now: u64) {
        let entry = &mut self.entries[self.current];
        entry.successes += 1;
        entry.attempts += 1;
        self.count(1, 0);
        self.conclude(now);
    }

    /// A single frame was not acknowledged, and will be sent again.
    pub(super) fn on_failure(&mut self) {
        if self.failures < self.most_failures() {
            self.entries[self.current].attempts += 1;
            self.fall_back();
        }
    }

    /// A single frame was given up.
    pub(super) fn on_final_failure(&mut self, now: u64) {
        self.count(0, 1);
        self.conclude(now);
    }

    // --- retries --------------------------------------------------------------------------------

    fn most_failures(&self) -> u32 {
        let tries = |place: usize| self.entries[place].tries;
        let first = if self.is_sampling { 1 } else { tries(self.best) };
        first + tries(self.second) + tries(self.surest)
    }

    /// The next rate of the chain.
    fn fall_back(&mut self) {
        self.failures += 1;
        let first = if self.is_sampling { 1 } else { self.entries[self.best].tries };
        self.current = if !self.is_sampling && self.failures < first {
            self.best
        } else if self.failures < first + self.entries[self.second].tries {
            self.second
        } else {
            self.surest
        };
    }

    fn conclude(&mut self, now: u64) {
        self.is_sampling = false;
        self.failures = 0;
        if now >= self.update_at {
            self.update(now);
        }
        self.current = self.choose();
    }

    // --- statistics -----------------------------------------------------------------------------

    fn count(&mut self, received: u32, lost: u32) {
        self.packets += u64::from(received + lost);
        if self.sample_wait == 0 && self.sample_tries == 0 && self.sample_count > 0 {
            self.sample_wait = 16 + (2.0 * self.aggregate_mean) as u32;
            self.sample_tries = 1;
            self.sample_count -= 1;
        }
    }

    fn update(&mut self, now: u64) {
        self.update_at = now + UPDATE_NANOS;
        self.slow_samples = 0;
        if let Some(length) = self.aggregated.checked_div(self.aggregates) {
            self.aggregate_mean =
                (f64::from(length) * (100.0 - OLD) + self.aggregate_mean * OLD) / 100.0;
            (self.aggregates, self.aggregated) = (0, 0);
        }
        (self.best, self.second, self.surest) = (0, 0, 0);
        for place in 0..self.entries.len() {
            self.entries[place].update();
            if self.entries[place].throughput > 0.0 {
                self.rank(place);
            }
        }
        self.sample_count = 8 * self.samples.len() as u32;
        for place in [self.best, self.second, self.surest] {
            self.entries[place].tries = self.tries(place);
        }
    }

    fn rank(&mut self, place: usize) {
        let value = |place: usize| (self.entries[place].throughput, self.entries[place].mean);
        let is_better = |other: usize| value(place) > value(other);
        if is_better(self.best) {
            (self.best, self.second) = (place, self.best);
        } else if is_better(self.second) {
            self.second = place;
        }
        let (this, surest) = (&self.entries[place], &self.entries[self.surest]);
        let is_surer = match this.mean > 75.0 {
            true => this.throughput > surest.throughput,
            false => this.mean > surest.mean,
        };
        if is_surer {
            self.surest = place;
        }
    }

    /// Tries of a rate in a row.
    fn tries(&self, place: usize) -> u32 {
        let entry = &self.entries[place];
        if entry.mean < 1.0 {
            return 1;
        }
        let frame = entry.first_nanos + entry.next_nanos * (self.aggregate_mean - 1.0);
        let mut window = 15_u32;
        let mut contention = || {
            let time = f64::from(window / 2) * SLOT_NANOS;
            window = ((window + 1) * 2).min(1023);
            time
        };
        let mut spent = contention() + contention() + 2.0 * (frame + ANSWER_NANOS);
        let mut tries = 2;
        loop {
            spent += contention() + frame + ANSWER_NANOS;
            if spent >= SEGMENT_NANOS {
                return tries;
            }
            tries += 1;
            if tries >= MOST_TRIES {
                return tries;
            }
        }
    }

    // --- samples --------------------------------------------------------------------------------

    fn choose(&mut self) -> usize {
        if self.packets == 0 {
            return self.best;
        }
        if self.sample_wait == 0 && self.sample_tries != 0 {
            let place = self.sample();
            if self.is_worth_a_try(place) {
                self.is_sampling = true;
                self.sample_tries -= 1;
                return place;
            }
        }
        self.sample_wait = self.sample_wait.saturating_sub(1);
        self.best
    }

    fn is_worth_a_try(&mut self, place: usize) -> bool {
        let entry = &self.entries[place];
        if [self.best, self.second, self.surest].contains(&place) || entry.mean > 95.0 {
            return false;
        }
        if entry.first_nanos < self.entries[self.second].first_nanos {
            return true;
        }
        self.slow_samples += 1;
        entry.skipped >= 20 && self.slow_samples <= 2
    }

    fn sample(&mut self) -> usize {
        let (row, column) = self.cursors[self.group];
        let place = self.group * RATES + usize::from(self.samples[self.group][column][row]);
        self.next_sample();
        place
    }

    fn next_sample(&mut self) {
        self.group = (self.group + 1) % self.samples.len();
        let (row, column) = &mut self.cursors[self.group];
        *row += 1;
        if *row >= RATES {
            (*row, *column) = (0, (*column + 1) % COLUMNS);
        }
    }
}

impl Entry {
    fn new(mcs: u8, wide: bool, short_guard: bool) -> Self {
        let rate = Rate::Ht { mcs, wide, short_guard };
        let symbols = |bits: f64| bits / rate.symbol_bits() as f64 * rate.symbol_nanos() as f64;
        let (bytes, header) = (8.0 * FRAME_BYTES, rate.header_nanos() as f64);
        Self {
            rate,
            attempts: 0,
            successes: 0,
            mean: 0.0,
            throughput: 0.0,
            was_successful: false,
            skipped: 0,
            tries: 1,
            first_nanos: header + symbols(bytes + 22.0) + rate.extension_nanos(Band::Five) as f64,
            next_nanos: symbols(bytes),
        }
    }

    fn update(&mut self) {
        if self.attempts == 0 {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        let now = f64::from(100 * self.successes / self.attempts);
        self.mean = match self.was_successful {
            false => now,
            true => (now * (100.0 - OLD) + self.mean * OLD) / 100.0,
        };
        self.throughput = match self.mean < 10.0 {
            true => 0.0,
            false => self.mean.min(90.0) / self.first_nanos,
        };
        self.was_successful |= self.successes > 0;
        (self.attempts, self.successes) = (0, 0);
    }
}

/// Orders of the rates of a group, each at random.
fn columns(rng: &mut Rng) -> [[u8; RATES]; COLUMNS] {
    std::array::from_fn(|_| {
        let mut column = [0; RATES];
        let mut is_taken = [false; RATES];
        for rate in 0..RATES {
            let mut row = (rate + rng.below(RATES as u64 + 1) as usize) % RATES;
            while is_taken[row] {
                row = (row + 1) % RATES;
            }
            is_taken[row] = true;
            column[row] = rate as u8;
        }
        column
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds it aggregates of 20 that are received with the probability that `success` gives per rate;
    /// returns the share of each rate in the second half.
    fn run(success: impl Fn(Rate) -> f64) -> Vec<(Rate, f64)> {
        let mut rng = Rng::from_seed(1);
        let mut minstrel = Minstrel::new(0, true, true, &mut rng);
        let mut counts: Vec<(Rate, f64)> = Vec::new();
        for turn in 0..4_000_u64 {
            let rate = minstrel.rate();
            let received = (0..20).filter(|_| rng.unit_f64() < success(rate)).count() as u32;
            minstrel.on_aggregate(turn * 2_000_000, received, 20 - received);
            if turn >= 2_000 {
                match counts.iter_mut().find(|(known, _)| *known == rate) {
                    Some((_, count)) => *count += 1.0 / 2_000.0,
                    None => counts.push((rate, 1.0 / 2_000.0)),
                }
            }
        }
        counts.sort_by(|a, b| b.1.total_cmp(&a.1));
        counts
    }

    #[test]
    fn fastest_rate_is_chosen_if_all_work() {
        let shares = run(|_| 1.0);
        assert_eq!(shares[0].0.to_string(), "ht-7-40-short");
        assert!(shares[0].1 > 0.9, "{shares:?}");
    }

    #[test]
    fn failing_rates_are_avoided_and_sampled() {
        let shares = run(|rate| f64::from(u8::from(rate.bits() <= 61_000_000)));
        assert_eq!(shares[0].0.to_string(), "ht-3-40-short");
        assert!(shares[0].1 > 0.75, "{shares:?}");
        assert!(shares.iter().any(|(rate, _)| rate.bits() > 61_000_000), "{shares:?}");
    }

    #[test]
    fn lossy_fast_rate_loses_to_slow_one() {
        let shares = run(|rate| if rate.bits() > 100_000_000 { 0.3 } else { 1.0 });
        assert!(shares[0].0.bits() <= 100_000_000, "{shares:?}");
    }
}
