//! Serves a folder until a line arrives on standard input: `cargo run -p recoup --example serve_folder -- FOLDER /name`.
fn main() -> recoup::Result<()> {
    let mut words = std::env::args().skip(1);
    let folder = words.next().unwrap_or_else(|| ".".into());
    let name = words.next().unwrap_or_else(|| "/folder".into());
    let client = recoup::Client::connect()?;
    let server = client.serve(name).folder(folder)?;
    println!("serving {} at {}", server.name(), server.faces().join(", "));
    let _ = std::io::stdin().read_line(&mut String::new());
    println!("{} bytes served", server.summary().bytes);
    Ok(())
}
