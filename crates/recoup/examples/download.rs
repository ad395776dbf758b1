//! Downloads a file with a line of progress; run again, it continues: `cargo run -p recoup --example download -- /name FILE`.
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match (words.next(), words.next()) {
        (Some(name), Some(file)) => recoup::conclude(download(&name, &file)),
        _ => recoup::conclude(Err(recoup::Error::usage("name the content and a file: /name FILE"))),
    }
}

fn download(name: &str, file: &str) -> recoup::Result<()> {
    let show = |progress: recoup::Progress| match (progress.unanswered_for, progress.share()) {
        (Some(time), _) => eprint!("\rno answer for {:.0} s", time.as_secs_f64()),
        (None, share) => eprint!("\r{:5.1} %              ", 100.0 * share.unwrap_or(0.0)),
    };
    let client = recoup::Client::connect()?;
    let summary = client.fetch(name).resume(true).on_progress(show).to_file(file)?;
    eprintln!("\n{:.1} Mbit/s", summary.stats.goodput().unwrap_or(0.0) / 1e6);
    Ok(())
}
