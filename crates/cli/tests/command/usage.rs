//! Wrong command lines: exit code 2, and words that lead to the right one.
use crate::place::{Ended, Place};

#[test]
fn without_words_it_shows_what_there_is() {
    let ended = Place::new().run("");
    assert_eq!(ended.code, Some(2));
    for word in ["fetch", "serve", "key", "ping", "demo", "sim", "Transfer:", "Research"] {
        assert!(ended.stderr.contains(word), "{word}");
    }
}

#[test]
fn every_help_has_examples_and_exit_codes() {
    for command in ["fetch", "serve", "key", "ping", "demo"] {
        let ended = Place::new().run(&format!("{command} --help")).succeeds();
        let help = String::from_utf8(ended.stdout).unwrap();
        assert!(help.contains("Examples:") && help.contains("Exit codes:"), "{command}");
    }
}

#[test]
fn short_help_fits_a_screen() {
    let place = Place::new();
    let help = |words: &str| {
        let mut command = place.command(words);
        let output = command.env("COLUMNS", "80").output().expect("the command runs");
        String::from_utf8(Ended::of(words, output).succeeds().stdout).unwrap()
    };
    for words in ["-h", "fetch -h"] {
        let text = help(words);
        assert!(text.lines().count() <= 40, "{}\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(!text.contains("Exit codes") && !text.contains("Examples"), "{text}");
    }
    let top = help("-h");
    for title in ["Transfer:", "Keys:", "Network:", "Research"] {
        assert!(top.contains(title), "{top}");
    }
    let summaries = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    assert!(top.lines().filter(summaries).count() > 20, "{top}");
    let long = help("fetch --help");
    assert!(long.contains("Exit codes") && long.contains("--cancel-on-timeout"));
}

#[test]
fn misspelled_value_is_named_with_the_right_one() {
    let place = Place::new();
    let cases: [(&str, &[&str]); 17] = [
        ("fetsh /a", &["fetsh", "fetch"]),
        ("fetch", &["NAME"]),
        ("fetch /a%zz -o x", &["/a%zz"]),
        ("fetch /a -o x --face gopher://h", &["gopher"]),
        ("fetch /a -o x --lifetime 4000", &["4000 has no unit", "10 ms"]),
        ("fetch /a -o x --lifetime 10us", &["whole milliseconds"]),
        ("fetch /a -o x --range 20..10", &["empty"]),
        ("fetch /a -o x --range ten", &["10..20"]),
        ("fetch /a -o x --verify maybe", &["auto, digest, key=FILE", "trust=FILE", "none"]),
        ("fetch /a -o x --init-cwnd 0", &["at least 1"]),
        ("fetch /a -o x --retries -1", &["unlimited"]),
        ("fetch /a --resume", &["--output"]),
        ("fetch /a -o x -v -q", &["--verbose", "--quiet"]),
        ("serve x", &["--name"]),
        ("serve x --name /x --segment-size 9000", &["8800"]),
        ("ping /a -c 1 --listen udp://127.0.0.1:0", &["--listen", "--count"]),
        ("forward --metrics=9695", &["127.0.0.1:9695"]),
    ];
    for (words, pieces) in cases {
        place.run(words).fails_as_usage(pieces);
    }
}

#[test]
fn mistakes_are_answered_with_the_right_spelling() {
    let place = Place::new();
    let link = "link --between udp://127.0.0.1:0 udp://127.0.0.1:9";
    for (words, answer) in [
        (format!("{link} --loss 2%"), "did you mean `bernoulli(p=2%)`?"),
        (format!("{link} --loss 0.02"), "did you mean `bernoulli(p=0.02)`?"),
        (format!("{link} --rate 20MB/s"), "write 160 Mbit/s"),
        ("fetch /a --rto 4s".into(), "did you mean `constant(rto=4s)`?"),
        ("fetch /a --congestion 16".into(), "did you mean `fixed(window=16)`?"),
        ("fetch /a --face 10.77.0.1".into(), "did you mean udp://10.77.0.1?"),
        ("fetch /a --face upd://10.77.0.1".into(), "did you mean udp://10.77.0.1?"),
        ("serve x --name /x --listen 0.0.0.0:6363".into(), "did you mean udp://0.0.0.0:6363?"),
        ("fetch /a --verify alice.cert".into(), "did you mean key=alice.cert?"),
        ("fetch movie".into(), "did you mean '/movie'?"),
        ("serve x --name x".into(), "did you mean '/x'?"),
        ("fetch /a --lifetime 4sec".into(), "did you mean `s`?"),
        ("fetch //x".into(), "the name has an empty component"),
        ("help fecth".into(), "'fetch'"),
        ("fetch /a --limit-rate fast".into(), "500k"),
    ] {
        let words = words.split(' ').collect::<Vec<_>>().join(" ");
        place.run(&words).fails(2, &[answer]);
    }
}

#[test]
fn wrong_algorithm_is_named_with_valid_ones() {
    let place = Place::new();
    let fetch = |more: &str| place.run(&format!("fetch /a -o x {more}"));
    fetch("--congestion cubik").fails_as_usage(&["--congestion", "cubik", "cubic"]);
    fetch("--congestion cubic(bета=1)").fails_as_usage(&["beta"]);
    fetch("--congestion aimd(beta=2)").fails_as_usage(&["beta=2", "0 to 1"]);
    fetch("--rto jacobsen").fails_as_usage(&["--rto", "jacobson"]);
    fetch("--rto jacobson(min=200)").fails_as_usage(&["min"]);
    fetch("--rto jacobson(min=1s) --min-rto 2s").fails_as_usage(&["given twice"]);
    fetch("--min-rto 2s --max-rto 1s").fails_as_usage(&["min"]);
    fetch("--congestion fixed --init-cwnd 4").fails_as_usage(&["init-cwnd"]);
    fetch("--no-cwa").fails_as_usage(&["conservative", "--no-cwa", "--congestion cubic"]);
}

#[test]
fn options_without_their_place_are_errors() {
    let place = Place::new();
    place.run("fetch /a -o - --resume").fails(2, &["--resume", "-o"]);
    place.run("fetch /a -o - -r").fails(2, &["-r", "-o"]);
}

/// A copy of the program in a folder of its own, as one would install it.
fn installed(place: &Place) -> std::process::Command {
    let own = place.path("bin/recoup");
    std::fs::create_dir(place.path("bin")).unwrap();
    std::fs::copy(crate::place::recoup(), &own).unwrap();
    let mut command = std::process::Command::new(own);
    command.env("PATH", "/usr/bin:/bin").args(["sim", "a.toml", "--seeds", "3"]);
    command
}

#[test]
#[cfg(unix)]
fn laboratory_beside_the_program_gets_the_words() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let mut command = installed(&place);
    place.write("bin/recoup-lab", b"#!/bin/sh\necho \"$@\"\nexit 9\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("bin/recoup-lab"), mode).unwrap();
    let ended = Ended::of("sim", command.output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_slice()), (Some(9), &b"sim a.toml --seeds 3\n"[..]));
}

#[test]
fn missing_laboratory_is_named_with_its_remedy() {
    let place = Place::new();
    let ended = Ended::of("sim", installed(&place).output().unwrap());
    ended.fails(4, &["`sim` is a command of the program `recoup-lab`", "cargo install"]);
}
