//! Compares the 802.11 medium with the measurements of ns-3.37, side by side:
//! `cargo run --release -p recoup-wifi --example ns3 [seeds] [text in the case's name]`.
#[path = "../tests/ns3/case.rs"]
mod case;
#[path = "../tests/ns3/harness.rs"]
mod harness;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10);
    let wanted = arguments.next().unwrap_or_default();
    let title = ["case", "metric", "ns-3", "sd", "here", "sd", "%", "tol"];
    let [name, metric, fact, fact_sd, mean, sd, deviation, tolerance] = title;
    print!("{name:58} {metric:14} {fact:>10} {fact_sd:>8} {mean:>10} {sd:>8} ");
    println!("{deviation:>7} {tolerance:>3}");
    let (mut met, mut missed) = (0, 0);
    for case in case::all() {
        let name = format!("{} {}", case.scenario, case.written.replace("ErpOfdmRate", ""));
        if !name.contains(&wanted) {
            continue;
        }
        for line in case::compare(&case, seeds) {
            met += u32::from(line.is_met() == Some(true));
            missed += u32::from(line.is_met() == Some(false));
            println!("{name:58} {line}");
        }
    }
    println!("{met} met, {missed} not met, {seeds} seeds");
}
