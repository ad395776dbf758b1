//! Completions and manual pages.
use crate::place::{Place, described};

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
fn documents_of_the_page_fit_the_schema() {
    let page = include_str!("../../../../docs/library.md");
    let place = Place::new();
    let schema = place.run("generate schema documents").succeeds().document();
    assert_eq!(schema["$id"], "urn:recoup:documents:1");
    let blocks = page.split("\n```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let mut count = 0;
    for block in blocks {
        let documents = serde_json::Deserializer::from_str(block).into_iter::<serde_json::Value>();
        for document in documents {
            described(block, &document.unwrap());
            count += 1;
        }
    }
    assert_eq!(count, 5);
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
