//! `cargo xtask wasm`: the simulator as a page, `target/wasm/bad-link.html`.
//!
//! The page is one file: style sheet and curves of the pages of runs (`crates/lab`), a form, and the engine (`crates/web`),
//! compressed and written in base64.

use crate::browser::{self, Page};
use crate::chore::{Outcome, cargo, command, quiet, root, show, target_directory};
use crate::digest::{self, binary};
use crate::dist::program::{path_below, private_folders};
use crate::targets;
use crate::tool::Tool;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The name of the page.
pub(crate) const PAGE: &str = "bad-link.html";

const TARGET: &str = "wasm32-unknown-unknown";
const PROFILE: &str = "web";

/// Writes the script that calls the engine. Its version is that of the library in `Cargo.lock`.
const BINDGEN: Tool = Tool { name: "wasm-bindgen-cli", version: "0.2.130", arguments: &[] };

const FRAME: &str = "crates/web/page/page.html";
const STYLE: [&str; 2] = ["crates/lab/src/page/page.css", "crates/web/page/page.css"];
/// Scripts of the page, in the order of use.
const SCRIPT: [&str; 4] = [
    "crates/lab/src/page/run.js",
    "crates/lab/src/page/curves.js",
    "crates/web/page/page.js",
    "crates/web/page/engine.js",
];
const WORKER: &str = "crates/web/page/worker.js";

/// `[--try]`: makes the page, and tries it in Chromium.
pub(crate) fn run(arguments: &[&str]) -> Outcome {
    match arguments {
        [] => build().map(drop),
        ["--try"] => {
            let program = browser::find()?;
            attempt(&program, &build()?)
        }
        _ => Err("usage: cargo xtask wasm [--try]".into()),
    }
}

/// Makes the page, and returns its path.
pub(crate) fn build() -> Outcome<PathBuf> {
    targets::install(TARGET)?;
    let bindgen = BINDGEN.install()?;
    let target = target_directory()?;
    let mut build = cargo(&["build", "--locked", "--package", "recoup-web", "--lib"]);
    build.args(["--quiet", "--profile", PROFILE, "--target", TARGET]);
    let private = private_folders()?;
    for (folder, name) in &private {
        // Panics name their source files.
        let map = format!("--remap-path-prefix={}={name}", folder.display());
        build.arg("--config").arg(format!("target.{TARGET}.rustflags=[{map:?}]"));
    }
    show(&mut build)?;
    let folder = target.join("wasm");
    let library = target.join(TARGET).join(PROFILE).join("recoup_web.wasm");
    let mut bind = command(bindgen);
    bind.args(["--target", "no-modules", "--no-typescript", "--out-name", "engine"]);
    bind.args(["--remove-name-section", "--remove-producers-section", "--out-dir"]);
    quiet(bind.arg(&folder).arg(library))?;
    let engine = folder.join("engine_bg.wasm");
    let engine = fs::read(&engine).map_err(|error| format!("{}: {error}", engine.display()))?;
    if let Some(path) = private.iter().find_map(|(folder, _)| path_below(&engine, folder)) {
        return Err(format!("the engine holds a path of this machine: {path}"));
    }
    let text = page(&engine, &read(&folder.join("engine.js"))?)?;
    let path = folder.join(PAGE);
    fs::write(&path, &text).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{}: {} kB, the engine {} kB", path.display(), text.len() / 1000, engine.len() / 1000);
    Ok(path)
}

