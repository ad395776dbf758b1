//! Congestion marks in proportion: the larger the share of marked answers, the smaller the window becomes.
//!
//! Source: DCTCP (RFC 8257, 3.3): a share smoothed by 1/16 a round, half of which the window loses.
//! Difference: it is 0 at first. A mark also drains the queue (`react.rs`), which is enough where marks are rare.
use super::constants::MARKS_GAIN;

/// Share of answers with congestion marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Marks {
    /// Marked answers of this round.
    marked: u64,
    /// Share of marked answers, smoothed over rounds.
    share: f64,
}

impl Marks {
    /// Records a marked answer.
    pub(super) fn on_marked(&mut self) {
        self.marked += 1;
    }

    /// Ends a round with this many answers.
    pub(super) fn end_round(&mut self, delivered: u64) {
        let share = self.marked as f64 / delivered.max(1) as f64;
        self.share += (share.min(1.0) - self.share) * MARKS_GAIN;
        self.marked = 0;
    }

    /// Factor of the window at a mark, from 1/2 to 1.
    pub(super) fn left(&self) -> f64 {
        1.0 - self.share / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_shrinks_with_the_share_of_marks() {
        let after = |rounds: u32, marked: u64| {
            let mut marks = Marks::default();
            for _ in 0..rounds {
                (0..marked).for_each(|_| marks.on_marked());
                marks.end_round(16);
            }
            marks.left()
        };
        assert_eq!(after(100, 0), 1.0);
        assert_eq!(after(1, 16), 1.0 - 1.0 / 32.0);
        assert!((0.87..0.88).contains(&after(200, 4)), "a quarter is marked");
        assert!((0.5..0.51).contains(&after(200, 16)));
    }
}
