//! The resumable download of a process that is stopped: killed, out of room, without permission.
//!
//! The tests start this test program again as a child, which writes until something stops it.
use super::{Place, identity, place};
use recoup_io::part::{Journal, Options, PartFile, part_path};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const CHILD_TARGET: &str = "RECOUP_TEST_PART_TARGET";
const CHILD_INTERVAL: &str = "RECOUP_TEST_PART_INTERVAL_MS";

/// Writes 1,000-byte segments in a scattered order and prints a line for each error.
#[test]
fn child_writes_for_ever() {
    let Ok(target) = std::env::var(CHILD_TARGET) else {
        return;
    };
    let interval = std::env::var(CHILD_INTERVAL).map_or(2, |interval| interval.parse().unwrap());
    let journal_interval = Duration::from_millis(interval);
    let options = Options { journal_interval, ..Options::default() };
    let mut part = match PartFile::open(Path::new(&target), identity(), options) {
        Ok(part) => part,
        Err(error) => {
            println!("open: {error}");
            return;
        }
    };
    for batch in part.received().last().map_or(0, |last| last / 16 + 1).. {
        for i in 0..16u64 {
            let number = batch * 16 + (i * 5 + 3) % 16;
            if let Err(error) = part.write(number, big_segment(number).into()) {
                println!("write: {error}");
                return;
            }
        }
        if let Err(error) = part.flush() {
            println!("flush: full={} {error}", error.is_disk_full());
            std::io::stdout().flush().unwrap();
            println!("close: {}", part.close().is_ok());
            return;
        }
    }
}

fn big_segment(number: u64) -> Vec<u8> {
    (0..1000u64).map(|i| (number.wrapping_mul(2_654_435_761) >> (i % 24)) as u8).collect()
}

fn child(target: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "stopped::child_writes_for_ever", "--nocapture"]);
    command.env(CHILD_TARGET, target).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Checks that everything the journal claims is in the file; returns how much that is.
fn claimed_is_there(target: &Path) -> u64 {
    let part = PartFile::open(target, identity(), Options::default()).unwrap();
    let data = fs::read(part_path(target)).unwrap();
    for number in part.received().runs().flatten() {
        let at = number as usize * 1000;
        assert_eq!(data[at..at + 1000], big_segment(number), "segment {number}");
    }
    part.received().len()
}

#[test]
fn first_journal_is_written_after_a_tenth() {
    let place = place();
    let options = Options { journal_interval: Duration::from_secs(10), ..Options::default() };
    let mut part = PartFile::open(&place.target, identity(), options).unwrap();
    let start = std::time::Instant::now();
    let claims = || Journal::read(&place.target).unwrap().map_or(0, |read| read.received.len());
    while claims() == 0 {
        let number = part.received().last().map_or(0, |last| last + 1);
        part.write(number, big_segment(number).into()).unwrap();
        part.flush().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "no journal was written");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(start.elapsed() >= Duration::from_secs(1));
}

/// Limits that need a mount: the child runs as the root of a user namespace of its own.
#[cfg(target_os = "linux")]
mod limits {
    use super::*;

    /// Output of the child when `script` runs it as `"$@"`, with `$FOLDER` the folder of `place`.
    /// `None`, after saying so, where user namespaces are not allowed.
    fn run(script: &str, place: &Place, target: &Path) -> Option<String> {
        let child = child(target);
        let mut shell = Command::new("unshare");
        shell.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        shell.arg(child.get_program()).args(child.get_args());
        let folder = place.target.parent().unwrap();
        let copy = part_path(&folder.join("copy/file"));
        shell
            .env(CHILD_TARGET, target)
            .env("FOLDER", folder)
            .env("STAGING", copy.parent().unwrap());
        let output = shell.stderr(Stdio::null()).output().ok();
        let output = output.map(|output| String::from_utf8(output.stdout).unwrap());
        let output = output.filter(|output| output.contains("running 1 test"));
        if output.is_none() {
            eprintln!("skipped: no unprivileged mounts on this machine");
        }
        output
    }

    #[test]
    fn full_disk_leaves_the_download_resumable() {
        let place = place();
        let folder = place.target.parent().unwrap();
        let script = "cd \"$FOLDER\" && mkdir small copy && \
             mount -t tmpfs -o size=512k none small && \"$@\"; cp -r small/.recoup-0 \"$STAGING\"";
        let Some(output) = run(script, &place, &folder.join("small/file")) else {
            return;
        };
        assert!(output.contains("flush: full=true"), "{output}");
        assert!(output.contains("the disk is full; make room, then try again"), "{output}");
        assert!(claimed_is_there(&folder.join("copy/file")) > 250, "{output}");
    }

    #[test]
    fn read_only_file_system_is_reported() {
        let place = place();
        let script = "mount --bind \"$FOLDER\" \"$FOLDER\" && \
             mount -o remount,bind,ro \"$FOLDER\" && \"$@\"";
        let Some(output) = run(script, &place, &place.target) else {
            return;
        };
        assert!(output.contains("open: cannot create"), "{output}");
        assert!(output.contains("the file system is read-only"), "{output}");
    }

    #[test]
    fn file_size_limit_leaves_the_download_resumable() {
        let place = place();
        let script = "trap '' XFSZ && ulimit -f 600 && \"$@\"";
        let Some(output) = run(script, &place, &place.target) else {
            return;
        };
        assert!(output.contains("would exceed the allowed size"), "{output}");
        assert!(claimed_is_there(&place.target) > 250, "{output}");
    }
}
