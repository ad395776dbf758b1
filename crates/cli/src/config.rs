//! Configuration files: read as far as their limit, with every mistake in its place.
use crate::error::{Exit, Failure};
use recoup_config::problem::{Origin, Problem, Problems};
pub(crate) use recoup_config::section::{Section, parsed, text, texts, truth, whole};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Most bytes of a configuration file: a million routes of 60 bytes.
const MOST_BYTES: u64 = 64 << 20;

/// Reads the text of a configuration file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let name = path.display();
    let failed = |error: io::Error| match error.kind() {
        ErrorKind::InvalidData => {
            Failure::usage(format!("{name} is no text")).advise("write it in UTF-8")
        }
        _ => Failure::file("read", &name, &error),
    };
    let mut text = String::new();
    // The length of a device or a pipe is unknown before it is read.
    let length = File::open(path).and_then(|it| it.take(MOST_BYTES + 1).read_to_string(&mut text));
    if length.map_err(failed)? as u64 > MOST_BYTES {
        let message = format!("{name} is longer than 64 MiB");
        return Err(Failure::usage(message).advise("name a configuration, which is never as long"));
    }
    Ok(text)
}

/// Makes something of a configuration: `read` takes its parts out of the whole file.
pub(crate) fn parse<T>(
    file: &str,
    text: &str,
    read: impl FnOnce(&mut Section<'_>) -> T,
) -> Result<T, Failure> {
    recoup_config::section::parse(text, read).map_err(|problems| failure(file, &problems))
}

/// The first problem in one line, and where the others are.
pub(crate) fn failure(file: &str, problems: &Problems) -> Failure {
    let list = problems.list();
    let first = list.first().map_or_else(String::new, |problem| problem.line(file, &[]));
    Failure::new(Exit::Usage, format!("{first}{}", others(list.get(1..).unwrap_or_default())))
}

/// Where other problems are, as it stands behind the first.
fn others(others: &[Problem]) -> String {
    let line = |problem: &Problem| match problem.origin {
        Origin::File { line, .. } => Some(line.to_string()),
        Origin::Setting(_) | Origin::Unknown => None,
    };
    let mut lines: Vec<_> = others.iter().filter_map(line).collect();
    lines.dedup();
    let places = match (lines.len(), lines.first()) {
        (0, _) | (_, None) => String::new(),
        (1, Some(line)) => format!(", in line {line}"),
        (2..=5, _) => format!(", in lines {}", lines.join(", ")),
        (_, Some(line)) => format!(", from line {line} on"),
    };
    match others.len() {
        0 => String::new(),
        1 => format!(" (and another mistake{places})"),
        many => format!(" (and {many} other mistakes{places})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_configuration_is_not_read_to_its_end() {
        let message = |path: &Path| read(path).unwrap_err().to_string();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            message(Path::new("/dev/zero")),
            "/dev/zero is longer than 64 MiB; name a configuration, which is never as long"
        );
        assert!(message(folder.path()).contains("is a directory"), "{}", message(folder.path()));
        let file = folder.path().join("n.toml");
        assert!(message(&file).contains("no such file"), "{}", message(&file));
        std::fs::write(&file, b"\xFF\xFE").unwrap();
        assert!(
            message(&file).ends_with("n.toml is no text; write it in UTF-8"),
            "{}",
            message(&file)
        );
        File::create(&file).unwrap().set_len(MOST_BYTES).unwrap();
        assert_eq!(read(&file).unwrap().len() as u64, MOST_BYTES);
    }
}
