//! Commands of the management on faces, and notices to it.
use super::face_entry::{Conduit, Face, mtu_of};
use super::{Arrival, Driver};
use crate::face::{
    Authority, FaceError, FaceId, FaceUri, LARGEST_FRAME_SENT, LEAST_MTU, MediumOptions,
};
use recoup_forwarder::face::{Marking, Recovery};
use recoup_forwarder::management::{FaceDescription, FaceOrder, FaceSettings, Notice, OrderError};
use recoup_transport::management::Persistency;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsRawFd;

impl Driver {
    /// Carries out what the management wants.
    pub(super) fn obey(&mut self, order: FaceOrder) {
        let (ticket, outcome) = match order {
            FaceOrder::Create { ticket, uri, local_uri, settings } => {
                (ticket, self.create(&uri, local_uri.as_deref(), &settings))
            }
            FaceOrder::Update { ticket, face, settings } => (ticket, self.update(face, &settings)),
            FaceOrder::Destroy { face } => return self.close(face),
        };
        let made = Notice::FaceMade { ticket, outcome };
        self.inbox.arrivals.push_back(Arrival::Notice(Box::new(made)));
    }

    fn create(
        &mut self,
        uri: &str,
        local_uri: Option<&str>,
        settings: &FaceSettings,
    ) -> Result<FaceId, OrderError> {
        let uri = canonical(uri)?;
        let interface = interface(&uri, local_uri)?;
        check(settings, &uri)?;
        let text = uri.to_string();
        let is_same =
            |face: &Face| face.remote_text() == text && face.medium.interface == interface;
        let there =
            self.sockets.faces.iter().find(|(_, face)| is_same(face)).map(|(face, _)| *face);
        if let Some(face) = there {
            return Ok(face);
        }
        let opened = match uri.is_medium() {
            true => self.keep_medium(&uri, MediumOptions { interface, ..Default::default() }),
            false => self.keep(&uri),
        };
        let face = opened.map_err(|error| match error {
            FaceError::TooMany { .. } => OrderError::TooMany,
            FaceError::Uri(_) => OrderError::Malformed,
            _ => OrderError::Unreachable,
        })?;
        let usual = match uri.is_shared() {
            true => Persistency::Permanent,
            false => Persistency::Persistent,
        };
        if self.options.on_demand_recovery.is_auto() {
            self.set_recovery(face, self.options.on_demand_recovery);
        }
        let persistency = Some(settings.persistency.unwrap_or(usual));
        self.set(face, &FaceSettings { persistency, ..settings.clone() });
        Ok(face)
    }

    fn update(&mut self, id: FaceId, settings: &FaceSettings) -> Result<FaceId, OrderError> {
        let face = self.sockets.faces.get(&id).ok_or(OrderError::Gone)?;
        check(settings, &face.uri)?;
        if settings.persistency.is_some_and(|wanted| !face.can_become(wanted)) {
            return Err(OrderError::Fixed);
        }
        self.set(id, settings);
        Ok(id)
    }

    fn set(&mut self, id: FaceId, settings: &FaceSettings) {
        let Some(face) = self.sockets.faces.get_mut(&id) else {
            return;
        };
        face.set(settings);
        // A face that is up comes up once more, as another than before.
        if face.is_up {
            self.inbox.arrivals.push_back(Arrival::Up(id));
        }
        self.report_description(id);
    }

    /// Passes the description of a face to the management.
    pub(super) fn report_description(&mut self, id: FaceId) {
        if self.options.managed && !self.quotas.newcomers.contains(id) {
            self.inbox.arrivals.push_back(Arrival::Known(id));
        }
    }

    /// Reports to the management that a face is closed for good.
    pub(super) fn report_gone(&mut self, face: FaceId) {
        if self.options.managed && !self.quotas.newcomers.contains(face) {
            let gone = Notice::FaceGone { face };
            self.inbox.arrivals.push_back(Arrival::Notice(Box::new(gone)));
        }
    }

    /// Remote URI of a face, if it exists.
    pub fn remote_uri(&self, id: FaceId) -> Option<String> {
        Some(self.sockets.faces.get(&id)?.remote_text())
    }

    /// Description of a face, if it exists.
    pub fn describe(&self, id: FaceId) -> Option<FaceDescription> {
        let face = self.sockets.faces.get(&id)?;
        let local = match &face.conduit {
            Conduit::Udp(peer) => self.sockets.port(peer.port).and_then(|port| {
                // Of a socket that is at all addresses, the one that this peer knows.
                let bound = port.local_address().ok()?;
                Some(SocketAddr::new(peer.route.local.unwrap_or(bound.ip()), bound.port()))
            }),
            Conduit::Link { link, .. } => link.local_address(),
            Conduit::Down { .. } => None,
        };
        Some(FaceDescription {
            uri: face.remote_text(),
            local_uri: face.local_text(local),
            persistency: face.persistency(),
            local: face.is_local(),
            link_type: face.link_type(),
            mtu: face.mtu as u64,
            marking: face.marking,
            local_fields: face.local_fields,
            reliable: !face.uri.is_shared() && matches!(face.recovery, Recovery::Acked(_)),
        })
    }
}

