//! Random trust schemas: python-ndn compiles them, and answers the same questions as this crate.
//!
//! `cargo xtask test interop` installs python-ndn and names it in the environment. `RECOUP_LVS_SCHEMAS` is how many schemas
//! are made, `RECOUP_LVS_SEED` chooses others.
#![allow(clippy::disallowed_methods, reason = "the test takes its settings from the environment")]

use recoup_packet::name::Name;
use recoup_trust::schema::model::Model;
use recoup_trust::schema::{Functions, Schema, circle, compile};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const QUESTIONS: usize = 60;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Asks the script of python-ndn.
fn ask(request: &Value) -> Value {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        std::env::var_os("RECOUP_INTEROP").map_or(here.join("../../target/interop"), PathBuf::from);
    let mut child = Command::new(folder.join("python/bin/python"))
        .arg("-B")
        .arg(here.join("../cli/tests/peers/python/lvs.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python-ndn is installed: cargo xtask test interop");
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "{request}").expect("the script reads");
    drop(input);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    assert!(child.wait().expect("it ends").success());
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    assert!(answer["error"].is_null(), "{answer}");
    answer
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().expect("hexadecimal digits");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The model with each rule and signer listed once at each node.
fn listed_once(mut model: Model) -> Model {
    for node in &mut model.nodes {
        let mut seen = Vec::new();
        node.rules.retain(|rule| {
            !seen.contains(rule) && {
                seen.push(rule.clone());
                true
            }
        });
        node.signers.dedup();
    }
    model
}

#[test]
#[ignore = "needs python-ndn: cargo xtask test interop"]
fn python_ndn_gives_the_same_answers() {
    let (count, seed) = (setting("RECOUP_LVS_SCHEMAS", 600), setting("RECOUP_LVS_SEED", 1));
    let request = json!({ "do": "schemas", "seed": seed, "count": count, "questions": QUESTIONS });
    let answer = ask(&request);
    let (mut schemas, mut same_bytes, mut rejected) = (0, 0, 0);
    let (mut circles, mut slow) = (0, 0);
    let (mut questions, mut allowed, mut errors) = (0, 0, 0);
    for one in answer["schemas"].as_array().expect("schemas") {
        let text = one["text"].as_str().expect("a text");
        let own = compile(text);
        if one["slow"] == json!(true) {
            slow += 1;
            continue;
        }
        if !one["rejected"].is_null() {
            assert!(own.is_err(), "python-ndn rejects, {}:\n{text}", one["rejected"]);
            rejected += 1;
            continue;
        }
        let own = own.unwrap_or_else(|error| panic!("{error}:\n{text}"));
        let wire = bytes(&one["model"]);
        let theirs = Model::decode(&wire).unwrap_or_else(|error| panic!("{error}:\n{text}"));
        assert_eq!(theirs.encode(), wire, "{text}");
        let circle = circle(&theirs);
        assert_eq!(circle.is_some(), !one["circle"].is_null(), "{}:\n{text}", one["circle"]);
        if circle.is_some() {
            circles += 1;
            continue;
        }
        schemas += 1;
        if one["repeats"] == json!(false) {
            assert_eq!(own, listed_once(theirs.clone()), "{text}");
            same_bytes += 1;
        }
        let schema = Schema::new(theirs, Functions::standard()).expect("a schema");
        let own = Schema::new(own, Functions::standard()).expect("a schema");
        assert_eq!(json!(schema.roots()), one["roots"], "{text}");
        for question in one["asked"].as_array().expect("questions") {
            let name = |at: usize| Name::decode(bytes(&question[at]).into()).expect("a name");
            let (packet, key) = (name(0), name(1));
            let found = schema.allows(&packet, &key).expect("a small schema");
            assert_eq!(schema.explain(&packet, &key).is_allowed(), found);
            let Some(expected) = question[2].as_bool() else {
                errors += 1;
                continue;
            };
            assert_eq!(found, expected, "{packet} by {key}:\n{text}");
            if one["repeats"] == json!(false) {
                assert_eq!(own.allows(&packet, &key), Ok(expected), "{packet} by {key}:\n{text}");
            }
            questions += 1;
            allowed += usize::from(found);
        }
    }
    println!(
        "{schemas} schemas ({same_bytes} compiled to the same model), {rejected} rejected by both, {circles} with a circle, \
         {slow} too slow for python-ndn, {questions} questions, {allowed} allowed, 0 disagreements; {errors} raise errors in python-ndn"
    );
    assert!(schemas * 2 > count && allowed * 20 > questions, "too few cases");
}

/// Compiled schemas of other projects, and their texts beside them, in the folder `RECOUP_LVS_FIXTURES`.
#[test]
#[ignore = "needs schemas of other projects"]
fn schemas_of_other_projects_are_read() {
    let Some(folder) = std::env::var_os("RECOUP_LVS_FIXTURES") else {
        return;
    };
    let mut read = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "tlv") {
            continue;
        }
        let wire = std::fs::read(&path).expect("a file");
        let model =
            Model::decode(&wire).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(model.encode(), wire, "{}", path.display());
        let any = |functions: Functions, name: &str| functions.with(name, |_, _| true);
        let functions = ["$fn", "$isValidID", "$isValidYear"].iter().copied();
        Schema::new(model.clone(), functions.fold(Functions::standard(), any)).expect("a schema");
        if let Ok(text) = std::fs::read_to_string(path.with_extension("txt")) {
            let own = compile(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(own, listed_once(model), "{}", path.display());
        }
        println!("{}: read, {} bytes", path.display(), wire.len());
        read += 1;
    }
    assert!(read > 0);
}
