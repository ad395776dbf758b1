//! Limit keys of a forwarder's configuration.
use crate::config::{Section, text, whole};
use recoup_config::form;
use recoup_config::tree::{Tree, Value};
use recoup_forwarder::limits::FaceLimits;
use recoup_forwarder::management::ManagementOptions;
use recoup_io::driver::DriverOptions;
use recoup_transport::time::Duration;
use recoup_transport::unit;

/// Shortest idle time that may be configured.
const LEAST_IDLE: Duration = Duration::from_secs(1);

/// Places of the table of pending Interests.
const PLACES: usize = 1 << 17;

/// Values of `[limits]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitKeys {
    /// Places of the table of pending Interests.
    pub pending: usize,
    /// Share of each face.
    pub face: FaceLimits,
    /// Routes.
    pub routes: usize,
    faces: usize,
    peer_faces: usize,
    newcomers: usize,
    faces_per_address: usize,
    backlog_bytes: usize,
    face_backlog_bytes: usize,
    udp_idle: Duration,
    stream_idle: Duration,
    idle_per_address: usize,
}

impl Default for LimitKeys {
    fn default() -> Self {
        let driver = DriverOptions::default();
        Self {
            pending: PLACES,
            face: FaceLimits { fair: true, ..FaceLimits::default() },
            routes: ManagementOptions::default().routes,
            faces: driver.faces,
            peer_faces: driver.on_demand_faces,
            newcomers: driver.newcomers,
            faces_per_address: driver.faces_per_address,
            backlog_bytes: driver.backlog_total_bytes,
            face_backlog_bytes: driver.backlog_bytes,
            udp_idle: driver.udp_idle,
            stream_idle: driver.stream_idle,
            idle_per_address: driver.idle_streams_per_address,
        }
    }
}

impl LimitKeys {
    /// Takes the keys out of a table.
    pub(crate) fn read(&mut self, table: &mut Section<'_>) {
        let bytes = |tree: &Tree| form::few_bytes(tree).map(|bytes| bytes as usize);
        let mut set =
            |key, place: &mut usize| *place = table.value(key, positive).unwrap_or(*place);
        set("pending", &mut self.pending);
        set("routes", &mut self.routes);
        set("faces", &mut self.faces);
        set("peer-faces", &mut self.peer_faces);
        set("newcomers", &mut self.newcomers);
        set("faces-per-address", &mut self.faces_per_address);
        set("idle-per-address", &mut self.idle_per_address);
        self.face.pending = table.value("face-pending", positive);
        self.face.rate = table.value("face-interests", positive).map(|rate| rate as u64);
        let mut set = |key, place: &mut usize| *place = table.value(key, bytes).unwrap_or(*place);
        set("backlog", &mut self.backlog_bytes);
        set("face-backlog", &mut self.face_backlog_bytes);
        self.udp_idle = table.value("idle", idle).unwrap_or(self.udp_idle);
        self.stream_idle = table.value("stream-idle", idle).unwrap_or(self.stream_idle);
    }

    /// Reads the limits of one face, or of the faces of one listener, from its table; `None` if it has none.
    pub(crate) fn read_face(&self, table: &mut Section<'_>) -> Option<FaceLimits> {
        let pending = table.value("pending", positive_or_unlimited);
        let rate = table.value("interests", positive_or_unlimited);
        (pending.is_some() || rate.is_some()).then_some(FaceLimits {
            pending: pending.unwrap_or(self.face.pending),
            rate: rate.map_or(self.face.rate, |rate| rate.map(|rate| rate as u64)),
            ..self.face
        })
    }

    /// Options of a driver that keeps to them.
    pub(crate) fn driver(&self) -> DriverOptions {
        DriverOptions {
            faces: self.faces,
            on_demand_faces: self.peer_faces,
            newcomers: self.newcomers,
            faces_per_address: self.faces_per_address,
            backlog_total_bytes: self.backlog_bytes,
            backlog_bytes: self.face_backlog_bytes,
            udp_idle: self.udp_idle,
            stream_idle: self.stream_idle,
            idle_streams_per_address: self.idle_per_address,
            ..DriverOptions::default()
        }
    }
}

