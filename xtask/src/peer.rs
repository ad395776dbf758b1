//! Peers of the interoperability tests: python-ndn in a virtual environment, and Node with the
//! NDNts libraries, all pinned, all inside `target/interop`.

use crate::chore::{Outcome, capture, command, package, quiet, target_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// If this is set in the environment, peers that cannot be installed are a failure, not a skip.
pub(crate) const REQUIRE: &str = "RECOUP_REQUIRE_INTEROP";

/// Environment variable with the folder of the peers, for the tests.
pub(crate) const FOLDER: &str = "RECOUP_INTEROP";

/// The oldest minor version of Python 3 that has what the peers need.
const OLDEST: u32 = 10;

const MANIFESTS: [&str; 3] =
    ["python/requirements.txt", "node/package.json", "node/package-lock.json"];

/// The folder of their programs and of what they need.
fn source() -> Outcome<PathBuf> {
    Ok(package("recoup-cli")?.join("tests/peers"))
}

/// Installs the peers unless they are there already, and returns their folder.
pub(crate) fn install() -> Outcome<PathBuf> {
    let folder = target_directory()?.join("interop");
    let wanted = wanted()?;
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).ok().as_deref() != Some(&wanted) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        install_python(&folder)?;
        install_node(&folder)?;
        fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
    }
    link_scripts(&folder)?;
    Ok(folder)
}

/// Everything that decides what is installed, as one text.
fn wanted() -> Outcome<String> {
    let mut wanted = capture(command(python(OLDEST)?).arg("--version"))?;
    for manifest in MANIFESTS {
        let path = source()?.join(manifest);
        let text = fs::read_to_string(&path).map_err(|error| format!("{manifest}: {error}"))?;
        wanted.push_str(&text);
    }
    Ok(wanted)
}

/// The first Python 3 that answers and has at least this minor version.
pub(crate) fn python(oldest: u32) -> Outcome<&'static str> {
    let probe = format!("import sys; sys.exit(sys.version_info < (3, {oldest}))");
    ["python3", "python"]
        .into_iter()
        .find(|name| quiet(command(name).args(["-c", &probe])).is_ok())
        .ok_or_else(|| format!("there is no Python 3.{oldest} or newer on this machine"))
}

fn install_python(folder: &Path) -> Outcome {
    println!("installing python-ndn and Node into {}", folder.display());
    let environment = folder.join("python");
    quiet(command(python(OLDEST)?).args(["-m", "venv"]).arg(&environment)).map_err(|error| {
        format!("this Python cannot make a virtual environment (python3-venv missing?)\n{error}")
    })?;
    let requirements = source()?.join("python/requirements.txt");
    let mut pip = command(environment.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    quiet(pip.arg(requirements))
        .map_err(|error| format!("python-ndn and Node could not be installed with pip\n{error}"))
}

fn install_node(folder: &Path) -> Outcome {
    println!("installing the NDNts libraries");
    let home = folder.join("node");
    fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    for manifest in ["package.json", "package-lock.json"] {
        let from = source()?.join("node").join(manifest);
        fs::copy(from, home.join(manifest)).map_err(|error| error.to_string())?;
    }
    let tools = folder.join("python/bin");
    let mut path = vec![tools.clone()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let path = std::env::join_paths(path).map_err(|error| error.to_string())?;
    let mut npm = command(tools.join("npm"));
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier"]);
    quiet(npm.current_dir(&home).env("PATH", path))
        .map_err(|error| format!("the NDNts libraries could not be installed with npm\n{error}"))
}

/// Node searches libraries beside the importing script, so the scripts are copied there.
fn link_scripts(folder: &Path) -> Outcome {
    let link = folder.join("node/peers");
    let _ = fs::remove_file(&link);
    let scripts = source()?.join("node");
    std::os::unix::fs::symlink(&scripts, &link).map_err(|error| error.to_string())
}
