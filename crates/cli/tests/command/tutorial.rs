//! The tutorial, word for word.
use crate::place::{Ended, Place, recoup};
use serde_json::Value;
use std::process::{Command, Stdio};

const PAGE: &str = include_str!("../../../../docs/lossy-links.md");

/// The commands of the last section, one block after the other.
fn commands() -> String {
    let (_, tutorial) = PAGE.split_once("\n## Three nodes and a lossy hop\n").unwrap();
    let blocks = tutorial.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix("sh\n")).map(|it| format!("{it}\n")).collect()
}

/// The first digits of ports below those that the system hands out; two more follow.
fn ports() -> String {
    (100 + std::process::id() % 200).to_string()
}

#[test]
fn tutorial_runs_and_the_hop_repairs_losses() {
    if Command::new("curl").arg("--version").output().is_err() {
        assert!(std::env::var_os("RECOUP_REQUIRE_INTEROP").is_none(), "curl is missing");
        return eprintln!("skipped: the tutorial needs curl");
    }
    let place = Place::new();
    let bin = place.path("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(recoup(), bin.join("recoup")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let script = commands().replace("127.0.0.1:71", &format!("127.0.0.1:{}", ports()));
    let script = format!("trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n{script}");
    let output = Command::new("timeout")
        .args(["120", "bash", "-euo", "pipefail", "-c", &script])
        .current_dir(place.path("."))
        .env_clear()
        .env("HOME", place.path("."))
        .env("PATH", format!("{}:{path}", bin.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Ended::of("the tutorial", output).succeeds();

    let retransmitted = |file: &str| {
        let document: Value = serde_json::from_slice(&place.read(file)).unwrap();
        document["interests"]["retransmitted"].as_u64().unwrap()
    };
    let (without, with) =
        (retransmitted("three-nodes/without.json"), retransmitted("three-nodes/with.json"));
    assert!(without >= 10 && with <= without / 3, "retransmitted: {without} without, {with} with");
    for file in ["relay", "bob"] {
        let number = String::from_utf8(place.read(&format!("three-nodes/{file}.resent"))).unwrap();
        let resent: u64 = number.trim().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(resent > 0, "{file}: {number}");
    }
}
