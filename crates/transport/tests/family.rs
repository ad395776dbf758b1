//! Families of algorithms as values: text, `serde` documents, algorithms of other programs.
use recoup_transport::congestion::{self, Congestion};
use recoup_transport::loss::{self, Loss};
use recoup_transport::rto::{self, Constant, Rto};
use recoup_transport::time::Duration;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, StrDeserializer};

#[test]
fn printed_text_leaves_out_defaults() {
    for (text, printed) in [
        ("jacobson", "jacobson"),
        ("jacobson(min=200ms, k=8, alpha=1/8)", "jacobson(k=8)"),
        ("yang2016(min=80ms)", "yang2016(min=80ms)"),
        ("per-source(ccntimer,recent=32)", "per-source(recent=32)"),
        ("constant(rto=4s)", "constant"),
    ] {
        let rto: Rto = text.parse().unwrap();
        assert_eq!(rto.to_string(), printed);
        assert_eq!(printed.parse(), Ok(rto), "{text}");
    }
    assert_eq!("udugama2013(flavour=cubic)".parse::<Congestion>().unwrap().build().to_string(), {
        congestion::parse("udugama2013(flavour=cubic)").unwrap().to_string()
    });
    let reduced: Congestion = "yang2016(conservative=off)".parse().unwrap();
    assert_eq!(reduced.to_string(), "yang2016(conservative=off)");
    assert_eq!("smart".parse::<Loss>().unwrap().to_string(), "pre-recovery");
}

#[test]
fn every_name_prints_as_the_same_algorithm() {
    for name in rto::names() {
        let rto: Rto = name.parse().unwrap();
        assert_eq!(rto.to_string().parse(), Ok(rto), "{name}");
    }
    for name in congestion::names() {
        let congestion: Congestion = name.parse().unwrap();
        assert_eq!(congestion.to_string().parse(), Ok(congestion), "{name}");
    }
    for name in loss::names() {
        let loss: Loss = name.parse().unwrap();
        assert_eq!(loss.to_string().parse(), Ok(loss), "{name}");
    }
}

#[test]
fn custom_algorithm_builds_and_registers() {
    let mine = Constant::new(Duration::from_millis(70));
    let custom = Rto::custom(mine.clone());
    assert_eq!(custom.build().rto(), Duration::from_millis(70));
    assert_eq!(custom, Rto::custom(mine));
    assert!("my-timer".parse::<Rto>().is_err());
    Rto::register("my-timer", |spec| {
        spec.finish()?;
        Ok(Rto::custom(Constant::new(Duration::from_millis(71))))
    });
    assert_eq!("my-timer".parse::<Rto>().unwrap().build().rto(), Duration::from_millis(71));
    let error = "my-timer(k=1)".parse::<Rto>().unwrap_err().to_string();
    assert!(error.contains("no parameter `k`"), "{error}");
    assert!("my-tiner".parse::<Rto>().unwrap_err().to_string().contains("`my-timer`"));
}

#[test]
fn document_has_the_spec() {
    let text: StrDeserializer<'_, Error> = "constant(rto=4s)".into_deserializer();
    assert_eq!(Rto::deserialize(text), Ok(Rto::from(Constant::new(Duration::from_secs(4)))));
    let text: StrDeserializer<'_, Error> = "constnt".into_deserializer();
    assert!(Rto::deserialize(text).unwrap_err().to_string().contains("did you mean `constant`"));
}
