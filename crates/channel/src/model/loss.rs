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

use recoup_core::family;
use recoup_transport::random::Rng;
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::Instant;
use std::fmt;
use std::str::FromStr;

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

family! {
    /// A model with its parameters: a variant for each.
    pub enum Model: "loss model", LossModel {
        None(Never): "none" => |spec: Spec<'_>| spec.finish().map(|()| Never);
        Bernoulli(bernoulli::Bernoulli): "bernoulli" => bernoulli::Bernoulli::from_spec;
        GilbertElliott(gilbert_elliott::GilbertElliott):
            "gilbert-elliott" => gilbert_elliott::GilbertElliott::from_spec;
        Sojourn(sojourn::Sojourn): "sojourn" => sojourn::Sojourn::from_spec;
        Sparse(sparse::Sparse): "sparse" => sparse::Sparse::from_spec;
        Policer(policer::Policer): "policer" => policer::Policer::from_spec;
        Burst(burst::Burst): "burst" => burst::Burst::from_spec;
        Trace(trace::Trace): "trace" => trace::Trace::from_spec;
    }
}

/// Takes no frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Never;

impl LossModel for Never {
    fn takes(&mut self, _: &mut Rng, _: Instant) -> bool {
        false
    }

    fn mean_share(&self) -> Option<f64> {
        Some(0.0)
    }
}

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("none")
    }
}

/// A sum of models, for example `bernoulli(p=0.01)+burst(at=305s,packets=3)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    models: Vec<Model>,
}

impl Loss {
    /// The models in their initial states; each draws from a stream below `rng` that bears its name. `trace(file=…)`
    /// takes no frame ([`with_trace_files`]).
    #[must_use]
    pub fn build(&self, rng: &Rng) -> Losses {
        let mut parts = Vec::with_capacity(self.models.len());
        let mut names: Vec<String> = Vec::new();
        for model in &self.models {
            let name = model.full().split('(').next().unwrap_or_default().to_owned();
            let before = names.iter().filter(|other| **other == name).count();
            let stream = if before == 0 { name.clone() } else { format!("{name}/{}", before + 1) };
            names.push(name);
            parts.push(Part { model: model.build(), rng: rng.substream(&stream) });
        }
        Losses { parts }
    }

    /// The share of frames that is taken in the long run, models being independent; `None` if that depends on when
    /// frames come.
    #[must_use]
    pub fn mean_share(&self) -> Option<f64> {
        let kept = self.models.iter().map(|model| Some(1.0 - model.build().mean_share()?));
        Some(1.0 - kept.product::<Option<f64>>()?)
    }

    /// A file of `trace(file=…)` whose list is not in its place.
    #[must_use]
    pub fn unread_file(&self) -> Option<&str> {
        self.models.iter().find_map(|model| match model {
            Model::Trace(trace) => trace.file(),
            _ => None,
        })
    }
}

impl FromStr for Loss {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let models = terms(text).map(str::parse).collect::<Result<Vec<Model>, _>>()?;
        let takes_any = |model: &Model| !matches!(model, Model::None(_));
        Ok(Self { models: models.into_iter().filter(takes_any).collect() })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.models.is_empty() {
            return f.pad("none");
        }
        let texts: Vec<String> = self.models.iter().map(Model::to_string).collect();
        f.pad(&texts.join("+"))
    }
}

/// The models of a sum at work, each with its stream.
#[derive(Debug)]
pub struct Losses {
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    model: Box<dyn LossModel>,
    rng: Rng,
}

impl Losses {
    /// Whether no frame is ever taken.
    #[must_use]
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
        let mut loss = text.parse::<Loss>().unwrap().build(&Rng::from_seed(1));
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
            "trace(file=lift.txt)",
        ] {
            let loss: Loss = text.parse().unwrap();
            let full: Vec<String> = loss.models.iter().map(Model::full).collect();
            assert_eq!(full.join("+"), text.replace("none", ""));
            assert_eq!(loss.to_string().parse::<Loss>().unwrap(), loss, "{loss}");
        }
        let short: Loss = "gilbert-elliott(p=0.01,r=0.3,good=0)".parse().unwrap();
        assert_eq!(short.to_string(), "gilbert-elliott(p=0.01,r=0.3)");
    }
}