impl Face {
    fn set(&mut self, settings: &FaceSettings) {
        let FaceSettings { persistency, mtu, marks, .. } = *settings;
        match persistency {
            Some(Persistency::OnDemand) => self.is_kept = false,
            Some(kept) => (self.persistency, self.is_kept) = (kept, !self.permanent),
            None => {}
        }
        self.local_fields = settings.local_fields.unwrap_or(self.local_fields);
        if let Some(mtu) = mtu.and_then(|mtu| usize::try_from(mtu).ok()) {
            self.mtu = mtu.min(self.longest_frame());
        }
        if marks == Some(false) {
            self.marking = None;
        } else if let Some(before) = self.marking.or(marks.map(|_| Marking::default())) {
            self.marking = Some(Marking {
                interval: settings.marking_interval.unwrap_or(before.interval),
                threshold_bytes: settings.marking_threshold.unwrap_or(before.threshold_bytes),
            });
        }
        match settings.reliable {
            Some(true) if !matches!(self.recovery, Recovery::Acked(_)) => {
                self.recovery = Recovery::Acked(Default::default());
            }
            Some(false) if matches!(self.recovery, Recovery::Acked(_)) => {
                self.recovery = Recovery::Off;
            }
            _ => {}
        }
    }

    /// A face whose connection the peer closes cannot be kept; a face that this side opened is
    /// never on-demand.
    fn can_become(&self, wanted: Persistency) -> bool {
        match (wanted, self.permanent) {
            (Persistency::OnDemand, permanent) => !permanent,
            (_, permanent) => permanent || self.is_connectionless(),
        }
    }

    /// Largest MTU that may be set: that of a medium; over IP the fragmentation limit.
    fn longest_frame(&self) -> usize {
        match &self.conduit {
            Conduit::Link { link, .. } => mtu_of(link.as_ref()),
            Conduit::Udp(_) | Conduit::Down { .. } => LARGEST_FRAME_SENT,
        }
    }

    fn persistency(&self) -> Persistency {
        match self.permanent || self.is_kept {
            true => self.persistency,
            false => Persistency::OnDemand,
        }
    }

    /// Where it leads, as forwarders write it.
    pub(super) fn remote_text(&self) -> String {
        let accepted = !self.permanent;
        let fd = || match &self.conduit {
            Conduit::Link { link, .. } => link.fd().as_raw_fd(),
            Conduit::Udp(_) | Conduit::Down { .. } => -1,
        };
        match (&self.conduit, &self.uri) {
            (Conduit::Udp(peer), _) => FaceUri::Udp(Authority::from(peer.route.remote)).to_string(),
            (_, FaceUri::Unix(_)) if accepted => format!("fd://{}", fd()),
            (_, FaceUri::WebSocket(to, _)) if accepted => format!("wsclient://{to}"),
            (_, uri) => match (uri, self.addresses.first().copied().map(Authority::from)) {
                (FaceUri::Tcp(_), Some(to)) => FaceUri::Tcp(to).to_string(),
                (FaceUri::Udp(_), Some(to)) => FaceUri::Udp(to).to_string(),
                (uri, _) => uri.to_string(),
            },
        }
    }

    /// Its end here, as forwarders write it.
    fn local_text(&self, local: Option<SocketAddr>) -> String {
        let remote = self.addresses.first().map(SocketAddr::is_ipv6);
        let unknown: IpAddr = match remote.unwrap_or_default() {
            true => Ipv6Addr::UNSPECIFIED.into(),
            false => Ipv4Addr::UNSPECIFIED.into(),
        };
        let local = local.unwrap_or_else(|| SocketAddr::new(unknown, 0));
        match &self.uri {
            FaceUri::Udp(_) => FaceUri::Udp(Authority::from(local)).to_string(),
            FaceUri::Tcp(_) => FaceUri::Tcp(Authority::from(local)).to_string(),
            FaceUri::WebSocket(..) => format!("ws://{}", Authority::from(local)),
            FaceUri::Ether(_) => {
                format!("dev://{}", self.medium.interface.as_deref().unwrap_or_default())
            }
            uri => uri.to_string(),
        }
    }
}

