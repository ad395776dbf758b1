//! Tests of specifications.
use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Example {
    gain: f64,
    wait: Duration,
    on: bool,
}

fn example(mut spec: Spec<'_>) -> Result<Example, SpecError> {
    let gain = spec.number("gain", 0.125, 0.0..=1.0, "a number from 0 to 1")?;
    let wait = spec.duration("wait", Duration::from_secs(4), Duration::ZERO)?;
    let on = spec.word("on", false, &[("yes", true), ("no", false)], "yes or no")?;
    spec.finish()?;
    Ok(Example { gain, wait, on })
}

fn read(text: &str) -> Result<Example, SpecError> {
    parse_with(text, "example", &[("example", example)])
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SpecWriter::new(f, "example")
            .value("gain", self.gain)
            .duration("wait", self.wait)
            .value("on", if self.on { "yes" } else { "no" })
            .finish()
    }
}

#[test]
fn nearest_word_differs_by_little() {
    let near = |given| nearest(given, ["k", "rate", "delay", "loss-model"]);
    for (given, word) in [("rtae", "rate"), ("Dealy", "delay"), ("lossmodel", "loss-model")] {
        assert_eq!(near(given), Some(word), "{given}");
    }
    assert_eq!((near("K"), near("kk")), (Some("k"), Some("k")));
    for far in ["q", "colour", ""] {
        assert_eq!(near(far), None, "{far}");
    }
}

#[test]
fn bare_value_is_answered_with_a_spec() {
    let pairs = ("wait=4s,on=yes", "example(wait=4s,on=yes)");
    for (text, spec) in [("4s", "example(wait=4s)"), ("2%", "example(gain=2%)"), pairs] {
        let message = read(text).unwrap_err().to_string();
        assert!(
            message.ends_with(&format!("names no example; did you mean `{spec}`?")),
            "{message}"
        );
    }
    for other in ["7", "1x", "4sec", "wait", "gian=2%", "gain=7", "example(gain=2%"] {
        assert!(!matches!(read(other), Err(SpecError::BareValue { .. })), "{other}");
    }
}

#[test]
fn parameters_may_be_left_out_with_their_brackets() {
    let defaults = Example { gain: 0.125, wait: Duration::from_secs(4), on: false };
    for text in ["example", "example()", " example ( ) ", "example(gain=1/8)"] {
        assert_eq!(read(text).as_ref(), Ok(&defaults), "{text}");
    }
}

#[test]
fn fractions_and_units_are_understood() {
    let read = read("example(gain = 1/80, wait=1.5s, on=yes)").unwrap();
    assert_eq!(read, Example { gain: 0.0125, wait: Duration::from_millis(1500), on: true });
}

#[test]
fn error_names_the_part_and_the_remedy() {
    for (text, message) in [
        ("exmaple", "no example is called `exmaple` (did you mean `example`?); there are: example"),
        (
            "example(gian=1)",
            "`example` has no parameter `gian` (did you mean `gain`?); it has: gain, wait, on",
        ),
        (
            "example(waits=1s)",
            "`example` has no parameter `waits` (did you mean `wait`?); it has: gain, wait, on",
        ),
        ("example(gain=2)", "`gain=2` of `example`: expected a number from 0 to 1"),
        ("example(gain=nan)", "`gain=nan` of `example`: expected a number from 0 to 1"),
        ("example(gain=0/0)", "`gain=0/0` of `example`: expected a number from 0 to 1"),
        ("example(on=maybe)", "`on=maybe` of `example`: expected yes or no"),
        ("example(wait=4)", "`wait=4` of `example`: expected a duration such as 4s, 200ms or 10us"),
        ("example(gain=1,gain=1)", "`gain` is given twice to `example`"),
        (
            "example(gain=1",
            "`example(gain=1` is not of the form name(key=value,…): the `)` is missing",
        ),
        (
            "example(gain)",
            "`example(gain)` is not of the form name(key=value,…): a parameter lacks its `=`",
        ),
        (
            "example(a=()",
            "`example(a=()` is not of the form name(key=value,…): brackets do not match",
        ),
        (
            "",
            "`` is not of the form name(key=value,…): a name consists of a-z, A-Z, 0-9 and hyphens",
        ),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(gain in 0.0..=1.0_f64, nanos: u64, on: bool) {
        let example = Example { gain, wait: Duration::from_nanos(nanos), on };
        prop_assert_eq!(read(&example.to_string()), Ok(example));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text: String) {
        let _ = read(&text);
        let _ = read(&format!("example({text})"));
    }
}
