//! The forwarder's status over HTTP: a live page, JSON, and metrics.
use super::board::{Board, FacePicture, Picture};
use super::metrics;
use crate::ctl::Show;
use recoup_io::http::{HttpServer, Page, Pages};
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

const HTML: &str = include_str!("page.html");
/// A dashboard of the metrics, for Grafana.
pub(super) const DASHBOARD: &str = include_str!("dashboard.json");

/// Serves snapshots of the board: `/` for people, the other paths for programs.
pub(super) fn serve(address: SocketAddr, board: Arc<Board>) -> io::Result<HttpServer> {
    let page = |content_type, body: String| Some(Page { content_type, body: body.into_bytes() });
    let pages: Pages = Arc::new(move |path| match path {
        "/" => page("text/html; charset=utf-8", HTML.to_owned()),
        "/status.json" => page("application/json", document(&*board.look()?).to_string()),
        "/metrics" => {
            page("text/plain; version=0.0.4; charset=utf-8", metrics::text(&*board.look()?))
        }
        "/dashboard.json" => page("application/json", DASHBOARD.to_owned()),
        _ => None,
    });
    HttpServer::start(address, pages)
}

fn document(picture: &Picture) -> Value {
    let round_trips = &picture.counters.round_trips;
    let below = round_trips.below().map(|(bound, many)| json!([bound.as_secs_f64(), many]));
    let system = rustix::system::uname();
    json!({
        "host": system.nodename().to_string_lossy(),
        "status": picture.status.json(),
        "cs": picture.cs.json(),
        "pit_limit": picture.pit_limit,
        "congestion_marks": picture.counters.marked,
        "round_trips": {
            "count": round_trips.count(),
            "sum_s": round_trips.sum().as_secs_f64(),
            "below_s": below.collect::<Vec<_>>(),
        },
        "faces": picture.faces.iter().map(face).collect::<Vec<_>>(),
        "admission": {
            "newcomers_evicted": picture.admission.newcomers_evicted,
            "evicted": picture.admission.evicted,
            "descriptor_shortages": picture.admission.shortages,
        },
        "captures": {"frames": picture.captures.frames, "failures": picture.captures.failures},
        "recovery": picture.recovered.as_ref().map(recovery),
        "drops": picture.drops.iter().map(|(reason, many)| (reason.clone(), json!(many)))
            .collect::<serde_json::Map<_, _>>(),
        "log_lines_left_out": picture.lines_left_out,
        "fib": picture.fib.iter().map(Show::json).collect::<Vec<_>>(),
        "strategies": picture.strategies.iter().map(Show::json).collect::<Vec<_>>(),
    })
}

fn face(face: &FacePicture) -> Value {
    let mut document = face.status.json();
    document["up"] = face.is_up.into();
    document["frames_dropped"] = face.frames.dropped_total().into();
    document["waiting"] = face.waiting.into();
    document["pending_places"] = face.places.into();
    document["link_recovery"] = face.link_recovery.name().into();
    document["recovery"] = face.recovered.as_ref().map(recovery).unwrap_or_default();
    document
}

fn recovery(it: &recoup_transport::link::recovery::Counters) -> Value {
    json!({
        "numbered": it.labelled,
        "resent": it.resent,
        "settled": it.settled,
        "given_up": it.given_up,
        "expired": it.expired,
        "held": it.held,
        "duplicates": it.duplicates,
        "control": it.control,
    })
}
