//! The worked example of the paper's Figure 1 (E-14), played with the machines that links have.
use crate::claim::Outcome;
use crate::rule::Finding;
use recoup_transport::link::Recovery;
use recoup_transport::link::recovery::{
    Ewln, FrameKind, LinkRecovery, Notice, Outgoing, Sending, Tag,
};
use recoup_transport::link::wldr::WldrSettings;
use recoup_transport::random::Rng;
use recoup_transport::time::{Duration, Instant};

type End = Box<dyn LinkRecovery<u64>>;

/// The counts that the paper's figure shows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Played {
    /// Numbers of EWLNs: what was expected, and what came.
    notices: Vec<(u32, u32)>,
    /// Packets that were sent again, with their new numbers.
    again: Vec<(u64, u32)>,
    /// Notices after those have come.
    further: usize,
}

/// Frames that an end sends by itself at this moment.
fn drain(now: Instant, end: &mut End) -> Vec<(Tag, Option<u64>)> {
    let leaves = |end: &mut End| match end.poll(now)? {
        Outgoing::Again { frame, tag, .. } => Some((tag, Some(frame))),
        Outgoing::Control(tag) | Outgoing::Greeting(tag) => Some((tag, None)),
    };
    std::iter::from_fn(|| leaves(end)).collect()
}

/// An end receives the frames of the other one.
fn receive_all(now: Instant, end: &mut End, sent: &[(Tag, Option<u64>)]) {
    for (tag, packet) in sent {
        end.receive(now, tag, packet.is_some());
    }
}

fn send(now: Instant, end: &mut End, packet: u64) -> Tag {
    let (kind, lifetime) = (FrameKind::Interest, Some(Duration::from_secs(4)));
    let sending = Sending { kind, bytes: 1_000, lifetime, packet, alone: true, free_bytes: 400 };
    end.send(now, &packet, &sending)
}

/// Exchanges frames until both ends know each other.
fn introduce(now: Instant, a: &mut End, b: &mut End) {
    let first = send(now, a, 1_000);
    b.receive(now, &first, true);
    for _ in 0..8 {
        receive_all(now, b, &drain(now, a));
        receive_all(now, a, &drain(now, b));
    }
    let second = send(now, b, 1_001);
    a.receive(now, &second, true);
}

fn ewlns(sent: &[(Tag, Option<u64>)]) -> Vec<(u32, u32)> {
    let ewln = |(tag, _): &(Tag, Option<u64>)| match tag.notice {
        Some(Notice::Ewln(Ewln { expected, last_received, .. })) => Some((expected, last_received)),
        _ => None,
    };
    sent.iter().filter_map(ewln).collect()
}

/// Seven frames leave, of which 4 and 5 are lost.
fn play() -> Played {
    let at = Instant::from_millis;
    let settings = WldrSettings { strict: true, ..Default::default() };
    let [mut a, mut b]: [End; 2] =
        [1, 2].map(|seed| Recovery::Wldr(settings).build(Rng::from_seed(seed)));
    introduce(at(0), &mut a, &mut b);
    for packet in 0..7 {
        let tag = send(at(1), &mut a, packet);
        if ![4, 5].contains(&packet) {
            b.receive(at(1), &tag, true);
        }
    }
    let sent = drain(at(2), &mut b);
    receive_all(at(3), &mut a, &sent);
    let again = drain(at(3), &mut a);
    receive_all(at(4), &mut b, &again);
    let numbered = |(tag, packet): &(Tag, Option<u64>)| Some(((*packet)?, tag.label?.number));
    Played {
        notices: ewlns(&sent),
        again: again.iter().filter_map(numbered).collect(),
        further: ewlns(&drain(at(4), &mut b)).len(),
    }
}

/// Whether the example ends as in the paper.
pub(super) fn comes_out() -> Finding {
    let played = play();
    let expected = Played { notices: vec![(4, 6)], again: vec![(4, 7), (5, 8)], further: 0 };
    let outcome = if played == expected { Outcome::Holds } else { Outcome::Fails };
    let Played { notices, again, further } = played;
    let ours = format!(
        "EWLN {notices:?}, sent again with their numbers {again:?}, {further} further EWLN"
    );
    Finding { outcome, ours }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_has_the_numbers_of_the_paper() {
        let finding = comes_out();
        assert_eq!(finding.outcome, Outcome::Holds, "{}", finding.ours);
        assert!(finding.ours.contains("[(4, 6)]") && finding.ours.contains("[(4, 7), (5, 8)]"));
    }
}
