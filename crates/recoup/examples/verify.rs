//! Accepts nothing that the publisher's key did not sign: `cargo run -p recoup --example verify -- /name publisher.cert`.
use recoup::{Client, Verify};

fn main() {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "/news".into());
    let key = words.next().unwrap_or_else(|| "publisher.cert".into());
    let client = Client::builder().verify(Verify::Key(key)).connect();
    match client.and_then(|client| client.get(name)) {
        Ok(content) => println!("{}", String::from_utf8_lossy(&content)),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(error.kind() as i32);
        }
    }
}
