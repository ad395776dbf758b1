//! A bad link between real faces.
use crate::place::{Place, noise};
use std::time::Instant;

#[test]
fn traffic_takes_the_rate_and_is_counted() {
    let content = noise(250_000);
    let place = Place::with("data", &content);
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --delay 10ms --back-queue 1000packets"),
        &["--back-rate", "4 Mbit/s", "--overhead", "28 B"],
    );
    let began = Instant::now();
    let fetched = link.fetch(&place, "/data -q").succeeds();
    // 250,000 bytes at 4 Mbit/s are half a second.
    assert!(began.elapsed().as_secs_f64() > 0.5, "{:?}", began.elapsed());
    assert!(fetched.stdout == content);
    let (code, document) = link.stop("TERM");
    assert_eq!((code, &document["event"]), (Some(0), &"stopped".into()));
    for way in ["forth", "back"] {
        let count = &document[way];
        let number = |key: &str| count[key].as_u64().unwrap();
        let lost: u64 =
            count["lost"].as_object().unwrap().values().filter_map(|it| it.as_u64()).sum();
        assert_eq!(number("entered"), number("delivered") + lost + number("inside"), "{document}");
        assert!(number("delivered") >= 32, "{document}");
    }
    assert!(document["late_us"]["times"].as_u64() > Some(0), "{document}");
}

#[test]
fn wrong_link_is_one_line() {
    let place = Place::new();
    let between = "link --between udp://127.0.0.1:0 udp://127.0.0.1:9";
    let rejects = |words: &str, pieces: &[&str]| {
        place.run(&format!("{between} {words}")).fails(2, pieces);
    };
    rejects("--rate fast", &["--rate", "10 Mbit/s"]);
    rejects("--back-loss often", &["--back-loss:", "often"]);
    rejects("--queue 32", &["--queue", "packets"]);
    rejects("--order slow-then-fast", &["--order"]);
    place.write("link.toml", b"[link]\ndely = \"1 ms\"\n");
    rejects("--file link.toml", &["link.toml:2:1", "did you mean `delay`?"]);
    place.run("link --between tcp://127.0.0.1 udp://127.0.0.1").fails(2, &["no UDP face"]);
    let elsewhere = "link --between udp://192.0.2.1:7001 udp://127.0.0.1:9";
    place.run(elsewhere).fails(4, &["cannot open a link"]);
}
