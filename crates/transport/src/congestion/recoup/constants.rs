//! The constants that several rules of the default share, or that were measured. Values stand below the table.
//!
//! *Chosen* values have no source outside: they were measured on random networks (`README.md` beside this file). Values *by
//! meaning* follow from what they count.
//!
//! | constant | unit | meaning | source |
//! |---|---|---|---|
//! | `LEAST` | segments | minimum window | RFC 5681, 3.1 |
//! | `IN_USE` | part | of the window in flight: it is in use | chosen |
//! | `STARTUP_GAIN` | factor | pacing rate over window per RTT, start-up | doubling |
//! | `GAIN` | factor | the same, later | RFC 9002, 7.7 |
//! | `POLICED_GAIN` | factor | the same, after heavy loss | by meaning |
//! | `PATIENT` | RTTs | minimum of a timer, in longest recent ones | chosen |
//! | `MOST_PATIENT` | time | maximum of that minimum | RFC 6298, 2.5 |
//! | `PROBE` | time | between probes in a silence | RFC 6298, 2.1 |
//! | `BASE_SPAN` | time | half of the memory of a base RTT | BBR |
//! | `SHARED_BASE_SPAN` | time | the same while others fill the queue | chosen |
//! | `LONGEST_SPAN` | time | half of the memory of the longest RTT | chosen |
//! | `STANDING` | s | threshold of a queue at `STANDING_RATE` | CoDel (RFC 8289) |
//! | `STANDING_RATE` | packets/s | 20 Mbit/s of 1,300 bytes | chosen |
//! | `STANDING_PACKETS` | packets | least length of a standing queue | chosen |
//! | `STANDING_PART` | part | most of the base RTT, beside jitter | chosen |
//! | `STANDING_SAMPLES` | samples | in a row above the threshold | chosen |
//! | `REORDER_SAMPLES` | samples | the same where jitter changes the order | chosen |
//! | `SHORT_PATH` | s | RTT of one machine or local network | RFC 9002, 6.1.2 |
//! | `WAIT` | s | longest wait of a process for its processor | time slices |
//! | `FAR_WAITS` | factor | wait of the far process over that of this one | chosen |
//! | `REORDER_ANSWERS` | answers | over which overtaking is smoothed | chosen |
//! | `REORDER_SHARE` | share | of overtaken answers: jitter reorders | chosen |
//! | `BURST_RISES` | weight | of a round with longer gaps than before | chosen |
//! | `BURST_FALLS` | weight | of a round with shorter gaps | chosen |
//! | `RECENT_ROUNDS` | rounds | whose deliveries bound start-up | by meaning |
//! | `LONG_ROUND` | RTTs | of a round whose deliveries count in full | chosen |
//! | `SILENT_ROUNDS` | RTTs | without an answer that are a silence | chosen |
//! | `SILENT_FIRST` | s | the same before any RTT | by meaning |
//! | `FASTER` | factor | above which a rate is higher | BBR |
//! | `STILL` | rounds | without a higher rate that end start-up | BBR |
//! | `MOST_STARTING` | factor | window of start-up over a recent round | doubling |
//! | `MOST_STARTING_SHORT` | factor | the same while it grows fourfold | fourfold |
//! | `MOST_CARRIED` | factor | the same over what a new path carries | doubling |
//! | `RISE_ROUNDS` | rounds | from an empty queue to a standing one | chosen |
//! | `CALM_ROUNDS` | rounds | without a queue: growth accelerates | chosen |
//! | `FAST_GROWTH` | part | of the window, growth of such a round | chosen |
//! | `CALM_PART` | part | of the threshold below which it is calm | chosen |
//! | `MOST_RISING` | factor | window of a rise over deliveries in an RTT | chosen |
//! | `COMPARED` | factor | of the window before rates are compared | BBR |
//! | `FOLLOWED_PART` | part | of its growth that the rate must show | chosen |
//! | `BESIDE_JITTER` | part | of the followed window that a drain keeps | chosen |
//! | `FOLLOWED_JITTER` | factor | of jitter in the round trips of that window | chosen |
//! | `DEEPER` | part | of what the path carries, second drain | chosen |
//! | `BLIND` | flights | without an RTT that end a drain | by meaning |
//! | `SAME` | part | up to which two delays are equal | chosen |
//! | `HEAVY_SAMPLES` | packets | over which a share of losses is measured | chosen |
//! | `HEAVY_FIRST` | packets | the same for the first share | chosen |
//! | `HEAVY` | share | above the usual one that is heavy | chosen |
//! | `DEVIATIONS` | deviations | that chance explains beside it | statistics |
//! | `BURSTS` | factor | variance for each loss of a mean burst | geometric law |
//! | `USUAL_SPAN` | time | half of the memory of the usual share | chosen |
//! | `POLICED_ROUNDS` | rounds | of slow growth after heavy loss | chosen |
//! | `POLICED_EARLY` | rounds | that answer earlier transmissions | by meaning |
//! | `FALLEN_WINDOW` | part | of the first window: it has fallen | chosen |
//! | `FALLEN_RATE` | part | of the first rate: it has fallen | chosen |
//! | `EXCESS` | share | above the usual one that reduces it again | chosen |
//! | `MARKS_GAIN` | weight | of a round in the share of marks | RFC 8257 (`g`) |
//! | `HALF` | share | fair share of one of two | by meaning |
//! | `SHRINK` | part | of the excess over half, each RTT | chosen |
//! | `SHARE_ROUNDS` | rounds | over which the share is smoothed | chosen |
//! | `SPACING_SPAN` | time | half of the memory of the capacity | chosen |
//! | `LEAST_DRAINED` | segments | removed from a queue that show it | chosen |
//! | `EMPTIED_ROUNDS` | rounds | within which drains empty a queue | chosen |
//! | `EMPTIED_TIMES` | times | that end a competition | chosen |
//! | `EMPTY_ROUNDS` | rounds | without a queue that end it | chosen |
//! | `EMPTY_WINDOW` | segments | least window that sees enough for that | chosen |
//! | `MOST_COMPETING` | factor | window over deliveries in a longest RTT | chosen |
//! | `OTHERS_STARTUP` | share | below which a loss shows others, start-up | chosen |
//! | `OTHERS` | share | the same, later | chosen |
//! | `MARKED_SHARE` | share | below which a mark shows others | chosen |
//! | `ALONE_SHARE` | share | above which marks show no others | chosen |
//! | `MARKED_SPAN` | time | after a mark: an empty queue shows nothing | chosen |
//! | `COMPETING` | rounds | of a competition before a test | chosen |
//! | `LEAST_PATIENCE` | s | before the first test | Copa |
//! | `MOST_PATIENCE` | s | before any test | chosen |
//! | `STEADY_ROUNDS` | rounds | of a constant delay that is no queue | chosen |
//! | `STEADY_GROWTH` | factor | of the window meanwhile | chosen |
//! | `JUMP_LEAST` | s | least rise of a new path | chosen |
//! | `JUMP_LEVEL` | part | of the rise that belongs to the new path | by meaning |
//! | `JUMP_ORDERS` | orders | between two samples that are compared | chosen |
//! | `JUMP_SAMPLES` | samples | that indicate it | chosen |
//! | `MOST_PROVIDERS` | classes | of known providers | memory |
//! | `MOST_CLASSES` | classes | of others | chosen |
//! | `CLASS_SAMPLES` | samples | examined for classes | chosen |
//! | `APART_FACTOR` | factor | between the base RTTs of two classes | chosen |
//! | `APART_LEAST` | s | the same | chosen |
//! | `OVERTAKEN_LEAST` | answers | overtaken ones that begin a class | chosen |
//! | `OVERTAKEN_PART` | 1/share | of overtaken answers that begin a class | chosen |
//! | `NEAR` | part | of its base that an RTT of a class has | chosen |
//! | `NEAR_OVERTAKEN` | part | the same of an overtaken answer | chosen |
//! | `MEAN_ANSWERS` | answers | with half of the weight in a mean base | chosen |
//! | `UNSEEN_ROUNDS` | rounds | after which a class is forgotten | by meaning |
//! | `SHORT_OBJECT` | segments | most of a short object | three flights |
//! | `TRAIN_PAUSE` | RTTs | without an answer that end a train | chosen |
//! | `TRAIN_PART` | windows | that a path carries at a train's rate | chosen |
//! | `FOURFOLD_STEP` | segments | that an answer adds | SUSS |
//! | `FOURFOLD_PART` | part | of that path below which it adds so many | SUSS |
//! | `MOST_TRAIN` | windows/RTT | of a train at most | chosen |
use crate::time::Duration;

