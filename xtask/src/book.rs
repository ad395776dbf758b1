//! `cargo xtask book`: the documents as a book of HTML pages, in `target/book`.
//!
//! `docs/SUMMARY.md` lists the pages. They are copied beside the files that they link to, each at its own path, so that
//! links hold in the repository and in the book. mdBook builds the copy. There README.md is called index.md: mdBook makes
//! index.html of either, and leads links to README.html.

use crate::chore::{Outcome, capture, command, root, show, target_directory};
use crate::page;
use crate::tool::Tool;
use crate::wasm;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const SUMMARY: &str = "docs/SUMMARY.md";

/// The program that makes HTML of Markdown.
const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    arguments: &["--no-default-features", "--features", "search"],
};

/// A page that is made with the book, at the path that pages link to.
const MADE: &str = "docs/bad-link.html";

const CONFIGURATION: &str = "\
[book]
title = \"Recoup\"
language = \"en\"

[output.html]
no-section-label = true
";

/// Pages that are held to the rules of `page::breaches`; all others are still to be shortened.
const PLAIN: &[&str] = &[
    "ARCHITECTURE.md",
    "README.md",
    "docs/algorithms.md",
    "docs/fetch.md",
    "docs/forwarder.md",
    "docs/gateway.md",
    "docs/library.md",
    "docs/lossy-links.md",
    "docs/neighbours.md",
    "docs/scenario.md",
    "docs/start.md",
    "docs/studies.md",
    "docs/trust.md",
    "docs/wire.md",
    "docs/studies/carofiglio2016/README.md",
    "docs/studies/nikzad2022/README.md",
    "docs/studies/udugama2013/README.md",
    "docs/studies/vonrotz2015/README.md",
    "docs/studies/yang2016/README.md",
];

/// Builds the book.
pub(crate) fn run() -> Outcome {
    check()?;
    let mdbook = MDBOOK.install()?;
    let folder = target_directory()?.join("book");
    let source = folder.join("src");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    }
    for path in files()? {
        copy(&path, &source)?;
    }
    write(&source.join("SUMMARY.md"), &staged(SUMMARY, "SUMMARY.md", &read(SUMMARY)?))?;
    write(&folder.join("book.toml"), CONFIGURATION)?;
    let (made, copy) = (wasm::build()?, source.join(MADE));
    fs::copy(made, &copy).map_err(|error| failed(&copy, &error))?;
    show(command(mdbook).arg("build").arg(&folder))?;
    let html = folder.join("book");
    for path in pages()? {
        check_html(&html, &indexed(&path).replace(".md", ".html"))?;
    }
    println!("the book begins at {}", html.join("index.html").display());
    Ok(())
}

/// Checks that the links of a built page lead to files of the book.
fn check_html(folder: &Path, path: &str) -> Outcome {
    let page = folder.join(path);
    let text = fs::read_to_string(&page).map_err(|error| failed(&page, &error))?;
    let links = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    for link in links.filter(|link| !is_remote(link)) {
        let file = link.split('#').next().unwrap_or_default();
        let target = resolved(path, file).filter(|target| folder.join(target).exists());
        target.ok_or_else(|| format!("{}: {link}: no such file", page.display()))?;
    }
    Ok(())
}

