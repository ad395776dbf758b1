//! Popularity of contents, against the Zipf–Mandelbrot distribution.
use crate::significance::chi_square_p;
use recoup_sim::network::Popularity;
use recoup_sim::workload::popularity::{Chooser, Tables};
use recoup_transport::random::Rng;

const DRAWS: u64 = 1_000_000;

/// Probability of each content, from the first.
pub(crate) fn zipf_mandelbrot(contents: u64, q: f64, s: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=contents).map(|k| libm::pow(k as f64 + q, -s)).collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn frequencies(popularity: Popularity, contents: u64) -> Vec<u64> {
    let mut chooser = Chooser::new(popularity, contents, &mut Tables::default()).unwrap();
    let mut rng = Rng::from_seed(20).substream("popularity");
    let mut counts = vec![0; usize::try_from(contents).unwrap()];
    for _ in 0..DRAWS {
        counts[usize::try_from(chooser.draw(&mut rng) - 1).unwrap()] += 1;
    }
    counts
}

fn p_value(q: f64, s: f64, law: (f64, f64), contents: u64) -> f64 {
    let counts = frequencies(Popularity::ZipfMandelbrot { q, s }, contents);
    let expected = zipf_mandelbrot(contents, law.0, law.1);
    let expected: Vec<f64> = expected.iter().map(|share| share * DRAWS as f64).collect();
    chi_square_p(&counts, &expected)
}

#[test]
fn million_draws_follow_zipf_mandelbrot() {
    for (q, s) in [(0.0, 1.0), (0.7, 0.7), (16.0, 2.0)] {
        for contents in [10_000, 137] {
            let p = p_value(q, s, (q, s), contents);
            println!("q={q} s={s} N={contents}: p = {p:.3}");
            assert!(p > 0.01, "q={q} s={s} N={contents}: {p}");
        }
    }
}

#[test]
fn million_draws_separate_near_distributions() {
    assert!(p_value(0.0, 1.0, (0.0, 1.01), 10_000) < 1e-6);
    assert!(p_value(0.7, 0.7, (2.0, 0.7), 10_000) < 1e-6);
}

#[test]
fn uniform_draws_are_equally_likely() {
    let counts = frequencies(Popularity::Uniform, 1_000);
    let p = chi_square_p(&counts, &[1_000.0; 1_000]);
    assert!(p > 0.01, "{p}");
}
