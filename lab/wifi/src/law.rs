//! Path loss and fading as text: `log-distance(exponent=2.47)`, `nakagami(m=1)`.
//!
//! | path loss | |
//! |---|---|
//! | `friis(frequency=)` | free space; the carrier in GHz is that of the standard unless given |
//! | `log-distance(reference=46.6777,exponent=3)` | so many dB at 1 m, and ten times the exponent for each decade |
//!
//! | chance | |
//! |---|---|
//! | `nakagami(m=1,around=0m/s)` | fading of that shape; `around` is the speed of what moves about, which is added to that of the stations |
//! | `nakagami(m=1,hold=mpdu)` | the same, drawn anew for each frame and each MPDU of an aggregate |
//! | `log-normal(sd=,distance=20)` | shadowing of that deviation in dB, which changes over so many metres |
use super::fading::{FadingPlan, Hold};
use super::motion::plan::speed;
use super::propagation::PathLoss;
use recoup_core::spec::{self, Reader, Spec, SpecError};

/// Reads a path loss; free space is at `carrier_hz` by default.
///
/// # Errors
/// If the text cannot be read.
pub fn path_loss(text: &str, carrier_hz: f64) -> Result<PathLoss, SpecError> {
    let family: &[(&str, Reader<PathLoss>)] = &[("friis", friis), ("log-distance", log_distance)];
    Ok(match spec::parse_with(text, "path loss", family)? {
        PathLoss::Friis { frequency: 0.0 } => PathLoss::Friis { frequency: carrier_hz },
        given => given,
    })
}

/// Shape of fading, speed around, and how long a draw holds.
type Fade = (Option<f64>, f64, Hold);

/// Reads fading into `plan`.
///
/// # Errors
/// If the text cannot be read.
pub fn fading(text: &str, plan: &mut FadingPlan) -> Result<(), SpecError> {
    let family: &[(&str, Reader<Fade>)] = &[("none", no_fading), ("nakagami", nakagami)];
    (plan.nakagami_m, plan.surrounding_speed, plan.hold) =
        spec::parse_with(text, "fading", family)?;
    Ok(())
}

/// Reads shadowing into `plan`.
///
/// # Errors
/// If the text cannot be read.
pub fn shadowing(text: &str, plan: &mut FadingPlan) -> Result<(), SpecError> {
    let family: &[(&str, Reader<(f64, f64)>)] = &[("none", no_shadow), ("log-normal", log_normal)];
    (plan.shadowing_db, plan.decorrelation_metres) = spec::parse_with(text, "shadowing", family)?;
    Ok(())
}

fn friis(mut spec: Spec<'_>) -> Result<PathLoss, SpecError> {
    let expected = "a frequency from 0.1GHz to 100GHz";
    let frequency = spec.take("frequency", 0.0, expected, |text| {
        let number: f64 = text.strip_suffix("GHz").unwrap_or(text).trim().parse().ok()?;
        (0.1..=100.0).contains(&number).then_some(number * 1e9)
    })?;
    spec.finish()?;
    Ok(PathLoss::Friis { frequency })
}

fn log_distance(mut spec: Spec<'_>) -> Result<PathLoss, SpecError> {
    let reference_db = spec.number("reference", 46.6777, 0.0..=200.0, "dB from 0 to 200")?;
    let exponent = spec.number("exponent", 3.0, 1.0..=10.0, "a number from 1 to 10")?;
    spec.finish()?;
    Ok(PathLoss::LogDistance { reference_db, exponent })
}

fn no_fading(spec: Spec<'_>) -> Result<Fade, SpecError> {
    spec.finish().map(|()| (None, 0.0, Hold::Coherence))
}

fn nakagami(mut spec: Spec<'_>) -> Result<Fade, SpecError> {
    let m = spec.number("m", 1.0, 0.5..=100.0, "a shape from 0.5 to 100")?;
    let around = speed(&mut spec, "around", Some(0.0))?;
    let hold = spec.take("hold", Hold::Coherence, "coherence or mpdu", |text| match text {
        "coherence" => Some(Hold::Coherence),
        "mpdu" => Some(Hold::Mpdu),
        _ => None,
    })?;
    spec.finish()?;
    Ok((Some(m), around, hold))
}

fn no_shadow(spec: Spec<'_>) -> Result<(f64, f64), SpecError> {
    spec.finish().map(|()| (0.0, 0.0))
}

fn log_normal(mut spec: Spec<'_>) -> Result<(f64, f64), SpecError> {
    let sd = spec.number("sd", 4.0, 0.0..=30.0, "dB from 0 to 30")?;
    let distance = spec.number("distance", 20.0, 0.0..=1e5, "metres from 0 to 100000")?;
    spec.finish()?;
    Ok((sd, distance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_loss_is_read_with_its_parameters() {
        let read = |text: &str| path_loss(text, 5.19e9).unwrap();
        assert_eq!(read("friis"), PathLoss::Friis { frequency: 5.19e9 });
        assert_eq!(read("friis(frequency=2.412GHz)"), PathLoss::Friis { frequency: 2.412e9 });
        assert_eq!(read("log-distance"), PathLoss::LOG_DISTANCE);
        let far = read("log-distance(exponent=2.47)").reach(16.0 + 82.0);
        assert!((far - 120.0).abs() < 1.0, "{far}");
        assert!(path_loss("log-distance(exponent=0)", 1.0).is_err());
    }

    #[test]
    fn chance_is_read_and_can_be_none() {
        let mut plan = FadingPlan::default();
        fading("nakagami(m=3,around=3.6km/h)", &mut plan).unwrap();
        shadowing("log-normal(sd=6)", &mut plan).unwrap();
        assert_eq!((plan.nakagami_m, plan.surrounding_speed), (Some(3.0), 1.0));
        assert_eq!((plan.shadowing_db, plan.decorrelation_metres), (6.0, 20.0));
        fading("none", &mut plan).unwrap();
        shadowing("none", &mut plan).unwrap();
        assert_eq!(plan, FadingPlan::default());
        assert!(fading("nakagami(m=0.1)", &mut plan).is_err());
        assert!(fading("nakagami(hold=frame)", &mut plan).is_err());
        fading("nakagami(hold=mpdu)", &mut plan).unwrap();
        assert_eq!((plan.nakagami_m, plan.hold), (Some(1.0), Hold::Mpdu));
    }
}
