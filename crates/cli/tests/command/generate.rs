//! Completions and manual pages.
use crate::place::Place;

#[test]
fn every_shell_gets_its_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = place.run(&format!("generate completions {shell}")).succeeds();
        let script = String::from_utf8(ended.stdout).unwrap();
        assert!(script.contains("recoup") && script.contains("fetch"), "{shell}");
    }
}

#[test]
fn every_command_gets_its_page() {
    let place = Place::new();
    place.run("generate man man").succeeds();
    for page in [
        "recoup",
        "recoup-fetch",
        "recoup-serve",
        "recoup-key",
        "recoup-ping",
        "recoup-demo",
        "recoup-key-new",
    ] {
        let text = String::from_utf8(place.read(&format!("man/{page}.1"))).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(place.exists("man/recoup-generate.1") && !place.exists("man/recoup-process.1"));
    place.write("file", b"x");
    place.run("generate man file").fails(4, &["file"]);
}