/// A face that can be opened without asking anybody for an address.
fn canonical(text: &str) -> Result<FaceUri, OrderError> {
    let uri: FaceUri = text.parse().map_err(|_| OrderError::Malformed)?;
    let resolved = |to: &Authority| {
        let host = to.host.split('%').next().unwrap_or_default();
        let all = host.parse::<IpAddr>().ok().and_then(|_| to.resolve().ok());
        let first = all.and_then(|all| all.first().copied()).filter(|first| first.port() != 0);
        first.ok_or(OrderError::Malformed)
    };
    Ok(match &uri {
        uri if uri.is_medium() => uri.clone(),
        FaceUri::Udp(to) => FaceUri::Udp(Authority::from(resolved(to)?)),
        FaceUri::Tcp(to) => FaceUri::Tcp(Authority::from(resolved(to)?)),
        FaceUri::WebSocket(to, path) => {
            FaceUri::WebSocket(Authority::from(resolved(to)?), path.clone())
        }
        _ => return Err(OrderError::Unsupported),
    })
}

/// The interface that a face is to be on. Ethernet needs one, groups may have one, and others find their way by themselves.
fn interface(uri: &FaceUri, local_uri: Option<&str>) -> Result<Option<String>, OrderError> {
    let local = local_uri.map(str::parse).transpose().map_err(|_| OrderError::Malformed)?;
    match (uri, local) {
        (uri, Some(FaceUri::Dev(name))) if uri.is_medium() => Ok(Some(name)),
        (_, Some(_)) | (FaceUri::Ether(_), None) => Err(OrderError::Unsupported),
        (_, None) => Ok(None),
    }
}