/// The page around an engine and the script that calls it.
fn page(engine: &[u8], binding: &str) -> Outcome<String> {
    let join = |paths: &[&str]| -> Outcome<String> {
        paths.iter().map(|path| read(&root().join(path))).collect()
    };
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(engine).and_then(|()| packed.finish());
    let packed = packed.map_err(|error| format!("the engine: {error}"))?;
    let values = [
        ("style", join(&STYLE)?),
        ("script", join(&SCRIPT)?),
        ("worker", format!("{binding}\n{}", join(&[WORKER])?)),
        ("engine", STANDARD.encode(packed)),
    ];
    if let Some((name, _)) = values.iter().find(|(_, value)| value.contains("</script")) {
        return Err(format!("the part {name} of the page would end a script"));
    }
    let frame = read(&root().join(FRAME))?;
    let mut parts = frame.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (key, after) = part.split_once("}}").ok_or("the frame of the page has an open key")?;
        let value = values.iter().find(|(name, _)| *name == key);
        text += &value.ok_or_else(|| format!("the frame of the page names {key}"))?.1;
        text += after;
    }
    Ok(text)
}

fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// States of the form as positions of its sliders (loss, delay, queue, cross traffic), with two transports.
const STATES: [([u32; 4], &str, &str); 5] = [
    ([7, 4, 5, 6], "recoup", "cubic"),
    ([0, 8, 2, 0], "newreno", "compound"),
    ([12, 2, 12, 12], "cubic over wldr", "recoup over wldr"),
    ([9, 10, 8, 3], "cubic, timer only", "raaqm"),
    ([14, 5, 6, 18], "cubic over acked", "64 in flight"),
];

/// Cases of the arena with 802.11 media, and with marks.
const CASES: [&str; 4] = [
    "crates/studies/src/arena/cases/chain.toml",
    "crates/studies/src/arena/cases/handover.toml",
    "crates/studies/src/arena/cases/marks.toml",
    "crates/studies/src/arena/cases/wifi.toml",
];

/// Compares digests of the page with those of the command, and measures how the page answers a slider.
pub(crate) fn attempt(program: &Path, path: &Path) -> Outcome {
    let profile = target_directory()?.join("wasm/profile");
    let url = format!("file://{}", path.display());
    let mut page = Page::open(program, &profile, &url, (1280, 900))?;
    page.wait(IS_SETTLED)?;
    let (runs, seconds) = examples(&mut page)?;
    println!("{runs} runs of the examples in {seconds:.1} s: digests as in {}", digest::LIST);
    let command = binary()?;
    cases(&mut page, &command)?;
    for (sliders, first, second) in STATES {
        let state = page.value(&choose(&sliders, first, second))?;
        let [scenario, shown, speed] = [0, 1, 2].map(|at| state[at].as_str().unwrap_or_default());
        let printed = printed(&command, scenario)?;
        if shown.is_empty() || printed != shown {
            return Err(format!(
                "the command prints\n{printed}\nand the page\n{shown}\nof\n{scenario}"
            ));
        }
        let words: Vec<_> = shown.lines().skip(1).collect();
        println!("sliders at {sliders:?}: {}; {speed}", words.join("; "));
    }
    let shown = page.value(DRAG)?;
    println!("a slider that is dragged: {shown} results a second");
    Ok(())
}

/// Whether the results are those of the form.
const IS_SETTLED: &str = "document.getElementById('digests')?.textContent.length > 0 \
    && !document.getElementById('digests').classList.contains('stale')";

/// A script that moves the form and returns the scenario, the digests and the time of the runs.
fn choose(sliders: &[u32; 4], first: &str, second: &str) -> String {
    let moves = ["loss", "delay", "queue", "cross"].iter().zip(sliders);
    let moves = moves.map(|(name, at)| format!("set('{name}', {at}, 'input');"));
    format!(
        "(async () => {{
            const get = id => document.getElementById(id);
            const set = (id, value, kind) => {{ get(id).value = value; get(id).dispatchEvent(new Event(kind)); }};
            {}
            set('first', {first:?}, 'change');
            set('second', {second:?}, 'change');
            while (!({IS_SETTLED})) await new Promise(go => setTimeout(go, 10));
            return ['toml', 'digests', 'speed-of-run'].map(id => get(id).textContent);
        }})()",
        moves.collect::<String>()
    )
}

