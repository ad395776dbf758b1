//! Workloads as text: popularity of contents (`zipf(q=0.7,s=1)`), and schedule of requests (`poisson(rate=100)`).
use recoup_config::form::Form;
use recoup_config::schema::Shape;
use recoup_config::tree::{Tree, Value};
use recoup_core::unit;
use recoup_sim::network::{Arrival, OverTime, Popularity};
use recoup_transport::spec::{Spec, SpecError};
use recoup_transport::time::Duration;

/// Popularity of contents.
pub(super) struct PopularityForm;
pub(super) const POPULARITY: PopularityForm = PopularityForm;

impl Form for PopularityForm {
    type Of = Popularity;

    fn read(&self, tree: &Tree) -> Result<Popularity, String> {
        match &tree.value {
            Value::Text(text) => match OverTime::parse(text)? {
                Some(log) => Ok(Popularity::Log(log)),
                None => popularity(text).map_err(|error| error.to_string()),
            },
            other => Err(format!("{other} is no string; {}", self.example())),
        }
    }

    fn write(&self, of: &Popularity) -> Option<Value> {
        Some(Value::Text(match of {
            Popularity::Sequential => "sequential".into(),
            Popularity::Uniform => "uniform".into(),
            Popularity::ZipfMandelbrot { q, s } => format!("zipf(q={q},s={s})"),
            Popularity::Log(log) => log.to_string(),
        }))
    }

    fn example(&self) -> String {
        "write \"zipf(q=0.7,s=1)\", \"uniform\", \"sequential\" or \"trace(file=log.csv)\"".into()
    }

    fn shape(&self) -> Shape {
        Shape::Text
    }
}

fn popularity(text: &str) -> Result<Popularity, SpecError> {
    let mut spec = Spec::parse(text)?;
    let popularity = match spec.name() {
        "sequential" => Popularity::Sequential,
        "uniform" => Popularity::Uniform,
        "zipf" => Popularity::ZipfMandelbrot {
            q: spec.number("q", 0.0, 0.0..=1e9, "a number from 0 on")?,
            s: spec.number("s", 1.0, 0.0..=20.0, "a number from 0 to 20")?,
        },
        name => {
            return Err(unknown("popularity", name, &["zipf", "uniform", "sequential", "trace"]));
        }
    };
    spec.finish()?;
    Ok(popularity)
}

/// When requests are made.
pub(super) struct ArrivalForm;

impl Form for ArrivalForm {
    type Of = Arrival;

    fn read(&self, tree: &Tree) -> Result<Arrival, String> {
        match &tree.value {
            Value::List(list) => batches(list),
            Value::Text(text) => match text.trim().strip_prefix("window(congestion=") {
                Some(rest) => {
                    let congestion = rest.strip_suffix(')').ok_or("the `)` is missing")?;
                    let congestion = congestion.parse();
                    congestion
                        .map(|it| Arrival::Window(Box::new(it)))
                        .map_err(|error: SpecError| error.to_string())
                }
                None if text.trim().starts_with("window") => {
                    Err("write a window like \"window(congestion=cubic)\"".into())
                }
                None => match law(text).map_err(|error| error.to_string())? {
                    (arrival, None) => Ok(arrival),
                    (_, Some(_)) => Err("requests have a rate; a load is for frames".into()),
                },
            },
            other => Err(format!("{other} is no string; {}", self.example())),
        }
    }

    fn write(&self, of: &Arrival) -> Option<Value> {
        Some(write(of, None))
    }

    fn example(&self) -> String {
        "write \"poisson(rate=100)\", \"constant(rate=100)\", \"on-off(rate=100,on=1s,off=1s)\", \
         \"window(congestion=cubic)\" or [[\"1 s\", 10], …]"
            .into()
    }

    fn shape(&self) -> Shape {
        Shape::either([Shape::Text, Shape::List(Box::new(Shape::Any))])
    }
}

/// When frames are offered: as requests, or as a share of what the link can carry.
pub(super) struct LoadForm;

impl Form for LoadForm {
    type Of = (Arrival, Option<f64>);

    fn read(&self, tree: &Tree) -> Result<Self::Of, String> {
        match &tree.value {
            Value::List(list) => batches(list).map(|arrival| (arrival, None)),
            Value::Text(text) if text.trim().starts_with("window") => {
                Err(format!("a window is for requests; {}", self.example()))
            }
            Value::Text(text) => law(text).map_err(|error| error.to_string()),
            other => Err(format!("{other} is no string; {}", self.example())),
        }
    }

    fn write(&self, (arrival, load): &Self::Of) -> Option<Value> {
        Some(write(arrival, *load))
    }

    fn example(&self) -> String {
        "write \"poisson(load=0.8)\", \"constant(load=0.8)\" or \"poisson(rate=100)\"".into()
    }

    fn shape(&self) -> Shape {
        ArrivalForm.shape()
    }
}

