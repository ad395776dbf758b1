//! The window around bursts of 1 to 4 losses, one every 1.5 s (Udugama et al., 2013, Fig. 6). With TCP's repair it is
//! inflated for a round trip for each loss, with the selective one for one round trip.
use crate::harness::Harness;
use crate::order::{config, path_of, udugama};
use recoup_transport::event::Event;
use recoup_transport::loss::Phase;
use recoup_transport::time::{Duration, Instant};

const APART: Duration = Duration::from_millis(1_500);

fn run(flavour: &str, version: &str) -> Harness {
    let (mut bursts, mut left) = (0, 0);
    path_of(8_000, config(&udugama(flavour), version), &mut |now, _, times| {
        if times == 1 && bursts < 4 && now >= Instant::ZERO + APART * (bursts + 1) {
            bursts += 1;
            left = bursts;
        }
        let lost = times == 1 && left > 0;
        left -= u32::from(lost);
        (!lost).then_some(Duration::ZERO)
    })
}

/// Ratio of the maximum window to the window before, for each recovery.
fn peaks(harness: &Harness) -> Vec<f64> {
    let (mut peaks, mut window, mut before) = (Vec::new(), 1.0, None);
    let mut peak: f64 = 0.0;
    for (_, event) in &harness.events {
        match event {
            Event::Reduced { .. } => (before, peak) = (Some(window), 0.0),
            Event::Window { window: new, .. } => (window, peak) = (*new, peak.max(*new)),
            Event::Phase { phase: Phase::Normal } => {
                peaks.extend(before.take().map(|before| peak / before));
            }
            _ => {}
        }
    }
    peaks
}

#[test]
fn sequential_repair_has_higher_peaks() {
    for flavour in ["newreno", "cubic"] {
        let (tcp, smart) = (peaks(&run(flavour, "simple2")), peaks(&run(flavour, "smart")));
        let all = format!("{flavour}: {tcp:?}, {smart:?}");
        assert_eq!((tcp.len(), smart.len()), (4, 4), "{all}");
        assert!(tcp.is_sorted_by(|few, many| few < many), "{all}");
        let most = smart.iter().copied().fold(0.0, f64::max);
        assert!(smart.iter().all(|peak| most <= peak * 1.15), "{all}");
    }
}
