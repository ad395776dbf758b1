//! Curves as text: a picture for each curve, with numbers below. The text is compared with a committed file, so a
//! change to an algorithm shows as a change to its picture.
use std::fmt::Write as _;

const HEIGHT: usize = 12;

/// Draws `values`, with this many decimals in the numbers below.
pub(crate) fn draw(out: &mut String, values: &[f64], decimals: usize) {
    let most = values.iter().copied().fold(1.0, f64::max);
    for row in (0..HEIGHT).rev() {
        let label = most * (row + 1) as f64 / HEIGHT as f64;
        let line: String = values.iter().map(|value| mark(*value / most, row)).collect();
        writeln!(out, "{label:7.1} |{}", line.trim_end()).unwrap();
    }
    writeln!(out, "        +{}", "-".repeat(values.len())).unwrap();
    for (index, chunk) in values.chunks(10).enumerate() {
        let numbers: Vec<_> = chunk.iter().map(|value| format!("{value:.decimals$}")).collect();
        writeln!(out, "{:7}  {}", index * 10, numbers.join(" ")).unwrap();
    }
    out.push('\n');
}

/// Character of one row for a value of `share` of the highest.
fn mark(share: f64, row: usize) -> char {
    let halves = (share * HEIGHT as f64 - row as f64) * 2.0;
    if halves >= 1.5 {
        '#'
    } else if halves >= 0.5 {
        '.'
    } else {
        ' '
    }
}

/// Compares the text `drawn` with `committed`, the content of tests/`file`; with `RECOUP_REWRITE` set, replaces the
/// file.
#[allow(clippy::disallowed_methods, reason = "a test driver reads its own switch")]
pub(crate) fn compare(drawn: &str, committed: &str, file: &str) {
    if std::env::var_os("RECOUP_REWRITE").is_some() {
        let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, drawn).unwrap();
        return;
    }
    let differing = drawn.lines().zip(committed.lines()).find(|(new, old)| new != old);
    assert!(drawn == committed, "run with RECOUP_REWRITE=1 and look; first: {differing:#?}");
}
