//! Fetches with tokio, and cancels at Ctrl-C; the pending Interests are withdrawn:
//! `cargo run -p recoup --features tokio --example cancel -- /name SECONDS`.
use recoup::asynchronous::Client;
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> recoup::Result<()> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "/movie".into());
    let seconds = words.next().and_then(|word| word.parse().ok()).unwrap_or(60);
    let client = Client::connect().await?;
    let mut stream = client.fetch(name).stream().await?;
    let mut bytes = 0;
    let deadline = tokio::time::sleep(Duration::from_secs(seconds));
    tokio::pin!(deadline);
    loop {
        tokio::select! {
            chunk = stream.next_chunk() => match chunk? {
                Some(chunk) => bytes += chunk.len(),
                None => break println!("{bytes} bytes"),
            },
            _ = tokio::signal::ctrl_c() => break println!("cancelled after {bytes} bytes"),
            () = &mut deadline => break println!("out of time after {bytes} bytes"),
        }
    }
    Ok(())
}