/// Whether a face that leads there can be like that.
fn check(settings: &FaceSettings, uri: &FaceUri) -> Result<(), OrderError> {
    let is_short = settings.mtu.is_some_and(|mtu| mtu < LEAST_MTU as u64);
    // Neighbours that share a link have no numbers in common.
    let is_unfit = settings.reliable == Some(true) && uri.is_shared();
    if is_short || is_unfit { Err(OrderError::Unsupported) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::DriverOptions;
    use crate::port::has_both_families;
    use recoup_transport::time::Duration;

    #[test]
    fn created_face_needs_an_address() {
        let read = |text| canonical(text).map(|uri| uri.to_string());
        assert_eq!(read("udp://192.0.2.7").as_deref(), Ok("udp4://192.0.2.7:6363"));
        assert_eq!(read("tcp6://[2001:db8::1]:7").as_deref(), Ok("tcp6://[2001:db8::1]:7"));
        for text in ["udp://example.net", "udp4://192.0.2.7:0", "tcp4://[::1]", "nonsense"] {
            assert_eq!(read(text), Err(OrderError::Malformed), "{text}");
        }
        assert_eq!(read("unix:///x"), Err(OrderError::Unsupported));
        assert_eq!(read("dev://eth0"), Err(OrderError::Unsupported));
    }

    #[test]
    fn local_uri_names_the_interface() {
        let on = |uri: &str, local| interface(&uri.parse().unwrap(), local);
        let (station, group) = ("ether://[02:00:00:00:00:01]", "udp4://224.0.23.170:56363");
        for uri in [station, group] {
            assert_eq!(on(uri, Some("dev://eth0")), Ok(Some("eth0".into())));
            assert_eq!(on(uri, Some("eth0")), Err(OrderError::Malformed));
            assert_eq!(on(uri, Some("udp4://192.0.2.1")), Err(OrderError::Unsupported));
        }
        assert_eq!((on(station, None), on(group, None)), (Err(OrderError::Unsupported), Ok(None)));
        assert_eq!(on("udp4://192.0.2.7", Some("dev://eth0")), Err(OrderError::Unsupported));
    }

    fn driver() -> Driver {
        Driver::with_options(DriverOptions { managed: true, ..Default::default() }).unwrap()
    }

    #[test]
    fn group_face_is_created_updated_and_destroyed() {
        let mut driver = driver();
        let usual = FaceSettings::default();
        let mut create = |local, settings: &FaceSettings| {
            let group = "udp4://224.0.23.170:56363";
            driver.create(group, Some(local), settings)
        };
        let reliable = FaceSettings { reliable: Some(true), ..usual.clone() };
        assert_eq!(create("dev://no-such-if", &reliable), Err(OrderError::Unsupported));
        let face = create("dev://no-such-if", &usual).unwrap();
        assert_eq!(create("dev://no-such-if", &usual), Ok(face));
        assert_ne!(create("dev://none-either", &usual), Ok(face));
        assert_eq!(driver.describe(face).unwrap().persistency, Persistency::Permanent);
        let shorter = FaceSettings { mtu: Some(1_400), ..usual.clone() };
        assert_eq!(driver.update(face, &shorter), Ok(face));
        assert_eq!(driver.describe(face).unwrap().mtu, 1_400);
        assert_eq!(driver.update(face, &reliable), Err(OrderError::Unsupported));
        driver.obey(FaceOrder::Destroy { face });
        assert_eq!(driver.update(face, &shorter), Err(OrderError::Gone));
    }

    #[test]
    fn created_face_negotiates_recovery() {
        for (recovery, wanted) in [("auto", Recovery::auto()), ("off", Recovery::Off)] {
            let mut driver = driver();
            driver.set_on_demand_recovery(recovery.parse().unwrap());
            let create = |uri| driver.create(uri, None, &FaceSettings::default());
            let [udp, tcp] = ["udp4://127.0.0.1:9", "tcp4://127.0.0.1:9"].map(create);
            assert_eq!(driver.attributes(udp.unwrap()).unwrap().recovery, wanted);
            assert_eq!(driver.attributes(tcp.unwrap()).unwrap().recovery, Recovery::Off);
        }
    }

    #[test]
    fn on_demand_udp_face_can_become_persistent() {
        let mut driver = driver();
        let door = driver.listen(&"udp4://127.0.0.1:0".parse().unwrap()).unwrap();
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        peer.send_to(&[5, 2, 7, 0], door.address.unwrap()).unwrap();
        let end = driver.now() + Duration::from_secs(20);
        while driver.faces().count() == 0 && driver.now() < end {
            driver.receive_datagrams(0);
        }
        let face = driver.faces().next().unwrap();
        let wants = |driver: &mut Driver, persistency| {
            let settings = FaceSettings { persistency: Some(persistency), ..Default::default() };
            driver.update(face, &settings).map(|_| driver.describe(face).unwrap())
        };
        let late = driver.now() + driver.options.udp_idle * 2;
        let kept = wants(&mut driver, Persistency::Persistent).unwrap();
        assert_eq!((kept.persistency, kept.local), (Persistency::Persistent, false));
        driver.sweep(late, &|_| Default::default());
        assert_eq!(driver.faces().collect::<Vec<_>>(), [face]);
        let left = wants(&mut driver, Persistency::OnDemand).unwrap();
        assert_eq!(left.persistency, Persistency::OnDemand);
        driver.sweep(late, &|_| Default::default());
        assert_eq!(driver.faces().count(), 0);
        assert_eq!(wants(&mut driver, Persistency::Persistent), Err(OrderError::Gone));
    }

    #[test]
    fn wildcard_listener_faces_have_a_local_address() {
        for (door, wanted) in [("udp4://0.0.0.0:0", true), ("udp6://[::]:0", has_both_families())] {
            if !wanted {
                continue;
            }
            let mut driver = driver();
            let port = driver.listen(&door.parse().unwrap()).unwrap().address.unwrap().port();
            let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            peer.send_to(&[5, 2, 7, 0], ("127.0.0.3", port)).unwrap();
            let end = driver.now() + Duration::from_secs(20);
            while driver.faces().count() == 0 && driver.now() < end {
                driver.receive_datagrams(0);
            }
            let face = driver.describe(driver.faces().next().unwrap()).unwrap();
            assert_eq!(face.uri, format!("udp4://{}", peer.local_addr().unwrap()));
            assert_eq!(face.local_uri, format!("udp4://127.0.0.3:{port}"));
            // The peer goes on by another address of ours.
            peer.send_to(&[5, 2, 7, 0], ("127.0.0.4", port)).unwrap();
            let id = driver.faces().next().unwrap();
            let moved = format!("udp4://127.0.0.4:{port}");
            while driver.describe(id).unwrap().local_uri != moved && driver.now() < end {
                driver.receive_datagrams(0);
            }
            assert_eq!(driver.describe(id).unwrap().local_uri, moved);
        }
    }

    #[test]
    fn persistency_changes_only_where_possible() {
        let mut driver = driver();
        let wish =
            |persistency| FaceSettings { persistency: Some(persistency), ..Default::default() };
        let ours = driver.create("udp4://127.0.0.1:9", None, &FaceSettings::default()).unwrap();
        assert_eq!(driver.update(ours, &wish(Persistency::OnDemand)), Err(OrderError::Fixed));
        assert_eq!(driver.update(ours, &wish(Persistency::Permanent)), Ok(ours));
        let (end, _other) = crate::memory::pair(1 << 16).unwrap();
        let theirs = driver.attach(end, false).unwrap();
        assert_eq!(driver.update(theirs, &wish(Persistency::Permanent)), Err(OrderError::Fixed));
    }
}
