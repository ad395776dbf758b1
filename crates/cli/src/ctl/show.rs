//! Datasets as text, in the format of nfdc, and as JSON.
use crate::error::one_line;
use crate::format;
use recoup_transport::management::{
    CAPTURE, CHILD_INHERIT, CONGESTION_MARKING, CS_ADMIT, CS_SERVE, ChannelStatus,
    ControlParameters, CsInfo, FaceEvent, FaceEventKind, FaceProfile, FaceStatus, FibEntry,
    GeneralStatus, LOCAL_FIELDS, LP_RELIABILITY, RibEntry, StrategyChoice,
};
use serde_json::{Value, json};
use std::time::Duration;

/// A record with two representations. Text has no control characters: names of a forwarder and its
/// faces may hold any bytes.
pub(crate) trait Show {
    /// Complete lines of text.
    fn text(&self) -> String;
    /// JSON document.
    fn json(&self) -> Value;
}

/// Numbers and names of route origins, as in NFD.
pub(crate) const ORIGINS: [(u64, &str); 7] = [
    (0, "app"),
    (64, "autoreg"),
    (65, "client"),
    (66, "autoconf"),
    (128, "nlsr"),
    (129, "prefixann"),
    (255, "static"),
];

pub(super) fn origin(number: u64) -> String {
    let known = ORIGINS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

fn flags(flags: u64, names: &[(u64, &'static str)]) -> Vec<&'static str> {
    names.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| *name).collect()
}

fn face_flags(of: u64) -> Vec<&'static str> {
    let names = [
        (LOCAL_FIELDS, "local-fields"),
        (LP_RELIABILITY, "lp-reliability"),
        (CONGESTION_MARKING, "congestion-marking"),
    ];
    flags(of, &names)
}

fn route_flags(of: u64) -> Vec<&'static str> {
    flags(of, &[(CHILD_INHERIT, "child-inherit"), (CAPTURE, "capture")])
}

fn cs_flags(of: u64) -> Vec<&'static str> {
    flags(of, &[(CS_ADMIT, "admit"), (CS_SERVE, "serve")])
}

fn seconds(time: Option<Duration>) -> Option<f64> {
    time.map(|time| time.as_secs_f64())
}

fn scope(local: bool) -> &'static str {
    if local { "local" } else { "non-local" }
}

impl Show for GeneralStatus {
    fn text(&self) -> String {
        let up = self.now_millis.saturating_sub(self.start_millis) / 1_000;
        let counters = &self.counters;
        let rows = [
            ("version", one_line(&self.version)),
            (
                "uptime",
                format!(
                    "{} d {:02}:{:02}:{:02}",
                    up / 86_400,
                    up / 3_600 % 24,
                    up / 60 % 60,
                    up % 60
                ),
            ),
            ("fib entries", self.fib_entries.to_string()),
            ("pending", self.pit_entries.to_string()),
            ("measurements", self.measurement_entries.to_string()),
            ("cs entries", self.cs_entries.to_string()),
            ("interests", format!("{} in, {} out", counters.in_interests, counters.out_interests)),
            ("data", format!("{} in, {} out", counters.in_data, counters.out_data)),
            ("nacks", format!("{} in, {} out", counters.in_nacks, counters.out_nacks)),
            ("satisfied", self.satisfied.to_string()),
            ("unsatisfied", self.unsatisfied.to_string()),
        ];
        rows.iter().map(|(name, value)| format!("  {name:<14}{value}\n")).collect()
    }

    fn json(&self) -> Value {
        let counters = &self.counters;
        json!({
            "version": self.version,
            "start_ms": self.start_millis,
            "now_ms": self.now_millis,
            "name_tree_entries": self.name_tree_entries,
            "fib_entries": self.fib_entries,
            "pit_entries": self.pit_entries,
            "measurement_entries": self.measurement_entries,
            "cs_entries": self.cs_entries,
            "interests_in": counters.in_interests,
            "interests_out": counters.out_interests,
            "data_in": counters.in_data,
            "data_out": counters.out_data,
            "nacks_in": counters.in_nacks,
            "nacks_out": counters.out_nacks,
            "satisfied": self.satisfied,
            "unsatisfied": self.unsatisfied,
        })
    }
}

