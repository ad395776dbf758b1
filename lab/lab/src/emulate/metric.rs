//! Documents of processes as metrics, with the names of simulated runs.
use super::plan::ConsumerPart;
use recoup_sim::metric::Metric;
use recoup_sim::statistic::jain;
use serde_json::Value;

/// Counts of a fetch's document that are metrics as they stand: name, unit, and where they are.
const COUNTS: [(&str, &str, &str); 27] = [
    ("segments", "segments", "/segments"),
    ("content_bytes", "bytes", "/bytes"),
    ("interests", "", "/interests/sent"),
    ("retransmissions", "", "/interests/retransmitted"),
    ("spurious", "", "/interests/spurious"),
    ("timeouts", "", "/losses/timeouts"),
    ("marks", "", "/losses/marks"),
    ("losses_congestion", "", "/losses/congestion"),
    ("losses_random", "", "/losses/random"),
    ("losses_unknown", "", "/losses/unknown"),
    ("losses_wireless", "", "/losses/wireless"),
    ("losses_mobility", "", "/losses/mobility"),
    ("duplicates", "", "/losses/duplicates"),
    ("withdrawn", "", "/losses/withdrawn"),
    ("loss_events", "", "/losses/loss_events"),
    ("loss_events_timeout", "", "/losses/timeout_reductions"),
    ("loss_events_nack", "", "/losses/nack_reductions"),
    ("loss_events_mark", "", "/losses/mark_reductions"),
    ("loss_events_order", "", "/losses/order_reductions"),
    ("lost_by_order", "", "/losses/found_by_order"),
    ("repaired", "", "/losses/repaired_before_timer"),
    ("false_alarms", "", "/losses/false_alarms"),
    ("recoveries", "", "/losses/recoveries"),
    ("recovery_s", "s", "/losses/recovery_s"),
    ("rejected", "", "/verification/rejected"),
    ("goodput_bps", "bit/s", "/goodput_bit_s"),
    ("window_max", "segments", "/window/max"),
];

/// Whether a fetch is complete.
pub(super) fn is_complete(document: &Value) -> bool {
    document["complete"].as_bool().unwrap_or_default()
}

/// Appends the metrics of a fetch, from its document. Only one that got everything has a time.
pub(super) fn consumer(part: &ConsumerPart, document: &Value, metrics: &mut Vec<Metric>) {
    let number = |path: &str| document.pointer(path).and_then(Value::as_f64);
    let mut push = |what: &str, unit, value: Option<f64>| {
        let name = format!("{}.{what}", part.name);
        metrics.extend(value.map(|value| Metric { name, unit, value }));
    };
    let completed = is_complete(document);
    push("completed", "", Some(if completed { 1.0 } else { 0.0 }));
    push("time_s", "s", number("/elapsed_s").filter(|_| completed));
    for (what, unit, path) in COUNTS {
        push(what, unit, number(path));
    }
    let segments = number("/segments").unwrap_or_default();
    // Packets count with their length in the network.
    let bytes = number("/wire_bytes").map(|it| it + f64::from(part.missing_bytes) * segments);
    push("packet_bytes", "bytes", bytes);
    let seconds = number("/elapsed_s").filter(|seconds| *seconds > 0.0);
    push("throughput_bps", "bit/s", bytes.zip(seconds).map(|(bytes, s)| bytes * 8.0 / s));
    push("loss_event_percent", "%", number("/losses/loss_rate").map(|share| share * 100.0));
    for (what, path) in [("rtt_mean_s", "/rtt_ms/avg"), ("rtt_min_s", "/rtt_ms/min")] {
        push(what, "s", number(path).map(|ms| ms / 1e3));
    }
}

/// Appends what concerns all fetches together.
pub(super) fn all(parts: &[ConsumerPart], metrics: &mut Vec<Metric>) {
    let of = |part: &ConsumerPart| {
        let name = format!("{}.goodput_bps", part.name);
        metrics.iter().find(|metric| metric.name == name).map(|metric| metric.value)
    };
    let rates: Option<Vec<f64>> = parts.iter().map(of).collect();
    let value = rates.filter(|rates| rates.len() > 1).and_then(|rates| jain(&rates));
    metrics.extend(value.map(|value| Metric { name: "all.jain".into(), unit: "", value }));
}

/// Appends metrics of the links: their lateness, and frames without a receiver.
pub(super) fn links(documents: &[Value], metrics: &mut Vec<Metric>) {
    let numbers = |path: &str| {
        let all = documents.iter().filter_map(|it| it.pointer(path).and_then(Value::as_f64));
        all.collect::<Vec<_>>()
    };
    let (means, worst) = (numbers("/late_us/mean"), numbers("/late_us/worst"));
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let worst = worst.into_iter().fold(0.0, f64::max);
    let undelivered = numbers("/undelivered").iter().sum();
    for (name, unit, value) in [
        ("links.late_mean_s", "s", mean * 1e-6),
        ("links.late_max_s", "s", worst * 1e-6),
        ("links.undelivered", "", undelivered),
    ] {
        metrics.push(Metric { name: name.into(), unit, value });
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Plan;
    use super::super::plan::tests::network;
    use super::*;
    use serde_json::json;

    #[test]
    fn data_have_their_length_in_the_network() {
        let plan = Plan::new(&network("linear")).unwrap();
        let part = &plan.consumers[0];
        let document = json!({
            "complete": true, "elapsed_s": 2.0, "segments": 100, "bytes": 102_400, "wire_bytes": 110_000,
            "losses": { "timeouts": 3, "loss_rate": 0.01 }, "rtt_ms": { "avg": 60.0 }
        });
        let mut metrics = Vec::new();
        consumer(part, &document, &mut metrics);
        let get = |name: &str| metrics.iter().find(|it| it.name == name).map(|it| it.value);
        let bytes = 110_000.0 + 100.0 * f64::from(part.missing_bytes);
        assert_eq!(get("c1.packet_bytes"), Some(bytes));
        assert_eq!(get("c1.throughput_bps"), Some(bytes * 4.0));
        assert_eq!((get("c1.loss_event_percent"), get("c1.time_s")), (Some(1.0), Some(2.0)));
        assert_eq!((get("c1.rtt_mean_s"), get("c1.marks")), (Some(0.06), None));
    }

    #[test]
    fn a_fetch_that_gave_up_has_no_time() {
        let plan = Plan::new(&network("linear")).unwrap();
        let document = json!({ "complete": false, "elapsed_s": 2.0, "goodput_bit_s": 7.0 });
        let mut metrics = Vec::new();
        consumer(&plan.consumers[0], &document, &mut metrics);
        let values: Vec<_> = metrics.iter().map(|it| (it.name.as_str(), it.value)).collect();
        assert_eq!(values, [("c1.completed", 0.0), ("c1.goodput_bps", 7.0)]);
    }

    #[test]
    fn links_report_their_lateness() {
        let mut metrics = Vec::new();
        let one =
            |mean, worst| json!({ "late_us": { "mean": mean, "worst": worst }, "undelivered": 1 });
        links(&[one(50.0, 400.0), one(100.0, 900.0)], &mut metrics);
        let values: Vec<_> = metrics.iter().map(|it| it.value).collect();
        assert!(
            (values[0] - 75e-6).abs() < 1e-9 && (values[1] - 900e-6).abs() < 1e-9,
            "{values:?}"
        );
        assert_eq!(values[2], 2.0);
    }
}
