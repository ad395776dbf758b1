//! Metrics in the text format of Prometheus (version 0.0.4).
use super::board::{FacePicture, Picture};
use recoup_io::face::DropReason;
use recoup_transport::link::recovery;
use std::fmt::Write;

/// Metrics text.
struct Metrics(String);

impl Metrics {
    /// Writes help and type of the following samples.
    fn about(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP recoup_{name} {help}\n# TYPE recoup_{name} {kind}");
    }

    /// Writes one sample; labels in pairs.
    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
        let labels: Vec<_> = labels.iter().map(label).collect();
        let braces =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "recoup_{name}{braces} {value}");
    }

    /// Writes a metric of one sample.
    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.about(name, kind, help);
        self.sample(name, &[], value);
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Counters of link recovery, by name.
fn recovery_counts(it: &recovery::Counters) -> [(&'static str, u64); 7] {
    [
        ("numbered", it.labelled),
        ("resent", it.resent),
        ("settled", it.settled),
        ("given-up", it.given_up),
        ("expired", it.expired),
        ("duplicate", it.duplicates),
        ("control", it.control),
    ]
}

/// All metrics.
pub(super) fn text(picture: &Picture) -> String {
    let mut out = Metrics(String::new());
    of_node(&mut out, picture);
    of_drops(&mut out, picture);
    of_faces(&mut out, &picture.faces);
    of_recovery(&mut out, picture);
    of_round_trips(&mut out, picture);
    out.0
}

fn of_node(out: &mut Metrics, picture: &Picture) {
    let Picture { status, cs, counters, faces, .. } = picture;
    out.about("build_info", "gauge", "What runs; always 1.");
    out.sample("build_info", &[("version", status.version.as_str())], 1);
    let up = status.now_millis.saturating_sub(status.start_millis) as f64 / 1e3;
    out.one("uptime_seconds", "gauge", "Time since the start.", up);
    out.one("faces", "gauge", "Faces that are there.", faces.len());
    out.one("fib_entries", "gauge", "Prefixes with next hops.", status.fib_entries);
    out.one("pit_entries", "gauge", "Interests that are pending.", status.pit_entries);
    out.one(
        "pit_capacity",
        "gauge",
        "Places of the table of pending Interests.",
        picture.pit_limit,
    );
    out.one("cs_entries", "gauge", "Data in the content store.", cs.entries);
    out.one("cs_capacity", "gauge", "Data that the content store may hold.", cs.capacity);
    out.one("cs_hits_total", "counter", "Interests that the content store answered.", cs.hits);
    out.one("cs_misses_total", "counter", "Interests that it did not.", cs.misses);
    out.one(
        "satisfied_total",
        "counter",
        "Pending Interests that were answered.",
        counters.satisfied,
    );
    let help = "Pending Interests that expired.";
    out.one("unsatisfied_total", "counter", help, counters.unsatisfied);
    of_admission(out, picture);
    let help = "Frames written to captures, once for each file.";
    out.one("captured_frames_total", "counter", help, picture.captures.frames);
    let help = "Captures that were given up because they could not be written.";
    out.one("capture_failures_total", "counter", help, picture.captures.failures);
    let help = "Lines that were not written because standard error was not read.";
    out.one("log_lines_left_out_total", "counter", help, picture.lines_left_out);
    out.one("congestion_marks_total", "counter", "Packets marked for congestion.", counters.marked);
}

fn of_admission(out: &mut Metrics, picture: &Picture) {
    let name = "faces_evicted_total";
    out.about(name, "counter", "Faces of peers that were closed for others.");
    let admission = &picture.admission;
    for (kind, count) in
        [("newcomer", admission.newcomers_evicted), ("on-demand", admission.evicted)]
    {
        out.sample(name, &[("kind", kind)], count);
    }
    let help = "Connections that found no descriptor, or only spare ones.";
    out.one("descriptor_shortages_total", "counter", help, admission.shortages);
}

fn of_drops(out: &mut Metrics, picture: &Picture) {
    out.about("drops_total", "counter", "Packets and frames that went no further, by reason.");
    for (reason, count) in &picture.drops {
        out.sample("drops_total", &[("reason", reason.as_str())], count);
    }
}

fn of_faces(out: &mut Metrics, faces: &[FacePicture]) {
    out.about("face_packets_total", "counter", "Packets that a face carried.");
    for face in faces {
        let it = &face.status.counters;
        let counts = [
            ("in", "interest", it.in_interests),
            ("in", "data", it.in_data),
            ("in", "nack", it.in_nacks),
            ("out", "interest", it.out_interests),
            ("out", "data", it.out_data),
            ("out", "nack", it.out_nacks),
        ];
        for (direction, kind, count) in counts {
            let more = [("direction", direction), ("kind", kind)];
            labelled(out, "face_packets_total", face, &more, count);
        }
    }
    out.about("face_bytes_total", "counter", "Bytes of frames that a face carried.");
    for face in faces {
        let it = &face.status.counters;
        for (direction, bytes) in [("in", it.in_bytes), ("out", it.out_bytes)] {
            labelled(out, "face_bytes_total", face, &[("direction", direction)], bytes);
        }
    }
    out.about("face_frame_drops_total", "counter", "Frames that a face dropped, by reason.");
    for face in faces {
        for reason in DropReason::ALL {
            let (count, reason) = (face.frames.dropped(reason), reason.to_string());
            if count > 0 {
                labelled(
                    out,
                    "face_frame_drops_total",
                    face,
                    &[("reason", reason.as_str())],
                    count,
                );
            }
        }
    }
    out.about("face_up", "gauge", "Whether a face is usable.");
    for face in faces {
        labelled(out, "face_up", face, &[], face.is_up.into());
    }
    out.about("face_waiting_packets", "gauge", "Packets that wait at a face's scheduler.");
    for face in faces {
        labelled(out, "face_waiting_packets", face, &[], face.waiting);
    }
    let help = "Places of the table of pending Interests that a face takes.";
    out.about("face_pending_places", "gauge", help);
    for face in faces {
        labelled(out, "face_pending_places", face, &[], face.places);
    }
}

fn labelled(out: &mut Metrics, name: &str, face: &FacePicture, more: &[(&str, &str)], value: u64) {
    let number = face.status.profile.face_id.to_string();
    let mut labels = vec![("face", number.as_str()), ("remote", face.status.profile.uri.as_str())];
    labels.extend(more);
    out.sample(name, &labels, value);
}

fn of_recovery(out: &mut Metrics, picture: &Picture) {
    let help = "What links with recovery did with frames, by outcome.";
    out.about("link_recovery_total", "counter", help);
    for (outcome, count) in picture.recovered.iter().flat_map(recovery_counts) {
        out.sample("link_recovery_total", &[("outcome", outcome)], count);
    }
    let help = "What the recovery of one face's link did with frames, by outcome.";
    out.about("face_link_recovery_total", "counter", help);
    for face in &picture.faces {
        for (outcome, count) in face.recovered.iter().flat_map(recovery_counts) {
            labelled(out, "face_link_recovery_total", face, &[("outcome", outcome)], count);
        }
    }
}

fn of_round_trips(out: &mut Metrics, picture: &Picture) {
    let (name, found) = ("round_trip_seconds", &picture.counters.round_trips);
    out.about(name, "histogram", "From sending an Interest on to its Data.");
    let bucket = format!("{name}_bucket");
    for (bound, below) in found.below() {
        let bound = bound.as_secs_f64().to_string();
        out.sample(&bucket, &[("le", bound.as_str())], below);
    }
    out.sample(&bucket, &[("le", "+Inf")], found.count());
    out.sample(&format!("{name}_sum"), &[], found.sum().as_secs_f64());
    out.sample(&format!("{name}_count"), &[], found.count());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_holds_any_text() {
        let mut out = Metrics(String::new());
        out.sample("x", &[("a", "b\"c\\d\ne")], 7);
        assert_eq!(out.0, "recoup_x{a=\"b\\\"c\\\\d\\ne\"} 7\n");
    }
}
