//! Writes an object to standard output, piece by piece: `cargo run -p recoup --example stream -- /name | less`.
//! If the reader of the pipe pauses, the producer does.
use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "/log".into());
    let client = recoup::Client::connect()?;
    let mut out = std::io::stdout().lock();
    for chunk in client.fetch(name).chunks()? {
        out.write_all(&chunk?)?;
    }
    Ok(())
}
