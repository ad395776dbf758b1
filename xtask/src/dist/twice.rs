//! Whether a second build, of a clone in another folder, has the same bytes.

use super::{Plan, Release, sums};
use crate::chore::{Outcome, capture, cargo, command, quiet, root, show, target_directory};
use std::fs;
use std::os::unix::fs::symlink;

/// Builds a clone of the last commit and compares each file with that of this build.
pub(super) fn compare(release: &Release, plan: &Plan) -> Outcome {
    let changed = capture(command("git").args(["status", "--porcelain"]))?;
    if !changed.is_empty() {
        return Err(format!("--twice builds the last commit; commit this first:\n{changed}"));
    }
    let target = target_directory()?;
    let folder = target.join("bundle-twice/another/place/recoup");
    let _ = fs::remove_dir_all(target.join("bundle-twice"));
    quiet(command("git").args(["clone", "--quiet", "--shared"]).arg(root()).arg(&folder))?;
    let error = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(folder.join("target")).map_err(error)?;
    symlink(target.join("tools"), folder.join("target/tools")).map_err(error)?;
    // Its own xtask, since the root of the tree is compiled into it.
    let mut again = release.dated(cargo(&["xtask", "dist", "--profile", &plan.profile]));
    again.current_dir(&folder).env_remove("CARGO_TARGET_DIR");
    again.args(plan.url.iter().flat_map(|url| ["--url", url]));
    show(&mut again)?;
    let one = sums(&release.files())?;
    let other = sums(&folder.join("target/bundle/release"))?;
    let differences = differences(&one, &other);
    match differences.is_empty() {
        true => println!("{} files have the same bytes in both builds", one.len()),
        false => return Err(format!("not the same in both builds: {}", differences.join(", "))),
    }
    let _ = fs::remove_dir_all(target.join("bundle-twice"));
    Ok(())
}

type Sums = [(String, usize, String)];

/// Names of files that are not in both, or not the same.
fn differences(one: &Sums, other: &Sums) -> Vec<String> {
    let lonely = |these: &Sums, those: &Sums| -> Vec<String> {
        these.iter().filter(|file| !those.contains(file)).map(|(name, ..)| name.clone()).collect()
    };
    let mut names = [lonely(one, other), lonely(other, one)].concat();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lonely_and_altered_files_are_named() {
        let file = |name: &str, sum: &str| (name.to_string(), 1, sum.to_string());
        let one = [file("a", "1"), file("b", "2"), file("c", "3")];
        let other = [file("a", "1"), file("b", "9"), file("d", "4")];
        assert_eq!(differences(&one, &other), ["b", "c", "d"]);
        assert!(differences(&one, &one).is_empty());
    }
}
