//! The end of a fetch: one line of result, and losses by their cause.
use crate::place::{Place, Server, noise};
use serde_json::Value;

fn served(bytes: usize) -> (Place, Server) {
    let place = Place::new();
    place.write("data", &noise(bytes));
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    (place, server)
}

/// A link that loses one frame in twenty at random in front of the server, without any queue.
fn lossy(place: &Place, server: &Server) -> Server {
    let far = server.face().replace("udp4", "udp");
    place.serve(&format!(
        "link --between udp://127.0.0.1:0 {far} --delay 5ms --loss bernoulli(p=0.05) --seed 3"
    ))
}

#[test]
fn result_is_one_line_and_details_on_request() {
    let (place, server) = served(100_000);
    let fetch = |more: &str| {
        let words = format!("fetch /data -o copy{more} --face {}", server.face());
        place.run(&words).succeeds().stderr
    };
    let line = fetch("");
    let [line] = line.lines().collect::<Vec<_>>()[..] else { panic!("{line}") };
    assert!(line.starts_with("100 kB in ") && line.ends_with("; verified"), "{line}");
    assert!(line.contains("bit/s; "), "{line}");
    let detailed = fetch(" -v");
    assert!(detailed.contains("\n  segments      13 received\n"), "{detailed}");
    assert_eq!(detailed.matches("\n  link recovery ").count(), 1, "{detailed}");
    assert!(!detailed.contains("received 7:"), "{detailed}");
    assert!(detailed.lines().last().unwrap().starts_with("100 kB in "), "{detailed}");
    let traced = fetch(" -vv");
    assert!(traced.contains("received 7: 8000 bytes"), "{traced}");
    assert_eq!(fetch(" -q"), "");
    let none = fetch(" --verify none");
    assert!(none.trim_end().ends_with("; not verified"), "{none}");
}

#[test]
fn random_losses_lead_to_a_recovery_hint() {
    let (place, server) = served(4_000_000);
    let link = lossy(&place, &server);
    let fetch = |more: &str| {
        let words = format!("fetch /data {more} --face {}", link.face());
        place.run(&words).succeeds()
    };
    let document = fetch("-o copy --recovery off --json").document();
    let count = |cause: &str| document["losses"][cause].as_u64().expect("a count");
    assert!(count("random") >= 20, "{document}");
    assert!(count("random") > count("congestion"), "{document}");
    assert_eq!(count("unknown"), 0, "{document}");
    let line = fetch("-o copy --recovery off").stderr;
    assert!(line.contains(" % of packets lost, "), "{line}");
    assert!(!line.contains("all by congestion") && !line.contains("cause unknown"), "{line}");
    assert!(line.lines().last().unwrap().starts_with("hint: ") && line.contains("wldr"), "{line}");
}

#[test]
fn losses_are_not_named_congestion_without_evidence() {
    let (place, server) = served(1_000_000);
    let link = lossy(&place, &server);
    let fetch = |more: &str| {
        let words = format!(
            "fetch /data -o copy --congestion cubic --recovery off {more} --face {}",
            link.face()
        );
        place.run(&words).succeeds()
    };
    let document: Value = fetch("--json").document();
    assert!(document["losses"]["unknown"].as_u64() >= Some(5), "{document}");
    assert_eq!(document["losses"]["congestion"], 0, "{document}");
    let line = fetch("").stderr;
    assert!(line.contains(" % of packets lost, cause unknown; verified"), "{line}");
    assert!(!line.contains("hint:"), "{line}");
}

#[test]
fn event_lines_are_of_one_file() {
    let (place, server) = served(100_000);
    let words = format!("fetch /data -o copy -vv --jobs 2 -r --face {}", server.face());
    place.run(&words).fails_as_usage(&["--jobs", "-vv"]);
}
