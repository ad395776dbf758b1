//! Completions, manual pages and the reference of both programs.
use crate::place::Place;

#[test]
fn completions_and_pages_have_both_programs() {
    let place = Place::new();
    let script = place.run("generate completions bash").succeeds().stdout;
    let script = String::from_utf8(script).unwrap();
    assert!(script.contains("fetch") && script.contains("calibrate"), "{script}");
    place.run("generate man man").succeeds();
    for page in ["recoup-fetch", "recoup-sim", "recoup-rto-replay"] {
        let text = String::from_utf8(place.read(&format!("man/{page}.1"))).unwrap();
        assert!(text.contains(".TH"), "{page}");
    }
    assert!(!place.exists("man/recoup-process.1"));
}

#[test]
fn every_help_has_examples_and_exit_codes() {
    for command in ["sim", "study", "rto", "rto replay", "arena"] {
        let ended = Place::new().run(&format!("{command} --help")).succeeds();
        let help = String::from_utf8(ended.stdout).unwrap();
        assert!(
            help.contains("Exit codes:") && help.contains(&format!("recoup {command}")),
            "{help}"
        );
    }
}

#[test]
fn command_reference_is_current() {
    let ended = Place::new().run("generate markdown").succeeds();
    let page = String::from_utf8(ended.stdout).unwrap();
    let kept = include_str!("../../../../docs/commands.md");
    assert!(page == kept, "docs/commands.md is not current: run `cargo xtask docs`");
}

#[test]
fn other_commands_are_those_of_recoup() {
    let place = Place::new();
    place.run("fetch").fails(2, &["NAME"]);
    place.run("fecth /a").fails(2, &["fecth", "fetch"]);
    place.run("sim").fails(2, &["recoup sim --help"]);
}
