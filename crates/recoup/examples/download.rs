//! Downloads a file with a line of progress; run again, it continues: `cargo run -p recoup --example download -- /name FILE`.
fn main() -> recoup::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let show = |progress: recoup::Progress| {
        eprint!("\r{:5.1} %", 100.0 * progress.share().unwrap_or(0.0));
    };
    let client = recoup::Client::connect()?;
    let summary = client.fetch(&*words[1]).resume(true).on_progress(show).to_file(&words[2])?;
    eprintln!("\n{:.1} Mbit/s", summary.goodput_bit_s / 1e6);
    Ok(())
}
