//! `cargo xtask wasm`: the simulator as a page, `target/wasm/bad-link.html`, and its digests under Node.
//!
//! The page is one file: style sheet and curves of the pages of runs, a form, and the engine (`recoup-web`), compressed and
//! written in base64.

use crate::chore::{
    Outcome, capture, cargo, command, package, quiet, root, show, target_directory,
};
use crate::digest;
use crate::targets;
use crate::tool::Tool;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const TARGET: &str = "wasm32-unknown-unknown";

/// Writes the script that calls the engine. Its version is that of the library in `Cargo.lock`.
const BINDGEN: Tool = Tool { name: "wasm-bindgen-cli", version: "0.2.130", arguments: &[] };

/// Runs scenario files in the engine, and prints their digests as `docs/notes/digests.csv` has them.
const SCRIPT: &str = r#"
const { readFileSync } = require("fs"), { basename } = require("path");
const [folder, ...files] = process.argv.slice(1);
const engine = new Function(readFileSync(folder + "/engine.js", "utf8") + "; return wasm_bindgen;")();
engine.initSync({ module: readFileSync(folder + "/engine_bg.wasm") });
for (const file of files) {
  const scenarios = new engine.Scenarios(readFileSync(file, "utf8"));
  scenarios.labels().forEach((_, point) => {
    const run = scenarios.run(point, 1n);
    while (!run.advance(1)) {}
    console.log(["examples/" + basename(file), point + 1, 1, run.finish().digest()].join());
  });
}
"#;

/// Makes the page; `--try` also compares digests.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        [] => build().map(drop),
        ["--try"] => attempt(),
        _ => Err("usage: cargo xtask wasm [--try]".into()),
    }
}

/// Makes engine and page, and returns their folder.
fn build() -> Outcome<PathBuf> {
    targets::install(TARGET)?;
    let bindgen = BINDGEN.install()?;
    let (target, home) = (target_directory()?, std::env::home_dir().unwrap_or_default());
    let mut build = cargo(&["build", "--locked", "--package", "recoup-web", "--lib"]);
    build.args(["--quiet", "--profile", "web", "--target", TARGET]);
    for (folder, name) in [(home, "/home"), (root(), "/recoup")] {
        // Panics name their source files.
        let map = format!("--remap-path-prefix={}={name}", folder.display());
        build.arg("--config").arg(format!("target.{TARGET}.rustflags=[{map:?}]"));
    }
    show(&mut build)?;
    let folder = target.join("wasm");
    let mut bind = command(bindgen);
    bind.args(["--target", "no-modules", "--no-typescript", "--out-name", "engine"]);
    bind.args(["--remove-name-section", "--remove-producers-section", "--out-dir"]);
    quiet(bind.arg(&folder).arg(target.join(TARGET).join("web/recoup_web.wasm")))?;
    let (path, text) = (folder.join("bad-link.html"), page(&folder)?);
    fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}: {} kB", path.display(), text.len() / 1000);
    Ok(folder)
}

/// The page around the engine and the script that calls it.
fn page(folder: &Path) -> Outcome<String> {
    let (web, lab) = (package("recoup-web")?.join("page"), package("recoup-lab")?.join("src/page"));
    let engine = folder.join("engine_bg.wasm");
    let engine = fs::read(&engine).map_err(|error| format!("{}: {error}", engine.display()))?;
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(&engine).and_then(|()| packed.finish());
    let packed = packed.map_err(|error| format!("the engine: {error}"))?;
    let scripts =
        [lab.join("run.js"), lab.join("curves.js"), web.join("page.js"), web.join("engine.js")];
    let values = [
        ("{{style}}", joined(&[lab.join("page.css"), web.join("page.css")])?),
        ("{{script}}", joined(&scripts)?),
        ("{{worker}}", joined(&[folder.join("engine.js"), web.join("worker.js")])?),
        ("{{engine}}", STANDARD.encode(packed)),
    ];
    let mut text = joined(&[web.join("page.html")])?;
    for (key, value) in values {
        let (before, after) =
            text.split_once(key).ok_or_else(|| format!("the page has no {key}"))?;
        if value.contains("</script") {
            return Err(format!("{key} of the page would end a script"));
        }
        text = format!("{before}{value}{after}");
    }
    Ok(text)
}

fn joined(paths: &[PathBuf]) -> Outcome<String> {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
        text.map(|text| text + "\n")
    };
    paths.iter().map(read).collect()
}

/// Compares digests of the examples with those of the command.
pub(crate) fn attempt() -> Outcome {
    let folder = build()?;
    let examples = digest::sorted(&root().join("examples"))?.into_iter();
    let examples = examples.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let printed = capture(command("node").args(["-e", SCRIPT]).arg(folder).args(examples))?;
    let list = root().join(digest::LIST);
    let kept = fs::read_to_string(&list).map_err(|error| format!("{}: {error}", list.display()))?;
    let kept = kept.lines().filter(|line| line.starts_with("examples/"));
    let differing: Vec<_> = digest::differences(&kept.collect::<Vec<_>>().join("\n"), &printed);
    println!("{} runs of the examples", printed.lines().count());
    match differing.is_empty() {
        true => Ok(()),
        false => Err(format!("the engine has other digests:\n{}", differing.join("\n"))),
    }
}
