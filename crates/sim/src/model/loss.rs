//! Models that choose the frames to lose (or to duplicate).
//!
//! Written as models separated by `+`: a frame is lost if one of them takes it. Every model sees every
//! frame and draws from a stream of its own, so that adding one does not move another's draws.
mod bernoulli;
mod burst;
mod gilbert_elliott;
mod policer;
mod sojourn;
mod sparse;
mod trace;

pub use trace::with_trace_files;

use recoup_transport::random::Rng;
use recoup_transport::spec::{self, Reader, SpecError};
use recoup_transport::time::Instant;
use std::fmt;

/// Decides which frames are taken.
///
/// Holds for every implementation: its text (`Display`) is read as an equal model in its initial state.
pub trait LossModel: fmt::Debug + fmt::Display + Send {
    /// Whether the next frame is taken; its transmission begins at `at`. Called once for each frame, in order.
    fn takes(&mut self, rng: &mut Rng, at: Instant) -> bool;

    /// The share of frames that it takes in the long run; `None` if that depends on when frames come.
    fn mean_share(&self) -> Option<f64> {
        None
    }
}

/// `none` is no model.
type Named = (&'static str, Reader<Option<Box<dyn LossModel>>>);

/// Every model by its name.
const FAMILY: &[Named] = &[
    ("none", |spec| spec.finish().map(|()| None)),
    ("bernoulli", |spec| Ok(Some(Box::new(bernoulli::Bernoulli::from_spec(spec)?)))),
    ("gilbert-elliott", |spec| {
        Ok(Some(Box::new(gilbert_elliott::GilbertElliott::from_spec(spec)?)))
    }),
    ("sojourn", |spec| Ok(Some(Box::new(sojourn::Sojourn::from_spec(spec)?)))),
    ("sparse", |spec| Ok(Some(Box::new(sparse::Sparse::from_spec(spec)?)))),
    ("policer", |spec| Ok(Some(Box::new(policer::Policer::from_spec(spec)?)))),
    ("burst", |spec| Ok(Some(Box::new(burst::Burst::from_spec(spec)?)))),
    ("trace", |spec| Ok(Some(Box::new(trace::Trace::from_spec(spec)?)))),
];

/// A sum of models, each with its stream.
#[derive(Debug, Default)]
pub struct Loss {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    model: Box<dyn LossModel>,
    rng: Rng,
}

impl Loss {
    /// Reads a sum of models, for example `bernoulli(p=0.01)+burst(at=305s,packets=3)`; each draws from a
    /// stream below `rng` that bears its name.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn parse(text: &str, rng: &Rng) -> Result<Self, SpecError> {
        let mut loss = Self::default();
        let mut names: Vec<String> = Vec::new();
        for term in terms(text) {
            let Some(model) = spec::parse_with(term, "loss model", FAMILY)? else {
                continue;
            };
            let name = spec::Spec::parse(term)?.name().to_owned();
            let before = names.iter().filter(|other| **other == name).count();
            let stream = if before == 0 { name.clone() } else { format!("{name}/{}", before + 1) };
            names.push(name);
            loss.parts.push(Part { model, rng: rng.substream(&stream) });
        }
        Ok(loss)
    }

    /// The share of frames that is taken in the long run, models being independent; `None` if that depends on when
    /// frames come.
    pub fn mean_share(&self) -> Option<f64> {
        let kept = self.parts.iter().map(|part| Some(1.0 - part.model.mean_share()?));
        Some(1.0 - kept.product::<Option<f64>>()?)
    }

    /// Whether no frame is ever taken.
    pub fn is_none(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether the next frame is taken; its transmission begins at `at`.
    pub fn takes(&mut self, at: Instant) -> bool {
        let mut taken = false;
        for Part { model, rng } in &mut self.parts {
            taken |= model.takes(rng, at);
        }
        taken
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.parts.is_empty() {
            return f.write_str("none");
        }
        self.parts.iter().enumerate().try_for_each(|(number, part)| {
            f.write_str(if number == 0 { "" } else { "+" })?;
            write!(f, "{}", part.model)
        })
    }
}

/// Splits at each `+` outside brackets.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == '+' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn taken(text: &str, frames: u64) -> Vec<u64> {
        let mut loss = Loss::parse(text, &Rng::from_seed(1)).unwrap();
        (1..=frames).filter(|number| loss.takes(at(number * 1_000_000))).collect()
    }

    #[test]
    fn sum_takes_what_any_model_takes() {
        let both = taken("bernoulli(p=0.1) + trace(packets=5 9-11)", 1_000);
        let mut expected = taken("bernoulli(p=0.1)", 1_000);
        expected.extend([5, 9, 10, 11]);
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(both, expected);
        assert!(taken("none", 1_000).is_empty() && taken("none+none", 1_000).is_empty());
    }

    #[test]
    fn two_equal_models_draw_apart() {
        let (one, two) =
            (taken("bernoulli(p=0.1)", 10_000), taken("bernoulli(p=0.1)+bernoulli(p=0.1)", 10_000));
        assert!((900..1_100).contains(&one.len()), "{}", one.len());
        assert!((1_800..2_000).contains(&two.len()), "{}", two.len());
        assert!(one.iter().all(|frame| two.contains(frame)));
    }

    #[test]
    fn a_sum_is_read_as_it_is_printed() {
        for text in [
            "none",
            "bernoulli(p=0.01)",
            "gilbert-elliott(p=0.01,r=0.3,good=0,bad=1)",
            "sojourn(good-time=1s,bad-time=50ms,good=0,bad=1)",
            "sparse(p=0.001,gap=168)",
            "policer(rate=960,burst=30)",
            "bernoulli(p=0.01)+burst(at=305s,packets=3,every=0s)",
            "trace(packets=3 5-7,times=2s 3s-4s)",
        ] {
            let read = |text: &str| Loss::parse(text, &Rng::from_seed(1)).unwrap().to_string();
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn error_lists_the_models() {
        let error = Loss::parse("bernoulli(p=0.1)+bernouli(p=1)", &Rng::from_seed(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no loss model is called `bernouli` (did you mean `bernoulli`?); there are: none, bernoulli, \
             gilbert-elliott, sojourn, sparse, policer, burst, trace"
        );
        assert!(Loss::parse("bernoulli(p=0.1)+", &Rng::from_seed(1)).is_err());
    }
}