impl Show for FaceStatus {
    fn text(&self) -> String {
        let FaceProfile { face_id, uri, local_uri, local, persistency, link_type, flags } =
            &self.profile;
        let (uri, local_uri) = (one_line(uri), one_line(local_uri));
        let counters = &self.counters;
        let way = |interests, data, nacks, bytes| {
            format!("{interests} interests, {data} data, {nacks} nacks, {}", format::bytes(bytes))
        };
        let mtu = self.mtu.map_or_else(String::new, |mtu| format!(" mtu={mtu}"));
        let incoming =
            way(counters.in_interests, counters.in_data, counters.in_nacks, counters.in_bytes);
        let outgoing =
            way(counters.out_interests, counters.out_data, counters.out_nacks, counters.out_bytes);
        let down = if self.down { "down " } else { "" };
        format!(
            "  face {face_id}  remote={uri} local={local_uri}{mtu}\n      {down}{} {} {} {}\n      \
             in   {incoming}\n      out  {outgoing}\n",
            scope(*local),
            persistency.name(),
            link_type.name(),
            face_flags(*flags).join(" "),
        )
    }

    fn json(&self) -> Value {
        let counters = &self.counters;
        let mut document = profile(&self.profile);
        let more = json!({
            "state": if self.down { "down" } else { "up" },
            "mtu": self.mtu,
            "expires_s": seconds(self.expiration_period),
            "marking_interval_s": seconds(self.marking_interval),
            "marking_threshold": self.marking_threshold,
            "interests_in": counters.in_interests,
            "interests_out": counters.out_interests,
            "data_in": counters.in_data,
            "data_out": counters.out_data,
            "nacks_in": counters.in_nacks,
            "nacks_out": counters.out_nacks,
            "bytes_in": counters.in_bytes,
            "bytes_out": counters.out_bytes,
        });
        if let (Some(document), Value::Object(more)) = (document.as_object_mut(), more) {
            document.extend(more);
        }
        document
    }
}

fn profile(profile: &FaceProfile) -> Value {
    json!({
        "face": profile.face_id,
        "remote": profile.uri,
        "local": profile.local_uri,
        "scope": scope(profile.local),
        "persistency": profile.persistency.name(),
        "link_type": profile.link_type.name(),
        "flags": face_flags(profile.flags),
    })
}

impl Show for FaceEvent {
    fn text(&self) -> String {
        let kind = event_name(self.kind);
        let FaceProfile { face_id, uri, local_uri, .. } = &self.profile;
        let (uri, local_uri) = (one_line(uri), one_line(local_uri));
        format!("face {face_id} {kind}  remote={uri} local={local_uri}\n")
    }

    fn json(&self) -> Value {
        let mut document = profile(&self.profile);
        document["event"] = event_name(self.kind).into();
        document
    }
}

fn event_name(kind: FaceEventKind) -> &'static str {
    match kind {
        FaceEventKind::Created => "created",
        FaceEventKind::Destroyed => "destroyed",
        FaceEventKind::Up => "up",
        FaceEventKind::Down => "down",
    }
}

impl Show for ChannelStatus {
    fn text(&self) -> String {
        format!("  {}\n", one_line(&self.local_uri))
    }

    fn json(&self) -> Value {
        json!({ "local": self.local_uri })
    }
}

impl Show for RibEntry {
    fn text(&self) -> String {
        let line = |route: &recoup_transport::management::Route| {
            let expires = seconds(route.expiration_period);
            let expires = expires.map_or("never".to_owned(), |it| format!("in {it:.0} s"));
            format!(
                "  prefix={} nexthop={} origin={} cost={} flags={} expires={expires}\n",
                self.name,
                route.face_id,
                origin(route.origin),
                route.cost,
                route_flags(route.flags).join("|"),
            )
        };
        self.routes.iter().map(line).collect()
    }