/// The law of the gaps, with the load if that is given instead of a rate.
fn law(text: &str) -> Result<(Arrival, Option<f64>), SpecError> {
    const RATE: &str = "a number from 0 to 1e9, per second";
    let mut spec = Spec::parse(text)?;
    let load = spec.number("load", -1.0, 0.0..=10.0, "a share from 0 on, such as 0.8")?;
    let rate = spec.number("rate", -1.0, 0.0..=1e9, RATE)?;
    let (load, missing) = if load < 0.0 { (None, rate < 0.0) } else { (Some(load), false) };
    if load.is_some() && rate >= 0.0 {
        return Err(spec.bad("rate", rate, "either a rate or a load, not both"));
    }
    let rate = rate.max(0.0);
    let arrival = match spec.name() {
        "constant" => Arrival::Constant(rate),
        "poisson" => Arrival::Poisson(rate),
        "on-off" => {
            let second = Duration::from_secs(1);
            let least = Duration::from_nanos(1);
            let on = spec.duration("on", second, least)?;
            Arrival::OnOff { rate, on, off: spec.duration("off", second, Duration::ZERO)? }
        }
        name => {
            let known = &["constant", "poisson", "on-off", "window", "batches as a list"];
            return Err(unknown("arrival", name, known));
        }
    };
    if missing {
        return Err(spec.bad("rate", "", RATE));
    }
    spec.finish()?;
    Ok((arrival, load))
}

/// `[["1 s", 10], ["2 s", 20]]`: 10 at once after one second, 20 after two.
fn batches(list: &[Tree]) -> Result<Arrival, String> {
    const HOW: &str =
        "write batches as [[\"1 s\", 10], [\"2 s\", 20]]: time and number of requests";
    let one = |tree: &Tree| match &tree.value {
        Value::List(pair) => match pair.as_slice() {
            [Tree { value: Value::Text(at), .. }, Tree { value: Value::Integer(count), .. }] => {
                let count = u64::try_from(*count).map_err(|_| HOW.to_owned())?;
                Ok((unit::duration(at)?, count))
            }
            _ => Err(HOW.to_owned()),
        },
        _ => Err(HOW.to_owned()),
    };
    list.iter().map(one).collect::<Result<_, String>>().map(Arrival::Batches)
}

fn write(arrival: &Arrival, load: Option<f64>) -> Value {
    let rate = |rate: &f64| match load {
        Some(load) => format!("load={load}"),
        None => format!("rate={rate}"),
    };
    Value::Text(match arrival {
        Arrival::Constant(r) => format!("constant({})", rate(r)),
        Arrival::Poisson(r) => format!("poisson({})", rate(r)),
        Arrival::OnOff { rate: r, on, off } => {
            format!("on-off({},on={}ns,off={}ns)", rate(r), on.as_nanos(), off.as_nanos())
        }
        Arrival::Window(congestion) => format!("window(congestion={congestion})"),
        Arrival::Batches(batches) => {
            let one = |(at, count): &(Duration, u64)| {
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                let pair = [Value::Text(unit::print_duration(*at)), Value::Integer(count)];
                Tree::from(Value::List(pair.map(Tree::from).into()))
            };
            return Value::List(batches.iter().map(one).collect());
        }
    })
}

fn unknown(family: &'static str, name: &str, known: &[&'static str]) -> SpecError {
    SpecError::UnknownName { family, name: name.to_owned(), known: known.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> Tree {
        Value::text(text).into()
    }

    #[test]
    fn every_workload_prints_and_parses() {
        for one in [
            "constant(rate=10)",
            "poisson(rate=0.5)",
            "on-off(rate=3,on=2s,off=10ms)",
            "window(congestion=aimd(init-cwnd=2,beta=0.5))",
        ] {
            let arrival = ArrivalForm.read(&text(one)).unwrap();
            let again = ArrivalForm.read(&ArrivalForm.write(&arrival).unwrap().into());
            assert_eq!(again.unwrap(), arrival, "{one}");
        }
        for one in ["sequential", "uniform", "zipf(q=16,s=1.5)"] {
            let popularity = POPULARITY.read(&text(one)).unwrap();
            assert_eq!(POPULARITY.write(&popularity), Some(Value::text(one)));
        }
        let load = LoadForm.read(&text("poisson(load=0.8)")).unwrap();
        assert_eq!(load, (Arrival::Poisson(0.0), Some(0.8)));
        assert_eq!(LoadForm.write(&load), Some(Value::text("poisson(load=0.8)")));
    }

    #[test]
    fn missing_parts_of_a_workload_are_named() {
        let wrong = |law: &str| ArrivalForm.read(&text(law)).unwrap_err();
        assert!(wrong("poisson").contains("per second"), "{}", wrong("poisson"));
        assert!(wrong("poison(rate=1)").contains("poisson"));
        assert!(wrong("poisson(load=0.5)").contains("frames"));
        assert!(wrong("constant(rate=1,load=1)").contains("not both"));
        assert!(wrong("window(congestion=cubik)").contains("cubic"));
        assert!(wrong("window").contains("window(congestion=cubic)"));
        let frames = LoadForm.read(&Tree::from(Value::text("window(congestion=cubic)")));
        assert!(frames.unwrap_err().contains("for requests; write \"poisson"));
        assert!(POPULARITY.read(&text("zipf(s=-1)")).unwrap_err().contains("0 to 20"));
        let list = Value::List(vec![Value::Integer(1).into()]);
        assert!(ArrivalForm.read(&list.into()).unwrap_err().contains("[[\"1 s\", 10]"));
    }

    proptest! {
        #[test]
        fn no_text_makes_a_workload_panic(law: String) {
            let _ = (ArrivalForm.read(&text(&law)), LoadForm.read(&text(&law)));
            let _ = POPULARITY.read(&text(&law));
        }
    }
}
