//! Archives for any Linux and for building, the formula for Homebrew, and the container image.

use super::{Release, copy, digest, write};
use crate::chore::{Outcome, capture, command, quiet, root};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Files that the archive of the program has beside it, from the root of the tree.
const BESIDE: [&str; 7] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "packaging/recoup-forward.service",
    "packaging/recoup-hostapd-action.sh",
    "packaging/recoup-wpa-action.sh",
];

/// `recoup-VERSION-TARGET.tar.gz`: the static program with its pages and completions.
pub(super) fn binary(release: &Release) -> Outcome {
    let stem = release.stem(Some("linux-musl"));
    let folder = release.folder.join("archive").join(&stem);
    let error = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(error)?;
    copy(&release.folder.join("static/recoup"), &folder.join("recoup"))?;
    copy(&release.folder.join("third-party.txt"), &folder.join("third-party.txt"))?;
    for part in ["man", "completions"] {
        let to = folder.join(part);
        fs::create_dir_all(&to).map_err(error)?;
        for file in fs::read_dir(release.folder.join(part)).map_err(error)? {
            let file = file.map_err(error)?;
            copy(&file.path(), &to.join(file.file_name()))?;
        }
    }
    for file in BESIDE.map(|file| root().join(file)) {
        copy(&file, &folder.join(file.file_name().unwrap_or_default()))?;
    }
    let archive = release.files().join(format!("{stem}.tar.gz"));
    let parent = folder.parent().unwrap_or(&folder);
    quiet(tar(release, parent).arg("--file").arg(archive).args(["--gzip", &stem]))
}

/// A `tar` whose output depends on names and contents alone.
fn tar(release: &Release, folder: &Path) -> Command {
    let mut tar = command("tar");
    tar.env("GZIP", "-9n").env("LC_ALL", "C").arg("--create").arg("--directory").arg(folder);
    tar.args(["--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.date)).arg("--mode=u=rwX,go=rX");
    tar
}

/// The name of the archive of sources.
fn source_name(release: &Release) -> String {
    format!("{}.tar.gz", release.stem(None))
}

/// `recoup-VERSION.tar.gz`: the tree of the last commit.
pub(super) fn source(release: &Release) -> Outcome {
    let changed = capture(command("git").args(["status", "--porcelain", "--untracked-files=no"]))?;
    if !changed.is_empty() {
        println!("the archive of sources has the last commit, without later changes");
    }
    let mut archive = command("git");
    archive.args(["archive", "--format=tar.gz", "-9", "--output"]);
    archive.arg(release.files().join(source_name(release)));
    quiet(archive.arg(format!("--prefix={}/", release.stem(None))).arg("HEAD"))
}

/// `recoup.rb`, if the address is known where the archive of sources will be.
pub(super) fn formula(release: &Release) -> Outcome {
    let Some(url) = &release.url else {
        println!("no formula for Homebrew: it needs --url, the address of the release files");
        return Ok(());
    };
    let name = source_name(release);
    let archive = release.files().join(&name);
    let bytes = fs::read(&archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let template = root().join("packaging/recoup.rb");
    let template =
        fs::read_to_string(&template).map_err(|e| format!("{}: {e}", template.display()))?;
    write(&release.files().join("recoup.rb"), fill(&template, url, &name, &digest(&bytes))?)
}

/// The formula without its first comment, and with values between its @.
fn fill(template: &str, url: &str, archive: &str, sum: &str) -> Outcome<String> {
    let url = url.trim_end_matches('/');
    let is_address = url.starts_with("https://") && url.chars().all(|c| c.is_ascii_graphic());
    if !is_address || url.contains(['"', '#', '\\']) {
        return Err(format!("--url {url:?} is no https address"));
    }
    let class = template.find("class ").ok_or("packaging/recoup.rb has no class")?;
    let formula = template.get(class..).unwrap_or_default();
    let filled = [("@URL@", url), ("@ARCHIVE@", archive), ("@SHA256@", sum)]
        .iter()
        .fold(formula.to_string(), |text, (key, value)| text.replace(key, value));
    match filled.contains('@') && !url.contains('@') {
        true => Err("packaging/recoup.rb has an unknown value between @".to_string()),
        false => Ok(filled),
    }
}

/// `recoup-VERSION-image.tar`: what `packaging/Containerfile` makes of the static program.
pub(super) fn image(release: &Release) -> Outcome {
    if quiet(command("buildah").arg("--version")).is_err() {
        println!("no container image: it needs buildah");
        return Ok(());
    }
    let archive = release.files().join(format!("{}-image.tar", release.stem(None)));
    let scratch = release.folder.join("image");
    let buildah = || {
        let mut buildah = command("buildah");
        buildah.args(["--storage-driver", "vfs", "--root"]).arg(scratch.join("root"));
        buildah.arg("--runroot").arg(scratch.join("run"));
        buildah
    };
    let date = release.date.to_string();
    let mut build = buildah();
    build.args(["build", "--isolation", "chroot", "--timestamp", &date, "--quiet"]);
    build.args(["--file", "packaging/Containerfile", "--tag", "recoup"]);
    quiet(build.arg("--iidfile").arg(release.folder.join("image.id")).arg("."))?;
    let layout = release.folder.join("image-layout");
    let to = format!("oci:{}:recoup:{}", layout.display(), release.version);
    let pushed = quiet(buildah().args(["push", "--quiet", "recoup", &to]));
    let _ = fs::remove_dir_all(&scratch);
    pushed?;
    // An archive that buildah writes itself has the times of writing.
    let parts = ["blobs", "index.json", "oci-layout"];
    quiet(tar(release, &layout).arg("--file").arg(archive).args(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_has_address_archive_and_digest() {
        let template = fs::read_to_string(root().join("packaging/recoup.rb")).unwrap();
        let text = fill(&template, "https://files.example/v1/", "recoup-1.tar.gz", "ab12").unwrap();
        assert!(text.starts_with("class Recoup"));
        assert!(text.contains("url \"https://files.example/v1/recoup-1.tar.gz\""));
        assert!(text.contains("sha256 \"ab12\""));
        assert!(fill(&template, "https://a\"b", "", "").is_err());
        assert!(fill("class X @OTHER@", "https://a", "", "").is_err());
    }
}