    fn json(&self) -> Value {
        let route = |route: &recoup_transport::management::Route| {
            json!({
                "face": route.face_id,
                "origin": origin(route.origin),
                "cost": route.cost,
                "flags": route_flags(route.flags),
                "expires_s": seconds(route.expiration_period),
            })
        };
        let routes: Vec<Value> = self.routes.iter().map(route).collect();
        json!({ "prefix": self.name.to_string(), "routes": routes })
    }
}

impl Show for FibEntry {
    fn text(&self) -> String {
        let hops = self.next_hops.iter().map(|(face, cost)| format!("face={face} (cost={cost})"));
        format!("  {} nexthops={{{}}}\n", self.name, hops.collect::<Vec<_>>().join(", "))
    }

    fn json(&self) -> Value {
        let hops = self.next_hops.iter().map(|(face, cost)| json!({ "face": face, "cost": cost }));
        json!({ "prefix": self.name.to_string(), "next_hops": hops.collect::<Vec<_>>() })
    }
}

impl Show for StrategyChoice {
    fn text(&self) -> String {
        format!("  prefix={} strategy={}\n", self.name, self.strategy)
    }

    fn json(&self) -> Value {
        json!({ "prefix": self.name.to_string(), "strategy": self.strategy.to_string() })
    }
}

impl Show for CsInfo {
    fn text(&self) -> String {
        let flag = |bit| if self.flags & bit != 0 { "on" } else { "off" };
        let rows = [
            ("capacity", self.capacity.to_string()),
            ("admit", flag(CS_ADMIT).to_owned()),
            ("serve", flag(CS_SERVE).to_owned()),
            ("entries", self.entries.to_string()),
            ("hits", self.hits.to_string()),
            ("misses", self.misses.to_string()),
        ];
        rows.iter().map(|(name, value)| format!("  {name:<14}{value}\n")).collect()
    }

    fn json(&self) -> Value {
        json!({
            "capacity": self.capacity,
            "flags": cs_flags(self.flags),
            "entries": self.entries,
            "hits": self.hits,
            "misses": self.misses,
        })
    }
}

/// Parameters of a command, one field after the other.
impl Show for ControlParameters {
    fn text(&self) -> String {
        let fields = [
            self.name.as_ref().map(|it| format!("prefix={it}")),
            self.face_id.map(|it| format!("face={it}")),
            self.uri.as_ref().map(|it| format!("remote={}", one_line(it))),
            self.local_uri.as_ref().map(|it| format!("local={}", one_line(it))),
            self.origin.map(|it| format!("origin={}", origin(it))),
            self.cost.map(|it| format!("cost={it}")),
            self.capacity.map(|it| format!("capacity={it}")),
            self.count.map(|it| format!("count={it}")),
            self.mtu.map(|it| format!("mtu={it}")),
            self.strategy.as_ref().map(|it| format!("strategy={it}")),
        ];
        format!("{}\n", fields.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }

    fn json(&self) -> Value {
        let mut document = json!({
            "prefix": self.name.as_ref().map(ToString::to_string),
            "face": self.face_id,
            "remote": self.uri,
            "local": self.local_uri,
            "origin": self.origin.map(origin),
            "cost": self.cost,
            "capacity": self.capacity,
            "count": self.count,
            "mtu": self.mtu,
            "strategy": self.strategy.as_ref().map(ToString::to_string),
        });
        if let Some(document) = document.as_object_mut() {
            document.retain(|_, value| !value.is_null());
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_control_characters() {
        let odd = || "udp4://\u{1b}[31m\nface 9".to_owned();
        let channel = ChannelStatus { local_uri: odd() };
        let done = ControlParameters {
            uri: Some(odd()),
            local_uri: Some(odd()),
            ..ControlParameters::default()
        };
        for text in [channel.text(), done.text()] {
            let lines: Vec<_> = text.lines().collect();
            assert!(lines.len() == 1 && !lines[0].contains(char::is_control), "{text:?}");
        }
        assert_eq!(channel.json()["local"], odd());
    }
}
