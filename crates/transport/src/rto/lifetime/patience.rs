//! Common parts of `ccntimer` and `wma`: the first answer that counts, and the effect of timeouts on the lifetime.
//!
//! Source: von Rotz et al. (2015), both listings: answers count from the Γ-th on (`from`); each timeout lengthens the
//! lifetime by ε (`epsilon`); the Φ-th of one segment (`phi`) puts it back to 4 s, and the estimate begins anew. The
//! first clean answer only begins it: the lifetime follows from the second on.
//!
//! Differences: the maximum is 4 s (the listings print `max` where the text has a maximum). Γ is as listed: the count
//! includes the current answer and all before it, after timeouts or not. Φ is as in the text (`Tout ≥ Φ`);
//! `phi-strict=true` is the listing's `Tout > Φ`. `update-on-init=true` lets the lifetime follow the first answer
//! without timeouts, too.
use super::super::smoothed::Smoothed;
use super::super::{Answer, FACTOR};
use super::{LEAST, Lifetime};
use crate::spec::Description;

/// The lifetime, the estimate, and the rules of both.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Patience {
    /// Γ.
    from: u64,
    /// ε.
    epsilon: f64,
    /// Φ.
    phi: u32,
    phi_strict: bool,
    update_on_init: bool,
    pub(super) lifetime: Lifetime,
    /// Answers so far, at most Γ.
    answers: u64,
    pub(super) estimate: Option<Smoothed>,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self {
            from: 4,
            epsilon: 0.2,
            phi: 3,
            phi_strict: false,
            update_on_init: false,
            lifetime: Lifetime::new(LEAST),
            answers: 0,
            estimate: None,
        }
    }

    /// Describes the parameters of both.
    pub(super) fn describe(&mut self, each: &mut Description<'_>) {
        let count = "a number from 1 to 1000000";
        self.from = each.truncated("from", self.from, 1.0..=1e6, count);
        each.number("epsilon", &mut self.epsilon, 0.0..=1e6, FACTOR);
        self.phi = each.truncated("phi", self.phi.into(), 1.0..=1e6, count) as u32;
        each.boolean("phi-strict", &mut self.phi_strict);
        each.boolean("update-on-init", &mut self.update_on_init);
        self.lifetime.describe(each);
    }

    /// Handles an answer: `next` computes the new estimate from the old one and the round trip in seconds, `timeout`
    /// the lifetime in seconds from that.
    pub(super) fn on_answer(
        &mut self,
        answer: &Answer,
        next: impl FnOnce(Smoothed, f64) -> Smoothed,
        timeout: impl FnOnce(Smoothed) -> f64,
    ) {
        self.answers = (self.answers + 1).min(self.from);
        if answer.timeouts > 0 || self.answers < self.from {
            return;
        }
        let rtt = answer.sample.rtt.as_secs_f64();
        let (follows, after) = match self.estimate {
            None => (self.update_on_init, Smoothed::first(rtt)),
            Some(before) => (true, next(before, rtt)),
        };
        self.estimate = Some(after);
        if follows {
            self.lifetime.set(timeout(after));
        }
    }

    /// A lifetime of a segment has ended, the `timeouts`-th of that segment.
    pub(super) fn on_expiry(&mut self, timeouts: u32) {
        let most = self.phi + u32::from(self.phi_strict);
        if timeouts >= most {
            self.lifetime.restart();
            self.estimate = None;
        } else {
            self.lifetime.stretch(1.0 + self.epsilon);
        }
    }
}
