//! Downloads into a file with a line of progress, and continues an interrupted download:
//! `cargo run -p recoup --example download -- /name FILE`.
fn main() -> recoup::Result<()> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "/movie".into());
    let file = words.next().unwrap_or_else(|| "movie.mp4".into());
    let client = recoup::Client::connect()?;
    let mut fetch = client.fetch(name).resume(true).start_file(file)?;
    for progress in &mut fetch {
        let percent = 100.0 * progress.share().unwrap_or(0.0);
        eprint!("\r{percent:5.1} %  {:>12} bytes", progress.bytes);
    }
    let summary = fetch.finish()?;
    eprintln!("\n{:.1} Mbit/s", summary.goodput_bit_s / 1e6);
    Ok(())
}
