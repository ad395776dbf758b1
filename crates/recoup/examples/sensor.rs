//! A sensor that is read when it is asked, until a line arrives on standard input:
//! `cargo run -p recoup --example sensor -- /site/sensor`.
use std::time::{Duration, SystemTime};

fn main() -> recoup::Result<()> {
    let prefix = std::env::args().nth(1).unwrap_or_else(|| "/site/sensor".into());
    let client = recoup::Client::connect()?;
    let server = client.serve(&prefix).freshness(Duration::from_secs(1)).answer(|interest| {
        let what = interest.name.last()?;
        (what.value() == b"time").then(|| format!("{:?}", SystemTime::now()).into())
    })?;
    println!("answering {prefix}/time at {}", server.faces().join(", "));
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(())
}
