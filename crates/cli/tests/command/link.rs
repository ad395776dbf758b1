//! A bad link between real faces.
use crate::place::{Ended, Place, noise};
use std::time::Instant;

#[test]
fn traffic_takes_the_rate_and_is_counted() {
    let place = Place::new();
    let content = noise(250_000);
    place.write("data", &content);
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --delay 10ms --back-queue 1000packets"),
        &["--back-rate", "4 Mbit/s", "--overhead", "28 B"],
    );
    let began = Instant::now();
    let fetched = place.run(&format!("fetch /data -q --face {}", link.face())).succeeds();
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
fn two_fetches_share_one_link() {
    let place = Place::new();
    let contents = [noise(300_000), noise(250_000)];
    place.write("a", &contents[0]);
    place.write("b", &contents[1]);
    // One server, so that only the addresses of the clients distinguish the two fetches.
    let server = place.serve("serve . --name /folder --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let link = place.serve_with(
        &format!("link --between udp://127.0.0.1:0 {far} --delay 5ms --back-queue 1000packets"),
        &["--back-rate", "4 Mbit/s"],
    );
    let began = Instant::now();
    let fetches = ["a", "b"].map(|file| {
        let words = format!(
            "fetch /folder/{file} -o {file}.copy --json --congestion fixed(window=3) --loss timeout \
             --rto constant(rto=60s) --lifetime 60s --no-progress-timeout 120s --face {}",
            link.face()
        );
        (file, place.command(&words).spawn().expect("the command runs"))
    });
    for ((file, fetch), content) in fetches.into_iter().zip(&contents) {
        let ended = Ended::of(file, fetch.wait_with_output().expect("it ends")).succeeds();
        assert!(place.read(&format!("{file}.copy")) == *content, "{file}");
        let document = ended.document();
        assert_eq!(document["losses"]["duplicates"], 0, "answers of the other fetch: {document}");
        assert_eq!(document["interests"]["retransmitted"], 0, "{document}");
    }
    // 550,000 bytes at 4 Mbit/s: the rate is that of the link and not of a client.
    assert!(began.elapsed().as_secs_f64() > 1.1, "{:?}", began.elapsed());
    let (_, document) = link.stop("TERM");
    let clients = &document["clients"];
    assert_eq!(
        (&clients["admitted"], &document["undelivered"]),
        (&2.into(), &0.into()),
        "{document}"
    );
}

#[test]
fn losses_of_a_link_are_made_good() {
    let place = Place::new();
    let content = noise(400_000);
    place.write("data", &content);
    place.write("link.toml", b"[link]\nloss = \"bernoulli(p=0.05)\"\n[[event]]\nat = \"0 s\"\nto = { delay = \"5 ms\" }\n");
    let server = place.serve("serve data --name /data --listen udp://127.0.0.1:0");
    let far = server.face().replace("udp4", "udp");
    let words = format!("link --between udp://127.0.0.1:0 {far} --file link.toml --seed 3");
    let link = place.serve(&words);
    let fetched = place.run(&format!("fetch /data -q --face {}", link.face())).succeeds();
    assert!(fetched.stdout == content);
    let (_, document) = link.stop("INT");
    let lost = |way: &str| document[way]["lost"]["model"].as_u64().unwrap_or_default();
    assert!(lost("forth") + lost("back") > 0, "{document}");
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
