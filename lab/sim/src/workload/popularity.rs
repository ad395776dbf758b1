//! Choice of the requested content: in sequence, uniform, or by Zipf's law.
//!
//! Source: Mandelbrot, "An informational theory of the statistical structure of language", 1953: content
//! `k` of `N` with probability proportional to `(k + q)^-s`. Draws take constant time by Walker's alias
//! method in Vose's form (1991).
//!
//! Differences: one 64-bit number gives both the column and the choice in it.
use super::log::RequestLog;
use crate::model::trace::Trace as _;
use crate::network::Popularity;
use recoup_transport::random::Rng;
use std::sync::Arc;

/// Most contents of a catalogue with unequal popularities: the table takes 12 bytes for each.
pub const MOST_WEIGHTED: u64 = 1 << 27;

/// Weighted draws in constant time.
#[derive(Clone, Debug, PartialEq)]
pub struct AliasTable {
    /// A column gives itself to what lies below, its alias to the rest.
    thresholds: Vec<u64>,
    aliases: Vec<u32>,
}

impl AliasTable {
    /// A table for these weights, which must be finite and not below zero, and not all zero.
    pub fn new(weights: &[f64]) -> Self {
        let count = weights.len();
        let total: f64 = weights.iter().sum();
        let mut scaled: Vec<f64> = weights.iter().map(|it| it * count as f64 / total).collect();
        let mut table =
            Self { thresholds: vec![u64::MAX; count], aliases: (0..count as u32).collect() };
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..count as u32).partition(|column| scaled[*column as usize] < 1.0);
        while let (Some(less), Some(more)) = (small.pop(), large.last().copied()) {
            let share = scaled[less as usize];
            table.thresholds[less as usize] = (share * 2_f64.powi(64)) as u64;
            table.aliases[less as usize] = more;
            scaled[more as usize] -= 1.0 - share;
            if scaled[more as usize] < 1.0 {
                large.pop();
                small.push(more);
            }
        }
        table
    }

    /// The table of Zipf's law as Mandelbrot has it, for contents 1 to `contents`.
    pub fn zipf_mandelbrot(contents: u64, q: f64, s: f64) -> Self {
        let weight = |k: u64| libm::pow(k as f64 + q, -s);
        Self::new(&(1..=contents).map(weight).collect::<Vec<_>>())
    }

    /// Draws a place, counted from 0.
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let product = u128::from(rng.next_u64()) * self.thresholds.len() as u128;
        let column = (product >> 64) as usize;
        let kept = product as u64 <= self.thresholds[column];
        if kept { column } else { self.aliases[column] as usize }
    }
}

/// Tables that several consumers share.
#[derive(Debug, Default)]
pub struct Tables {
    made: Vec<(u64, f64, f64, Arc<AliasTable>)>,
}

impl Tables {
    fn zipf_mandelbrot(&mut self, contents: u64, q: f64, s: f64) -> Arc<AliasTable> {
        let same = |(n, other_q, other_s, _): &&(u64, f64, f64, _)| {
            *n == contents && *other_q == q && *other_s == s
        };
        if let Some((.., table)) = self.made.iter().find(same) {
            return Arc::clone(table);
        }
        let table = Arc::new(AliasTable::zipf_mandelbrot(contents, q, s));
        self.made.push((contents, q, s, Arc::clone(&table)));
        table
    }
}

/// Chooses contents, numbered from 1.
#[derive(Clone, Debug)]
pub struct Chooser {
    rule: Rule,
    contents: u64,
}

#[derive(Clone, Debug)]
enum Rule {
    Sequential(u64),
    Uniform,
    Weighted(Arc<AliasTable>),
    Log(Arc<RequestLog>, usize),
}