pub(super) const LEAST: f64 = 2.0;
pub(super) const IN_USE: f64 = 0.9;
pub(super) const STARTUP_GAIN: f64 = 2.0;
pub(super) const GAIN: f64 = 1.25;
pub(super) const POLICED_GAIN: f64 = 1.0;
pub(super) const PATIENT: f64 = 2.0;
pub(super) const MOST_PATIENT: Duration = Duration::from_secs(60);
pub(super) const PROBE: Duration = Duration::from_secs(1);
pub(super) const BASE_SPAN: Duration = Duration::from_secs(5);
pub(super) const SHARED_BASE_SPAN: Duration = Duration::from_secs(30);
pub(super) const LONGEST_SPAN: Duration = Duration::from_secs(1);
pub(super) const STANDING: f64 = 0.005;
pub(super) const STANDING_RATE: f64 = 1923.0;
pub(super) const STANDING_PACKETS: f64 = 2.5;
pub(super) const STANDING_PART: f64 = 0.25;
pub(super) const STANDING_SAMPLES: u64 = 3;
pub(super) const SHORT_PATH: f64 = 0.001;
pub(super) const WAIT: f64 = 0.01;
pub(super) const FAR_WAITS: f64 = 4.0;
pub(super) const REORDER_SAMPLES: u64 = 32;
pub(super) const REORDER_ANSWERS: f64 = 64.0;
pub(super) const REORDER_SHARE: f64 = 1.0 / 8.0;
pub(super) const BURST_RISES: f64 = 1.0 / 2.0;
pub(super) const BURST_FALLS: f64 = 1.0 / 8.0;
pub(super) const RECENT_ROUNDS: usize = 8;
pub(super) const LONG_ROUND: f64 = 2.0;
pub(super) const SILENT_ROUNDS: f64 = 2.0;
pub(super) const SILENT_FIRST: f64 = 0.2;
pub(super) const FASTER: f64 = 1.25;
pub(super) const STILL: u32 = 3;
pub(super) const MOST_STARTING: f64 = 3.0;
pub(super) const MOST_STARTING_SHORT: f64 = 7.0;
pub(super) const MOST_CARRIED: f64 = 2.0;
pub(super) const RISE_ROUNDS: f64 = 6.0;
pub(super) const CALM_ROUNDS: u32 = 3;
pub(super) const FAST_GROWTH: f64 = 0.35;
pub(super) const CALM_PART: f64 = 0.25;
pub(super) const MOST_RISING: f64 = 2.0;
pub(super) const COMPARED: f64 = 1.25;
pub(super) const FOLLOWED_PART: f64 = 0.15;
pub(super) const BESIDE_JITTER: f64 = 0.95;
pub(super) const FOLLOWED_JITTER: f64 = 8.0;
pub(super) const DEEPER: f64 = 0.8;
pub(super) const BLIND: u32 = 3;
pub(super) const SAME: f64 = 1.0 / 16.0;
pub(super) const HEAVY_SAMPLES: u64 = 128;
pub(super) const HEAVY_FIRST: u64 = 32;
pub(super) const HEAVY: f64 = 0.05;
pub(super) const DEVIATIONS: f64 = 2.0;
pub(super) const BURSTS: f64 = 2.0;
pub(super) const USUAL_SPAN: Duration = Duration::from_secs(5);
pub(super) const POLICED_ROUNDS: u32 = 64;
pub(super) const POLICED_EARLY: u32 = 3;
pub(super) const FALLEN_WINDOW: f64 = 0.75;
pub(super) const FALLEN_RATE: f64 = 0.85;
pub(super) const EXCESS: f64 = 0.03;
pub(super) const MARKS_GAIN: f64 = 1.0 / 16.0;
pub(super) const HALF: f64 = 0.5;
pub(super) const SHRINK: f64 = 1.0 / 8.0;
pub(super) const SHARE_ROUNDS: f64 = 8.0;
pub(super) const SPACING_SPAN: Duration = Duration::from_secs(60);
pub(super) const LEAST_DRAINED: f64 = 4.0;
pub(super) const EMPTIED_ROUNDS: u32 = 16;
pub(super) const EMPTIED_TIMES: u32 = 2;
pub(super) const EMPTY_ROUNDS: u32 = 3;
pub(super) const EMPTY_WINDOW: f64 = 16.0;
pub(super) const MOST_COMPETING: f64 = 1.25;
pub(super) const OTHERS_STARTUP: f64 = 0.25;
pub(super) const OTHERS: f64 = 0.75;
pub(super) const MARKED_SHARE: f64 = 0.9;
pub(super) const ALONE_SHARE: f64 = 0.95;
pub(super) const MARKED_SPAN: Duration = Duration::from_secs(10);
pub(super) const COMPETING: u32 = 32;
pub(super) const LEAST_PATIENCE: f64 = 4.0;
pub(super) const MOST_PATIENCE: f64 = 32.0;
pub(super) const STEADY_ROUNDS: u32 = 4;
pub(super) const STEADY_GROWTH: f64 = 1.5;
pub(super) const JUMP_LEAST: f64 = 0.004;
pub(super) const JUMP_LEVEL: f64 = 0.75;
pub(super) const JUMP_ORDERS: u64 = 64;
pub(super) const JUMP_SAMPLES: u64 = 8;
pub(super) const MOST_PROVIDERS: usize = 16;
pub(super) const MOST_CLASSES: usize = 4;
pub(super) const CLASS_SAMPLES: usize = 128;
pub(super) const APART_FACTOR: f64 = 1.3;
pub(super) const APART_LEAST: f64 = 0.004;
pub(super) const OVERTAKEN_LEAST: usize = 3;
pub(super) const OVERTAKEN_PART: usize = 4;
pub(super) const NEAR: f64 = 0.95;
pub(super) const NEAR_OVERTAKEN: f64 = 0.85;
pub(super) const MEAN_ANSWERS: f64 = 16.0;
pub(super) const UNSEEN_ROUNDS: u32 = 64;
pub(super) const SHORT_OBJECT: u64 = 128;
pub(super) const TRAIN_PAUSE: f64 = 0.25;
pub(super) const TRAIN_PART: f64 = 8.0;
pub(super) const FOURFOLD_STEP: f64 = 3.0;
pub(super) const FOURFOLD_PART: f64 = 0.5;
pub(super) const MOST_TRAIN: f64 = 64.0;
