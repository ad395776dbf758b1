//! Fetches a small object into memory: `cargo run -p recoup --example memory -- /name`.
fn main() -> recoup::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "/site/greeting".into());
    let client = recoup::Client::connect()?;
    let content = client.get(name)?;
    println!("{}", String::from_utf8_lossy(&content));
    Ok(())
}
