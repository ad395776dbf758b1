//! The consumer of `recoup ping`: one Interest after another, each with its own time to be answered.
use recoup_packet::interest::Interest;
use recoup_packet::name::{Component, Name};
use recoup_transport::application::{AppInput, AppOutput, Application, Report};
use recoup_transport::event::Event;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What to ask, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Questions {
    /// Numbers follow this name.
    pub prefix: Name,
    /// Time between two questions.
    pub interval: Duration,
    /// How long an answer is waited for; the Interest lifetime.
    pub timeout: Duration,
    /// How many questions; `None`: without end.
    pub count: Option<u64>,
    /// Number of the first.
    pub first: u64,
}

/// The machine.
#[derive(Debug)]
pub(crate) struct Asker {
    questions: Questions,
    rng: Rng,
    asked: u64,
    connected: bool,
    next_at: Instant,
    /// Questions without an answer: when they were asked.
    open: BTreeMap<u64, Instant>,
    outputs: VecDeque<AppOutput>,
    done: bool,
}

impl Asker {
    /// A machine that begins as soon as there is a face.
    pub(crate) fn new(questions: Questions, rng: Rng) -> Self {
        Self {
            questions,
            rng,
            asked: 0,
            connected: false,
            next_at: Instant::ZERO,
            open: BTreeMap::new(),
            outputs: VecDeque::new(),
            done: false,
        }
    }

    fn number(&self, name: &Name) -> Option<u64> {
        if !self.questions.prefix.is_prefix_of(name) {
            return None;
        }
        let component = name.get(self.questions.prefix.len())?;
        std::str::from_utf8(component.value()).ok()?.parse().ok()
    }

    fn may_ask(&self) -> bool {
        self.connected && self.questions.count.is_none_or(|count| self.asked < count)
    }

    fn ask(&mut self, now: Instant) {
        let number = self.questions.first.wrapping_add(self.asked);
        self.asked += 1;
        // From now, not from when it was due: a pause of the machine is not made up for in a burst.
        self.next_at = now + self.questions.interval;
        self.open.insert(number, now);
        let name = self.questions.prefix.append(Component::generic(number.to_string().as_bytes()));
        let rto = self.questions.timeout;
        let mut interest = Interest::new(name);
        interest.must_be_fresh = true;
        interest.nonce = Some(self.rng.next_u32());
        interest.lifetime = Some(rto);
        self.outputs.push_back(AppOutput::Interest(Arc::new(interest)));
        let sent = Event::Sent { segment: number, transmissions: 1, rto: rto.into() };
        self.outputs.push_back(AppOutput::Report(Report::Event(sent)));
    }

    fn expire(&mut self, now: Instant) {
        let timeout = self.questions.timeout;
        let late = |asked: &Instant| now.since(*asked) >= timeout;
        let expired: Vec<_> =
            self.open.iter().filter(|(_, asked)| late(asked)).map(|(number, _)| *number).collect();
        for segment in expired {
            self.open.remove(&segment);
            self.outputs.push_back(AppOutput::Report(Report::Event(Event::TimedOut { segment })));
        }
    }
}

impl Application for Asker {
    fn handle(&mut self, now: Instant, input: AppInput) {
        match input {
            AppInput::FaceUp { .. } => self.connected = true,
            AppInput::FaceDown => self.connected = false,
            AppInput::Data { data, .. } => {
                let Some(segment) = self.number(data.name()) else {
                    return;
                };
                let Some(asked) = self.open.remove(&segment) else {
                    return;
                };
                let rtt = now.since(asked).into();
                let event = Event::Received {
                    segment,
                    content_bytes: data.content().len() as u32,
                    wire_octets: data.encoded_len() as u32,
                    rtt,
                    delay: rtt,
                    transmissions: 1,
                };
                self.outputs.push_back(AppOutput::Report(Report::Event(event)));
            }
            AppInput::Nack { interest, reason } => {
                let segment = self.number(&interest.name);
                if segment.is_some_and(|number| self.open.remove(&number).is_some()) {
                    self.outputs.push_back(AppOutput::Report(Report::Event(Event::Nacked {
                        segment,
                        reason,
                    })));
                }
            }
            AppInput::Interest { .. }
            | AppInput::Consumed { .. }
            | AppInput::Held { .. }
            | AppInput::Shared { .. } => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Option<AppOutput> {
        self.expire(now);
        if self.outputs.is_empty() && self.may_ask() && now >= self.next_at {
            self.ask(now);
        }
        let all_asked = self.questions.count.is_some_and(|count| self.asked >= count);
        if self.outputs.is_empty() && all_asked && self.open.is_empty() && !self.done {
            self.done = true;
            self.outputs.push_back(AppOutput::Report(Report::Done(Ok(()))));
        }
        self.outputs.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let next = self.may_ask().then_some(self.next_at);
        let expiry = self.open.values().min().map(|asked| *asked + self.questions.timeout);
        next.into_iter().chain(expiry).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(count: u64) -> Asker {
        let questions = Questions {
            prefix: "/a/ping".parse().unwrap(),
            interval: Duration::from_secs(1),
            timeout: Duration::from_secs(4),
            count: Some(count),
            first: 7,
        };
        let mut asker = Asker::new(questions, Rng::from_seed(1));
        asker.handle(Instant::ZERO, AppInput::FaceUp { receive_budget: None });
        asker
    }

    fn drain(asker: &mut Asker, now: Instant) -> Vec<AppOutput> {
        std::iter::from_fn(|| asker.poll(now)).collect()
    }

    #[test]
    fn questions_leave_at_their_interval() {
        let mut asker = asker(2);
        assert_eq!(drain(&mut asker, Instant::ZERO).len(), 2);
        assert_eq!(asker.deadline(), Some(Instant::from_millis(1000)));
        assert!(drain(&mut asker, Instant::from_millis(999)).is_empty());
        assert_eq!(drain(&mut asker, Instant::from_millis(1000)).len(), 2);
    }

    #[test]
    fn an_unanswered_question_times_out_and_ends_the_run() {
        let mut asker = asker(1);
        drain(&mut asker, Instant::ZERO);
        let rest = drain(&mut asker, Instant::from_millis(4000));
        assert!(matches!(
            rest[0],
            AppOutput::Report(Report::Event(Event::TimedOut { segment: 7 }))
        ));
        assert!(matches!(rest[1], AppOutput::Report(Report::Done(Ok(())))));
        assert_eq!(asker.deadline(), None);
    }
}
