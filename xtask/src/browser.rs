//! A headless Chromium that runs scripts in a page, by the Chrome DevTools Protocol.

use crate::chore::{Outcome, capture, command};
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// If this is set in the environment, a missing browser is a failure, not a skip.
pub(crate) const REQUIRE: &str = "RECOUP_REQUIRE_BROWSER";

/// Environment variable with the path of the program.
const PROGRAM: &str = "RECOUP_CHROMIUM";
/// Names under which systems have it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Longest time of an answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program, or why there is none.
pub(crate) fn find() -> Outcome<PathBuf> {
    if let Some(path) = std::env::var_os(PROGRAM) {
        return Ok(path.into());
    }
    let is_there = |name: &&str| capture(command(name).arg("--version")).is_ok();
    let found = NAMES.into_iter().find(is_there).map(PathBuf::from);
    found.ok_or_else(|| format!("there is no Chromium: install it, or set {PROGRAM} to its path"))
}

/// A page in a browser of its own.
pub(crate) struct Page {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: Value,
    last: u64,
}

impl Page {
    /// Starts the browser with an empty profile in `folder`, and opens a page as large as a window of so many pixels.
    pub(crate) fn open(
        program: &Path,
        folder: &Path,
        url: &str,
        (width, height): (u32, u32),
    ) -> Outcome<Self> {
        let _ = fs::remove_dir_all(folder);
        let mut chromium = command(program);
        chromium.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        chromium.args(["--disable-dev-shm-usage", "--remote-debugging-port=0"]);
        chromium.arg(format!("--window-size={width},{height}"));
        chromium.arg(format!("--user-data-dir={}", folder.display()));
        chromium.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child =
            chromium.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
        let connected = address(folder).and_then(|address| connect(&address));
        let socket = match connected {
            Ok(socket) => socket,
            Err(error) => {
                let _ = child.kill();
                return Err(error);
            }
        };
        let mut page = Self { child, socket, session: Value::Null, last: 0 };
        let target = page.call("Target.createTarget", json!({ "url": url }))?;
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        page.session = page.call("Target.attachToTarget", target)?["sessionId"].take();
        Ok(page)
    }

    /// The value of an expression, once its promise is kept.
    pub(crate) fn value(&mut self, expression: &str) -> Outcome<Value> {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", parameters)?;
        match answer.get("exceptionDetails") {
            None => Ok(answer["result"]["value"].take()),
            Some(details) => {
                let text = details["exception"]["description"].as_str();
                Err(format!("the page failed: {}", text.unwrap_or("an exception without words")))
            }
        }
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) -> Outcome {
        let begun = Instant::now();
        while self.value(expression)? != Value::Bool(true) {
            if begun.elapsed() > PATIENCE {
                return Err(format!("the page did not get so far: {expression}"));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Calls a method of the protocol.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Outcome<Value> {
        self.last += 1;
        let mut request = json!({ "id": self.last, "method": method, "params": parameters });
        if !self.session.is_null() {
            request["sessionId"] = self.session.clone();
        }
        let failed = |error: tungstenite::Error| format!("Chromium, {method}: {error}");
        self.socket.send(Message::text(request.to_string())).map_err(failed)?;
        loop {
            let Message::Text(text) = self.socket.read().map_err(failed)? else { continue };
            let mut answer: Value =
                serde_json::from_str(&text).map_err(|error| format!("Chromium: {error}"))?;
            if answer["id"] != self.last {
                continue;
            }
            return match answer.get("error") {
                None => Ok(answer["result"].take()),
                Some(error) => Err(format!("Chromium, {method}: {}", error["message"])),
            };
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The browser ends its own processes.
        self.session = Value::Null;
        let _ = self.call("Browser.close", json!({}));
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address that the browser writes into its profile: a port, and a path.
fn address(folder: &Path) -> Outcome<(u16, String)> {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let text = fs::read_to_string(folder.join("DevToolsActivePort")).unwrap_or_default();
        if let Some((port, path)) = text.split_once('\n')
            && let Ok(port) = port.parse()
        {
            return Ok((port, path.trim().to_owned()));
        }
        sleep(Duration::from_millis(20));
    }
    Err("Chromium opened no port; does it start by hand?".into())
}

fn connect((port, path): &(u16, String)) -> Outcome<WebSocket<TcpStream>> {
    let failed = |error: String| format!("Chromium cannot be reached at port {port}: {error}");
    let stream =
        TcpStream::connect(("127.0.0.1", *port)).map_err(|error| failed(error.to_string()))?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(|error| failed(error.to_string()))?;
    let url = format!("ws://127.0.0.1:{port}{path}");
    let (socket, _) =
        tungstenite::client(url, stream).map_err(|error| failed(error.to_string()))?;
    Ok(socket)
}
