//! Tests in a network of their own: the test runs itself once more, in a namespace where it may do everything.
use std::process::Command;

/// Set in the process that runs in the namespace.
const INSIDE: &str = "RECOUP_TEST_NAMESPACE";
/// Turns what is skipped into a failure.
const REQUIRE: &str = "RECOUP_REQUIRE_NAMESPACES";

/// Runs `body` in a network namespace with what `commands` of `ip` make of it; `test` is the path of the test that calls.
pub(crate) fn within(test: &str, commands: &[&str], body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        commands.iter().for_each(|words| ip(words));
        return body();
    }
    if let Err(why) = possible() {
        return skip(&why);
    }
    let this = std::env::current_exe().unwrap();
    let mut inside = Command::new("unshare");
    inside.args(["--net", "--mount"]).arg(this).args(["--exact", test, "--nocapture"]);
    let output = inside.env(INSIDE, "1").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}{stderr}", String::from_utf8_lossy(&output.stdout));
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(ran, "no test is called {test}");
}

/// Reports a test that cannot run on this machine; fails if it must run.
pub(crate) fn skip(why: &str) {
    assert!(std::env::var_os(REQUIRE).is_none(), "{why}");
    eprintln!("skipped: {why}");
}

/// Changes the network of the namespace.
pub(crate) fn ip(words: &str) {
    let status = Command::new("ip").args(words.split(' ')).status().unwrap();
    assert!(status.success(), "ip {words}");
}

/// Whether there can be a namespace with interfaces in it.
fn possible() -> Result<(), String> {
    let probe = "--net --mount ip link add probe0 type veth peer name probe1";
    let output = Command::new("unshare").args(probe.split(' ')).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(format!("no network namespace: {}", stderr.trim()))
        }
        Err(error) => Err(format!("no network namespace: unshare: {error}")),
    }
}
