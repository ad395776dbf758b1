//! Division of the window among the fetches of a macroflow, and what they share.
use super::*;
use crate::fetch::FetchOptions;
use crate::random::Rng;
use recoup_packet::name::Name;

const NOW: Instant = Instant::from_millis(1_000);

fn config(congestion: &str) -> FetchConfig {
    let congestion = congestion.parse().expect("a congestion control");
    let options = FetchOptions { congestion, ..FetchOptions::default() };
    FetchConfig::new(Name::root(), options, Rng::from_seed(1))
}

fn delivered(order: u64, in_flight: u32) -> Delivered {
    let rtt = Some(Duration::from_millis(40));
    Delivered {
        segment: order,
        order,
        highest_order: order,
        rtt,
        srtt: rtt,
        min_rtt: rtt,
        in_flight,
        advance: 1,
        ..Delivered::default()
    }
}

/// A fetch of a circle.
struct Reader {
    member: Member,
    load: u64,
    /// Most segments that it wants in flight.
    need: u64,
    sent: u64,
}

/// Fetches of a macroflow with a constant window, polled in a circle as by a node.
struct Circle {
    window: u64,
    macroflow: Macroflow,
    readers: Vec<Reader>,
    turn: usize,
    rng: Rng,
}

impl Circle {
    fn new(window: u64, needs: &[u64]) -> Self {
        let macroflow = Macroflow::new(&config(&format!("fixed(window={window})")));
        let (readers, rng) = (Vec::new(), Rng::from_seed(3));
        let mut circle = Self { window, macroflow, readers, turn: 0, rng };
        needs.iter().for_each(|need| circle.add(*need));
        circle
    }

    fn add(&mut self, need: u64) {
        let member = self.macroflow.join(NOW, &config("recoup"));
        self.readers.push(Reader { member, load: 0, need, sent: 0 });
    }

    /// Sends what may be sent.
    fn fill(&mut self) {
        let mut idle = 0;
        while idle < self.readers.len() {
            self.turn %= self.readers.len();
            let reader = &mut self.readers[self.turn];
            reader.member.report(reader.load, reader.load < reader.need);
            if reader.load < reader.need && reader.member.may_send(reader.load) {
                reader.member.on_sent(NOW, None);
                (reader.load, reader.sent, idle) = (reader.load + 1, reader.sent + 1, 0);
            } else {
                self.turn += 1;
                idle += 1;
            }
            assert!(self.readers.iter().map(|it| it.load).sum::<u64>() <= self.window);
        }
    }

    /// Answers so many random segments, one after the other.
    fn answer(&mut self, count: u64) {
        for _ in 0..count {
            let all: u64 = self.readers.iter().map(|it| it.load).sum();
            let mut chosen = self.rng.next_u64() % all;
            for reader in &mut self.readers {
                if chosen < reader.load {
                    reader.load -= 1;
                    break;
                }
                chosen -= reader.load;
            }
            self.fill();
        }
    }

    fn loads(&self) -> Vec<u64> {
        self.readers.iter().map(|it| it.load).collect()
    }
}

#[test]
fn window_is_divided_equally() {
    let mut circle = Circle::new(30, &[100; 3]);
    circle.fill();
    assert_eq!(circle.loads(), [30, 0, 0], "the others have not reported");
    circle.answer(100);
    assert_eq!(circle.loads(), [10; 3]);
    circle.answer(1_000);
    assert_eq!(circle.loads(), [10; 3]);
}

#[test]
fn part_that_is_not_wanted_goes_to_others() {
    let mut circle = Circle::new(30, &[100, 4, 100, 0]);
    circle.fill();
    circle.answer(200);
    assert_eq!(circle.loads(), [13, 4, 13, 0]);
    circle.readers[0].need = 0;
    circle.answer(200);
    assert_eq!(circle.loads(), [0, 4, 26, 0]);
}

#[test]
fn newcomer_gets_its_part_within_two_windows() {
    let mut circle = Circle::new(30, &[100]);
    circle.fill();
    circle.add(100);
    circle.fill();
    assert_eq!(circle.loads(), [30, 0]);
    circle.answer(60);
    assert_eq!(circle.loads(), [15, 15]);
}

#[test]
fn small_window_is_used_in_turns() {
    for window in 1..8 {
        let mut circle = Circle::new(window, &[100; 8]);
        circle.fill();
        circle.answer(4_000);
        let sent: Vec<u64> = circle.readers.iter().map(|it| it.sent).collect();
        let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
        assert!(*least > 400 && *most < 600, "{window}: {sent:?}");
    }
}

#[test]
fn fetch_that_ends_leaves_its_part() {
    let mut circle = Circle::new(30, &[100; 3]);
    circle.fill();
    circle.answer(100);
    circle.readers.pop();
    circle.fill();
    assert_eq!(circle.loads(), [15; 2]);
    circle.readers.clear();
    assert!(!circle.macroflow.is_in_use());
    circle.add(100);
    circle.fill();
    assert_eq!(circle.loads(), [30]);
}