/// Checks links and anchors of all documents, and the rules of those pages that keep them.
pub(crate) fn check() -> Outcome {
    let pages = pages()?;
    let mut found = Vec::new();
    for path in committed()? {
        let text = read(&path)?;
        for link in page::links(&text) {
            if let Err(reason) = follow(&path, &link.target, &pages) {
                found.push(format!("{path}:{}: {}: {reason}", link.line, link.target));
            }
        }
        if path.starts_with("docs/") && path != SUMMARY && !pages.contains(&path) {
            found.push(format!("{path}: {SUMMARY} does not list it"));
        }
        if PLAIN.contains(&path.as_str()) {
            let breaches = page::breaches(&text).into_iter();
            found.extend(breaches.map(|(line, reason)| format!("{path}:{line}: {reason}")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Whether a link of a document leads to a file, and to a heading if it names one.
fn follow(from: &str, target: &str, pages: &BTreeSet<String>) -> Outcome {
    if is_remote(target) {
        return Ok(());
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = resolved(from, file).ok_or("leads out of the repository")?;
    if path == MADE {
        return Ok(());
    }
    if !root().join(&path).exists() {
        return Err("no such file".into());
    }
    let is_page = path.ends_with(".md");
    if is_page && pages.contains(from) && !pages.contains(&path) {
        return Err(format!("{SUMMARY} does not list it"));
    }
    match anchor.is_empty() || page::anchors(&read(&path)?).contains(anchor) {
        true => Ok(()),
        false => Err("no such heading".into()),
    }
}

fn is_remote(target: &str) -> bool {
    ["https:", "http:", "mailto:"].iter().any(|scheme| target.starts_with(scheme))
}

/// A link's path from the root of the repository, unless it leads out of that.
fn resolved(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The documents of the repository.
pub(crate) fn committed() -> Outcome<Vec<String>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
    let list = capture(command("git").args(arguments))?;
    let there = list.lines().filter(|path| root().join(path).exists());
    Ok(there.map(str::to_owned).collect())
}

/// The pages of the book.
fn pages() -> Outcome<BTreeSet<String>> {
    let links = page::links(&read(SUMMARY)?);
    Ok(links.iter().filter_map(|link| resolved(SUMMARY, &link.target)).collect())
}

/// The pages, and files that they link to.
fn files() -> Outcome<BTreeSet<String>> {
    let mut files = pages()?;
    for path in files.clone() {
        let links = page::links(&read(&path)?).into_iter();
        let local = links.filter(|link| !is_remote(&link.target));
        let paths = local.filter_map(|link| resolved(&path, link.target.split('#').next()?));
        files.extend(paths.filter(|path| root().join(path).is_file()));
    }
    Ok(files)
}

/// A page with its links, as it stands in the book: its path there is `to`.
fn staged(from: &str, to: &str, text: &str) -> String {
    let above = "../".repeat(to.matches('/').count());
    let mut staged = text.to_owned();
    for link in page::links(text).iter().filter(|link| link.target.contains(".md")) {
        let (file, anchor) = match link.target.split_once('#') {
            Some((file, anchor)) => (file, format!("#{anchor}")),
            None => (link.target.as_str(), String::new()),
        };
        let path = resolved(from, file).filter(|_| !is_remote(file));
        if let Some(path) = path {
            let old = format!("]({})", link.target);
            let new = format!("](<{above}{}{anchor}>)", indexed(&path));
            staged = staged.replacen(&old, &new, 1);
        }
    }
    staged
}

/// The path of a page in the book.
fn indexed(path: &str) -> String {
    match path.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => path.to_owned(),
    }
}

fn copy(path: &str, to: &Path) -> Outcome {
    let copy = to.join(indexed(path));
    fs::create_dir_all(copy.parent().unwrap_or(to)).map_err(|error| failed(&copy, &error))?;
    match path.ends_with(".md") {
        true => write(&copy, &staged(path, &indexed(path), &read(path)?)),
        false => fs::copy(root().join(path), &copy).map(drop).map_err(|e| failed(&copy, &e)),
    }
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| failed(Path::new(path), &error))
}

fn write(path: &PathBuf, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_resolves_within_the_repository() {
        assert_eq!(resolved("docs/a.md", "../README.md").as_deref(), Some("README.md"));
        assert_eq!(resolved("docs/a.md", "./b/c.md").as_deref(), Some("docs/b/c.md"));
        assert_eq!(resolved("docs/a.md", "").as_deref(), Some("docs/a.md"));
        assert_eq!(resolved("docs/a.md", "../../etc/passwd"), None);
    }

    #[test]
    fn staged_links_lead_to_index_pages() {
        let summary = "- [Install](install.md)\n- [Start](../README.md#use)\n";
        let expected = "- [Install](<docs/install.md>)\n- [Start](<index.md#use>)\n";
        assert_eq!(staged(SUMMARY, "SUMMARY.md", summary), expected);
        let page = "[up](../README.md) [remote](https://example.org/README.md)";
        let expected = "[up](<../index.md>) [remote](https://example.org/README.md)";
        assert_eq!(staged("docs/a.md", "docs/a.md", page), expected);
    }

    #[test]
    fn broken_links_are_found() {
        let pages = BTreeSet::from(["README.md".to_owned()]);
        let follow = |target: &str| follow("README.md", target, &pages);
        assert_eq!(follow("https://example.org/x#y"), Ok(()));
        assert_eq!(follow("docs/none.md"), Err("no such file".into()));
        assert_eq!(follow("#none"), Err("no such heading".into()));
        assert_eq!(follow("SECURITY.md"), Err("docs/SUMMARY.md does not list it".into()));
    }
}