impl Chooser {
    /// A chooser among `contents`.
    ///
    /// # Errors
    /// The error of the numbers, as the end of a sentence.
    pub fn new(popularity: Popularity, contents: u64, tables: &mut Tables) -> Result<Self, String> {
        if contents == 0 {
            return Err("a catalogue has at least one content".into());
        }
        let rule = match popularity {
            Popularity::Sequential => Rule::Sequential(0),
            Popularity::Uniform => Rule::Uniform,
            Popularity::Log(log) => {
                let read =
                    log.trace().ok_or_else(|| format!("{log}: the file has not been read"))?;
                let greatest = read.nominal();
                if greatest > contents {
                    return Err(format!("{log} requests content {greatest} of {contents}"));
                }
                Rule::Log(Arc::clone(read), 0)
            }
            Popularity::ZipfMandelbrot { q, s } => {
                if contents > MOST_WEIGHTED {
                    return Err(format!(
                        "by Zipf's law there are at most {MOST_WEIGHTED} contents"
                    ));
                }
                if !(q > -1.0 && q <= 1e12 && (0.0..=100.0).contains(&s)) {
                    return Err(format!(
                        "Zipf's law wants q above -1 and s from 0 to 100, not q={q} and s={s}"
                    ));
                }
                Rule::Weighted(tables.zipf_mandelbrot(contents, q, s))
            }
        };
        Ok(Self { rule, contents })
    }

    /// The next content.
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match &mut self.rule {
            Rule::Sequential(last) => {
                *last = *last % self.contents + 1;
                *last
            }
            Rule::Uniform => rng.below(self.contents) + 1,
            Rule::Weighted(table) => table.draw(rng) as u64 + 1,
            Rule::Log(log, next) => {
                let contents = log.contents();
                let content = contents.get(*next).copied().unwrap_or(1);
                *next = (*next + 1) % contents.len().max(1);
                content
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(popularity: Popularity, contents: u64, draws: u64) -> Vec<u64> {
        let mut chooser = Chooser::new(popularity, contents, &mut Tables::default()).unwrap();
        let mut rng = Rng::from_seed(1);
        let mut counts = vec![0; contents as usize];
        for _ in 0..draws {
            counts[chooser.draw(&mut rng) as usize - 1] += 1;
        }
        counts
    }

    /// The deviations of the chi-square statistic from its mean, which is nearly normal for many cells.
    fn deviations(counts: &[u64], weight: impl Fn(u64) -> f64) -> f64 {
        let draws = counts.iter().sum::<u64>() as f64;
        let weights: Vec<f64> = (1..=counts.len() as u64).map(weight).collect();
        let total: f64 = weights.iter().sum();
        let cell = |(count, weight): (&u64, &f64)| {
            let expected = draws * weight / total;
            (*count as f64 - expected).powi(2) / expected
        };
        let statistic: f64 = counts.iter().zip(&weights).map(cell).sum();
        let freedom = counts.len() as f64 - 1.0;
        (statistic - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn frequencies_follow_the_law() {
        for (q, s) in [(0.0, 1.0), (0.7, 0.7), (5.0, 1.3), (0.0, 0.0)] {
            let counts = counts(Popularity::ZipfMandelbrot { q, s }, 1_000, 1_000_000);
            let deviations = deviations(&counts, |k| libm::pow(k as f64 + q, -s));
            // One in a hundred exceeds 2.33.
            assert!(deviations.abs() < 2.33, "q={q} s={s}: {deviations}");
        }
        let uniform = counts(Popularity::Uniform, 1_000, 1_000_000);
        assert!(deviations(&uniform, |_| 1.0).abs() < 2.33);
    }

    #[test]
    fn in_sequence_each_content_has_its_turn() {
        assert_eq!(counts(Popularity::Sequential, 4, 10), [3, 3, 2, 2]);
    }

    #[test]
    fn consumers_of_one_law_share_its_table() {
        let mut tables = Tables::default();
        let one = tables.zipf_mandelbrot(100, 0.0, 1.0);
        let (same, other) =
            (tables.zipf_mandelbrot(100, 0.0, 1.0), tables.zipf_mandelbrot(100, 0.0, 0.9));
        assert!(Arc::ptr_eq(&one, &same) && !Arc::ptr_eq(&one, &other));
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        let make = |q, s, contents| {
            let popularity = Popularity::ZipfMandelbrot { q, s };
            Chooser::new(popularity, contents, &mut Tables::default()).map(|_| ())
        };
        assert!(make(0.0, 1.0, 10).is_ok());
        for (q, s, contents) in [
            (-1.0, 1.0, 10),
            (0.0, f64::NAN, 10),
            (f64::NAN, 1.0, 10),
            (0.0, 1.0, 0),
            (0.0, 1.0, 1 << 40),
        ] {
            assert!(make(q, s, contents).is_err(), "{q} {s} {contents}");
        }
    }
}