#[test]
fn single_fetch_has_the_congestion_control_itself() {
    let config = config("recoup");
    let (mut bare, mut member) = (build(&config), Macroflow::new(&config).join(NOW, &config));
    for order in 1..=500 {
        assert_eq!(member.on_sent(NOW, Some(order)), order);
        let delivered = delivered(order, member.in_flight(order % 20));
        assert_eq!(
            (delivered.in_flight, member.remaining(Some(order))),
            ((order % 20) as u32, Some(order))
        );
        let now = Instant::from_millis(10 * order);
        bare.on_delivered(now, &delivered);
        member.on_delivered(now, order, &delivered);
        assert_eq!(bare.window(), member.window());
    }
    assert!(member.window() > 10.0);
}

#[test]
fn later_fetch_begins_with_the_window() {
    let config = config("newreno");
    let macroflow = Macroflow::new(&config);
    let mut member = macroflow.join(NOW, &config);
    let first = member.window();
    for order in 1..=10 {
        let delivered = delivered(order, member.window() as u32);
        member.on_delivered(NOW, order, &delivered);
    }
    let grown = member.window();
    assert!(grown > first);
    drop(member);
    assert_eq!(macroflow.join(NOW + REMEMBERED, &config).window(), grown);
    let late = NOW + REMEMBERED + Duration::from_millis(1);
    assert_eq!(macroflow.join(late, &config).window(), first);
    assert_eq!(macroflow.srtt(), Some(Duration::from_millis(40)));
}

#[test]
fn windows_that_count_segments_are_not_shared() {
    for congestion in ["yang2016", "cubic(accounting=span)"] {
        let config = config(congestion);
        let macroflow = Macroflow::new(&config);
        let (mut one, other) = (macroflow.join(NOW, &config), macroflow.join(NOW, &config));
        let before = other.window();
        one.on_delivered(NOW, 1, &delivered(1, before as u32));
        assert!(one.window() > before && other.window() == before && other.is_alone());
        assert!(macroflow.srtt().is_some());
    }
}

#[test]
fn receive_buffer_limits_all_fetches_together() {
    let config = config("fixed(window=1000)");
    let macroflow = Macroflow::new(&config);
    let (mut one, mut other) = (macroflow.join(NOW, &config), macroflow.join(NOW, &config));
    one.set_receive_bytes(Some(20_000));
    one.on_segment_bytes(800);
    assert_eq!(one.window(), 10.0, "half of the buffer in packets of 1,000 bytes");
    other.set_receive_bytes(Some(20_000));
    other.on_segment_bytes(300);
    assert_eq!(one.window(), 20.0);
    drop(other);
    assert_eq!(one.window(), 10.0);
}

#[test]
fn deliveries_count_in_the_order_of_arrival() {
    let config = config("recoup");
    let macroflow = Macroflow::new(&config);
    let mut bare = build(&config);
    let mut members = [macroflow.join(NOW, &config), macroflow.join(NOW, &config)];
    for wake in 0..100 {
        let mut batch = [Vec::new(), Vec::new()];
        for order in 4 * wake + 1..=4 * wake + 4 {
            let (now, delivered) = (Instant::from_millis(10 * order), delivered(order, 30));
            bare.on_delivered(now, &delivered);
            let place = (order % 2) as usize;
            batch[place].push((now, members[place].on_arrival(), delivered));
        }
        for (member, batch) in members.iter_mut().zip(batch) {
            batch.iter().for_each(|(now, number, it)| member.on_delivered(*now, *number, it));
            member.on_judged();
        }
        assert_eq!((members[0].window(), members[1].window()), (bare.window(), bare.window()));
    }
    assert_ne!(bare.window(), 10.0);
}

#[test]
fn fetch_that_ends_holds_no_delivery_back() {
    let config = config("newreno");
    let macroflow = Macroflow::new(&config);
    let (mut one, mut other) = (macroflow.join(NOW, &config), macroflow.join(NOW, &config));
    let before = one.window();
    let (number, _) = (one.on_arrival(), other.on_arrival());
    one.on_delivered(NOW, number, &delivered(1, before as u32));
    one.on_judged();
    assert_eq!(one.window(), before, "the other has Data to judge");
    drop(other);
    assert!(one.window() > before);
}

#[test]
fn receive_buffer_of_an_earlier_fetch_limits_nothing() {
    let config = config("fixed(window=1000)");
    let macroflow = Macroflow::new(&config);
    let mut one = macroflow.join(NOW, &config);
    one.set_receive_bytes(Some(20_000));
    one.on_segment_bytes(800);
    drop(one);
    assert_eq!(macroflow.join(NOW, &config).window(), 1_000.0);
}

#[test]
fn silent_producer_shrinks_no_path_that_delivers() {
    let config = config("newreno");
    let macroflow = Macroflow::new(&config);
    let (mut one, mut silent) = (macroflow.join(NOW, &config), macroflow.join(NOW, &config));
    assert!(!silent.is_silent(NOW), "nothing is delivered");
    let number = one.on_arrival();
    one.on_delivered(NOW, number, &delivered(1, 10));
    one.on_judged();
    assert!(silent.is_silent(NOW) && !one.is_silent(NOW));
    assert!(!silent.is_silent(NOW + SILENT));
    silent.on_answer();
    assert!(!silent.is_silent(NOW), "discovery has succeeded");
}
