//! The end of a fetch: one line of result, and losses by their cause.
use crate::place::{Place, Server, noise};

fn served(bytes: usize) -> (Place, Server) {
    let place = Place::with("data", &noise(bytes));
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    (place, server)
}

#[test]
fn result_is_one_line_and_details_on_request() {
    let (place, server) = served(100_000);
    let fetch =
        |more: &str| server.fetch(&place, &format!("/data -o copy{more}")).succeeds().stderr;
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
fn event_lines_are_of_one_file() {
    let (place, server) = served(100_000);
    server.fetch(&place, "/data -o copy -vv --jobs 2 -r").fails_as_usage(&["--jobs", "-vv"]);
}