/// A number that lets something pass.
fn positive(tree: &Tree) -> Result<usize, String> {
    match whole(tree)? {
        0 => Err("must be at least 1".into()),
        number => usize::try_from(number).map_err(|_| "is too large".into()),
    }
}

/// How long a face may be silent.
fn idle(tree: &Tree) -> Result<Duration, String> {
    if let Value::Integer(number) = tree.value {
        return Err(format!("{number} has no unit; write \"{number}s\""));
    }
    let idle = unit::duration(&text(tree)?)?;
    if idle < LEAST_IDLE { Err("must be at least 1s".into()) } else { Ok(idle) }
}

/// A number that lets something pass, or everything.
fn positive_or_unlimited(tree: &Tree) -> Result<Option<usize>, String> {
    match text(tree) {
        Ok(text) if text == "unlimited" => Ok(None),
        Ok(other) => Err(format!("`{other}` is neither a whole number nor \"unlimited\"")),
        Err(_) => positive(tree).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::config::ForwardConfig;

    fn read(keys: &str) -> Result<LimitKeys, String> {
        let text = format!("[limits]\n{keys}\n[[listen]]\nuri = \"udp://0.0.0.0\"\n");
        let config = ForwardConfig::parse("n.toml", &text);
        config.map(|config| config.limits).map_err(|failure| failure.to_string())
    }

    #[test]
    fn limits_are_read_and_missing_ones_stay() {
        let keys =
            read("pending = 1000\nface-pending = 10\nface-interests = 500\nbacklog = \"1 MiB\"")
                .unwrap();
        assert_eq!(keys.pending, 1_000);
        assert_eq!(keys.face, FaceLimits { pending: Some(10), fair: true, rate: Some(500) });
        let driver = keys.driver();
        assert_eq!((driver.backlog_total_bytes, driver.backlog_bytes), (1 << 20, 8 << 20));
        let keys =
            read("faces = 7\npeer-faces = 5\nnewcomers = 4\nfaces-per-address = 3\nface-backlog = \"64 KiB\"\nidle = \"10s\"")
                .unwrap();
        let driver = keys.driver();
        assert_eq!(driver.udp_idle, Duration::from_secs(10));
        assert!(read("idle = \"10ms\"").unwrap_err().contains("limits.idle: must be at least 1s"));
        assert_eq!((driver.faces, driver.on_demand_faces, driver.faces_per_address), (7, 5, 3));
        assert_eq!(driver.newcomers, 4);
        let idle = read("stream-idle = \"20s\"\nidle-per-address = 9").unwrap().driver();
        assert_eq!((idle.stream_idle, idle.idle_streams_per_address), (Duration::from_secs(20), 9));
        assert_eq!((driver.backlog_bytes, keys.pending), (64 << 10, PLACES));
    }

    #[test]
    fn faces_and_listeners_may_have_own_limits() {
        let listen = |keys: &str| {
            let text = format!(
                "[limits]\nface-pending = 10\nface-interests = 500\n\
                 [[listen]]\nuri = \"udp://0.0.0.0\"\n{keys}\n\
                 [[face]]\nname = \"up\"\nuri = \"udp://192.0.2.7\"\n{keys}\n"
            );
            let config = ForwardConfig::parse("n.toml", &text).map_err(|it| it.to_string())?;
            assert_eq!(config.listen[0].limits, config.faces[0].limits);
            Ok::<_, String>(config.listen[0].limits)
        };
        let of = |pending, rate| Some(FaceLimits { pending, fair: true, rate });
        assert_eq!(listen(""), Ok(None));
        assert_eq!(listen("pending = 3"), Ok(of(Some(3), Some(500))));
        assert_eq!(listen("interests = 7\npending = \"unlimited\""), Ok(of(None, Some(7))));
        assert!(listen("interests = 0").unwrap_err().contains("interests: must be at least 1"));
        assert!(listen("interests = \"some\"").unwrap_err().contains("nor \"unlimited\""));
    }

    #[test]
    fn zero_limit_is_rejected() {
        assert!(read("pending = 0").unwrap_err().contains("limits.pending: must be at least 1"));
        assert!(read("face-pendings = 1").unwrap_err().contains("face-pending"));
    }
}