/// A script that drags a slider for three seconds, and counts how often the page shows a result.
const DRAG: &str = "(async () => {
    const slider = document.getElementById('loss'), begun = performance.now();
    let shown = 0, at = 0;
    const observer = new MutationObserver(() => { shown++; });
    observer.observe(document.getElementById('speed-of-run'), { childList: true });
    while (performance.now() - begun < 3000) {
        slider.value = at++ % 13;
        slider.dispatchEvent(new Event('input'));
        await new Promise(requestAnimationFrame);
    }
    observer.disconnect();
    return Math.round(shown / 3);
})()";

/// The last lines of the command that the page shows.
fn printed(command: &Path, scenario: &str) -> Outcome<String> {
    let rows = rows(command, scenario)?;
    let lines = rows.lines().map(|line| {
        let fields: Vec<_> = line.split(',').collect();
        [0, 2, 3].map(|at| *fields.get(at).unwrap_or(&"")).join(",")
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The rows of `runs.csv` that the command writes of a scenario.
fn rows(command: &Path, scenario: &str) -> Outcome<String> {
    let folder = target_directory()?.join("wasm");
    let (file, results) = (folder.join("bad-link.toml"), folder.join("bad-link-results"));
    fs::write(&file, scenario).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut sim = crate::chore::command(command);
    sim.arg("sim").arg(&file).args(["--fresh", "-q", "--seeds", "1", "--out"]);
    quiet(sim.arg(&results))?;
    read(&results.join("runs.csv"))
}

/// Runs all examples in the page. Returns the number of runs and their seconds.
fn examples(page: &mut Page) -> Outcome<(usize, f64)> {
    let kept = read(&root().join(digest::LIST))?;
    let (mut runs, mut seconds) = (0, 0.0);
    let is_scenario = |path: &&PathBuf| path.extension().is_some_and(|found| found == "toml");
    for path in digest::sorted(&root().join("examples"))?.iter().filter(is_scenario) {
        let name = format!("examples/{}", digest::file_name(path));
        let (digests, took) =
            simulated(page, &read(path)?).map_err(|error| format!("{name}: {error}"))?;
        let made = (1..).zip(&digests).map(|(run, digest)| format!("{name},{run},1,{digest}"));
        let expected = kept.lines().filter(|line| line.starts_with(&format!("{name},")));
        if !made.eq(expected) {
            return Err(format!("{name}: {} has other digests than {digests:?}", digest::LIST));
        }
        (runs, seconds) = (runs + digests.len(), seconds + took);
    }
    Ok((runs, seconds))
}

/// Runs cases in the page and by the command.
fn cases(page: &mut Page, command: &Path) -> Outcome {
    for case in CASES {
        let text = read(&root().join(case))?;
        let (digests, took) = simulated(page, &text).map_err(|error| format!("{case}: {error}"))?;
        let rows = rows(command, &text)?;
        let [digest] = digests.as_slice() else {
            return Err(format!("{case}: the page made {} runs", digests.len()));
        };
        if !rows.lines().any(|line| line.split(',').any(|field| field == digest)) {
            return Err(format!("{case}: the page has {digest}, the command\n{rows}"));
        }
        println!("{case}: {digest}, in {took:.1} s");
    }
    Ok(())
}

/// Digests of the runs of a scenario in the page, with seed 1, and their seconds.
fn simulated(page: &mut Page, scenario: &str) -> Outcome<(Vec<String>, f64)> {
    let answer = page.value(&format!(
        "new Promise((done, failed) => {{
            const worker = makeWorker();
            worker.onmessage = ({{ data }}) => data.error ? failed(new Error(data.error)) : done(data);
            worker.onerror = event => failed(new Error(event.message));
            worker.postMessage({{ id: 1, text: {}, seed: 1 }});
        }})",
        Value::from(scenario)
    ))?;
    let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    let digests = results.iter().filter_map(|result| result["digest"].as_str());
    let seconds = answer["millis"].as_f64().unwrap_or_default() / 1e3;
    Ok((digests.map(str::to_owned).collect(), seconds))
}
