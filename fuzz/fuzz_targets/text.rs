//! Short texts that choose algorithms, faces and rates: any text is a choice or an error, and a choice prints as a text
//! that parses to an equal choice.
#![no_main]

use libfuzzer_sys::fuzz_target;
use recoup_forwarder::mobility::Mobility;
use recoup_forwarder::strategy::Strategy;
use recoup_forwarder::suppression::Suppression;
use recoup_io::face::FaceUri;
use recoup_lab::scenario::Seeds;
use recoup_packet::signature::PublicKey;
use recoup_sim::model::law::Law;
use recoup_sim::model::loss::Loss;
use recoup_sim::model::marking::LinkMarking;
use recoup_sim::route::{Metric, NextHops};
use recoup_transport::link::Recovery;
use recoup_transport::management::canonical_uri;
use recoup_transport::queue::{Discipline, Scheduler};
use recoup_transport::{congestion, loss, rto};
use recoup_wifi::motion::plan::MotionPlan;
use std::fmt::{Debug, Display};
use std::str::FromStr;

fuzz_target!(|text: &str| {
    stable("timer", text, |it| rto::parse(it).ok());
    stable("window", text, |it| congestion::parse(it).ok());
    stable("detector", text, |it| loss::parse(it).ok());
    stable("strategy", text, |it| it.parse::<Strategy>().ok());
    stable("suppression", text, |it| it.parse::<Suppression>().ok());
    same::<Recovery>(text);
    same::<Mobility>(text);
    same::<Discipline>(text);
    same::<FaceUri>(text);
    same::<Seeds>(text);
    same::<Metric>(text);
    same::<NextHops>(text);
    same::<Law>(text);
    same::<LinkMarking>(text);
    stable("loss", text, |it| it.parse::<Loss>().ok());
    let _ = (text.parse::<Scheduler>(), MotionPlan::parse(text));
    let _ = canonical_uri(text);
    let _ = PublicKey::from_pem(text);
});

fn stable<T: Display>(what: &str, text: &str, parse: impl Fn(&str) -> Option<T>) {
    if let Some(one) = parse(text) {
        let printed = one.to_string();
        let again = parse(&printed).map(|it| it.to_string());
        assert_eq!(again.as_deref(), Some(&*printed), "a {what} that prints otherwise");
    }
}

fn same<T: FromStr + Display + Debug + PartialEq>(text: &str) {
    if let Ok(one) = text.parse::<T>() {
        assert_eq!(one.to_string().parse().ok(), Some(one));
    }
}
