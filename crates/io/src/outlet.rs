//! How a finished file gets to the path that a user names.
//!
//! A regular file is replaced whole, by a rename, so that no reader sees a part of it. What a symbolic link leads to is replaced,
//! and the link stays. A rename would also replace a device, a pipe or a link without a file: these are written directly.
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the system whose entries stand for open files and devices.
const OF_SYSTEM: [&str; 2] = ["/dev", "/proc"];

/// How a file is written to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlet {
    /// Under another name, which is changed to this one when the file is complete.
    Replaced(PathBuf),
    /// Directly.
    Direct(PathBuf),
}

impl Outlet {
    /// How a file is written to `path`.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let is_link = path.is_symlink();
        let there = fs::metadata(path);
        let is_special = there.is_ok_and(|it| !it.is_file() && !it.is_dir());
        if is_special || OF_SYSTEM.iter().any(|folder| path.starts_with(folder)) {
            return Self::Direct(path.to_owned());
        }
        match fs::canonicalize(path) {
            Ok(whole) if is_link => Self::Replaced(whole),
            Err(_) if is_link => Self::Direct(path.to_owned()),
            _ => Self::Replaced(path.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "before").unwrap();
        for (link, to) in [("link", "file"), ("lost", "nowhere"), ("null", "/dev/null")] {
            symlink(to, at(link)).unwrap();
        }
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), kind, mode, 0).unwrap();
        let whole = fs::canonicalize(at("file")).unwrap();
        assert_eq!(Outlet::of(&at("file")), Outlet::Replaced(at("file")));
        assert_eq!(Outlet::of(&at("new")), Outlet::Replaced(at("new")));
        assert_eq!(Outlet::of(&at("link")), Outlet::Replaced(whole));
        for direct in [at("lost"), at("null"), at("pipe"), "/dev/full".into(), "/dev/fd/1".into()] {
            assert_eq!(Outlet::of(&direct), Outlet::Direct(direct.clone()));
        }
    }
}
